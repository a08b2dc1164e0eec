"""The four APIs as they are seen from outside: their answers, the types of their clients and the rules of their servers."""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from toolsearch.session.providers import PROVIDERS, Provider, provider_for

Call = tuple[str, str, Any]
"""Id, name at the provider, arguments."""

UNIONS = {"oneOf", "anyOf", "allOf"}
FORBIDDEN = ("tool_reference", "defer_loading", "betas", "anthropic_beta")


def blank(text: Any) -> bool:
    """Whether there is nothing to read."""
    return not isinstance(text, str) or not text.strip()


@functools.cache
def adapter(module: str, name: str) -> TypeAdapter[Any]:
    """Checks values against a typed dict of a client; they take a while to make."""
    return TypeAdapter(getattr(importlib.import_module(module), name))


def unrolled(value: Any) -> Any:
    """What pydantic made of a typed dict, with its lazy iterables read."""
    if isinstance(value, dict):
        return {key: unrolled(inner) for key, inner in value.items()}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return [unrolled(inner) for inner in value]


def keys_within(value: Any) -> Iterator[str]:
    """Every key of a JSON value, and every `type`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            if key == "type" and isinstance(inner, str):
                yield inner
            yield from keys_within(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_within(inner)


def schema_complaints(schema: Any, refused: set[str]) -> Iterator[str]:
    """What a provider says against the schema of a tool's parameters."""
    if schema.get("type") != "object":
        yield "the top-level type is not object"
    if refused & schema.keys():
        yield f"refused at the top: {refused & schema.keys()}"
    if any(True for _ in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)):
        yield "not a schema of draft 2020-12"


