"""A request as the pieces that a provider's cache sees, in the order in which it sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from toolsearch.session.providers.texts import is_reminder

Part = Literal[
    "core_tools",
    "deferred_tools",
    "own_tools",
    "system",
    "user",
    "assistant",
    "calls",
    "results",
    "search_answers",
    "announcements",
    "recommendations",
    "notes",
]
"""What a piece is: definitions of loaded tools, of inlined or injected ones, of search, proxy and final answer; the
system prompt; what users and the model said; calls; their results; answers of the search; names of deferred tools;
recommended tools; and notes, such as the one that stands for what was compacted."""

PARTS: tuple[Part, ...] = get_args(Part)

DEFINITIONS: tuple[Part, ...] = ("core_tools", "deferred_tools", "own_tools")
"""The parts that make up the tools array."""

ABOUT_TOOLS: tuple[Part, ...] = (*DEFINITIONS, "search_answers", "announcements", "recommendations")
"""Everything that tells the model about tools; what deferring is there to save."""


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a request.

    Attributes:
        part: What it is.
        label: The tool's name as it was sent, or what the piece is.
        text: What is counted and compared; the same text in another role is another piece.
        role: Whose it is: `tools`, `system`, `user`, `assistant` or `tool`.
        marked: A cache mark stands on it.
        tail: It is only in this request: the list of deferred tools at its end.
    """

    part: Part
    label: str
    text: str
    role: str
    marked: bool = False
    tail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What tells the pieces of a request apart.

    Attributes:
        groups: For each tool of the array, as it was sent: `core`, `deferred` or `own`.
        texts: The part of each text that a session has added, as it was sent.
        searches: The ids of the calls that are searches.
        tail: The text at the end of the request that is in no history; "" without one.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Part] = field(default_factory=dict)
    searches: frozenset[str] = frozenset()
    tail: str = ""


_GROUPS: Mapping[str, Part] = {"core": "core_tools", "deferred": "deferred_tools", "own": "own_tools"}


def blocks_of(api: str, payload: Mapping[str, Any], known: Known) -> tuple[Block, ...]:
    """The pieces of a request: tools, then the system prompt, then the messages.

    Args:
        api: The form of the request: one of `toolsearch.session.providers.PROVIDERS`.
        payload: As `Session.request` gives it.
        known: What tells the pieces apart.
    """
    blocks = list(_READERS[api](payload, known))
    if known.tail and blocks and blocks[-1].text == known.tail:
        last = blocks[-1]
        blocks[-1] = Block("announcements", last.label, last.text, last.role, last.marked, tail=True)
    return tuple(blocks)


def end_of_history(blocks: tuple[Block, ...]) -> int:
    """How many blocks stand up to the last cache mark; without marks, all but the tail.

    >>> tail = Block("announcements", "", "b", "user", tail=True)
    >>> end_of_history((Block("user", "", "a", "user", marked=True), tail))
    1
    """
    marks = [place for place, block in enumerate(blocks) if block.marked]
    if marks:
        return marks[-1] + 1
    return len(blocks) - 1 if blocks and blocks[-1].tail else len(blocks)


def _anthropic(payload: Mapping[str, Any], known: Known) -> Iterator[Block]:
    for tool in payload.get("tools", ()):
        yield _tool(tool, tool["name"], known)
    if system := payload.get("system"):
        yield Block("system", "system prompt", system, "system")
    for message in payload["messages"]:
        for block in message["content"]:
            marked = "cache_control" in block
            kind = block.get("type")
            if kind == "text":
                yield _text(block["text"], message["role"], known, marked)
            elif kind == "tool_use":
                yield _call(block["name"], block["input"], marked)
            elif kind == "tool_result":
                yield _result(block["tool_use_id"], _flat(block.get("content")), known, marked)
            else:
                yield Block("notes", str(kind), _json(_unmarked(block)), message["role"], marked)


def _openai_chat(payload: Mapping[str, Any], known: Known) -> Iterator[Block]:
    for tool in payload.get("tools", ()):
        yield _tool(tool, tool["function"]["name"], known)
    for message in payload["messages"]:
        role = message["role"]
        if role == "system":
            yield Block("system", "system prompt", _flat(message["content"]), "system")
        elif role == "tool":
            yield _result(message["tool_call_id"], _flat(message["content"]), known, False)
        else:
            if message.get("content"):
                yield _text(_flat(message["content"]), role, known, False)
            for call in message.get("tool_calls", ()):
                yield _call(call["function"]["name"], json.loads(call["function"]["arguments"]), False)


def _openai_responses(payload: Mapping[str, Any], known: Known) -> Iterator[Block]:
    for tool in payload.get("tools", ()):
        yield _tool(tool, tool["name"], known)
    if system := payload.get("instructions"):
        yield Block("system", "system prompt", system, "system")
    for item in payload["input"]:
        kind = item.get("type")
        if kind == "function_call":
            yield _call(item["name"], json.loads(item["arguments"]), False)
        elif kind == "function_call_output":
            yield _result(item["call_id"], _flat(item["output"]), known, False)
        else:
            yield _text(_flat(item["content"]), item["role"], known, False)


def _gemini(payload: Mapping[str, Any], known: Known) -> Iterator[Block]:
    config = payload.get("config", {})
    for group in config.get("tools", ()):
        for tool in group["function_declarations"]:
            yield _tool(tool, tool["name"], known)
    if system := config.get("system_instruction"):
        yield Block("system", "system prompt", system, "system")
    for content in payload["contents"]:
        role = "assistant" if content["role"] == "model" else "user"
        for part in content["parts"]:
            if "function_call" in part:
                yield _call(part["function_call"]["name"], part["function_call"].get("args") or {}, False)
            elif "function_response" in part:
                answer = part["function_response"]
                value = answer["response"]
                yield _result(str(answer.get("id", "")), _flat(value.get("output", value.get("error"))), known, False)
            else:
                yield _text(part["text"], role, known, False)


_READERS = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
}


def _tool(tool: Mapping[str, Any], name: str, known: Known) -> Block:
    part = _GROUPS[known.groups.get(name, "deferred")]
    return Block(part, name, _json(_unmarked(tool)), "tools", marked="cache_control" in tool)


def _text(text: str, role: str, known: Known, marked: bool) -> Block:
    part: Part = "user" if role == "user" else "assistant"
    if text in known.texts:
        part = known.texts[text]
    elif role == "user" and is_reminder(text):
        part = "notes"
    return Block(part, part, text, role, marked)


def _call(name: str, arguments: Any, marked: bool) -> Block:
    return Block("calls", f"call of {name}", call_text(name, arguments), "assistant", marked)


def call_text(name: str, arguments: Any) -> str:
    """A call as it is counted: its name and its arguments.

    >>> call_text("send", {"to": "a"})
    '{"name":"send","arguments":{"to":"a"}}'
    """
    return _json({"name": name, "arguments": arguments})


def _result(call: str, text: str, known: Known, marked: bool) -> Block:
    part: Part = "search_answers" if call in known.searches else "results"
    return Block(part, "answer of the search" if part == "search_answers" else "result", text, "tool", marked)


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(each.get("text", _json(_unmarked(each)))) for each in content)
    return _json(content)


def _unmarked(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key != "cache_control"}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
