"""Gemini: `client.models.generate_content(**payload)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
from toolsearch.session.providers.media import Media, read_block
from toolsearch.session.providers.names import GEMINI_NAMES, GEMINI_PARAMETERS, NameMap
from toolsearch.session.providers.openai_chat import OPENAI_REFUSED, label
from toolsearch.session.providers.reading import (
    arguments_of,
    attachment_of,
    fresh,
    mapping_entries,
    plain,
    sendable,
    without_none,
)
from toolsearch.session.providers.schemas import Definition, Dialect, definitions
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

_DIALECT = Dialect("gemini", GEMINI_NAMES, OPENAI_REFUSED, GEMINI_PARAMETERS, gemini=True)
_RESERVED = ("model", "contents", "system_instruction", "tools")
_CAPITAL = re.compile("[A-Z]")
_ASIDE = frozenset({"thought", "thought_signature", "video_metadata", "media_resolution", "part_metadata"})
"""Fields that say something about a part, and are none by themselves."""


@dataclass(frozen=True, slots=True)
class Gemini:
    """The Gemini API and Vertex AI.

    Options go into `config`. Results of one turn stand alone in a content, since other parts beside them are refused;
    attachments, images and the user's words follow in the next one. Calls often have no id: results are then matched by
    name and order. The prefix is cached by the provider without marks.
    """

    name: Literal["gemini"] = "gemini"

    def tools(self, tools: Sequence[Tool]) -> ProviderTools:
        """As `Provider.tools`: one tool that holds every function declaration."""
        made, names, warnings = definitions(tools, _DIALECT)
        declared: list[dict[str, Any]] = []
        for tool in made:
            described = {"description": tool.description} if tool.description else {}
            # A declaration without parameters has none at all: an object without properties was refused for long.
            parameters = {"parameters_json_schema": tool.schema} if tool.schema.get("properties") or _open(tool) else {}
            declared.append({"name": tool.name, **described, **parameters})
        return ProviderTools([{"function_declarations": declared}] if declared else [], names, warnings)

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
        """As `Provider.payload`; system prompt, tools and options are in `config`, bytes are base64.

        Options may be given one by one or as one mapping `config`, as the client takes them.
        """
        given = dict(options or {})
        inner = plain(given.pop("config", None) or {}, by_alias=False)
        config = checked_options(self.name, {**inner, **given}, _RESERVED, tools.names)
        contents = _contents(in_order(_items(history, render), missing=_missing, stray=_stray))
        if end := sent_text(tail):
            part = {"text": reminder(end)}
            if contents and contents[-1]["role"] == "user" and not _holds_results(contents[-1]):
                contents[-1]["parts"].append(part)
            else:
                contents.append({"role": "user", "parts": [part]})
        if not contents:
            raise nothing_to_send()
        if prompt := sent_text(system):
            config["system_instruction"] = prompt
        if tools.array:
            config["tools"] = fresh(tools.array)
            # The session runs the calls, never the client by itself.
            config.setdefault("automatic_function_calling", {"disable": True})
        return {"model": model, "contents": contents, "config": config}

    def calls(self, response: Any, names: NameMap) -> tuple[ToolCall, ...]:
        """As `Provider.calls`; a list of chunks of a stream is one response."""
        found: list[ToolCall] = []
        for part in _response_parts(response):
            call = part.get("function_call")
            if not isinstance(call, dict):
                continue
            arguments = arguments_of(call.get("args"))
            found.append(tool_call(names, call.get("name"), arguments, call.get("id"), len(found) + 1))
        return tuple(found)

    def reply(self, response: Any) -> list[dict[str, Any]]:
        """As `Provider.reply`: the content of the first candidate, signatures of thoughts included."""
        parts = _joined(_response_parts(response))
        return [{"role": "model", "parts": parts}] if parts else []

    def results(self, outcomes: Sequence[ToolOutcome]) -> list[dict[str, Any]]:
        """As `Provider.results`: one content with all results, then one with their images, audio and files."""
        responses: list[dict[str, Any]] = []
        data: list[dict[str, Any]] = []
        for outcome in outcomes:
            shown = [read_block(plain(block)) for block in outcome.blocks]
            call = outcome.call
            response: dict[str, Any] = {"name": call.sent_name or call.name, "response": _response(outcome, shown)}
            if call.has_id:
                response["id"] = call.id
            responses.append({"function_response": response})
            sent = [media for media in shown if media.data]
            if sent:
                data.append({"text": label(outcome)})
                data.extend({"inline_data": {"mime_type": media.mime, "data": media.data}} for media in sent)
        entries = [{"role": "user", "parts": responses}] if responses else []
        return [*entries, {"role": "user", "parts": data}] if data else entries

    def user(self, text: str) -> dict[str, Any]:
        """As `Provider.user`."""
        return {"role": "user", "parts": [{"text": sendable(text)}]}

    def speech(self, entry: Any) -> tuple[Literal["user", "assistant"], str] | None:
        """As `Provider.speech`; thoughts are not said."""
        if attachment_of(entry) is not None:
            return None
        value = plain(entry, by_alias=False)
        if not isinstance(value, dict):
            return None
        whole = isinstance(value.get("candidates"), list)
        parts = _response_parts(value) if whole else _parts(value)
        text = spoken(part.get("text") for part in parts if not part.get("thought"))
        role: Literal["user", "assistant"] = "assistant" if whole or value.get("role") == "model" else "user"
        return (role, text) if text else None


def _open(tool: Definition) -> bool:
    """Whether a tool without named parameters still takes any."""
    return bool(tool.schema.get("additionalProperties"))


def _parts(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a content under the client's names, without empty ones."""
    listed = content.get("parts")
    if isinstance(listed, (str, dict)):
        listed = [listed]
    kept: list[dict[str, Any]] = []
    for part in listed if isinstance(listed, list) else []:
        if isinstance(part, str):
            part = {"text": part}
        if not isinstance(part, dict):
            continue
        named = without_none({_CAPITAL.sub(r"_\g<0>", str(key)).lower(): value for key, value in part.items()})
        if "tool_reference" in named or named.get("type") == "tool_reference":
            named = {"text": references([named.get("tool_name") or named.get("tool_reference")])}
        filled = [key for key in named if key not in _ASIDE]
        # An empty text is refused, except as the place of a signature.
        if not filled or (filled == ["text"] and is_blank(named["text"]) and "thought_signature" not in named):
            continue
        kept.append(named)
    return kept


