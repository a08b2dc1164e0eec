"""OpenAI Responses: `client.responses.create(**payload)`."""

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
from toolsearch.session.providers.media import note, read_block
from toolsearch.session.providers.names import OPENAI_NAMES, NameMap
from toolsearch.session.providers.openai_chat import MOST_TOOLS, OPENAI_REFUSED, arguments_text, result_text
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

_DIALECT = Dialect("openai-responses", OPENAI_NAMES, OPENAI_REFUSED, most=MOST_TOOLS)
_RESERVED = ("model", "input", "instructions", "tools")
_OUTPUT_ONLY = ("parsed_arguments", "created_by")
_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_OUTPUTS = frozenset(_CALLS.values())
_TEXTS = ("input_text", "output_text", "text")


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """Responses, with the whole history in every request.

    Schemas are sent with `strict` off, since strict mode changes what is optional. Items of the model go back as they
    came, reasoning included; with the option `store=False` reasoning without its encrypted content is left out, as the
    server could not find it again.
    """

    name: Literal["openai-responses"] = "openai-responses"

    def tools(self, tools: Sequence[Tool]) -> ProviderTools:
        """As `Provider.tools`."""
        made, names, warnings = definitions(tools, _DIALECT)
        array: list[dict[str, Any]] = []
        for tool in made:
            described = {"description": tool.description} if tool.description else {}
            array.append(
                {"type": "function", "name": tool.name, **described, "parameters": tool.schema, "strict": False}
            )
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
        """As `Provider.payload`; the system prompt goes into `instructions`."""
        given = checked_options(self.name, options, _RESERVED, tools.names)
        items = in_order(_items(history, render), missing=_missing, stray=_stray)
        values = [item.value for item in items]
        if given.get("store") is False:
            values = _unstored(values)
        if end := sent_text(tail):
            values.append(_said("user", reminder(end)))
        if not values:
            raise nothing_to_send()
        payload: dict[str, Any] = {"model": model, **given}
        if prompt := sent_text(system):
            payload["instructions"] = prompt
        if tools.array:
            payload["tools"] = fresh(tools.array)
        return {**payload, "input": values}

    def calls(self, response: Any, names: NameMap) -> tuple[ToolCall, ...]:
        """As `Provider.calls`; free-form calls (`custom_tool_call`) give their input as the raw string."""
        found: list[ToolCall] = []
        for item in _output(response):
            if item.get("type") not in _CALLS:
                continue
            raw = item.get("type") == "custom_tool_call"
            arguments = str(item.get("input") or "") if raw else arguments_of(item.get("arguments"))
            found.append(tool_call(names, item.get("name"), arguments, item.get("call_id"), len(found) + 1))
        return tuple(found)

    def reply(self, response: Any) -> list[dict[str, Any]]:
        """As `Provider.reply`: every output item, in order."""
        return [kept for item in _output(response) if (kept := _clean(item)) is not None]

    def results(self, outcomes: Sequence[ToolOutcome]) -> list[dict[str, Any]]:
        """As `Provider.results`: an output item for each call; text alone is a mere string."""
        return [
            {"type": "function_call_output", "call_id": outcome.call.id, "output": _result(outcome)}
            for outcome in outcomes
        ]

    def user(self, text: str) -> dict[str, Any]:
        """As `Provider.user`."""
        return {"role": "user", "content": sendable(text)}

    def speech(self, entry: Any) -> tuple[Literal["user", "assistant"], str] | None:
        """As `Provider.speech`; of a whole response, all its messages."""
        if attachment_of(entry) is not None:
            return None
        value = plain(entry)
        if not isinstance(value, dict):
            return None
        messages = value["output"] if isinstance(value.get("output"), list) and "type" not in value else [value]
        role = messages[0].get("role") if len(messages) == 1 else "assistant"
        text = spoken(part for message in messages for part in _texts(message.get("content")))
        if not text or role not in ("user", "assistant"):
            return None
        return ("user" if role == "user" else "assistant", text)


def _output(response: Any) -> list[dict[str, Any]]:
    """The items that a response gave."""
    value = plain(response)
    if isinstance(value, dict):
        value = value["output"] if isinstance(value.get("output"), list) and "type" not in value else [value]
    if not isinstance(value, list) or not all(
        isinstance(item, dict) and ("type" in item or "role" in item) for item in value
    ):
        raise UsageError(
            f"a {type(response).__name__} is no response of the Responses API; accepted: what "
            "`client.responses.create` returns, the final response of a stream, its output, or a dict or list of these."
        )
    return value


