from __future__ import annotations

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.server_settings import read_server_settings
from toolsearch.catalog.tool import Tool


def test_settings_decide_which_tools_are_loaded() -> None:
    """What is read goes into a registry as it is."""
    chosen, warnings = read_server_settings({"a": {"defer": False}, "b": {"defer": "by-mode"}, "c": {"defer": True}})
    assert (chosen, warnings) == ({"a": "never", "b": "by-mode", "c": "always"}, ())
    tools = [Tool(name=f"mcp__{server}__t", server=server) for server in "abc"]
    assert [tool.server for tool in ToolRegistry(tools, defer=chosen).core()] == ["a"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"deffer": True}, "server 'x' has no setting 'deffer'; accepted: defer. Did you mean defer?"),
        ({"colour": 1}, "server 'x' has no setting 'colour'; accepted: defer."),
        ({"defer": "sometimes"}, "defer of server 'x' is 'sometimes'; accepted: true, false, always, never, by-mode."),
        ("defer", "the settings of server 'x' are no object; accepted: defer."),
    ],
)
def test_every_slip_is_reported_and_has_no_effect(settings: object, expected: str) -> None:
    """Unknown names come with near ones, unknown values with what is accepted."""
    assert read_server_settings({"x": settings}) == ({}, (expected,))
