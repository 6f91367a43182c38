"""
Streams of LangChain and what they mean: words and data are ours, numbers are those of the table of public bug reports.

A case is: values of the stream; the messages that they fold to, each as its blocks (kind, what it holds) and its reason to end; the
rules of severity warning or error that are broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire

#: Messages: blocks (kind, what it holds) and the reason to end, empty when it waits.
Messages = list[tuple[list[tuple[str, str]], str]]
Case = tuple[list[Any], Messages, list[str]]


def ai(content: Any = "", *pieces: Wire, **fields: Any) -> Wire:
    """Write a chunk."""
    return {
        "type": "AIMessageChunk",
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "id": "lc_run--1",
        "tool_call_chunks": [
            {"type": "tool_call_chunk", "name": None, "args": None, "id": None, "index": None, **piece} for piece in pieces
        ],
        **fields,
    }


LAST = ai(chunk_position="last")


def piece(index: Any = None, **fields: Any) -> Wire:
    """Write a chunk with one piece of a call."""
    return ai("", {"index": index, **fields})


#: Sequences of pieces of calls, the calls that they mean, and the rules that they break. Numbers are those of the bug table.
CALLS: dict[str, tuple[list[Wire], list[tuple[str, str, str]], list[str]]] = {
    "2 two pieces of one index in one chunk": (
        [ai("", {"index": 0, "id": "a", "name": "f", "args": ""}, {"index": 0, "args": '{"x":1}'})],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "3 the name in each piece": ([piece(0, id="a", name="f", args='{"x":'), piece(0, name="f", args="1}")], [("a", "f", '{"x":1}')], []),
    "4 the id in each piece": ([piece(0, id="a", name="f", args=""), piece(0, id="a", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "5 no index": ([piece(None, id="a", name="f", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "7 the index begins at 1": ([piece(1, id="a", name="f", args=""), piece(1, args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "8 the name comes after the id": ([piece(0, id="a", args=""), piece(0, name="f", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "9 empty id and name later": (
        [piece(0, id="a", name="f", args='{"x":'), piece(0, id="", name="", args="1}")],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "11 the index moves on, the id stays": (
        [piece(0, id="a", name="f", args=""), piece(1, id="a", args='{"x":1}')],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "12 gaps in the index": (
        [piece(2, id="a", name="f", args='{"x":1}'), piece(5, id="b", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "16 19 interleaved": (
        [
            piece(0, id="a", name="f", args='{"x":'),
            piece(1, id="b", name="g", args='{"y":'),
            piece(0, args="1}"),
            piece(1, args="2}"),
        ],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "19b parallel without index": (
        [piece(None, id="a", name="f", args='{"x":1}'), piece(None, id="b", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "19b a piece with nothing but arguments": (
        [piece(None, id="a", name="f", args='{"x":'), piece(None, args="1}")],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "19c no id at all": (
        [piece(0, name="f", args='{"x":'), piece(0, args="1}")],
        [("lc_run--1/call-1", "f", '{"x":1}')],
        ["langchain.call-without-id"],
    ),
    "19d the name again in the last piece": (
        [piece(0, id="a", name="f", args=""), piece(0, args='{"x":1'), piece(0, name="f", args="}")],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "19e the name in pieces": (
        [piece(0, id="a", name="get_"), piece(0, name="time"), piece(0, args='{"x":1}')],
        [("a", "get_time", '{"x":1}')],
        [],
    ),
    "19e the name in pieces, no arguments": (
        [piece(0, id="a", name="get_"), piece(0, name="time")],
        [("a", "get_time", "")],
        ["tool-call.no-arguments"],
    ),
    "the id comes late": ([piece(0, name="f", args='{"x":'), piece(0, id="a", args="1}")], [("a", "f", '{"x":1}')], []),
    "a new id with a name is a new call": (
        [piece(0, id="a", name="f", args='{"x":1}'), piece(0, id="b", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "a new id without a name is the same call": (
        [piece(0, id="a", name="f", args='{"x":'), piece(0, id="b", args="1}")],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "one id for two calls": (
        [piece(0, id="a", name="f", args='{"x":1}'), piece(1, id="a", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("a#1", "g", '{"y":2}')],
        ["langchain.repeated-call-id"],
    ),
    "20 null for arguments": ([piece(0, id="a", name="f", args=None), piece(0, args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "21 23 no arguments": ([piece(0, id="a", name="f", args="")], [("a", "f", "")], ["tool-call.no-arguments"]),
    "26 cut arguments": ([piece(0, id="a", name="f", args='{"path":"/a')], [("a", "f", '{"path":"/a')], ["langchain.broken-arguments"]),
    "33 arguments as an object": ([piece(0, id="a", name="f", args={"x": 1})], [("a", "f", '{"x": 1}')], []),
    "27 an object, then pieces": (
        [
            ai([{"type": "tool_use", "id": "a", "name": "f", "input": {}, "index": 1}], {"index": 1, "id": "a", "name": "f", "args": ""}),
            piece(1, args='{"x":1}'),
        ],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "no name": ([piece(0, id="a", args='{"x":1}')], [("a", "", '{"x":1}')], ["langchain.call-without-name"]),
    "calls only, no pieces": (
        [ai(tool_calls=[{"id": "a", "name": "f", "args": {"x": 1}}], tool_call_chunks=[])],
        [("a", "f", '{"x": 1}')],
        [],
    ),
    "calls that LangChain could not read": (
        [ai(invalid_tool_calls=[{"id": "a", "name": "f", "args": '{"x"', "error": "no"}], tool_call_chunks=[])],
        [("a", "f", '{"x"')],
        ["langchain.broken-arguments"],
    ),
    "calls where only OpenAI's own format has them": (
        [ai(additional_kwargs={"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}]})],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "a function of before there were tools": (
        [
            ai(additional_kwargs={"function_call": {"name": "f", "arguments": '{"x":'}}),
            ai(additional_kwargs={"function_call": {"arguments": "1}"}}),
        ],
        [("lc_run--1/call-1", "f", '{"x":1}')],
        ["langchain.call-without-id"],
    ),
    "OpenAI's item": (
        [ai([{"type": "function_call", "name": "f", "arguments": '{"x":1}', "call_id": "a", "id": "fc", "index": 0}])],
        [("a", "f", '{"x":1}')],
        [],
    ),
}


#: Streams of other kinds: what they fold to (kinds and texts of blocks, reason, usage), and the rules that they break.
STREAMS: dict[str, Case] = {
    "15 text between calls": (
        [ai("pre"), piece(0, id="a", name="f", args="{}"), ai("post"), LAST],
        [([("text", "pre"), ("tool_call", "{}"), ("text", "post")], "")],
        [],
    ),
    "thinking and text take turns": (
        [
            ai(additional_kwargs={"reasoning_content": "hm"}),
            ai("a"),
            ai(additional_kwargs={"reasoning_content": "oh"}),
            ai("b", chunk_position="last"),
        ],
        [([("thinking", "hm"), ("text", "a"), ("thinking", "oh"), ("text", "b")], "completed")],
        [],
    ),
    "35 reasoning_content": (
        [ai(additional_kwargs={"reasoning_content": "r"}), ai("a", chunk_position="last")],
        [([("thinking", "r"), ("text", "a")], "completed")],
        [],
    ),
    "one index, two kinds": (
        [ai([{"type": "thinking", "thinking": "t", "index": 0}]), ai([{"type": "text", "text": "a", "index": 0}]), LAST],
        [([("thinking", "t"), ("text", "a")], "completed")],
        [],
    ),
    "16 interleaved blocks": (
        [
            ai([{"type": "text", "text": "a", "index": 0}]),
            ai([{"type": "text", "text": "b", "index": 1}]),
            ai([{"type": "text", "text": "A", "index": 0}, {"type": "text", "text": "B", "index": 1}]),
            LAST,
        ],
        [([("text", "aA"), ("text", "bB")], "completed")],
        [],
    ),
    "a refusal": ([ai(additional_kwargs={"refusal": "no"}, chunk_position="last")], [([("text", "no")], "completed")], []),
    "44 nothing in a chunk": ([ai(), ai("a"), ai(), LAST], [([("text", "a")], "completed")], []),
    "45 no end": ([ai("a")], [([("text", "a")], "error")], ["langchain.truncated"]),
    "the reason to stop is the end": ([ai("a", response_metadata={"finish_reason": "stop"})], [([("text", "a")], "completed")], []),
    "58 two ends": ([ai("a"), LAST, LAST], [([("text", "a")], "completed")], ["langchain.after-end"]),
    "51 halves of a character": ([ai("x\ud83d"), ai("\ude00y", chunk_position="last")], [([("text", "x\U0001f600y")], "completed")], []),
    "half a character": ([ai("x\ud83d", chunk_position="last")], [([("text", "x\ufffd")], "completed")], []),
    "two messages": (
        [ai("a", chunk_position="last"), ai("b", id="lc_run--2", chunk_position="last")],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "two messages at once": (
        [ai("a"), ai("b", id="lc_run--2"), ai("A", chunk_position="last"), ai("B", id="lc_run--2", chunk_position="last")],
        [([("text", "aA")], "completed"), ([("text", "bB")], "completed")],
        [],
    ),
    "no ids": (
        [ai("a", id=None), ai("A", id=None, chunk_position="last"), ai("b", id=None, chunk_position="last")],
        [([("text", "aA")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "the provider's id, then LangChain's": ([ai("a", id="resp_1"), ai("b", chunk_position="last")], [([("text", "ab")], "completed")], []),
    "a whole message": ([{"type": "ai", "content": "a", "id": "m"}], [([("text", "a")], "completed")], []),
    "as messages_to_dict writes it": ([{"type": "ai", "data": {"content": "a", "id": "m"}}], [([("text", "a")], "completed")], []),
    "as dumpd writes it": (
        [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "a"}}],
        [([("text", "a")], "completed")],
        [],
    ),
    "a conversation": (
        [
            {"type": "system", "content": "be"},
            {
                "type": "human",
                "content": [{"type": "text", "text": "see"}, {"type": "image", "url": "https://e.org/a", "mime_type": "image/png"}],
            },
            {"type": "ai", "content": "a", "id": "m"},
        ],
        [([("text", "be")], "completed"), ([("text", "see"), ("data", "https://e.org/a")], "completed"), ([("text", "a")], "completed")],
        [],
    ),
    "chunks, then the message": (
        [ai("a", chunk_position="last"), {"type": "ai", "content": "a", "id": "lc_run--1"}],
        [([("text", "a")], "completed")],
        ["langchain.after-end"],
    ),
    "an error of the server": ([ai("a"), {"error": "Boom", "message": "it broke"}], [([("text", "a")], "error")], []),
    "bytes": (
        [
            ai(
                [
                    {"type": "image", "base64": "QUJD", "mime_type": "image/jpeg"},
                    {"type": "image_url", "image_url": {"url": "data:image/gif;base64,QUI="}},
                ]
            ),
            LAST,
        ],
        [([("data", "QUJD"), ("data", "QUI=")], "completed")],
        [],
    ),
    "no bytes": ([ai([{"type": "image", "base64": "!"}]), LAST], [([], "completed")], ["langchain.bad-data", "reply.no-visible-output"]),
    "a tool of the provider": (
        [
            ai([{"type": "server_tool_use", "id": "s", "name": "web", "input": {}, "index": 0}]),
            ai([{"type": "input_json_delta", "partial_json": '{"q":1}', "index": 0}]),
            ai([{"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"u": 1}], "index": 1}]),
            ai([{"type": "text", "text": "a", "index": 2}], chunk_position="last"),
        ],
        [([("tool_call", '{"q":1}'), ("tool_result", '[{"u": 1}]'), ("text", "a")], "completed")],
        [],
    ),
    "a tool of the provider that fails": (
        [
            ai([{"type": "server_tool_call", "id": "s", "name": "web", "args": {"q": 1}}]),
            ai([{"type": "server_tool_result", "tool_call_id": "s", "status": "error", "output": "no"}], chunk_position="last"),
        ],
        [([("tool_call", '{"q": 1}'), ("tool_result", "no")], "completed")],
        [],
    ),
    "OpenAI's search": (
        [ai([{"type": "web_search_call", "id": "s", "status": "completed", "action": {"query": "q"}, "index": 0}], chunk_position="last")],
        [([("tool_call", '{"query": "q"}'), ("tool_result", "")], "completed")],
        [],
    ),
    "a result for no call": (
        [{"type": "tool", "content": "x", "tool_call_id": "z"}, ai("a", chunk_position="last")],
        [([("text", "a")], "completed")],
        ["langchain.result-without-call"],
    ),
}


#: Usage in chunks, and what was used.
USAGE: dict[str, tuple[list[Wire], tuple[int, int, int, int]]] = {
    "one": ([{"input_tokens": 5, "output_tokens": 2, "input_token_details": {"cache_read": 3, "cache_creation": 1}}], (5, 2, 3, 1)),
    "31 input first, output last": ([{"input_tokens": 5, "output_tokens": 0}, {"input_tokens": 0, "output_tokens": 2}], (5, 2, 0, 0)),
    "29 30 all so far in each": ([{"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 5, "output_tokens": 4}], (5, 4, 0, 0)),
    "differences": ([{"input_tokens": 9, "output_tokens": 1}, *[{"input_tokens": 0, "output_tokens": 2}] * 3], (9, 7, 0, 0)),
    "nonsense": ([{"input_tokens": -1, "output_tokens": "many"}, {"input_tokens": True}], (0, 0, 0, 0)),
}


def event(name: str, run_id: str = "r", parents: tuple[str, ...] = (), **data: Any) -> Wire:
    """Write an event of astream_events v2."""
    return {
        "event": name,
        "run_id": run_id,
        "parent_ids": list(parents),
        "name": "n",
        "tags": [],
        "metadata": {"ls_model_name": "m"},
        "data": data,
    }


TOOL = {"type": "tool", "content": "out", "tool_call_id": "a", "name": "f", "status": "success"}
CALLING = ai("", {"index": 0, "id": "a", "name": "f", "args": "{}"})
#: Runs in astream_events v2.
RUNS: dict[str, Case] = {
    "an agent": (
        [
            event("on_chain_start", "R", input={}),
            event("on_chat_model_start", "m1", ("R",), input={}),
            event("on_chat_model_stream", "m1", ("R",), chunk=CALLING),
            event("on_chain_stream", "R", chunk=CALLING),
            event("on_chat_model_end", "m1", ("R",), output=CALLING),
            event("on_tool_start", "t", ("R",), input={}),
            event("on_tool_end", "t", ("R",), output=TOOL),
            event("on_chat_model_stream", "m2", ("R",), chunk=ai("done", id="lc_run--2")),
            event("on_chat_model_end", "m2", ("R",), output=ai("done", id="lc_run--2")),
            event("on_chain_end", "R", output={}),
        ],
        [([("tool_call", "{}"), ("tool_result", "out"), ("text", "done")], "completed")],
        [],
    ),
    "a model that does not stream": (
        [event("on_chat_model_start", input="x"), event("on_chat_model_end", output={"type": "ai", "content": "a"})],
        [([("text", "a")], "completed")],
        [],
    ),
    "an LLM": (
        [
            event("on_llm_start", input="x"),
            event("on_llm_stream", chunk={"text": "a"}),
            event("on_llm_end", output={"generations": [[{"text": "a"}]]}),
        ],
        [([("text", "a")], "completed")],
        [],
    ),
    "an LLM that does not stream": ([event("on_llm_end", output={"generations": [[{"text": "a"}]]})], [([("text", "a")], "completed")], []),
    "a tool that fails": (
        [
            event("on_chain_start", "R"),
            event("on_chat_model_stream", "m", ("R",), chunk=CALLING),
            event("on_chat_model_end", "m", ("R",), output=CALLING),
            event("on_tool_error", "t", ("R",), error="bad", tool_call_id="a", input={}),
            event("on_chain_end", "R"),
        ],
        [([("tool_call", "{}"), ("tool_result", "bad")], "completed")],
        [],
    ),
    "a run that fails": (
        [
            event("on_chain_start", "R"),
            event("on_chat_model_stream", "m", ("R",), chunk=ai("a")),
            event("on_chain_error", "R", error="bad"),
        ],
        [([("text", "a")], "error")],
        [],
    ),
    "a run that is cut": (
        [event("on_chain_start", "R"), event("on_chat_model_stream", "m", ("R",), chunk=ai("a", chunk_position="last"))],
        [([("text", "a")], "error")],
        ["langchain.truncated"],
    ),
    "two runs at once": (
        [
            event("on_chat_model_start", "x"),
            event("on_chat_model_start", "y"),
            event("on_chat_model_stream", "x", chunk=ai("a", id="i")),
            event("on_chat_model_stream", "y", chunk=ai("b", id="j")),
            event("on_chat_model_end", "x", output=ai("a", id="i")),
            event("on_chat_model_end", "y", output=ai("b", id="j")),
        ],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "a chunk after the end": (
        [
            event("on_chain_start", "R"),
            event("on_chat_model_end", "m", ("R",), output=ai("a")),
            event("on_chat_model_stream", "m", ("R",), chunk=ai("b")),
            event("on_chain_end", "R"),
        ],
        [([("text", "a")], "completed")],
        ["langchain.after-end"],
    ),
}


def meta(step: int = 1, **fields: Any) -> Wire:
    """Write the metadata of a chunk of a graph."""
    return {"langgraph_step": step, "langgraph_node": "agent", "langgraph_checkpoint_ns": f"agent:{step}", **fields}


END = {"chunk_position": "last"}
#: Streams of LangGraph.
GRAPHS: dict[str, Case] = {
    "messages and updates": (
        [
            ["messages", [{**CALLING, **END}, meta()]],
            ["updates", {"agent": {}}],
            ["messages", [TOOL, meta(2)]],
            ["messages", [ai("a", id="l2", **END), meta(3)]],
        ],
        [([("tool_call", "{}"), ("tool_result", "out"), ("text", "a")], "completed")],
        [],
    ),
    "taken apart": (
        ["messages", [{**CALLING, **END}, meta()], "updates", {"agent": {}}, "custom", 5, "messages", [TOOL, meta(2)]],
        [([("tool_call", "{}"), ("tool_result", "out")], "completed")],
        [],
    ),
    "one mode, taken apart": ([ai("a", **END), meta()], [([("text", "a")], "completed")], []),
    "with namespaces": ([[["sub:1"], "messages", [ai("a", **END), meta()]]], [([("text", "a")], "completed")], []),
    "with namespaces, taken apart": ([["sub:1"], "messages", [ai("a", **END), meta()]], [([("text", "a")], "completed")], []),
    "two nodes at once": (
        [
            [ai("a"), meta(1, langgraph_checkpoint_ns="x")],
            [ai("b", id="lc_run--2"), meta(1, langgraph_checkpoint_ns="y")],
            [ai("A", **END), meta(1, langgraph_checkpoint_ns="x")],
            [ai("B", id="lc_run--2", **END), meta(1, langgraph_checkpoint_ns="y")],
        ],
        [([("text", "aA"), ("text", "bB")], "completed")],
        [],
    ),
    "a second run": (
        [[ai("a", **END), meta(3)], [ai("b", id="l2", **END), meta(1)]],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "runs by their id": (
        [[ai("a", **END), meta(run_id="x")], [ai("b", id="l2", **END), meta(run_id="y")]],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "somebody says something": (
        [[ai("a", **END), meta()], [{"type": "human", "content": "and?"}, meta(2)], [ai("b", id="l2", **END), meta(3)]],
        [([("text", "a"), ("hint", "None"), ("text", "b")], "completed")],
        [],
    ),
    "a user is asked": (
        [[{**CALLING, **END}, meta()], ["updates", {"__interrupt__": [{"value": {"action_requests": [{"name": "f", "args": {}}]}}]}]],
        [([("tool_call", "{}")], "")],
        [],
    ),
    "cut": ([[ai("a"), meta()]], [([("text", "a")], "error")], ["langchain.truncated"]),
    "messages as far as they are": (
        [[ai("a")], [ai("ab")], [{"type": "ai", "content": "abc", "id": "lc_run--1"}], [ai("d", id="l2")]],
        [([("text", "abc")], "completed"), ([("text", "d")], "completed")],
        [],
    ),
    "what a server says first": ([{"run_id": "r", "attempt": 1}, [ai("a", **END), meta()]], [([("text", "a")], "completed")], []),
}


def said(seq: int, method: str, data: Any, *namespace: str) -> Wire:
    """Write an event of the agent protocol."""
    return {
        "type": "event",
        "event_id": str(seq),
        "seq": seq,
        "method": method,
        "params": {"namespace": list(namespace), "timestamp": 0, "data": data},
    }


def block(index: int, kind: str, **fields: Any) -> Wire:
    """Write an event of a block."""
    return {"event": f"content-block-{kind}", "index": index, **fields}


START = {"event": "message-start", "role": "ai", "id": "m"}
TEXT = [block(0, "start", content={"type": "text", "text": ""}), block(0, "delta", delta={"type": "text-delta", "text": "a"})]
DONE = [block(0, "finish", content={"type": "text", "text": "a"}), {"event": "message-finish"}]
CALL = [
    block(0, "start", content={"type": "tool_call_chunk", "id": "a", "name": "f", "args": ""}),
    block(0, "delta", delta={"type": "tool-call-delta", "args": "{}"}),
    block(0, "finish", content={"type": "tool_call", "id": "a", "name": "f", "args": {}}),
    {"event": "message-finish"},
]
#: Streams of the content-block protocol, bare and in envelopes.
PROTOCOL: dict[str, Case] = {
    "text": ([START, *TEXT, *DONE], [([("text", "a")], "completed")], []),
    "only the finish": (
        [START, block(0, "finish", content={"type": "text", "text": "a"}), {"event": "message-finish"}],
        [([("text", "a")], "completed")],
        [],
    ),
    "the finish goes on": (
        [START, *TEXT, block(0, "finish", content={"type": "text", "text": "ab"}), {"event": "message-finish"}],
        [([("text", "ab")], "completed")],
        [],
    ),
    "the finish differs": (
        [START, *TEXT, block(0, "finish", content={"type": "text", "text": "z"}), {"event": "message-finish"}],
        [([("text", "z")], "completed")],
        ["langchain.rewritten"],
    ),
    "one index, two kinds": (
        [
            START,
            block(0, "start", content={"type": "reasoning", "reasoning": ""}),
            block(0, "delta", delta={"type": "reasoning-delta", "reasoning": "r"}),
            block(0, "delta", delta={"type": "text-delta", "text": "a"}),
            {"event": "message-finish"},
        ],
        [([("thinking", "r"), ("text", "a")], "completed")],
        [],
    ),
    "arguments in snapshots": (
        [
            START,
            block(0, "start", content={"type": "tool_use", "id": "a", "name": "f", "input": ""}),
            *(
                block(0, "delta", delta={"type": "block-delta", "fields": {"type": "tool_call_chunk", "id": "a", "args": so_far}})
                for so_far in ('{"x"', '{"x":1}')
            ),
            {"event": "message-finish"},
        ],
        [([("tool_call", '{"x":1}')], "")],
        [],
    ),
    "deltas of before there were types": (
        [START, block(0, "delta", content_block={"type": "text", "text": "a"}), {"event": "message-finish"}],
        [([("text", "a")], "completed")],
        [],
    ),
    "bytes in deltas": (
        [
            START,
            block(0, "delta", delta={"type": "data-delta", "data": "QUJD"}),
            block(0, "finish", content={"type": "image", "mime_type": "image/png"}),
            {"event": "message-finish"},
        ],
        [([("data", "QUJD")], "completed")],
        [],
    ),
    "a call that cannot be read": (
        [
            START,
            *CALL[:1],
            block(0, "finish", content={"type": "invalid_tool_call", "id": "a", "name": "f", "args": "{", "error": "no"}),
            {"event": "message-finish"},
        ],
        [([("tool_call", "{")], "")],
        ["langchain.broken-arguments"],
    ),
    "no start": ([*TEXT, *DONE], [([("text", "a")], "completed")], ["langchain.no-start"]),
    "no finish": ([START, *TEXT], [([("text", "a")], "error")], ["langchain.truncated"]),
    "an error": ([START, *TEXT, {"event": "error", "message": "broke"}], [([("text", "a")], "error")], []),
    "a run": (
        [
            said(1, "lifecycle", {"event": "running", "graph_name": "g"}),
            *(said(2 + i, "messages", {**value, "run_id": "1"}, "model:1") for i, value in enumerate([START, *CALL])),
            said(10, "tools", {"event": "tool-started", "tool_call_id": "a", "tool_name": "f"}, "tools:1"),
            said(11, "tools", {"event": "tool-output-delta", "tool_call_id": "a", "delta": "ou"}, "tools:1"),
            said(12, "tools", {"event": "tool-finished", "tool_call_id": "a", "output": {"content": "out", "type": "tool"}}, "tools:1"),
            *(
                said(20 + i, "messages", {**value, "run_id": "2"}, "model:2")
                for i, value in enumerate([{**START, "id": "n"}, *TEXT, *DONE])
            ),
            said(30, "lifecycle", {"event": "completed"}),
        ],
        [([("tool_call", "{}"), ("tool_result", "out"), ("text", "a")], "completed")],
        [],
    ),
    "a tool told by its message alone": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value, "model:1") for i, value in enumerate([START, *CALL])),
            *(
                said(9 + i, "messages", value, "tools:1")
                for i, value in enumerate([{"event": "message-start", "role": "tool", "tool_call_id": "a"}, *TEXT, *DONE])
            ),
            said(30, "lifecycle", {"event": "completed"}),
        ],
        [([("tool_call", "{}"), ("tool_result", "a")], "completed")],
        [],
    ),
    "a tool that fails": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value, "model:1") for i, value in enumerate([START, *CALL])),
            said(10, "tools", {"event": "tool-error", "tool_call_id": "a", "message": "bad", "code": "c"}),
            said(30, "lifecycle", {"event": "completed"}),
        ],
        [([("tool_call", "{}"), ("tool_result", "bad")], "completed")],
        [],
    ),
    "a run that fails": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value) for i, value in enumerate([START, *TEXT])),
            said(9, "lifecycle", {"event": "failed", "error": "broke"}),
        ],
        [([("text", "a")], "error")],
        [],
    ),
    "a run that is cut": (
        [said(1, "lifecycle", {"event": "running"}), *(said(2 + i, "messages", value) for i, value in enumerate([START, *TEXT, *DONE]))],
        [([("text", "a")], "error")],
        ["langchain.truncated"],
    ),
    "only the messages": (
        [said(2 + i, "messages", value) for i, value in enumerate([START, *TEXT, *DONE])],
        [([("text", "a")], "completed")],
        [],
    ),
    "an event twice": (
        [
            said(2, "messages", START),
            said(3, "messages", TEXT[1]),
            said(3, "messages", TEXT[1]),
            *(said(4 + i, "messages", value) for i, value in enumerate(DONE)),
        ],
        [([("text", "a")], "completed")],
        ["langchain.no-start", "langchain.redelivered"],
    ),
    "a user is asked": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value) for i, value in enumerate([START, *CALL])),
            said(9, "input.requested", {"interrupt_id": "i", "payload": {"action_requests": [{"name": "f", "args": {}}]}}),
            said(10, "lifecycle", {"event": "interrupted"}),
        ],
        [([("tool_call", "{}")], "")],
        [],
    ),
}


FIRING: dict[str, list[Any]] = {
    "dialect.unfit": [5],
    "dialect.unknown": [{"what": 1}],
    "langchain.redelivered": PROTOCOL["an event twice"][0],
    "langchain.repeated-usage": [ai(usage_metadata={"input_tokens": 5, "output_tokens": 1})] * 2,
    "langchain.bad-data": STREAMS["no bytes"][0],
    "langchain.truncated": STREAMS["45 no end"][0],
    "langchain.after-end": STREAMS["58 two ends"][0],
    "langchain.result-without-call": STREAMS["a result for no call"][0],
    "langchain.rewritten": PROTOCOL["the finish differs"][0],
    "langchain.no-start": PROTOCOL["no start"][0],
    **{
        f"langchain.{rule}": [*chunks, LAST]
        for rule, (chunks, _, _) in {
            "call-without-id": CALLS["19c no id at all"],
            "call-without-name": CALLS["no name"],
            "repeated-call-id": CALLS["one id for two calls"],
            "broken-arguments": CALLS["26 cut arguments"],
        }.items()
    },
}