def _texts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in _TEXTS]
    return [content]


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def _clean(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """An item as a request takes it; None for one that would be refused as empty."""
    kind = item.get("type")
    if kind == "tool_search_call":
        # The search of a server that is not in our requests; what it found follows as text.
        return None
    if kind in ("tool_search_output", "additional_tools"):
        tools = item.get("tools")
        names = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        return _said("user", reminder(references(names)))
    kept = without_none(item, *_OUTPUT_ONLY)
    if kind in _OUTPUTS:
        output = item.get("output")
        if isinstance(output, list):
            parts = [part for part in output if not (isinstance(part, dict) and _is_empty(part))]
            kept["output"] = [_reference(part) for part in parts] or NO_OUTPUT
        else:
            kept["output"] = NO_OUTPUT if is_blank(output) else output
    elif "role" in item and kind in (None, "message"):
        content = item.get("content")
        if isinstance(content, list):
            content = [
                _reference(without_none(part, "parsed"))
                for part in content
                if isinstance(part, dict) and not _is_empty(part)
            ]
        if not content or (isinstance(content, str) and is_blank(content)):
            return None
        kept["content"] = content
    elif kind == "function_call":
        kept["arguments"] = arguments_text(item.get("arguments"))
    return kept


def _is_empty(part: Mapping[str, Any]) -> bool:
    return part.get("type") in _TEXTS and is_blank(part.get("text"))


def _reference(part: Any) -> Any:
    if isinstance(part, dict) and part.get("type") == "tool_reference":
        return {"type": "input_text", "text": references([part.get("tool_name")])}
    return part


def _items(history: Sequence[Any], render: Render) -> list[Item]:
    items: list[Item] = []
    for place, entry in enumerate(mapping_entries(history)):
        attachment = attachment_of(entry)
        if attachment is not None:
            if text := sent_text(render(attachment)):
                items.append(Item("user", _said("user", reminder(text))))
            continue
        if not {"type", "role", "output"} & entry.keys():
            raise UsageError(
                f"entry {place + 1} of the history is no item of the Responses API; accepted: a dict with `role` or "
                "`type`, the client's object, a whole response, or an attachment."
            )
        items.extend(_item(cleaned) for item in _output(entry) if (cleaned := _clean(item)) is not None)
    return items


def _item(value: dict[str, Any]) -> Item:
    kind = value.get("type")
    if kind in _CALLS:
        # The kind of the call goes with its key, so that a missing result can be made of the same kind.
        return Item("assistant", value, (f"{kind} {value.get('call_id')}",))
    if kind in _OUTPUTS:
        call = next(call for call, output in _CALLS.items() if output == kind)
        return Item("user", value, answers=f"{call} {value.get('call_id')}")
    role = value.get("role")
    if role in ("user", "assistant"):
        return Item(role, value)
    if role is not None or str(kind).endswith(("_output", "_response")):
        return Item("other", value)
    return Item("assistant", value)


def _missing(key: str) -> Item:
    kind, _, call = key.partition(" ")
    return Item("user", {"type": _CALLS[kind], "call_id": call, "output": NO_RESULT}, answers=key)


def _stray(item: Item) -> Item:
    return Item("user", _said("user", stray_result(item.value["output"])))


def _unstored(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items without what the server would have to look up: it keeps nothing when `store` is off."""
    lost = any(value.get("type") == "reasoning" and not value.get("encrypted_content") for value in values)
    if not lost:
        return values
    kept = [value for value in values if value.get("type") != "reasoning" or value.get("encrypted_content")]
    # A call that names its stored id is refused without the reasoning that it came with.
    return [
        {key: inner for key, inner in value.items() if key != "id" or value.get("type") != "function_call"}
        for value in kept
    ]


def _result(outcome: ToolOutcome) -> Any:
    texts = [outcome.text]
    parts: list[dict[str, Any]] = []
    for media in (read_block(plain(block)) for block in outcome.blocks):
        if media.data and media.kind == "image":
            parts.append(
                {"type": "input_image", "image_url": f"data:{media.mime};base64,{media.data}", "detail": "auto"}
            )
        elif media.data and media.kind == "file" and media.mime == "application/pdf":
            data = f"data:{media.mime};base64,{media.data}"
            parts.append({"type": "input_file", "filename": "result.pdf", "file_data": data})
        else:
            texts.append(note(media) if media.data else media.text)
    if not parts:
        return result_text(texts, outcome.is_error)
    if any(not is_blank(text) for text in texts) or outcome.is_error:
        parts.insert(0, {"type": "input_text", "text": result_text(texts, outcome.is_error)})
    return parts
