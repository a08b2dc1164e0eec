"""What the scripted model answers, in the form in which each provider's client gives a response."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One call of a reply.

    Attributes:
        id: Unique in the conversation.
        name: The tool as the provider calls it.
        arguments: Its arguments.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]


def response(api: str, text: str, calls: Sequence[ScriptedCall]) -> dict[str, Any]:
    """A response.

    Args:
        api: One of `toolsearch.session.providers.PROVIDERS`.
        text: What is said; may be empty.
        calls: What is called, in order.

    >>> response("gemini", "Hi.", [])
    {'candidates': [{'content': {'role': 'model', 'parts': [{'text': 'Hi.'}]}}]}
    """
    return _MAKERS[api](text, calls)


def _anthropic(text: str, calls: Sequence[ScriptedCall]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": each.id, "name": each.name, "input": dict(each.arguments)} for each in calls]
    return {"role": "assistant", "content": content}


def _openai_chat(text: str, calls: Sequence[ScriptedCall]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": _json(each.arguments)}}
            for each in calls
        ]
    return {"choices": [{"index": 0, "message": message}]}


def _openai_responses(text: str, calls: Sequence[ScriptedCall]) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if text:
        output.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
    output += [
        {"type": "function_call", "call_id": each.id, "name": each.name, "arguments": _json(each.arguments)}
        for each in calls
    ]
    return {"output": output}


def _gemini(text: str, calls: Sequence[ScriptedCall]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [{"function_call": {"id": each.id, "name": each.name, "args": dict(each.arguments)}} for each in calls]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


_MAKERS = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
}


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), ensure_ascii=False, separators=(",", ":"))
