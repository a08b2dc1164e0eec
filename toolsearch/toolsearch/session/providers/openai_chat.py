"""OpenAI Chat Completions: `client.chat.completions.create(**payload)`; Grok and other compatible servers too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.session.providers.base import (
    ProviderTools,
    Render,
    ToolCall,
    ToolOutcome,
    checked_options,
    nothing_to_send,
    tool_call,
)
from toolsearch.session.providers.media import Media, note, read_block
from toolsearch.session.providers.names import OPENAI_NAMES, NameMap
from toolsearch.session.providers.reading import (
    arguments_of,
    attachment_of,
    fresh,
    mapping_entries,
    plain,
    sendable,
    without_none,
)
from toolsearch.session.providers.schemas import Dialect, definitions
from toolsearch.session.providers.texts import (
    ERROR,
    NO_OUTPUT,
    NO_RESULT,
    is_blank,
    references,
    reminder,
    sent_text,
    spoken,
    stray_result,
)
from toolsearch.session.providers.turns import Item, in_order
from toolsearch.tools.untrusted import shown_name

OPENAI_REFUSED = frozenset({"oneOf", "anyOf", "allOf", "enum", "const", "not"})
"""What may not stand at the top of a schema, as the API's own refusal lists it."""

MOST_TOOLS = 128
"""The most tools of one request."""

