"""Messages of ours and the requests that they are, by hand: what has which form, and what is lost."""

from __future__ import annotations

from typing import Any

from eventfold.dialects.openai_responses.request import (
    ALIEN,
    NO_RESULT,
    ORPHAN,
    SPEAKER,
    STATE,
    TRAILING,
    UNANSWERED,
    UNHEARD,
    UNSAYABLE,
)

Wire = dict[str, Any]


def msg(role: str, *content: Wire) -> Wire:
    """Write a message."""
    return {"id": "m", "name": role, "role": role, "created_at": "2026-01-01", "content": list(content)}


def text(said: str, **own: Any) -> Wire:
    """Write a text block."""
    return {"type": "text", "id": "t", "text": said, **({"x_openai": own} if own else {})}


def thinking(said: str, **own: Any) -> Wire:
    """Write a thinking block."""
    return {"type": "thinking", "id": "t", "thinking": said, **({"x_openai": own} if own else {})}


def call(name: str = "look", given: str = "{}", call_id: str = "c", state: str = "finished", **own: Any) -> Wire:
    """Write a tool call block."""
    return {"type": "tool_call", "id": call_id, "name": name, "input": given, "state": state, **({"x_openai": own} if own else {})}


def result(output: Any = "done", call_id: str = "c", state: str = "success", **more: Any) -> Wire:
    """Write a tool result block."""
    return {"type": "tool_result", "id": call_id, "name": "look", "output": output, "state": state, **more}


def data(media_type: str, name: str | None = None, **source: str) -> Wire:
    """Write a data block."""
    kind = "url" if "url" in source else "base64"
    block: Wire = {"type": "data", "id": "d", "source": {"type": kind, "media_type": media_type, **source}}
    return {**block, "name": name} if name else block


def said(role: str, *parts: Wire) -> Wire:
    """Write a message item."""
    return {"type": "message", "role": role, "content": list(parts)}


def asked(name: str = "look", given: str = "{}", call_id: str = "c", **more: Any) -> Wire:
    """Write a function call item."""
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": given, **more}


