"""Which tools are always loaded."""

from __future__ import annotations

import pytest

from toolsearch.catalog.core_tools import (
    CORE_GROUPS,
    CORE_TOOLS,
    SYNTHETIC_TOOLS,
    TEAM_TOOLS,
    is_deferred,
    teams_notice,
)
from toolsearch.catalog.tool import Tool


def test_core_set_has_the_28_names_of_the_table() -> None:
    """The core set is the table's 28 names, each in one group."""
    assert len(CORE_TOOLS) == 28
    assert sum(map(len, CORE_GROUPS.values())) == 28
    assert {"Bash", "Shell", "LSP", "Skill", "Sleep", *SYNTHETIC_TOOLS} <= CORE_TOOLS
    assert not CORE_TOOLS & TEAM_TOOLS


@pytest.mark.parametrize(
    ("tool", "teams", "expected"),
    [
        (Tool(name="Read"), False, False),
        (Tool(name="read"), False, True),
        (Tool(name="Read", server="files"), False, True),
        (Tool(name="CronCreate"), False, True),
        (Tool(name="CronCreate", always_load=True), False, False),
        (Tool(name="SendMessage"), False, True),
        (Tool(name="SendMessage"), True, False),
        (Tool(name="SendMessage", server="chat"), True, True),
        (Tool(name="TeamCreate"), True, True),
        (Tool(name="TeamDelete"), False, True),
    ],
)
def test_is_deferred_follows_flag_core_set_and_teams(tool: Tool, teams: bool, expected: bool) -> None:
    """A tool is deferred unless it is flagged, core, or SendMessage with teams on."""
    assert is_deferred(tool, teams=teams) is expected


def test_pinned_tool_is_not_deferred() -> None:
    """A pin loads a tool."""
    assert not is_deferred(Tool(name="CronCreate"), pins={"CronCreate"})


def test_teams_notice_says_how_to_turn_teams_on() -> None:
    """The notice names the tool and the setting."""
    assert "TeamCreate" in teams_notice("TeamCreate")
    assert "teams=True" in teams_notice("TeamCreate")
