from __future__ import annotations

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.session.server_table import ServerTable
from toolsearch.session.window import Scope, Window

HERE = Tool(name="mcp__a__here", server="a", leaf="here", description="Here.")
THERE = Tool(name="mcp__b__there", server="b", leaf="there", description="There.")


def test_a_look_that_shows_the_same_chooses_nothing_anew() -> None:
    """What can be selected is taken from the look before until a server's state or the catalog changes."""
    registry, table = ToolRegistry([HERE, THERE]), ServerTable()
    window = Window(registry, Scope(), table)
    first = window.look()
    assert first.selectable == (HERE, THERE)
    assert window.look().selectable is first.selectable
    table.set("b", "disconnected", "ended")
    assert window.look().selectable == (HERE,)
    table.set("b", "connected")
    assert window.look().selectable == (HERE, THERE)
    registry.replace([], server="a", source="test")
    assert window.look().selectable == (THERE,)
