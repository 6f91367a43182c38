"""The rules of MCP that a stream of its messages may break. What each means stands beside it."""

from __future__ import annotations

from eventfold.dialects.translation import COMMON, rule

from .results import NO_CONTENT, NOT_BASE64, UNKNOWN_CONTENT

BATCH = "mcp.batch"
REUSED_ID = "mcp.request-id-reused"
REUSED_TOKEN = "mcp.progress-token-reused"  # noqa: S105  a progress token
NO_REQUEST = "mcp.response-without-request"
REPEATED_RESPONSE = "mcp.repeated-response"
LATE_RESPONSE = "mcp.response-after-cancel"
UNANSWERED = "mcp.unanswered"
UNKNOWN_REQUEST = "mcp.cancelled-unknown-request"
UNKNOWN_TOKEN = "mcp.unknown-progress-token"  # noqa: S105  a progress token
LATE_PROGRESS = "mcp.late-progress"
PROGRESS_NOT_INCREASING = "mcp.progress-not-increasing"
UNKNOWN_LEVEL = "mcp.unknown-log-level"
LOG_NOT_REQUESTED = "mcp.log-not-requested"
RETRY_WITHOUT_REQUEST = "mcp.retry-without-request"
STATE_NOT_ECHOED = "mcp.state-not-echoed"

RULES = {
    **COMMON,
    BATCH: rule(
        "warning",
        "Messages come in a batch",
        "Revision 2025-06-18 has taken batches out, and the SDK refuses them. Each message is read as if it had come alone.",
    ),
    REUSED_ID: rule(
        "error",
        "A request has an id that was used",
        "A response could belong to either. One that is the same word by word and still waits is dropped; any other is a call of its own, "
        "and the response belongs to the newest.",
    ),
    REUSED_TOKEN: rule(
        "error",
        "A progress token belongs to a request that waits",
        "Tokens are unique among the requests that wait; progress is taken for the newest.",
    ),
    NO_REQUEST: rule(
        "error",
        "A response without a request",
        "Nobody asked, or the log begins too late. The result of a tool is kept, with a call that has no name; all else in a CUSTOM event.",
    ),
    REPEATED_RESPONSE: rule(
        "error", "A second response", "A request has one response. The first counts; this one is kept in a CUSTOM event."
    ),
    LATE_RESPONSE: rule(
        "warning",
        "A response to a request that was cancelled",
        "It may have crossed the cancellation, and whoever cancelled ignores it. It is kept in a CUSTOM event.",
    ),
    UNANSWERED: rule(
        "warning",
        "The stream stops and a request has no response",
        "The log was cut, or the server is gone. A call that waits leaves its reply open.",
    ),
    UNKNOWN_REQUEST: rule(
        "warning",
        "What is cancelled does not wait",
        "It may have crossed the response. Nothing is changed by it.",
    ),
    UNKNOWN_TOKEN: rule(
        "error",
        "Progress with a token that no request gave",
        "Only the requestor makes tokens; a server that makes its own reaches nobody. It is kept, without a call.",
    ),
    LATE_PROGRESS: rule(
        "warning",
        "Progress after the response",
        "It must stop then, but the last one may cross the response. A client ignores it; it is kept.",
    ),
    PROGRESS_NOT_INCREASING: rule(
        "error",
        "Progress does not increase",
        "Each value must be greater than the one before, also when the total is not known: a bar would jump back.",
    ),
    UNKNOWN_LEVEL: rule("error", "A log of no known level", "There are eight levels, those of syslog. It is kept."),
    LOG_NOT_REQUESTED: rule(
        "warning",
        "A log that nobody asked for",
        "Since revision 2026-07-28 a server may log only for a request that says a level in its _meta.",
    ),
    RETRY_WITHOUT_REQUEST: rule(
        "warning",
        "A retry of what did not ask for more",
        "Answers and state belong to an earlier result that asked for them; it is not in this stream. It is read as a call of its own.",
    ),
    STATE_NOT_ECHOED: rule(
        "error",
        "A retry does not give back the state",
        "The server has put into requestState what it needs to go on; it must come back as it was, and only if there was one.",
    ),
    NO_CONTENT: rule(
        "error", "A result without content", "content must be there, and be an array, if it is an empty one. It is read as empty."
    ),
    UNKNOWN_CONTENT: rule(
        "error",
        "Content of a type that MCP does not have",
        "The SDK refuses the whole result because of it. Here it becomes a text with its JSON, and the rest stays what it is.",
    ),
    NOT_BASE64: rule(
        "error",
        "Bytes that are not base64",
        "White space inside is taken out; anything else is kept as it is, in a data block whose bytes nobody can decode.",
    ),
}