_DIALECT = Dialect("openai-chat", OPENAI_NAMES, OPENAI_REFUSED, description=1024, most=MOST_TOOLS)
_RESERVED = ("model", "messages", "tools", "functions")
_OUTPUT_ONLY = ("annotations", "parsed", "prompt_cache_breakpoint")


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """Chat Completions.

    A tool message holds text alone, so images of results follow in a user message behind the last result of the turn.
    The prefix is cached by the provider without marks.
    """

    name: Literal["openai-chat"] = "openai-chat"

    def tools(self, tools: Sequence[Tool]) -> ProviderTools:
        """As `Provider.tools`."""
        made, names, warnings = definitions(tools, _DIALECT)
        array: list[dict[str, Any]] = []
        for tool in made:
            described = {"description": tool.description} if tool.description else {}
            array.append({"type": "function", "function": {"name": tool.name, **described, "parameters": tool.schema}})
        return ProviderTools(array, names, warnings)

    def payload(
        self,
        *,
        model: str,
        system: str | None,
        tools: ProviderTools,
        history: Sequence[Any],
        render: Render,
        tail: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """As `Provider.payload`."""
        given = checked_options(self.name, options, _RESERVED, tools.names)
        messages = [item.value for item in in_order(_items(history, render), missing=_missing, stray=_stray)]
        if end := sent_text(tail):
            messages.append({"role": "user", "content": reminder(end)})
        if not messages:
            raise nothing_to_send()
        if prompt := sent_text(system):
            messages.insert(0, {"role": "system", "content": prompt})
        payload: dict[str, Any] = {"model": model, **given}
        if tools.array:
            payload["tools"] = fresh(tools.array)
        return {**payload, "messages": messages}

    def calls(self, response: Any, names: NameMap) -> tuple[ToolCall, ...]:
        """As `Provider.calls`; free-form calls (`custom`) give their input as the raw string."""
        found: list[ToolCall] = []
        for call in _identified(_message(response)):
            told = call.get("function") or call.get("custom") or {}
            arguments = arguments_of(told.get("arguments")) if "function" in call else str(told.get("input") or "")
            found.append(tool_call(names, told.get("name"), arguments, call.get("id"), len(found) + 1))
        return tuple(found)

    def reply(self, response: Any) -> list[dict[str, Any]]:
        """As `Provider.reply`: the message of the first choice."""
        message = _assistant(_message(response))
        return [message] if message is not None else []

    def results(self, outcomes: Sequence[ToolOutcome]) -> list[dict[str, Any]]:
        """As `Provider.results`: a tool message for each call, then the images in one user message."""
        messages: list[dict[str, Any]] = []
        parts: list[dict[str, Any]] = []
        for outcome in outcomes:
            texts = [outcome.text]
            images = []
            for media in (read_block(plain(block)) for block in outcome.blocks):
                if media.kind == "image" and media.data:
                    texts.append(f"{media.text} (it follows the results)")
                    images.append(media)
                else:
                    texts.append(note(media) if media.data else media.text)
            messages.append(
                {"role": "tool", "tool_call_id": outcome.call.id, "content": result_text(texts, outcome.is_error)}
            )
            if images:
                parts.append({"type": "text", "text": label(outcome)})
                parts.extend(_image(media) for media in images)
        return [*messages, {"role": "user", "content": parts}] if parts else messages

    def user(self, text: str) -> dict[str, Any]:
        """As `Provider.user`."""
        return {"role": "user", "content": sendable(text)}

    def speech(self, entry: Any) -> tuple[Literal["user", "assistant"], str] | None:
        """As `Provider.speech`."""
        if attachment_of(entry) is not None:
            return None
        message = plain(entry)
        if isinstance(message, dict) and isinstance(message.get("choices"), list):
            message = _message(message)
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("user", "assistant"):
            return None
        text = spoken(_texts(message.get("content")))
        return (role, text) if text else None


def result_text(texts: Sequence[str], is_error: bool) -> str:
    """A result as one text, each part once; an empty one says so, a failed one begins with a word that says so.

    >>> result_text(["no such file", ""], True), result_text([], False)
    ('Error: no such file', '(no output)')
    """
    kept = [sendable(text) for text in dict.fromkeys(texts) if not is_blank(text)]
    text = "\n".join(kept) or NO_OUTPUT
    return text if not is_error or text.lower().startswith("error") else ERROR + text


def label(outcome: ToolOutcome) -> str:
    """What stands before data that follows the results, so that the model knows whose it is and no user said it."""
    return reminder(f"From the result of {shown_name(outcome.call.name)}, call {shown_name(outcome.call.id)}:")


def _image(media: Media) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{media.mime};base64,{media.data}"}}


def _message(response: Any) -> dict[str, Any]:
    message = plain(response)
    if isinstance(message, dict) and isinstance(message.get("choices"), list):
        # A filtered answer has no choices at all.
        first = message["choices"][0] if message["choices"] else {"message": {"role": "assistant"}}
        message = first.get("message")
    if not isinstance(message, dict) or not ({"role", "content", "tool_calls"} & message.keys()):
        raise UsageError(
            f"a {type(response).__name__} is no response of Chat Completions; accepted: what "
            "`client.chat.completions.create` returns, the final completion of a stream, its message, or one as a dict."
        )
    return message


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _identified(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of a message, each with an id of its own: some compatible servers give none, or one to all of them."""
    calls: list[dict[str, Any]] = []
    for place, call in enumerate(_calls(message), start=1):
        identity = str(call.get("id") or f"call-{place}")
        if any(identity == known["id"] for known in calls):
            identity = f"{identity}-{place}"
        kind = call.get("type") or ("custom" if "custom" in call else "function")
        calls.append({**without_none(call, "index"), "id": identity, "type": kind})
    return calls


def arguments_text(arguments: Any) -> str:
    """The arguments of a call as the text that a request holds; a blank one is a call without arguments.

    >>> arguments_text('{"a": 1}'), arguments_text(""), arguments_text({"a": 1})
    ('{"a": 1}', '{}', '{"a": 1}')
    """
    if isinstance(arguments, str):
        return arguments if arguments.strip() else "{}"
    return json.dumps(arguments or {}, ensure_ascii=False)


def _texts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return [content]


def _assistant(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The model's message as a request takes it; None when nothing is in it."""
    kept = without_none(message, *_OUTPUT_ONLY)
    kept["role"] = "assistant"
    calls = _identified(message)
    for call in calls:
        function = call.get("function")
        if isinstance(function, dict):
            arguments = arguments_text(function.get("arguments"))
            call["function"] = {**without_none(function, "parsed_arguments"), "arguments": arguments}
    kept.pop("tool_calls", None)
    kept["content"] = _clean_content(message.get("content"))
    if calls:
        kept["tool_calls"] = calls
    if isinstance(kept.get("audio"), dict):
        kept["audio"] = {"id": kept["audio"].get("id")}
    elif kept["content"] is None and not calls and not {"refusal", "function_call"} & kept.keys():
        return None
    return kept


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    parts = [
        {"type": "text", "text": content} if isinstance(content, str) else content
        for message in (first, second)
        for content in (message["content"] if isinstance(message["content"], list) else [message["content"]])
        if content is not None
    ]
    return {**first, **second, "content": parts or None, "tool_calls": [*_calls(first), *_calls(second)]}


def _clean_content(content: Any) -> Any:
    """Content without blanks and references; None when nothing is left."""
    if not isinstance(content, list):
        return None if is_blank(content) else content
    kept = []
    for part in content:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "tool_reference":
            kept.append({"type": "text", "text": references([part.get("tool_name")])})
        elif part.get("type") != "text" or not is_blank(part.get("text")):
            kept.append(without_none(part, *_OUTPUT_ONLY))
    return kept or None


def _items(history: Sequence[Any], render: Render) -> list[Item]:
    items: list[Item] = []
    for place, message in enumerate(mapping_entries(history)):
        attachment = attachment_of(message)
        if attachment is not None:
            if text := sent_text(render(attachment)):
                items.append(Item("user", {"role": "user", "content": reminder(text)}))
            continue
        if isinstance(message.get("choices"), list):
            message = {"role": "assistant", **_message(message)}
        role = message.get("role")
        if not isinstance(role, str):
            raise UsageError(
                f"entry {place + 1} of the history is no message of Chat Completions; accepted: a dict with `role`, "
                "the client's object, or an attachment."
            )
        if role == "assistant":
            cleaned = _assistant(message)
            if cleaned is not None:
                if items and items[-1].role == "assistant" and items[-1].calls:
                    # Results must follow at once, so calls in a row are calls of one message.
                    cleaned = _merged(items.pop().value, cleaned)
                items.append(Item("assistant", cleaned, tuple(str(call.get("id")) for call in _calls(cleaned))))
            continue
        content = _clean_content(message.get("content"))
        if role == "tool":
            value = {**without_none(message), "content": content or NO_OUTPUT}
            items.append(Item("user", value, answers=str(message.get("tool_call_id"))))
        elif content is not None:
            items.append(Item("user" if role == "user" else "other", {**without_none(message), "content": content}))
    return items


def _missing(call: str) -> Item:
    return Item("user", {"role": "tool", "tool_call_id": call, "content": NO_RESULT}, answers=call)


def _stray(item: Item) -> Item:
    return Item("user", {"role": "user", "content": stray_result(item.value["content"])})
