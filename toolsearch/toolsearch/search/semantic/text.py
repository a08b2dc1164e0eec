"""The text of a tool that is encoded."""

from __future__ import annotations

import re

from toolsearch.catalog.tool import Tool
from toolsearch.search.fields import field_texts

LONGEST = 4000
"""Characters that are encoded; far more than models read, and few enough that no pasted page takes minutes."""

_BORDERS = re.compile(r"[_\-./:\s]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def encoded_text(tool: Tool) -> str:
    """Server and name, hint, description, parameter names, identifiers split into words.

    What is said of the parameters stays out: it fills the little that a model reads, and gained nothing.

    >>> encoded_text(Tool(name="sendMessage", server="chat", description="Sends it."))
    'chat send Message. Sends it.'
    """
    name, server, hint, description, parameters, _ = field_texts(tool)
    parts = (f"{_split(server)} {_split(name)}".strip(), hint, description, _split(parameters))
    return fit(". ".join(part for part in parts if part))


def fit(text: str) -> str:
    """A text as any tokenizer takes it: not too long, and without halves of characters."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8")


def _split(name: str) -> str:
    return " ".join(piece for piece in _BORDERS.split(name) if piece)
