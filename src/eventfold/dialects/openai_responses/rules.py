"""What is remarked on: the rules of the provider's protocol that a stream can break."""

from __future__ import annotations

from eventfold.dialects.translation import COMMON, rule

NAME = "openai_responses"
CUSTOM = f"{NAME}."
_AREA = "openai-responses."

NOT_CREATED = _AREA + "not-created"
CREATED_AGAIN = _AREA + "created-again"
ANOTHER_ID = _AREA + "another-id"
REPEATED_ID = _AREA + "repeated-id"
TRUNCATED = _AREA + "truncated"
AFTER_END = _AREA + "after-end"
REDELIVERED = _AREA + "redelivered"
GAP = _AREA + "gap"
UNADDED = _AREA + "item-not-added"
TAKEN = _AREA + "place-taken"
DIFFERS = _AREA + "final-differs"
UNFINISHED = _AREA + "item-not-done"
NAMELESS = _AREA + "call-without-name"
NO_ID = _AREA + "call-without-id"
UNPAIRED = _AREA + "answer-without-call"
NEW_ITEM = _AREA + "unknown-item"
SURROGATE = _AREA + "split-surrogate"
NO_COUNT = _AREA + "not-a-count"
NOT_BASE64 = _AREA + "not-base64"

RULES = {
    **COMMON,
    NOT_CREATED: rule(
        "warning",
        "A response goes on that was never created",
        "The stream was joined late, or its beginning is lost. What comes is kept; the vendor's SDK refuses it.",
    ),
    CREATED_AGAIN: rule(
        "warning",
        "A response is created twice",
        "A gateway repeats the beginning. The response goes on as one; the vendor's SDK refuses it.",
    ),
    ANOTHER_ID: rule(
        "warning",
        "An id changes while the stream runs",
        "Some gateways give every event new ids. Places in the output tell items apart, so nothing is lost, but an id that "
        "changes cannot be referred to. The vendor's SDK refuses it.",
    ),
    REPEATED_ID: rule(
        "error",
        "An id stands for two things",
        "Two calls of a response, or two responses, have one id. The second gets a number, so that both are kept.",
    ),
    TRUNCATED: rule(
        "error",
        "The stream stops before the response has ended",
        "No response.completed, .incomplete or .failed came. What came is kept, and the reply ends as an error.",
    ),
    AFTER_END: rule(
        "error",
        "An event for a response or an item that has ended",
        "The protocol has nothing after the end. It is dropped.",
    ),
    REDELIVERED: rule(
        "warning",
        "An event is delivered again",
        "A background stream that is joined again may repeat events. They are told by sequence_number and count once.",
    ),
    GAP: rule(
        "warning",
        "Events are missing",
        "sequence_number leaves numbers out. What was lost may come with the items' final values.",
    ),
    UNADDED: rule(
        "error",
        "Content for an item that was not added",
        "The item is made up from the event. The vendor's SDK refuses it.",
    ),
    TAKEN: rule(
        "error",
        "Two items have one place in the output",
        "The same item again is ignored; another one begins, and the one before is taken to be done. The vendor's SDK refuses both.",
    ),
    DIFFERS: rule(
        "warning",
        "A final value is not what its deltas say",
        "Of a text, the final value counts. Arguments and thinking cannot be replaced: the deltas count, and the final value "
        "stands in x_openai.",
    ),
    UNFINISHED: rule(
        "warning",
        "A response is complete and an item of it is not",
        "output_item.done is missing. A call whose arguments may be cut is not handed out. The vendor's SDK refuses it.",
    ),
    NAMELESS: rule("error", "A call without a name", "Nobody can run it. It is kept in a CUSTOM event."),
    NO_ID: rule("warning", "A call without an id", "An id is derived, but the provider will not know it."),
    UNPAIRED: rule(
        "note",
        "An answer for a call of another response",
        "It is kept as it is, in the x_openai of an empty thinking block, so that it goes back with the next request.",
    ),
    NEW_ITEM: rule(
        "note",
        "An output item of a kind that is not known",
        "It is kept as it is, in the x_openai of an empty thinking block, so that it goes back with the next request.",
    ),
    SURROGATE: rule(
        "warning",
        "Half of a surrogate pair",
        "The other half never came. U+FFFD stands in its place.",
    ),
    NO_COUNT: rule("warning", "A number of tokens that is no count", "Counts are whole numbers from 0 to 2^53-1. It is left out."),
    NOT_BASE64: rule(
        "error",
        "Bytes that are not base64",
        "An image or a piece of sound cannot be decoded. An image stands in the x_openai of an empty thinking block, "
        "sound in a CUSTOM event.",
    ),
}