class Voice:
    """One API: what it answers, and what it refuses."""

    name = ""
    names = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    refused = UNIONS | {"enum", "const", "not"}

    @property
    def provider(self) -> Provider:
        """The provider under test."""
        return provider_for(self.name)

    def answer(self, text: str, calls: Sequence[Call] = ()) -> dict[str, Any]:
        """The body of a response that says a text and makes calls."""
        raise NotImplementedError

    def typed(self, payload: dict[str, Any]) -> None:
        """Raise unless the payload is what the client's own types describe, without any other key."""
        raise NotImplementedError

    def flat(self, payload: dict[str, Any]) -> list[Any]:
        """The conversation as the model reads it: one element after the other, without cache marks."""
        raise NotImplementedError

    def tools(self, payload: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
        """Name, description and schema of each tool."""
        raise NotImplementedError

    def conversation(self, payload: dict[str, Any]) -> Iterator[str]:
        """What the server says against the messages."""
        raise NotImplementedError

    def complaints(self, payload: dict[str, Any]) -> list[str]:
        """All that the server says against a request; nothing when it accepts it."""
        found = [f"holds {key}" for key in FORBIDDEN if key in set(keys_within(payload))]
        tools = self.tools(payload)
        names = [name for name, _, _ in tools]
        found += [f"the name {name!r}" for name in names if not self.names.fullmatch(name)]
        found += ["two tools of one name"] * (len(names) - len(set(names)))
        for name, _, schema in tools:
            found += [f"{name}: {complaint}" for complaint in schema_complaints(schema, self.refused)]
        return found + list(self.conversation(payload))


class AnthropicVoice(Voice):
    """Anthropic Messages."""

    name = "anthropic"
    names = re.compile(r"[a-zA-Z0-9_-]{1,128}")
    refused = UNIONS

    def answer(self, text: str, calls: Sequence[Call] = ()) -> dict[str, Any]:
        """As `POST /v1/messages`."""
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text, "citations": None}] if text else []
        blocks += [{"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]} for call in calls]
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def typed(self, payload: dict[str, Any]) -> None:
        """By `MessageCreateParams`."""
        assert (
            unrolled(
                adapter("anthropic.types.message_create_params", "MessageCreateParamsNonStreaming").validate_python(
                    payload
                )
            )
            == payload
        )

    def flat(self, payload: dict[str, Any]) -> list[Any]:
        """Role and block."""
        return [
            (message["role"], {key: value for key, value in block.items() if key != "cache_control"})
            for message in payload["messages"]
            for block in message["content"]
        ]

    def tools(self, payload: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
        """From `tools`."""
        return [(tool["name"], tool.get("description", ""), tool["input_schema"]) for tool in payload.get("tools", [])]

    def conversation(self, payload: dict[str, Any]) -> Iterator[str]:
        """Roles in turn, results first and complete, nothing blank, at most four marks."""
        if json.dumps(payload).count('"cache_control"') > 4:
            yield "more than four cache marks"
        for _, _, schema in self.tools(payload):
            if not all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in schema.get("properties", {})):
                yield "a key of properties"
        expected: list[str] = []
        before = "assistant"
        for message in payload["messages"]:
            if message["role"] == before:
                yield f"two messages of {before} in a row"
            before = message["role"]
            blocks = message["content"]
            if not blocks:
                yield "an empty message"
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            leading = [block["type"] for block in blocks[: len(results)]]
            if sorted(results) != sorted(expected) or set(leading) - {"tool_result"}:
                yield f"calls {expected} answered by {results} in {leading}"
            expected = [block["id"] for block in blocks if block["type"] == "tool_use"]
            for block in blocks:
                if block["type"] == "text" and blank(block["text"]):
                    yield "a blank text"
                if block["type"] in ("thinking", "redacted_thinking") and "cache_control" in block:
                    yield "a mark on a thought"
                content = block.get("content") if block["type"] == "tool_result" else "x"
                if not content or (isinstance(content, str) and blank(content)):
                    yield "an empty result"
                kinds = {part["type"] for part in content} if isinstance(content, list) else {"text"}
                if block.get("is_error") and kinds != {"text"}:
                    yield "an error that holds more than text"
        if expected or before != "user":
            yield "the last message is not the user's"


class ChatVoice(Voice):
    """OpenAI Chat Completions."""

    name = "openai-chat"

    def answer(self, text: str, calls: Sequence[Call] = ()) -> dict[str, Any]:
        """As `POST /v1/chat/completions`."""
        message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
        if calls:
            message["tool_calls"] = [
                {"id": call[0], "type": "function", "function": {"name": call[1], "arguments": _text(call[2])}}
                for call in calls
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if calls else "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    def typed(self, payload: dict[str, Any]) -> None:
        """By `CompletionCreateParams`."""
        assert (
            unrolled(
                adapter(
                    "openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming"
                ).validate_python(payload)
            )
            == payload
        )

    def flat(self, payload: dict[str, Any]) -> list[Any]:
        """The messages."""
        return list(payload["messages"])

    def tools(self, payload: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
        """From `tools`."""
        functions = [tool["function"] for tool in payload.get("tools", [])]
        return [(tool["name"], tool.get("description", ""), tool["parameters"]) for tool in functions]

    def conversation(self, payload: dict[str, Any]) -> Iterator[str]:
        """Tool messages straight after the calls and complete, nothing blank, short descriptions."""
        if payload.get("tools") == [] or len(payload.get("tools", [])) > 128:
            yield "no tools, or too many"
        yield from ("a long description" for _, text, _ in self.tools(payload) if len(text) > 1024)
        open_calls: list[str] = []
        for message in payload["messages"]:
            content = message.get("content")
            if message["role"] == "tool":
                if message["tool_call_id"] not in open_calls:
                    yield f"a result of no call: {message['tool_call_id']}"
                    continue
                open_calls.remove(message["tool_call_id"])
            elif open_calls:
                yield f"calls without results: {open_calls}"
            if message["role"] == "assistant":
                open_calls = [call["id"] for call in message.get("tool_calls", [])]
                if content is None and open_calls:
                    continue
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            if not parts or any(part["type"] == "text" and blank(part["text"]) for part in parts):
                yield f"a blank message of {message['role']}"
        if open_calls:
            yield f"calls without results: {open_calls}"


class ResponsesVoice(Voice):
    """OpenAI Responses."""

    name = "openai-responses"

    def answer(self, text: str, calls: Sequence[Call] = ()) -> dict[str, Any]:
        """As `POST /v1/responses`, with reasoning before everything else."""
        output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}]
        if text:
            said = {"type": "output_text", "text": text, "annotations": []}
            output.append(
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
            )
        output += [
            {
                "type": "function_call",
                "id": f"fc_{call[0]}",
                "call_id": call[0],
                "name": call[1],
                "arguments": _text(call[2]),
                "status": "completed",
            }
            for call in calls
        ]
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "status": "completed",
        }

    def typed(self, payload: dict[str, Any]) -> None:
        """By `ResponseCreateParams`."""
        assert (
            unrolled(
                adapter(
                    "openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming"
                ).validate_python(payload)
            )
            == payload
        )

    def flat(self, payload: dict[str, Any]) -> list[Any]:
        """The input items."""
        return list(payload["input"])

    def tools(self, payload: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
        """From `tools`."""
        return [(tool["name"], tool.get("description", ""), tool["parameters"]) for tool in payload.get("tools", [])]

    def conversation(self, payload: dict[str, Any]) -> Iterator[str]:
        """Every call answered behind its turn, once; nothing blank; schemas not strict."""
        yield from ("a strict tool" for tool in payload.get("tools", []) if tool["strict"] is not False)
        open_calls: list[str] = []
        for item in payload["input"]:
            kind = item.get("type", "message")
            if kind == "function_call":
                open_calls.append(item["call_id"])
            elif kind == "function_call_output":
                if item["call_id"] not in open_calls:
                    yield f"a result of no call: {item['call_id']}"
                    continue
                open_calls.remove(item["call_id"])
                if not item["output"] or (isinstance(item["output"], str) and blank(item["output"])):
                    yield "an empty result"
            elif kind == "message":
                if open_calls and item["role"] != "assistant":
                    yield f"calls without results: {open_calls}"
                content = item["content"]
                texts = [content] if isinstance(content, str) else [part.get("text", "x") for part in content]
                if not texts or any(blank(text) for text in texts):
                    yield f"a blank message of {item['role']}"
        if open_calls:
            yield f"calls without results: {open_calls}"


class GeminiVoice(Voice):
    """Gemini, whose calls have an id only when they are given one."""

    name = "gemini"
    names = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")

    def answer(self, text: str, calls: Sequence[Call] = ()) -> dict[str, Any]:
        """As `POST /v1beta/models/m:generateContent`; the first call carries a signature."""
        parts: list[dict[str, Any]] = [{"text": text}] if text else []
        for place, call in enumerate(calls):
            made: dict[str, Any] = {"functionCall": {"name": call[1], "args": call[2]}}
            if call[0]:
                made["functionCall"]["id"] = call[0]
            parts.append({**made, "thoughtSignature": "c2ln"} if place == 0 else made)
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "modelVersion": "m"}

    def typed(self, payload: dict[str, Any]) -> None:
        """By `Content` and `GenerateContentConfig`, which forbid other keys, and the client's type for schemas."""
        from google.genai import types

        assert payload.keys() == {"model", "contents", "config"}
        for content in payload["contents"]:
            types.Content.model_validate(content)
        types.GenerateContentConfig.model_validate(payload["config"])

    def flat(self, payload: dict[str, Any]) -> list[Any]:
        """Role and part."""
        return [(content["role"], part) for content in payload["contents"] for part in content["parts"]]

    def tools(self, payload: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
        """From `config.tools`."""
        listed = payload["config"].get("tools", [])
        return [
            (tool["name"], tool.get("description", ""), tool.get("parameters_json_schema", {"type": "object"}))
            for one in listed
            for tool in one["function_declarations"]
        ]

    def conversation(self, payload: dict[str, Any]) -> Iterator[str]:
        """Results alone in the content behind their calls, one each; every part filled; no references in schemas."""
        for _, _, schema in self.tools(payload):
            if "$ref" in set(keys_within(schema)):
                yield "a reference in a schema"
            if not all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name) for name in schema.get("properties", {})):
                yield "the name of a parameter"
        expected: list[dict[str, Any]] = []
        if payload["contents"][0]["role"] != "user":
            yield "the first content is not the user's"
        for content in payload["contents"]:
            parts = content["parts"]
            answered = [part["function_response"] for part in parts if "function_response" in part]
            if answered and len(answered) < len(parts):
                yield "a result beside another part"
            if [(call["name"], call.get("id")) for call in expected] != [
                (answer["name"], answer.get("id")) for answer in answered
            ]:
                yield f"calls {expected} answered by {answered}"
            expected = [part["function_call"] for part in parts if "function_call" in part]
            for part in parts:
                filled = part.keys() - {"thought_signature", "thought"}
                if len(filled) != 1 or (blank(part.get("text", "x")) and "thought_signature" not in part):
                    yield f"a part of {sorted(part)}"
        if expected:
            yield f"calls without results: {expected}"


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


VOICES: dict[str, Voice] = {
    voice.name: voice for voice in (AnthropicVoice(), ChatVoice(), ResponsesVoice(), GeminiVoice())
}


@pytest.fixture(params=PROVIDERS)
def voice(request: pytest.FixtureRequest) -> Voice:
    """Each API in turn."""
    return VOICES[request.param]


@pytest.fixture(scope="session")
def voices() -> dict[str, Voice]:
    """The APIs by name."""
    return VOICES


@pytest.fixture(scope="session")
def accepted() -> Callable[[Voice, dict[str, Any]], dict[str, Any]]:
    """Gives a payload back that the client's types and the server's rules accept; fails for any other."""

    def check(voice: Voice, payload: dict[str, Any]) -> dict[str, Any]:
        voice.typed(payload)
        assert voice.complaints(payload) == []
        json.dumps(payload)
        return payload

    return check
