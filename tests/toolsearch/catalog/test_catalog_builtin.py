"""The built-in catalog."""

from __future__ import annotations

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.core_tools import CORE_TOOLS, SYNTHETIC_TOOLS, TEAM_TOOLS
from toolsearch.catalog.lint import check_catalog
from toolsearch.catalog.registry import ToolRegistry


def test_builtin_catalog_is_complete_and_cached() -> None:
    """More than sixty tools with the whole core set, the team tools, and the synthetic ones last."""
    tools = builtin_catalog()
    names = [tool.name for tool in tools]
    assert builtin_catalog() is tools
    assert len(tools) > 60
    assert set(names) >= CORE_TOOLS | TEAM_TOOLS
    assert tuple(names[-3:]) == SYNTHETIC_TOOLS


def test_every_builtin_tool_has_description_hint_and_valid_schema() -> None:
    """The built-in tools pass the catalog check without a warning."""
    assert [str(problem) for problem in check_catalog(builtin_catalog())] == []
    assert [tool.name for tool in builtin_catalog() if not tool.search_hint or not tool.input_schema] == []


def test_builtin_catalog_fills_a_registry_whose_core_is_the_core_set() -> None:
    """Exactly the core set is loaded; with teams on also SendMessage."""
    assert {tool.name for tool in ToolRegistry(builtin_catalog()).core()} == CORE_TOOLS
    with_teams = ToolRegistry(builtin_catalog(), teams=True)
    assert {tool.name for tool in with_teams.core()} == CORE_TOOLS | {"SendMessage"}
    assert with_teams.warnings == ()
