"""Making messages by hand, and reading them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from pydantic import ValidationError

import eventfold
from eventfold import assistant_msg, get_content_blocks, get_text_content, has_content_blocks, system_msg, tool_msg, user_msg
from eventfold.jsonvalue import is_object
from eventfold.models import MSG, AssistantMsg, DataBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, URLSource
from eventfold.wire.schema import errors

CALL = ToolCallBlock(id="c1", name="search", input="{}")
RESULT = ToolResultBlock(id="c1", name="search", output="found", state="success")
PICTURE = DataBlock(id="d1", source=URLSource(url="https://example.com/a.png", media_type="image/png"))


def test_a_plain_string_becomes_one_text_block() -> None:
    """user_msg("alice", "hi") is a whole message: id, time, one TextBlock."""
    message = user_msg("alice", "hi")
    assert (message.name, message.role, message.get_text_content()) == ("alice", "user", "hi")
    assert datetime.fromisoformat(message.created_at).tzinfo is not None
    assert message.finished_at == message.created_at
    assert errors(message.model_dump(), "UserMsg") == []
    assert message.id != user_msg("alice", "hi").id


def test_what_is_given_is_kept() -> None:
    """Id, times and metadata may be given, and unknown names go along as extensions."""
    message = assistant_msg("bob", [CALL], id="r1", created_at="2026-01-01", metadata={"k": None}, x_trace="t")
    assert message.model_dump() == {
        "name": "bob",
        "id": "r1",
        "created_at": "2026-01-01",
        "metadata": {"k": None},
        "role": "assistant",
        "content": [{"type": "tool_call", "id": "c1", "name": "search", "input": "{}", "state": "pending"}],
        "x_trace": "t",
    }


@pytest.mark.parametrize(
    ("make", "block", "role"),
    [
        (user_msg, CALL, "UserMsg"),
        (user_msg, ThinkingBlock(id="k", thinking="hm"), "UserMsg"),
        (system_msg, PICTURE, "SystemMsg"),
        (tool_msg, PICTURE, "ToolMsg"),
        (assistant_msg, {"type": "image", "source": {"type": "url", "url": "u", "media_type": "m"}}, "AssistantMsg"),
    ],
)
def test_a_block_that_the_role_forbids_is_refused(make: Any, block: Any, role: str) -> None:
    """The error is pydantic's, and names the place of the block, the block and the role's class."""
    with pytest.raises(ValidationError) as caught:
        make("n", [block])
    said = str(caught.value)
    kind: str = block["type"] if is_object(block) else block.type
    assert f"for {role}" in said
    assert "content.0" in said
    assert f"a {kind} block cannot stand in a message of the role {role.removesuffix('Msg').lower()}, which holds only" in said


def test_each_role_takes_its_blocks() -> None:
    """What the role allows is taken as it is."""
    assert user_msg("a", [TextBlock(id="t", text="see"), PICTURE]).has_content_blocks("data")
    assert system_msg("s", "be kind").role == "system"
    assert tool_msg("tools", [RESULT]).get_content_blocks("tool_result") == [RESULT]
    assert assistant_msg("b", [CALL, RESULT]).finished_at is None


def test_reading_helpers_as_methods_and_functions() -> None:
    """Blocks are read by kind or kinds, texts are joined, and no text is None rather than empty."""
    message: AssistantMsg = assistant_msg("b", [TextBlock(id="1", text="one"), CALL, TextBlock(id="2", text="two")])
    assert get_text_content(message) == message.get_text_content() == "one\ntwo"
    assert get_text_content(message, " ") == "one two"
    assert get_text_content(assistant_msg("b", [CALL])) is None
    assert get_text_content(assistant_msg("b", "")) == ""
    assert get_content_blocks(message, "tool_call") == [CALL]
    assert len(get_content_blocks(message)) == len(get_content_blocks(message, ["text", "tool_call"])) == 3
    assert has_content_blocks(message, "tool_call")
    assert not has_content_blocks(message, ["thinking", "data"])
    assert not has_content_blocks(assistant_msg("b", []))


def test_null_and_absent_mean_the_same() -> None:
    """A model reads null as absent, falls back to the default, and writes neither null nor what was absent."""
    call = '{"type":"tool_call","id":"c","name":"n","input":"","state":null}'
    text = f'{{"role":"assistant","name":"b","id":"1","created_at":"t","usage":null,"content":[{call}]}}'
    message = MSG.validate_json(text)
    assert message.content[0].state == "pending"
    assert "null" not in MSG.dump_json(message).decode()


def test_unknown_names_of_the_package_are_refused() -> None:
    """A name that the package does not have is an AttributeError, as anywhere."""
    with pytest.raises(AttributeError, match="unfolded"):
        _ = eventfold.unfolded  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]  that is the test
