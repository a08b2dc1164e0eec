"""The synthetic tools."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.lint import check_catalog
from toolsearch.catalog.synthetic import synthetic_tools


def test_synthetic_tools_are_the_three_of_the_core_set_without_warnings() -> None:
    """Names and order are those of the core set, and the catalog check is content."""
    assert tuple(tool.name for tool in synthetic_tools()) == SYNTHETIC_TOOLS
    assert check_catalog(synthetic_tools()) == []


def test_synthetic_schemas_accept_what_they_promise() -> None:
    """A query alone, parameters of any kind, and any object as output are valid; a bare call is not."""
    search, execute, output = (Draft202012Validator(dict(tool.input_schema or {})) for tool in synthetic_tools())
    assert search.is_valid({"query": "x"})
    assert search.is_valid({"query": "x", "max_results": 3})
    assert not search.is_valid({})
    assert execute.is_valid({"tool_name": "a", "params": {"b": [1]}})
    assert not execute.is_valid({"tool_name": "a", "params": []})
    assert output.is_valid({"anything": {"at": "all"}})
    assert not output.is_valid([])
