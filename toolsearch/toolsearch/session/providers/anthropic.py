"""Anthropic Messages: `client.messages.create(**payload)`."""

from __future__ import annotations

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
from toolsearch.session.providers.names import ANTHROPIC_NAMES, ANTHROPIC_PARAMETERS, NameMap
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
    CONTINUES,
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

DEFAULT_MAX_TOKENS = 4096
"""Sent when the host gives no `max_tokens`, which the API requires; every model accepts it."""

_DIALECT = Dialect("anthropic", ANTHROPIC_NAMES, frozenset({"oneOf", "anyOf", "allOf"}), ANTHROPIC_PARAMETERS)
_RESERVED = ("model", "messages", "system", "tools")
_MARK = {"type": "ephemeral"}
_LOOKBACK = 20
"""A mark finds what was cached at most this many blocks before it."""

_UNMARKABLE = ("thinking", "redacted_thinking")
_OUTPUT_ONLY = ("cache_control", "parsed_output", "index")
"""Marks of the host's are left out, since only four are accepted and ours stand where the cache needs them."""


@dataclass(frozen=True, slots=True)
class Anthropic:
    """Anthropic Messages, through the public API without beta features.

    User messages in a row become one, results first, as the API wants them. A cache mark stands on the last tool and on
    the last block of the history; a third one, on the last block of the request before, only when one turn grew beyond
    the blocks that a mark looks back.
    """

    name: Literal["anthropic"] = "anthropic"

    def tools(self, tools: Sequence[Tool]) -> ProviderTools:
        """As `Provider.tools`."""
        made, names, warnings = definitions(tools, _DIALECT)
        array = []
        for tool in made:
            described = {"description": tool.description} if tool.description else {}
            array.append({"name": tool.name, **described, "input_schema": tool.schema})
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
        """As `Provider.payload`; `max_tokens` is `DEFAULT_MAX_TOKENS` unless an option says otherwise."""
        given = checked_options(self.name, options, _RESERVED, tools.names)
        messages = _messages(in_order(_items(history, render), missing=_missing, stray=_stray))
        _mark_history(messages)
        if end := sent_text(tail):
            block = {"type": "text", "text": reminder(end)}
            if messages and messages[-1]["role"] == "user":
                messages[-1]["content"].append(block)
            else:
                messages.append({"role": "user", "content": [block]})
        if not messages:
            raise nothing_to_send()
        payload: dict[str, Any] = {"model": model, "max_tokens": DEFAULT_MAX_TOKENS, **given}
        if prompt := sent_text(system):
            payload["system"] = prompt
        if tools.array:
            payload["tools"] = fresh(tools.array)
            payload["tools"][-1]["cache_control"] = dict(_MARK)
        return {**payload, "messages": messages}

    def calls(self, response: Any, names: NameMap) -> tuple[ToolCall, ...]:
        """As `Provider.calls`."""
        found: list[ToolCall] = []
        for block in _content(_message(response)):
            if block.get("type") == "tool_use":
                arguments = arguments_of(block.get("input"))
                found.append(tool_call(names, block.get("name"), arguments, block.get("id"), len(found) + 1))
        return tuple(found)

    def reply(self, response: Any) -> list[dict[str, Any]]:
        """As `Provider.reply`: the assistant's message, without what only a response holds."""
        blocks = [_clean(block) for block in _content(_message(response))]
        kept = [block for block in blocks if block is not None]
        return [{"role": "assistant", "content": kept}] if kept else []

    def results(self, outcomes: Sequence[ToolOutcome]) -> list[dict[str, Any]]:
        """As `Provider.results`: one user message with a block for each call."""
        return [{"role": "user", "content": [_result(outcome) for outcome in outcomes]}] if outcomes else []

    def user(self, text: str) -> dict[str, Any]:
        """As `Provider.user`."""
        return {"role": "user", "content": sendable(text)}

    def speech(self, entry: Any) -> tuple[Literal["user", "assistant"], str] | None:
        """As `Provider.speech`."""
        if attachment_of(entry) is not None:
            return None
        message = plain(entry)
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("user", "assistant"):
            return None
        text = spoken(block.get("text") for block in _content(message) if block.get("type") == "text")
        return (role, text) if text else None


def _message(response: Any) -> dict[str, Any]:
    message = plain(response)
    if not isinstance(message, dict) or "content" not in message:
        raise UsageError(
            f"a {type(response).__name__} is no response of Anthropic Messages; accepted: what "
            "`client.messages.create` returns, the final message of a stream, or either as a dict with `content`."
        )
    return message


