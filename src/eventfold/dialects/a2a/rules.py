"""The rules of A2A that a stream can break: what is forbidden, and what an SDK does about it."""

from __future__ import annotations

from eventfold.dialects.translation import COMMON, rule

from .shapes import PART

ONE_PAYLOAD, OLD, DEEP, RPC = "a2a.value-one-payload", "a2a.value-version", "a2a.value-too-deep", "a2a.rpc-error"
SURROGATE, UNKNOWN_FIELD, NOTE = "a2a.value-lone-surrogate", "a2a.value-unknown-field", "a2a.value-note"
NOT_FIRST, OTHER, CONTEXT = "a2a.task-not-first", "a2a.task-other-id", "a2a.task-other-context"
AFTER_END, UNFINISHED, SECOND_TASK = "a2a.task-after-end", "a2a.task-unfinished", "a2a.task-again"
STATE = "a2a.task-no-state"
NO_ARTIFACT, AFTER_LAST, NO_PARTS, REPLACED = (
    "a2a.artifact-unknown",
    "a2a.artifact-after-last-chunk",
    "a2a.artifact-no-parts",
    "a2a.artifact-replaced",
)
IN_TASK, SECOND_MESSAGE, BARE_MESSAGE = "a2a.message-in-task", "a2a.message-second", "a2a.message-no-parts"

RULES = {
    **COMMON,
    ONE_PAYLOAD: rule(
        "error",
        "A stream's value holds two payloads",
        "It is one of task, message, statusUpdate and artifactUpdate; protobuf readers refuse it whole. It is dropped.",
    ),
    OLD: rule(
        "error",
        "The value is of A2A 0.3",
        "A `kind` says there what it is; A2A 1 names the field instead, and its readers refuse `kind`. It is kept in a CUSTOM event.",
    ),
    DEEP: rule("error", "The value nests too deep", "Protobuf readers stop at 100 levels. It is dropped."),
    RPC: rule(
        "error",
        "The server answered with an error",
        "A JSON-RPC error ends the stream and says nothing about the task. It is kept in a CUSTOM event.",
    ),
    SURROGATE: rule("error", "A text holds a lone surrogate", "No UTF-8 can carry it. U+FFFD stands in its place."),
    UNKNOWN_FIELD: rule(
        "note",
        "A field is none of A2A's",
        "Strict protobuf readers refuse the value, the SDK's client ignores the field. It is kept in a CUSTOM event.",
    ),
    NOTE: rule(
        "error", "Our own note cannot be read", "What stands below `eventfold` in metadata is not as eventfold writes it; it is not used."
    ),
    PART: rule("error", "A part does not hold exactly one content", "Protobuf readers refuse the value whole. It is dropped."),
    NOT_FIRST: rule(
        "error",
        "An update comes before its task",
        "A stream about a task begins with the Task; the SDK refuses a status before it. The update begins the task.",
    ),
    OTHER: rule(
        "error",
        "An update names another task",
        "Ids in a stream must match; the SDK fails the task. The update begins a task of its own.",
    ),
    CONTEXT: rule(
        "error", "An update names another context", "A task stays in its context; the SDK refuses the update. It is taken all the same."
    ),
    AFTER_END: rule(
        "error",
        "Something comes after a terminal state",
        "A stream closes at a terminal state. The SDK stores what follows; the reply has ended, so it is kept in a CUSTOM event.",
    ),
    UNFINISHED: rule(
        "error",
        "The stream stops while the task works",
        "Without a terminal or interrupted state nobody can tell a finished stream from a broken connection.",
    ),
    SECOND_TASK: rule(
        "note",
        "A Task comes again",
        "As after a reconnect. It replaces what was streamed: only what is new in it is taken, and no text is doubled.",
    ),
    STATE: rule("error", "A status has no state", "TASK_STATE_UNSPECIFIED says nothing. The status changes nothing."),
    NO_ARTIFACT: rule(
        "error",
        "A chunk extends an artifact that is not there",
        "append=true goes on with an artifact of the same task; the SDK fails the task. The chunk begins the artifact.",
    ),
    AFTER_LAST: rule(
        "warning",
        "A chunk comes after the last",
        "lastChunk says that nothing follows. The SDK appends it all the same, and so is it here.",
    ),
    NO_PARTS: rule("warning", "An artifact has no parts", "It has one at least. There is nothing to show of it."),
    REPLACED: rule(
        "note",
        "An artifact is replaced",
        "append=false for an artifact that is there: the new text stands in the message, and the old is gone with the end of its block.",
    ),
    IN_TASK: rule(
        "error",
        "The agent sends a Message while a task runs",
        "In a stream about a task, the agent speaks by artifacts and statuses; the SDK fails the task. It is read as a message of its own.",
    ),
    SECOND_MESSAGE: rule(
        "error",
        "Something follows a Message",
        "A stream that is a Message holds that one and nothing else, and a client never sees the rest. It is read all the same.",
    ),
    BARE_MESSAGE: rule("warning", "A message has no parts", "It has one at least. An empty message stands for it."),
}
