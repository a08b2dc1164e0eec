"""Result blocks that are not plain text: what they are, and whether their data is what they say.

A result stays in the history, so one broken image would make every later request fail. Data that is not base64, not of
a known form or too large is therefore never sent; a note says what was left out.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolsearch.tools.untrusted import neutralise

MAX_BYTES = 5_000_000
"""The largest image or file that is sent; the lowest limit of the providers."""

_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_LABEL_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Media:
    """One block of a result.

    Attributes:
        kind: `text` goes as text; `structured` as JSON; the rest is data.
        text: The text, the JSON text, or the note that stands for the data where it can't be shown.
        mime: The type of the data; for an image the one that its first bytes show.
        data: The data as base64; "" when there is none that can be sent.
        value: The value of a structured block.
    """

    kind: Literal["text", "structured", "image", "audio", "file"]
    text: str
    mime: str = ""
    data: str = ""
    value: Any = None


def read_block(block: Mapping[str, Any]) -> Media:
    """A content block of a result, in the form of MCP, of a provider, or ours.

    Returns:
        Text for a block of an unknown form: its JSON. Data that can't be sent has no `data`, and its text says why.

    >>> read_block({"type": "text", "text": "hi"})
    Media(kind='text', text='hi', mime='', data='', value=None)
    >>> read_block({"type": "image", "data": "aGk=", "mimeType": "image/png"}).text
    '[image, image/png, 2 bytes: not shown, its data is no PNG, JPEG, GIF or WebP]'
    """
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return Media("text", block["text"])
    if kind == "structured":
        value = block.get("value")
        return Media("structured", _json(value), value=value)
    if kind == "resource" and isinstance(block.get("resource"), Mapping):
        return _resource(block["resource"])
    if kind == "resource_link":
        label = " ".join(str(block[key]) for key in ("title", "name", "uri") if block.get(key))
        return Media("text", f"[resource: {neutralise(label, limit=_LABEL_LIMIT * 2).text}]")
    mime, data = _inline(block)
    if kind in ("image", "image_url", "input_image"):
        return _checked("image", mime, data)
    if kind == "audio":
        return _checked("audio", mime, data)
    if kind == "document" and mime == "application/pdf":
        return _checked("file", mime, data)
    return Media("text", _json(dict(block)))


def note(media: Media, why: str = "this provider takes no such data") -> str:
    """What stands for data that a provider has no place for."""
    return f"[{_described(media.kind, media.mime, media.data)}: not shown, {why}]"


def _resource(resource: Mapping[str, Any]) -> Media:
    uri = neutralise(str(resource.get("uri", "")), limit=_LABEL_LIMIT).text
    if isinstance(resource.get("text"), str):
        return Media("text", f"[resource: {uri}]\n{resource['text']}")
    mime = str(resource.get("mimeType") or resource.get("mime_type") or "")
    data = resource.get("blob")
    if isinstance(data, str):
        if mime.startswith("image/"):
            return _checked("image", mime, data)
        return _checked("audio" if mime.startswith("audio/") else "file", mime, data)
    return Media("text", f"[resource: {uri}]")


def _inline(block: Mapping[str, Any]) -> tuple[str, Any]:
    """The type and the base64 data of a block, wherever its form keeps them."""
    source = block.get("source") if isinstance(block.get("source"), Mapping) else block
    assert isinstance(source, Mapping)
    data = source.get("data")
    mime = source.get("mimeType") or source.get("mime_type") or source.get("media_type") or ""
    url = block.get("image_url")
    if isinstance(url, Mapping):
        url = url.get("url")
    if data is None and isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.removeprefix("data:").partition(",")
        mime = head.partition(";")[0]
    return str(mime), data


def _checked(kind: Literal["image", "audio", "file"], mime: str, data: Any) -> Media:
    mime = neutralise(mime.lower().partition(";")[0], limit=_LABEL_LIMIT).text
    raw = _decoded(data)
    if raw is None:
        return Media(kind, f"[{kind}, {mime or 'unknown type'}: not shown, its data is not base64]", mime)
    text = base64.b64encode(raw).decode("ascii")
    if len(raw) > MAX_BYTES:
        return Media(kind, f"[{_described(kind, mime, text)}: not shown, larger than {MAX_BYTES:,} bytes]", mime)
    if kind == "image":
        # Providers compare the stated type with the data, and refuse the request when they differ.
        found = _image_type(raw)
        if not found:
            why = "its data is no PNG, JPEG, GIF or WebP"
            return Media(kind, f"[{_described(kind, mime, text)}: not shown, {why}]", mime)
        mime = found
    if kind == "file" and mime == "application/pdf" and not raw.startswith(b"%PDF-"):
        return Media(kind, f"[{_described(kind, mime, text)}: not shown, its data is no PDF]", mime)
    return Media(kind, f"[{_described(kind, mime, text)}]", mime, text)


def _image_type(raw: bytes) -> str:
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for start, mime in _IMAGES.items() if raw.startswith(start)), "")


def _decoded(data: Any) -> bytes | None:
    if not isinstance(data, str) or not data:
        return None
    try:
        raw = base64.b64decode("".join(data.split()).translate(_URL_SAFE), validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw or None


_URL_SAFE = str.maketrans("-_", "+/")


def _described(kind: str, mime: str, data: str) -> str:
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"{kind}, {mime or 'unknown type'}, {size:,} bytes"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "(a value that is not JSON)"