def _content(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a message, whose content may be a mere string."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _clean(block: dict[str, Any]) -> dict[str, Any] | None:
    """A block as a request takes it; None for one that would be refused as empty."""
    kind = block.get("type")
    if kind == "text":
        if is_blank(block.get("text")):
            return None
    elif kind == "tool_reference":
        return {"type": "text", "text": references([block.get("tool_name")])}
    elif kind == "tool_search_tool_result":
        return {"type": "text", "text": references(_found(block.get("content")))}
    elif kind == "server_tool_use" and str(block.get("name", "")).startswith("tool_search_tool"):
        # The search of a server that is not in our requests; what it found follows as text.
        return None
    elif kind == "tool_use" and not isinstance(block.get("input"), dict):
        # A raw string can't be sent back: the API wants an object.
        raw = block.get("input")
        return without_none({**block, "input": {"raw_arguments": raw} if raw else {}}, *_OUTPUT_ONLY)
    elif kind == "tool_result":
        return {**without_none(block, *_OUTPUT_ONLY), "content": _clean_result(block.get("content"))}
    return without_none(block, *_OUTPUT_ONLY)


def _clean_result(content: Any) -> Any:
    if isinstance(content, list):
        pending: list[Any] = []
        kept: list[dict[str, Any]] = []
        for block in [*content, None]:
            if isinstance(block, dict) and block.get("type") == "tool_reference":
                pending.append(block.get("tool_name"))
                continue
            if pending:
                kept.append({"type": "text", "text": references(pending)})
                pending = []
            cleaned = _clean(block) if isinstance(block, dict) else None
            if cleaned is not None:
                kept.append(cleaned)
        return kept or NO_OUTPUT
    return NO_OUTPUT if is_blank(content) else content


def _found(content: Any) -> list[Any]:
    listed = content.get("tool_references") if isinstance(content, dict) else content
    return [one.get("tool_name") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _items(history: Sequence[Any], render: Render) -> list[Item]:
    items: list[Item] = []
    for place, message in enumerate(mapping_entries(history)):
        attachment = attachment_of(message)
        if attachment is not None:
            if text := sent_text(render(attachment)):
                items.append(Item("user", {"type": "text", "text": reminder(text)}))
            continue
        role = message.get("role")
        if role not in ("user", "assistant", "system") or "content" not in message:
            raise UsageError(
                f"entry {place + 1} of the history is no message of Anthropic Messages; accepted: a dict with `role` "
                "(user or assistant) and `content`, the client's object, or an attachment."
            )
        if role == "system":
            items.append(Item("other", without_none(message)))
            continue
        for block in _content(message):
            cleaned = _clean(block)
            if cleaned is None:
                continue
            kind = cleaned.get("type")
            calls = (str(cleaned.get("id")),) if kind == "tool_use" else ()
            answers = str(cleaned.get("tool_use_id")) if kind == "tool_result" else ""
            items.append(Item(role, cleaned, calls, answers))
    return items


def _missing(call: str) -> Item:
    block = {"type": "tool_result", "tool_use_id": call, "content": NO_RESULT, "is_error": True}
    return Item("user", block, answers=call)


def _stray(item: Item) -> Item:
    return Item("user", {"type": "text", "text": stray_result(item.value.get("content"))})


def _messages(items: Sequence[Item]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for item in items:
        if item.role == "other":
            messages.append(item.value)
        elif messages and messages[-1]["role"] == item.role:
            messages[-1]["content"].append(item.value)
        else:
            if item.role == "assistant" and not messages:
                messages.append({"role": "user", "content": [{"type": "text", "text": CONTINUES}]})
            messages.append({"role": item.role, "content": [item.value]})
    return messages


def _mark_history(messages: list[dict[str, Any]]) -> None:
    """Mark the end of the history, and the end of the request before when it lies beyond the way that a mark looks."""
    last = _mark_last(messages)
    if last is None:
        return
    ends = [place for place in range(last) if messages[place]["role"] == "user"]
    if ends and sum(len(message["content"]) for message in messages[ends[-1] + 1 : last + 1]) > _LOOKBACK:
        _mark_last(messages[: ends[-1] + 1])


def _mark_last(messages: list[dict[str, Any]]) -> int | None:
    for place in range(len(messages) - 1, -1, -1):
        content = messages[place]["content"]
        for at in range(len(content) - 1, -1, -1):
            if isinstance(content, list) and content[at].get("type") not in _UNMARKABLE:
                content[at] = {**content[at], "cache_control": dict(_MARK)}
                return place
    return None


def _result(outcome: ToolOutcome) -> dict[str, Any]:
    parts = [{"type": "text", "text": sendable(outcome.text)}]
    parts += [_part(read_block(plain(block)), outcome.is_error) for block in outcome.blocks]
    told: set[str] = set()
    kept = []
    for part in parts:
        text = part.get("text")
        if text is not None and (is_blank(text) or text in told):
            continue
        told.add(str(text))
        kept.append(part)
    content: Any = kept or NO_OUTPUT
    if len(kept) == 1 and kept[0]["type"] == "text":
        content = kept[0]["text"]
    result = {"type": "tool_result", "tool_use_id": outcome.call.id, "content": content}
    return {**result, "is_error": True} if outcome.is_error else result


def _part(media: Media, is_error: bool) -> dict[str, Any]:
    kind = {"image": "image", "file": "document"}.get(media.kind)
    if not media.data:
        return {"type": "text", "text": media.text}
    if is_error:
        return {"type": "text", "text": note(media, "an error can hold text alone")}
    if kind is None or (kind == "document" and media.mime != "application/pdf"):
        return {"type": "text", "text": note(media)}
    return {"type": kind, "source": {"type": "base64", "media_type": media.mime, "data": media.data}}
