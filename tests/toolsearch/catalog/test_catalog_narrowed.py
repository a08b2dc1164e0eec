"""Snapshots as one conversation sees them."""

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.snapshot import narrowed
from toolsearch.catalog.tool import Tool


def _registry() -> ToolRegistry:
    return ToolRegistry(
        [Tool(name="Read"), Tool(name="a", aliases=("short",)), Tool(name="b", aliases=("short",)), Tool(name="c")]
    )


def test_a_view_that_changes_nothing_is_the_snapshot_itself() -> None:
    """Where all tools stay and the same ones are loaded, the very snapshot comes back, and with it its index."""
    snapshot = _registry().snapshot()
    assert narrowed(snapshot, lambda _: True, lambda tool: tool.name == "Read") is snapshot


def test_tools_that_are_left_out_are_not_found() -> None:
    """A tool that is not kept is neither listed nor found, and its alias goes to another tool that has it."""
    snapshot = _registry().snapshot()
    view = narrowed(snapshot, lambda tool: tool.name != "a", lambda tool: tool.name == "Read")
    assert [tool.name for tool in view.tools] == ["Read", "b", "c"]
    assert view.get("a") is None
    assert view.get("short") is snapshot.get("b")
    assert snapshot.get("short") is snapshot.get("a")


def test_loaded_and_deferred_tools_are_told_apart_anew() -> None:
    """What the view calls loaded is loaded, everything else is deferred, in the order of the catalog."""
    view = narrowed(_registry().snapshot(), lambda _: True, lambda tool: tool.name in ("c", "a"))
    assert [tool.name for tool in view.loaded] == ["a", "c"]
    assert [tool.name for tool in view.deferred] == ["Read", "b"]


def test_views_of_equal_content_share_their_fingerprint() -> None:
    """The same cut of equal catalogs has one fingerprint in any order; another cut has another."""
    first, second = _registry(), ToolRegistry(reversed(_registry().snapshot().tools))
    cuts = [
        narrowed(first.snapshot(), lambda tool: tool.name != "a", lambda tool: tool.name == "Read"),
        narrowed(second.snapshot(), lambda tool: tool.name != "a", lambda tool: tool.name == "Read"),
        narrowed(first.snapshot(), lambda tool: tool.name != "b", lambda tool: tool.name == "Read"),
        narrowed(first.snapshot(), lambda tool: tool.name != "a", lambda tool: False),
        first.snapshot(),
    ]
    assert cuts[0].fingerprint == cuts[1].fingerprint
    assert len({cut.fingerprint for cut in cuts}) == 4
