"""The built-in tools of the design guide, described in our own words."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.formats import parse_catalog
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool

_FILE = "builtin_tools.jsonl"


@lru_cache(maxsize=1)
def builtin_catalog() -> tuple[Tool, ...]:
    """The built-in tools with the three synthetic ones at the end; read once, the same tuple every time.

    They have no callables: they can be searched and announced, and running them is up to the program around.
    """
    text = files("toolsearch.catalog").joinpath(_FILE).read_text(encoding="utf-8")
    # The synthetic tools are defined in code, next to what they promise; a row for one would be a second
    # home.
    listed = tuple(tool for tool in parse_catalog(text, path=_FILE) if tool.name not in SYNTHETIC_TOOLS)
    return (*listed, *synthetic_tools())
