"""What a field report acts on: a registry, a conversation over it, and a record of all that happened."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.server_settings import read_server_settings
from toolsearch.catalog.tool import Tool
from toolsearch.search.index import IndexStore
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings
from toolsearch.tools.permissions import PermissionRequest
from toolsearch_eval.fieldtest.cases import Case

MODEL = "a-model"
_MODES = {"defer": "true", "standard": "false", "tst": "true"}
"""How other systems call what we write as true and false."""
_PROVIDERS = {"anthropic": "anthropic", "openai": "openai-chat", "responses": "openai-responses", "gemini": "gemini"}


@dataclass(slots=True)
class Ran:
    """One run of a tool.

    Attributes:
        step: In which step.
        tool: Which tool.
        params: The arguments that it got.
    """

    step: int
    tool: str
    params: Mapping[str, Any]


@dataclass(slots=True)
class World:
    """The state that a case's steps change.

    Attributes:
        case: The case.
        registry: The catalog.
        session: The conversation that steps go to.
        history: Its entries.
        subagent: The sub-agent that was spawned last, if any.
        offered: What each server offers, by server; what is not connected offers it later.
        runs: Every run of a tool.
        prompts: The tool's name of every question to the host, with its step.
        warnings: Everything that was reported, in order.
        store: Where indexes are built; it counts them.
        seconds: How long each step took.
        now: The clock, in seconds.
        step: The number of the step that runs.
    """

    case: Case
    registry: ToolRegistry
    session: Session
    history: list[Any]
    store: IndexStore
    subagent: Session | None = None
    offered: dict[str, list[Tool]] = field(default_factory=dict)
    runs: list[Ran] = field(default_factory=list)
    prompts: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)
    now: float = 0.0
    step: int = -1

    def tools(self, rows: Iterable[Mapping[str, Any]], server: str | None = None) -> list[Tool]:
        """Tools of rows, fillers written out, that record each run."""
        made: list[Tool] = []
        for row in rows:
            if "filler" in row:
                made += [self._tool(_numbered(row, number), server) for number in range(row["filler"])]
            else:
                made.append(self._tool(row, server))
        return made

    def _tool(self, row: Mapping[str, Any], server: str | None) -> Tool:
        name = row["name"]

        def run(params: Mapping[str, Any], context: Any = None) -> Any:
            self.runs.append(Ran(self.step, name, dict(params)))
            if "raises" in row:
                raise RuntimeError(row["raises"])
            if row.get("echo_context"):
                return context
            return {"ran": name, "params": dict(params)}

        def check(_params: Mapping[str, Any]) -> dict[str, Any]:
            decision: dict[str, Any] = {"behavior": row.get("permission", "allow")}
            if "updated_input" in row:
                decision["updated_input"] = row["updated_input"]
            return decision

        loaded = row.get("core") is True or row.get("defer") is False or self._is_loaded_by_setting(row)
        return Tool(
            name=name,
            description=row.get("description"),
            search_hint=row.get("hint"),
            input_schema=row.get("schema"),
            server=row.get("server", server),
            aliases=tuple(row.get("aliases", ())),
            always_load=loaded,
            is_enabled=(lambda: bool(row["enabled"])) if "enabled" in row else None,
            check_permissions=check if "permission" in row or "updated_input" in row else None,
            call=run,
        )

    def _is_loaded_by_setting(self, row: Mapping[str, Any]) -> bool:
        config = self.case.config
        return row["name"] in config.get("core", ()) and row.get("defer") is not True

    def asked(self, request: PermissionRequest) -> bool:
        """The host's answer to a question: always no, and remembered."""
        self.prompts.append((self.step, request.tool_name))
        return False

    def shuffled(self, seed: int) -> None:
        """Load the same tools in another order."""
        tools = list(self.registry.snapshot().tools)
        random.Random(seed).shuffle(tools)
        for tool in tools:
            self.registry.remove(tool.name)
        self.registry.add(tools)


def make_world(case: Case) -> World:
    """The world as a case sets it up.

    Raises:
        ToolSearchError: The set-up itself is refused, as with two tools of one name.
    """
    config = case.config
    store = IndexStore()
    servers: dict[str, dict[str, Any]] = {}
    for written in (config.get("servers", {}), config.get("servers_typo", {})):
        for server, settings in written.items():
            servers[server] = {**servers.get(server, {}), **settings}
    defer, warnings = read_server_settings(servers)
    # Made in two steps, as tools record into the world.
    world = World(case=case, registry=ToolRegistry(), session=None, history=[], store=store)  # type: ignore[arg-type]
    tools = world.tools(case.catalog)
    world.registry = ToolRegistry(
        tools,
        pins=tuple(config.get("always_load", ())),
        allow=tuple(config.get("allowed", ())),
        deny=tuple(config.get("deny", ())),
        defer=defer,
        teams=bool(config.get("teams", False)),
    )
    for tool in tools:
        if tool.server:
            world.offered.setdefault(tool.server, []).append(tool)
    world.warnings += warnings
    world.session = new_session(world, case.servers)
    return world


def new_session(world: World, servers: Mapping[str, str] | None = None) -> Session:
    """A conversation from its beginning over the world's catalog."""
    session = Session(world.registry, **session_options(world))
    for name, state in (servers or {}).items():
        session.set_server(name, state)  # type: ignore[arg-type]
    world.warnings += [*session.decision.warnings, *world.registry.warnings]
    return session


def session_options(world: World) -> dict[str, Any]:
    """The options of every session of a case."""
    config = world.case.config
    mode = config.get("mode")
    adapter = str(config.get("adapter", "anthropic"))
    return {
        "provider": next((ours for prefix, ours in _PROVIDERS.items() if adapter.startswith(prefix)), "anthropic"),
        "settings": SessionSettings(
            mode=_MODES.get(mode, mode) if mode is not None else None,
            announcements=config.get("announcements", "delta"),
            context_window=config.get("context_window", 200_000),
            require_discovery=config.get("require_discovery", False),
        ),
        "ask": world.asked,
        "clock": lambda: world.now,
        "store": world.store,
    }


def _numbered(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    made = {key: value for key, value in row.items() if key not in ("filler", "name_pattern", "description_pattern")}
    made["name"] = row["name_pattern"].replace("{i}", str(number))
    if "description_pattern" in row:
        made["description"] = row["description_pattern"].replace("{i}", str(number))
    return made