def _response_parts(response: Any) -> list[dict[str, Any]]:
    """All parts of the first candidate, of a response or of the chunks of one."""
    chunks = list(response) if isinstance(response, (list, tuple)) else [response]
    parts: list[dict[str, Any]] = []
    for chunk in chunks:
        value = plain(chunk, by_alias=False)
        if isinstance(value, dict) and "parts" in value:
            parts.extend(_parts(value))
        elif (
            isinstance(value, dict)
            and {"candidates", "prompt_feedback", "promptFeedback", "usage_metadata"} & value.keys()
        ):
            candidates = value.get("candidates") or []
            content = candidates[0].get("content") if candidates and isinstance(candidates[0], dict) else None
            parts.extend(_parts(content) if isinstance(content, dict) else [])
        else:
            raise UsageError(
                f"a {type(chunk).__name__} is no response of Gemini; accepted: what `client.models.generate_content` "
                "returns, the list of the chunks of a stream, a content, or a dict of these."
            )
    return parts


def _joined(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts with the pieces of one text, as a stream gives them, put together."""
    joined: list[dict[str, Any]] = []
    for part in parts:
        last = joined[-1] if joined else {}
        if part.keys() - {"thought"} == {"text"} == last.keys() - {"thought"} and part.get("thought") == last.get(
            "thought"
        ):
            joined[-1] = {**last, "text": last["text"] + part["text"]}
        else:
            joined.append(part)
    return joined


def _items(history: Sequence[Any], render: Render) -> list[Item]:
    items: list[Item] = []
    open_calls: list[tuple[str, str, str]] = []
    spoke = False
    for place, content in enumerate(mapping_entries(history, by_alias=False)):
        attachment = attachment_of(content)
        if attachment is not None:
            if text := sent_text(render(attachment)):
                items.append(Item("user", {"text": reminder(text)}))
                spoke = False
            continue
        whole = isinstance(content.get("candidates"), list)
        if not whole and "parts" not in content:
            raise UsageError(
                f"entry {place + 1} of the history is no content of Gemini; accepted: a dict with `role` and `parts`, "
                "the client's object, a whole response, or an attachment."
            )
        if whole or content.get("role") == "model":
            if not spoke:
                open_calls = []
            for part in _joined(_response_parts(content) if whole else _parts(content)):
                items.append(_model_item(part, open_calls, len(items)))
                spoke = True
            continue
        for part in _parts(content):
            items.append(_user_item(part, open_calls))
            spoke = False
    return items


def _model_item(part: dict[str, Any], open_calls: list[tuple[str, str, str]], place: int) -> Item:
    call = part.get("function_call")
    if not isinstance(call, dict):
        return Item("assistant", part)
    identity, name = str(call.get("id") or ""), str(call.get("name", ""))
    # The key carries what a missing result needs.
    key = "\0".join((str(place), identity, name))
    open_calls.append((key, identity, name))
    return Item("assistant", part, (key,))


def _user_item(part: dict[str, Any], open_calls: list[tuple[str, str, str]]) -> Item:
    response = part.get("function_response")
    if not isinstance(response, dict):
        return Item("user", part)
    identity, name = str(response.get("id") or ""), str(response.get("name", ""))
    for known in open_calls:
        if (identity and identity == known[1]) or (not (identity and known[1]) and name == known[2]):
            open_calls.remove(known)
            return Item("user", part, answers=known[0])
    return Item("user", part, answers="stray")


def _missing(key: str) -> Item:
    _, identity, name = key.split("\0")
    response = {"name": name, "response": {"error": NO_RESULT}, **({"id": identity} if identity else {})}
    return Item("user", {"function_response": response}, answers=key)


def _stray(item: Item) -> Item:
    response = item.value["function_response"].get("response")
    told = response.get("output", response) if isinstance(response, dict) else response
    return Item("user", {"text": stray_result(told)})


def _contents(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Contents in turn: the model's, the results alone, then what users said."""
    contents: list[dict[str, Any]] = []
    kind = ""
    for item in items:
        before, kind = kind, "results" if item.answers and "function_response" in item.value else item.role
        role = "model" if item.role == "assistant" else "user"
        if kind == before:
            contents[-1]["parts"].append(item.value)
            continue
        if role == "model" and not contents:
            contents.append({"role": "user", "parts": [{"text": CONTINUES}]})
        contents.append({"role": role, "parts": [item.value]})
    return contents


def _holds_results(content: Mapping[str, Any]) -> bool:
    return any("function_response" in part for part in content["parts"])


def _response(outcome: ToolOutcome, shown: Sequence[Media]) -> dict[str, Any]:
    texts = [outcome.text]
    texts += [f"{media.text} (it follows the results)" if media.data else media.text for media in shown]
    values = [media.value for media in shown if media.kind == "structured"]
    kept = [sendable(text) for text in dict.fromkeys(texts) if not is_blank(text)]
    text = "\n".join(kept) or NO_OUTPUT
    if outcome.is_error:
        return {"error": text}
    if len(values) == 1 and len(kept) == 1:
        return {"output": plain(values[0])}
    return {"output": text}
