"""
A2A: agents that talk to each other by tasks, artifacts and statuses.

Each reply is a task, each block an artifact. What A2A has no field for travels as JSON text below `eventfold` in metadata, so
that our own output comes back whole. The page beside this file says what others' streams become.
"""

from __future__ import annotations

from eventfold.dialects.translation import Dialect, Row

from .incoming import STUCK
from .messages import BESIDE, read_messages, write_messages
from .outgoing import AFTER_END, LATE, NO_TASK, NOT_STARTED, REDELIVERED, A2AEncoder
from .payload import is_a2a
from .reading import A2ADecoder
from .rules import RULES
from .snapshot import SNAPSHOT

#: Where a loss shows in a message of ours; nowhere, if it concerns events only.
LOSSES: dict[str, tuple[str, ...]] = {
    REDELIVERED: (),
    NOT_STARTED: (),
    AFTER_END: (),
    NO_TASK: (),
    LATE: ("/content/*",),
    STUCK: ("/content/*",),
    SNAPSHOT: ("/*",),
    BESIDE: (),
}

#: What a row says before the colon is the payload; test_a2a.py holds it against what goes out.
MAPPING = (
    Row("ReplyStartEvent", "task: TASK_STATE_WORKING, id = reply_id, contextId = session_id", "both", "the message's head is a note"),
    Row("ReplyStartEvent", "statusUpdate: in a note", "out", "when the reply goes on after an answer"),
    Row("ReplyEndEvent", "statusUpdate: COMPLETED, CANCELED (interrupted) or FAILED (error)", "both", "error.message is its message"),
    Row("ReplyEndEvent", "artifactUpdate: the head of a result that came from outside", "out"),
    Row("ModelCallStartEvent", "statusUpdate: in a note", "out"),
    Row("ModelCallEndEvent", "statusUpdate: in a note", "out", "the usage is in the message's head"),
    Row("TextBlockStartEvent", "artifactUpdate: append=false", "both", "artifactId is kind:id, since ids of kinds may be equal"),
    Row("TextBlockDeltaEvent", "artifactUpdate: append=true, a text part", "both"),
    Row("TextBlockEndEvent", "artifactUpdate: append=true, lastChunk", "both", "a final text replaces the parts: append=false"),
    Row("ThinkingBlockStartEvent", "artifactUpdate: append=false", "out"),
    Row("ThinkingBlockDeltaEvent", "artifactUpdate: append=true, a text part", "out"),
    Row("ThinkingBlockEndEvent", "artifactUpdate: append=true, lastChunk", "out"),
    Row("DataBlockStartEvent", "artifactUpdate: append=false", "both"),
    Row("DataBlockDeltaEvent", "artifactUpdate: a raw part for each delta, or a url part", "both", "mediaType, and filename = name"),
    Row("DataBlockEndEvent", "artifactUpdate: append=true, lastChunk", "both"),
    Row("HintBlockEvent", "artifactUpdate: append=false, lastChunk", "out", "a part for each block in it"),
    Row("ToolCallStartEvent", "artifactUpdate: append=false", "out"),
    Row("ToolCallDeltaEvent", "artifactUpdate: append=true, a text part", "out", "application/json; never data, whose numbers are doubles"),
    Row("ToolCallEndEvent", "artifactUpdate: append=true, lastChunk", "out"),
    Row("ToolResultStartEvent", "artifactUpdate: append=false", "out"),
    Row("ToolResultTextDeltaEvent", "artifactUpdate: a text part", "out"),
    Row("ToolResultDataDeltaEvent", "artifactUpdate: a raw or url part", "out"),
    Row("ToolResultEndEvent", "artifactUpdate: lastChunk, and the head of the call", "out"),
    Row("ToolResultEndEvent", "statusUpdate: when nothing is waited for any more", "out"),
    Row("RequireUserConfirmEvent", "statusUpdate: INPUT_REQUIRED, a message with a data part", "out", "exact in its note"),
    Row("RequireUserConfirmEvent", "artifactUpdate: the heads of the calls", "out"),
    Row("RequireExternalExecutionEvent", "statusUpdate: INPUT_REQUIRED, a message with a data part", "out", "exact in its note"),
    Row("RequireExternalExecutionEvent", "artifactUpdate: the heads of the calls", "out"),
    Row("UserConfirmResultEvent", "statusUpdate: a message of ROLE_USER, a data part", "both", "its message alone is read alike"),
    Row("UserConfirmResultEvent", "artifactUpdate: the calls as the user confirmed them", "out"),
    Row("ExternalExecutionResultEvent", "statusUpdate: a message of ROLE_USER, a data part", "both", "its message alone is read alike"),
    Row("ExternalExecutionResultEvent", "artifactUpdate: the results", "out"),
    Row("UserInterruptEvent", "statusUpdate: a message of ROLE_USER with a data part", "out"),
    Row("ExceedMaxItersEvent", "statusUpdate: in a note", "out"),
    Row("RequestStopEvent", "statusUpdate: in a note", "out", "a Message, if there is no reply at all"),
    Row("AllToolsDeniedEvent", "statusUpdate: in a note", "out", "a Message, if there is no reply at all"),
    Row("SubagentExposedEvent", "statusUpdate: in a note", "out", "a Message, if there is no reply at all"),
    Row("CustomEvent", "statusUpdate: in a note", "out", "a Message, if there is no reply at all"),
    Row("UserMsg, SystemMsg", "Message: ROLE_USER", "both", "of theirs, a user's only"),
    Row("AssistantMsg, ToolMsg", "Task: an artifact for each block", "both", "of theirs, a Message of ROLE_AGENT as well"),
    Row("TextBlock", "Part: text; those of an artifact that follow each other are one", "in"),
    Row("TextBlock", "Part: data, as JSON text", "in"),
    Row("DataBlock", "Part: raw; those of one filename that follow each other are one", "in"),
    Row("DataBlock", "Part: url", "in"),
    Row("`a2a` of a block", "Artifact: name, description, metadata, extensions; Part: metadata, filename, mediaType", "in"),
    Row("`metadata.a2a` of a message", "Message and Task: metadata and the rest; what the agent said in history", "in"),
    Row("UserMsg", "Task.history: what users said", "in"),
    Row("ReplyEndEvent", "TASK_STATE_REJECTED: finished_reason error", "in"),
    Row("ReplyEndEvent, CustomEvent a2a.input_required", "TASK_STATE_INPUT_REQUIRED: completed; the next turn is a reply", "in"),
    Row("ReplyEndEvent, CustomEvent a2a.auth_required", "TASK_STATE_AUTH_REQUIRED: completed; the next turn is a reply", "in"),
    Row("TextBlock, DataBlock", "TaskStatus.message: of COMPLETED, CANCELED, INPUT_REQUIRED, AUTH_REQUIRED", "in"),
    Row("CustomEvent a2a.status", "TaskStatus.message: of SUBMITTED, WORKING, FAILED, REJECTED", "in"),
    Row("CustomEvent a2a.metadata", "Task, statusUpdate and artifactUpdate: metadata", "in"),
    Row("CustomEvent a2a.history", "Task.history: what the agent said, in a Task that comes again", "in"),
    Row("CustomEvent a2a.artifact", "Artifact: without parts", "in"),
    Row("CustomEvent a2a.late", "anything after a terminal state", "in"),
    Row("CustomEvent a2a.request", "SendMessageRequest: configuration, tenant, metadata", "in"),
    Row("CustomEvent a2a.error", "JSON-RPC error", "in"),
    Row("CustomEvent a2a.unknown_fields", "fields that are none of A2A 1", "in"),
    Row("CustomEvent a2a.unread", "values of no known kind, and those of A2A 0.3", "in"),
)

DIALECT = Dialect(
    name="a2a",
    title="A2A 1.x (a2a-sdk 1.3.0)",
    recognise=is_a2a,
    decoder=A2ADecoder,
    encoder=A2AEncoder,
    read_messages=read_messages,
    write_messages=write_messages,
    mapping=MAPPING,
    losses=LOSSES,
    rules=RULES,
)
