"""Which tools stand in a request: decided and fixed with the first one, or all of them where nothing is deferred."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolsearch.catalog.core_tools import CORE_GROUPS, SYNTHETIC_TOOLS
from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.catalog.tool import Tool
from toolsearch.session.mode import (
    ModeDecision,
    decide_mode,
    definition_tokens,
    unavailable_name,
    unavailable_reason,
)
from toolsearch.session.settings import SessionSettings
from toolsearch.session.window import Scope, View
from toolsearch.tokens import TokenCounter
from toolsearch.tools.servers import is_reachable

SEARCH, EXECUTE, OUTPUT = SYNTHETIC_TOOLS

_CORE_ORDER = {name: place for place, name in enumerate(name for group in CORE_GROUPS.values() for name in group)}
_GONE = ("failed", "disabled")


def decide(view: View, scope: Scope, settings: SessionSettings, counter: TokenCounter) -> ModeDecision:
    """Decide the mode for the catalog as it is now."""
    deferred = view.snapshot.deferred
    return decide_mode(
        settings.mode,
        kill_switch=settings.kill_switch,
        context_window=settings.context_window,
        deferred_tokens=lambda: definition_tokens(deferred, counter),
        unavailable=unavailable_reason(view.whole, scope.holds_name),
        always_deferred=sorted({tool.server for tool in deferred if tool.server and _is_always_deferred(tool, view)}),
    )


def frozen_tools(view: View, decision: ModeDecision, scope: Scope, settings: SessionSettings) -> tuple[Tool, ...]:
    """The definitions of the array where tools are deferred: what is loaded, then the synthetic tools.

    A loaded tool of a server that is still connecting is in, since it could not be added later; one of a server that
    failed or is disabled is not.
    """
    gone = {name for name, status in view.servers.items() if status.state in _GONE}
    chosen = [tool for tool in view.snapshot.loaded if tool.server not in gone]
    if decision.reason == "server_always":
        # Below the threshold only such servers are deferred; the other tools are cheap enough to be loaded.
        chosen += [tool for tool in view.selectable if not _is_always_deferred(tool, view)]
    ours = [SEARCH, EXECUTE, *([] if unavailable_name(OUTPUT, view.whole, scope.holds_name) else [OUTPUT])]
    return (*_ordered(chosen), *_synthetic(view, ours, settings))


def inlined_tools(view: View, scope: Scope, settings: SessionSettings) -> tuple[Tool, ...]:
    """The definitions of the array where nothing is deferred: all tools that can be used now, and `SyntheticOutput`."""
    chosen = [tool for tool in view.snapshot.tools if is_reachable(tool.server, view.servers)]
    ours = [] if unavailable_name(OUTPUT, view.whole, scope.holds_name) else [OUTPUT]
    return (*_ordered(chosen), *_synthetic(view, ours, settings))


def _ordered(tools: Iterable[Tool]) -> list[Tool]:
    """Definitions in the order of the array: core tools as the guide lists them, then all others by name.

    It does not depend on the order of the catalog, so two conversations with the same tools share their cached prefix.
    """
    others = (tool for tool in tools if tool.name not in SYNTHETIC_TOOLS)
    return [_definition(tool) for tool in sorted(others, key=lambda tool: (_core_place(tool), tool.name))]


def _core_place(tool: Tool) -> int:
    return _CORE_ORDER.get(tool.name, len(_CORE_ORDER)) if tool.server is None else len(_CORE_ORDER)


def _synthetic(view: View, names: Iterable[str], settings: SessionSettings) -> list[Tool]:
    own = {tool.name: tool for tool in synthetic_tools()}
    definitions = []
    for name in names:
        tool = _definition(view.snapshot.get(name) or own[name])
        if name == OUTPUT and settings.output_schema is not None:
            tool = replace(tool, input_schema=dict(settings.output_schema))
        definitions.append(tool)
    return definitions


def _definition(tool: Tool) -> Tool:
    """What a request says of a tool, and what tells whose it is; nothing that runs."""
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=None if tool.input_schema is None else dict(tool.input_schema),
        server=tool.server,
        leaf=tool.leaf,
    )


def _is_always_deferred(tool: Tool, view: View) -> bool:
    return view.whole.defer.get(tool.server or "") == "always"
