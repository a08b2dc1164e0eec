"""What executing a tool gives: a result as of a direct call, or a failure with a code."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.tools.codes import Code
from toolsearch.tools.schema_text import brief, full_text, trimmed_text
from toolsearch.tools.untrusted import neutralise, safe_json, shown_name

_SHOWN_MESSAGE = 2_000
_LONGEST_SCHEMA = 16_000
"""Characters of a schema in an answer."""
_CONTENT_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The outcome of one call of ExecuteExtraTool.

    Attributes:
        tool_name: The target's own name; as the model wrote it where there is no such tool.
        result: What the target gave, the very object; None for a failure that the target did not report itself.
        is_error: It failed.
        code: The kind of failure, or None.
        message: What happened and what to do, for a person; fit to be shown. "" for a success.
        text: What the model reads.
        suggestions: Names that may have been meant.
        schema: The target's schema where the answer shows it.
        discovered: The answer shows the target's parameters, so it counts as discovered.
        blocks: The result's content blocks where it has some (text, image, audio, resources), as MCP gives them.
        warnings: What the host should know: what of the arguments was repaired, what could not be checked.
    """

    tool_name: str
    result: Any = None
    is_error: bool = False
    code: Code | None = None
    message: str = ""
    text: str = ""
    suggestions: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    discovered: bool = False
    blocks: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """`{"tool_name", "result"}`, with `error` beside them for a failure; values that are no JSON as texts."""
        try:
            result = plain(self.result)
        except Exception:  # the result is someone else's object
            result = _described(self.result)
        form: dict[str, Any] = {"tool_name": self.tool_name, "result": result}
        if self.is_error:
            form["error"] = {"code": self.code, "message": self.message, "suggestions": list(self.suggestions)}
            if self.schema is not None:
                form["error"]["schema"] = plain(self.schema)
        return form


def succeeded(name: str, result: Any, *, warnings: tuple[str, ...] = ()) -> Execution:
    """A success; also what a server reports as an error of its tool, which is a failure with the result kept.

    Never raises: a result that can't be written is described.
    """
    try:
        blocks = content_blocks(result)
        failed = _says_error(result)
        body = safe_json({"tool_name": name, "result": plain(result)})
    except Exception:  # the result is someone else's object
        blocks, failed, body = (), False, safe_json({"tool_name": name, "result": _described(result)})
    return Execution(
        tool_name=name,
        result=result,
        is_error=failed,
        code="tool_error" if failed else None,
        message=f"{shown_name(name)} reported an error." if failed else "",
        text=body,
        blocks=blocks,
        warnings=warnings,
    )


def failed(
    name: str,
    code: Code,
    message: str,
    *,
    suggestions: tuple[str, ...] = (),
    schema: Mapping[str, Any] | None = None,
    show_schema: bool = False,
    warnings: tuple[str, ...] = (),
) -> Execution:
    """A failure; the text has the target's name, the code, the message, and its schema where that is to be shown."""
    lines = [f"{code}: {message}"]
    shown = _schema_text(schema if schema is not None else {"type": "object"}) if show_schema else None
    if shown is not None:
        lines.append(f"Parameters of {shown_name(name)}: {shown}")
    return Execution(
        tool_name=name,
        is_error=True,
        code=code,
        message=message,
        text="\n".join(lines),
        suggestions=suggestions,
        schema=schema if shown is not None else None,
        discovered=shown is not None,
        warnings=warnings,
    )


def _schema_text(schema: Mapping[str, Any]) -> str:
    """The whole schema where it is not too long, else without long descriptions, else the parameters in brief."""
    for text in (full_text(schema), trimmed_text(schema, limit=160)):
        if text is not None and len(text) <= _LONGEST_SCHEMA:
            return text
    return brief(schema, limit=_LONGEST_SCHEMA).text


def shown_message(text: str) -> str:
    """A stranger's words in a message: neutralised, on one line, bounded with a visible mark."""
    return neutralise(text, limit=_SHOWN_MESSAGE).text


def reason_of(error: BaseException) -> str:
    """What an exception of a tool says, fit to be shown; its kind where it says nothing. No traceback."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return shown_message(text) if text.strip() else type(error).__name__


def content_blocks(result: Any) -> tuple[Mapping[str, Any], ...]:
    """The content blocks of a result in the form of MCP, or none where it has another form."""
    content = result.get("content") if isinstance(result, Mapping) else getattr(result, "content", None)
    if not isinstance(content, list | tuple):
        return ()
    blocks = [plain(block) for block in content]
    good = all(isinstance(block, dict) and block.get("type") in _CONTENT_TYPES for block in blocks)
    return tuple(blocks) if blocks and good else ()


def _described(value: Any) -> str:
    try:
        return neutralise(repr(value), limit=_SHOWN_MESSAGE).text
    except Exception:
        return f"a {type(value).__name__} that can't be written as text"


def plain(value: Any) -> Any:
    """A value as JSON holds it: models and dataclasses as objects, sets as sorted lists, bytes and others as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in value), key=lambda each: json.dumps(each, sort_keys=True, default=str))
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump(mode="json", by_alias=True, exclude_none=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    return str(value)


def _says_error(result: Any) -> bool:
    """Whether a result in the form of MCP says that the tool failed."""
    content = result.get("content") if isinstance(result, Mapping) else getattr(result, "content", None)
    if not isinstance(content, list | tuple):
        return False
    for name in ("isError", "is_error"):
        said = result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)
        if isinstance(said, bool):
            return said
    return False
