"""What the gateway keeps of one client: its conversation, the tools that it was given, and the way to reach it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from mcp.server.session import ServerSession

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.config import DEFAULT, SearchConfig
from toolsearch.mcp.hub import Hub
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings

SEARCH, EXECUTE, _OUTPUT = SYNTHETIC_TOOLS
_NO_PARAMETERS: dict[str, Any] = {"type": "object"}


@dataclass(slots=True)
class Client:
    """One client. Nothing of it is shared with another but the catalog and its index.

    Attributes:
        hub: The servers.
        settings: Of its conversation.
        config: The search profile.
        session: Its conversation.
        peer: The way to tell it something; None before its first request.
        given: The list of tools that it has, as JSON; "" before it asked for one.
        last_used: When it asked for something last, in the gateway's seconds.
    """

    hub: Hub
    settings: SessionSettings
    config: SearchConfig = DEFAULT
    session: Session = field(init=False)
    peer: ServerSession | None = None
    given: str = ""
    last_used: float = 0.0

    def __post_init__(self) -> None:
        """Begin its conversation."""
        self.session = Session(self.hub.registry, settings=self.settings, config=self.config, servers=self.hub.table)

    def tools(self) -> list[dict[str, Any]]:
        """The tools of its list: pinned ones as their servers describe them, then search and proxy.

        Like every tools array it stays as it is whatever is discovered or comes and goes; only what happens to the
        pinned tools themselves makes it anew.
        """
        fresh = self._would_be()
        text = json.dumps(fresh, sort_keys=True)
        if self.given and text != self.given:
            # What was discovered stays known; only the array is taken anew.
            saved = replace(self.session.save(), decision=None, tools=None)
            self.session = Session(
                self.hub.registry, settings=self.settings, config=self.config, servers=self.hub.table, state=saved
            )
        self.session.tools_array()
        self.given = text
        return fresh

    def is_outdated(self) -> bool:
        """Whether the list that it has is not the one that it would get now."""
        return bool(self.given) and json.dumps(self._would_be(), sort_keys=True) != self.given

    def _would_be(self) -> list[dict[str, Any]]:
        snapshot = self.hub.registry.snapshot()
        listed = []
        for tool in sorted(snapshot.loaded, key=lambda tool: tool.name):
            definition = self.hub.definition(tool)
            if definition is not None:
                listed.append({**definition, "name": tool.name})
        for name in (SEARCH, EXECUTE):
            own = snapshot.get(name)
            if own is not None:
                schema = dict(own.input_schema or _NO_PARAMETERS)
                listed.append({"name": name, "description": own.description, "inputSchema": schema})
        return listed