def answer(output: Any = "done", call_id: str = "c") -> Wire:
    """Write the item that answers a function call."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


HELLO: Wire = {"type": "input_text", "text": "hello"}
PNG = data("image/png", data="AAEC")
IMAGE: Wire = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAEC"}
OWN: Wire = {"type": "output_text", "id": "msg_1", "status": "completed"}
RS: Wire = {"type": "reasoning", "id": "rs_1"}
SHELL: Wire = {"type": "shell_call", "id": "sc", "status": "completed"}
LONG = "x" * 65

SAID: dict[str, tuple[list[Wire], list[Wire], list[str]]] = {
    "a user's text": ([msg("user", text("hello"), text(""))], [said("user", HELLO)], []),
    "nothing": ([msg("user"), msg("assistant", text("")), msg("system")], [], []),
    "a system's text": ([msg("system", text("hello"))], [said("system", HELLO)], []),
    "images and files": (
        [
            msg(
                "user",
                PNG,
                data("image/png", url="https://e.org/a"),
                data("application/pdf", "a.pdf", data="AAEC"),
                data("text/plain", data="AAEC"),
                data("application/pdf", url="https://e.org/b"),
                {"type": "image", "source": {"type": "url", "media_type": "image/*", "url": "u"}},
            )
        ],
        [
            said(
                "user",
                IMAGE,
                {**IMAGE, "image_url": "https://e.org/a"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAEC"},
                {"type": "input_file", "filename": "file.txt", "file_data": "data:text/plain;base64,AAEC"},
                {"type": "input_file", "file_url": "https://e.org/b"},
                {**IMAGE, "image_url": "u"},
            )
        ],
        [],
    ),
    "sound and pictures that move": (
        [
            msg(
                "user",
                text("hello"),
                data("audio/wav", data="AAEC"),
                {"type": "video", "source": {"type": "url", "media_type": "", "url": "u"}},
            )
        ],
        [said("user", HELLO)],
        [UNHEARD, UNHEARD],
    ),
    "an assistant's text of another provider": (
        [msg("assistant", text("a"), text("b"))],
        [{"type": "message", "role": "assistant", "content": "a"}, {"type": "message", "role": "assistant", "content": "b"}],
        [],
    ),
    "an assistant's text of this provider": (
        [msg("assistant", text("a", **OWN, phase="commentary", annotations=[]), text("b", **{**OWN, "type": "refusal"}))],
        [
            {
                "id": "msg_1",
                "status": "completed",
                "phase": "commentary",
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "b"}],
            }
        ],
        [],
    ),
    "thinking": (
        [
            msg(
                "assistant",
                thinking("one", **RS, summary_index=0, encrypted_content="s"),
                thinking("two", **RS, summary_index=1),
                thinking("raw", **RS, content_index=0),
                call(),
                result(),
            )
        ],
        [
            {
                **RS,
                "encrypted_content": "s",
                "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}],
                "content": [{"type": "reasoning_text", "text": "raw"}],
            },
            asked(),
            answer(),
        ],
        [],
    ),
    "thinking of another provider": (
        [msg("assistant", thinking("hm"), text("a"))],
        [{"type": "message", "role": "assistant", "content": "a"}],
        [ALIEN],
    ),
    "thinking that nothing follows": (
        [
            msg("assistant", thinking("", **RS)),
            msg("assistant", thinking("", **RS), {"type": "hint", "id": "h", "hint": "hello"}),
            msg("user", text("hello")),
        ],
        [said("user", HELLO), said("user", HELLO)],
        [TRAILING, TRAILING],
    ),
    "thinking that only an answer follows": (
        [msg("assistant", call(call_id="a", state="asking", type="mcp_approval_request", id="a", server_label="s"), thinking("", **RS))],
        [
            {"type": "mcp_approval_request", "id": "a", "server_label": "s", "name": "look", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": False, "reason": NO_RESULT},
        ],
        [UNANSWERED, TRAILING],
    ),
    "compacted context": (
        [msg("assistant", thinking("", type="compaction", id="cm_1", encrypted_content="s"))],
        [{"type": "compaction", "id": "cm_1", "encrypted_content": "s"}],
        [],
    ),
    "a hint": (
        [msg("assistant", {"type": "hint", "id": "h", "hint": [text("hello"), PNG, data("video/mp4", data="AAEC")], "source": "team"})],
        [said("user", HELLO, IMAGE)],
        [UNHEARD],
    ),
    "a call and its result": (
        [msg("assistant", call(given=""), result([text("done")]))],
        [asked(), answer()],
        [],
    ),
    "a result in a message of its own": (
        [
            msg("assistant", call(type="function_call", id="fc_1", status="completed")),
            {**msg("tool", result([text("a"), text("b"), PNG])), "role": "tool"},
        ],
        [asked(id="fc_1", status="completed"), answer([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}, IMAGE])],
        [],
    ),
    "a result that failed": ([msg("assistant", call(), result(state="error"))], [asked(), answer()], [STATE]),
    "a result with sound": ([msg("assistant", call(), result([data("audio/wav", data="AAEC")]))], [asked(), answer("")], [UNHEARD]),
    "a call that nobody answered": (
        [msg("assistant", call(state="submitted")), msg("user", text("hello"))],
        [asked(), answer(NO_RESULT), said("user", HELLO)],
        [UNANSWERED],
    ),
    "a result that nobody asked for": (
        [msg("assistant", call(), result(), result(call_id="z"), result())],
        [asked(), answer()],
        [ORPHAN, ORPHAN],
    ),
    "two calls of one id": (
        [msg("assistant", call(), call(given="[2]"), result("1"), result("2"))],
        [asked(), asked(given="[2]", call_id="c#2"), answer("1"), answer("2", "c#2")],
        [],
    ),
    "an id that is too long": (
        [msg("assistant", call(call_id=LONG), result(call_id=LONG))],
        [asked(call_id="call_9537c5fdf120482f7d58d25e9ed583f52c02b4e3"), answer(call_id="call_9537c5fdf120482f7d58d25e9ed583f52c02b4e3")],
        [],
    ),
    "a custom call": (
        [msg("assistant", call(given="", type="custom_tool_call", id="ct_1"), result())],
        [
            {"type": "custom_tool_call", "id": "ct_1", "call_id": "c", "name": "look", "input": ""},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "done"},
        ],
        [],
    ),
    "what the provider ran": (
        [
            msg(
                "assistant",
                call("file_search", '{"queries":["q"]}', "fs_1", type="file_search_call", id="fs_1", status="completed"),
                result([text('[{"file_id":"f"}]')], "fs_1"),
                call("ask", "", "mcp_1", type="mcp_call", id="mcp_1", server_label="s", status="completed"),
                result([text("yes")], "mcp_1"),
                call(
                    "code_interpreter",
                    '{"code":"1"}',
                    "ci_1",
                    type="code_interpreter_call",
                    id="ci_1",
                    container_id="x",
                    status="interpreting",
                ),
                result([], "ci_1", state="interrupted"),
            )
        ],
        [
            {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": [{"file_id": "f"}]},
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "server_label": "s",
                "status": "completed",
                "name": "ask",
                "arguments": "{}",
                "output": "yes",
            },
            {"type": "code_interpreter_call", "id": "ci_1", "container_id": "x", "status": "interpreting", "code": "1", "outputs": None},
        ],
        [],
    ),
    "an approval": (
        [
            msg("assistant", call(call_id="a", state="allowed", type="mcp_approval_request", id="a", server_label="s")),
            msg("assistant", call(call_id="b", type="mcp_approval_request", id="b", server_label="s"), result("no", "b", "denied")),
            msg("assistant", call(call_id="d", state="asking", type="mcp_approval_request", id="d", server_label="s")),
            msg("assistant", call(call_id="e", type="mcp_approval_request", id="e", server_label="s"), result("ran", "e")),
        ],
        [
            {"type": "mcp_approval_request", "id": "a", "server_label": "s", "name": "look", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
            {"type": "mcp_approval_request", "id": "b", "server_label": "s", "name": "look", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "b", "approve": False, "reason": "no"},
            {"type": "mcp_approval_request", "id": "d", "server_label": "s", "name": "look", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "d", "approve": False, "reason": NO_RESULT},
            asked(call_id="e"),
            answer("ran", "e"),
        ],
        [UNANSWERED],
    ),
    "a shell": (
        [
            msg("assistant", call("shell", '{"action":{"commands":["ls"]}}', **SHELL), result("a.txt")),
            msg("assistant", call("shell", '{"action":{"commands":["ls"]}}', **SHELL), result("no", state="error")),
        ],
        [
            {**SHELL, "call_id": "c", "action": {"commands": ["ls"]}},
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
            },
            {**SHELL, "call_id": "c", "action": {"commands": ["ls"]}},
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "no", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}],
            },
        ],
        [],
    ),
    "a local shell and a patch": (
        [
            msg(
                "assistant",
                call(
                    "local_shell",
                    '{"action":{"type":"exec","command":["ls"],"env":{}}}',
                    type="local_shell_call",
                    id="l",
                    status="completed",
                ),
                result("a"),
            ),
            msg(
                "assistant",
                call("apply_patch", '{"operation":{"type":"delete_file","path":"a"}}', type="apply_patch_call", id="p", status="completed"),
                result("b"),
            ),
        ],
        [
            {
                "type": "local_shell_call",
                "id": "l",
                "call_id": "c",
                "status": "completed",
                "action": {"type": "exec", "command": ["ls"], "env": {}},
            },
            {"type": "local_shell_call_output", "id": "c", "output": "a"},
            {
                "type": "apply_patch_call",
                "id": "p",
                "call_id": "c",
                "status": "completed",
                "operation": {"type": "delete_file", "path": "a"},
            },
            {"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "b"},
        ],
        [],
    ),
    "a screen": (
        [
            msg(
                "assistant",
                call("computer", '{"action":{"type":"screenshot"}}', type="computer_call", id="cu", status="completed"),
                result([PNG]),
            )
        ],
        [
            {
                "type": "computer_call",
                "id": "cu",
                "call_id": "c",
                "status": "completed",
                "pending_safety_checks": [],
                "action": {"type": "screenshot"},
            },
            {
                "type": "computer_call_output",
                "call_id": "c",
                "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAEC"},
            },
        ],
        [],
    ),
    "a screen that nobody looked at": (
        [
            msg("assistant", call("computer", "{}", type="computer_call", id="cu", status="completed"), result("no picture")),
            msg("assistant", call("computer", "{}", type="computer_call", id="cu", status="completed")),
        ],
        [],
        [UNSAYABLE, UNSAYABLE],
    ),
    "an image that the provider made": (
        [msg("assistant", {**PNG, "x_openai": {"type": "image_generation_call", "id": "ig_1", "status": "completed"}})],
        [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAEC"}],
        [],
    ),
    "data of the assistant": ([msg("assistant", PNG, data("video/mp4", url="u"))], [said("user", IMAGE)], [SPEAKER, UNHEARD]),
}

_TOOL: Wire = {"type": "function", "name": "f", "parameters": {}, "strict": True}
_RAN: Wire = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}

#: Output items that go back as they came.
ITEMS: dict[str, list[Wire]] = {
    "a shell of the provider": [
        {**SHELL, "call_id": "c", "action": {"commands": ["ls"]}, "environment": {"type": "container_reference", "container_id": "x"}},
        {"type": "shell_call_output", "id": "so", "call_id": "c", "status": "completed", "max_output_length": 9, "output": [_RAN]},
    ],
    "a shell of the client": [{**SHELL, "call_id": "c", "action": {"commands": ["ls"]}, "environment": {"type": "local"}}],
    "a search for tools": [
        {
            "type": "tool_search_call",
            "id": "ts",
            "call_id": "c",
            "execution": "server",
            "status": "completed",
            "arguments": {"paths": ["a"]},
        },
        {"type": "tool_search_output", "id": "to", "call_id": "c", "execution": "server", "status": "completed", "tools": [_TOOL]},
    ],
    "a search for tools without ids": [
        {"type": "tool_search_call", "id": "ts", "execution": "server", "status": "completed", "arguments": {}},
        {"type": "tool_search_output", "id": "to", "execution": "server", "status": "completed", "tools": []},
    ],
    "a program": [
        {"type": "program", "id": "p", "call_id": "c", "code": "1+1", "fingerprint": "x"},
        {"type": "program_output", "id": "po", "call_id": "c", "status": "completed", "result": "2"},
    ],
    "the answer of an earlier program": [{"type": "program_output", "id": "po", "call_id": "c", "status": "completed", "result": "2"}],
    "a list of tools": [
        {"type": "mcp_list_tools", "id": "ml", "server_label": "s", "tools": [{"name": "f", "input_schema": {"default": None}}]}
    ],
    "a list of tools that failed": [{"type": "mcp_list_tools", "id": "ml", "server_label": "s", "tools": [], "error": "no"}],
    "a call that failed": [
        {
            "type": "mcp_call",
            "id": "m",
            "name": "f",
            "server_label": "s",
            "arguments": "{}",
            "status": "failed",
            "error": {"type": "http_error", "code": 500, "message": "no"},
        }
    ],
    "a search": [{"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "open_page", "url": None}}],
    "a search that found nothing": [{"type": "file_search_call", "id": "f", "status": "completed", "queries": [], "results": []}],
    "code": [
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "container_id": "x",
            "status": "completed",
            "code": "1",
            "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "u"}],
        }
    ],
    "a patch": [
        {
            "type": "apply_patch_call",
            "id": "ap",
            "call_id": "c",
            "status": "completed",
            "operation": {"type": "create_file", "path": "a", "diff": "+a"},
        }
    ],
    "a local shell": [
        {
            "type": "local_shell_call",
            "id": "l",
            "call_id": "c",
            "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}},
        }
    ],
    "an image that failed": [{"type": "image_generation_call", "id": "ig", "status": "failed", "result": ""}],
    "compacted context": [{"type": "compaction", "id": "cm", "encrypted_content": "s"}],
    "more tools": [{"type": "additional_tools", "id": "at", "role": "developer", "tools": [_TOOL]}],
}
