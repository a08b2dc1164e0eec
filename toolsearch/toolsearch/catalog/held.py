"""A tool as a registry holds it, with all that is known of it whatever other tools there are.

Snapshots are taken after every change, most often of a few tools among thousands; what is worked out here is worked out
once for a tool.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolsearch.catalog.names import name_fault
from toolsearch.catalog.tool import Tool


@dataclass(frozen=True, slots=True)
class Final:
    """A tool under the name that it has in a snapshot.

    Attributes:
        tool: The tool, its unfit aliases left out.
        fault: Why it is quarantined, or None.
        mark: What the snapshot's fingerprint takes of it.
    """

    tool: Tool
    fault: str | None
    mark: str


class Held:
    """One tool with its source; equal names give the same `Final` object again."""

    __slots__ = ("_final", "aliases", "digest", "fault", "source", "tool")

    def __init__(self, tool: Tool, source: str) -> None:
        """Work out digest and faults.

        Raises:
            TypeError, ValueError, RecursionError: The schema is not JSON.
        """
        self.tool = tool
        self.source = source
        self.digest = content_digest(tool)
        self.fault = name_fault(tool.name) or _server_fault(tool) or name_fault(tool.leaf)
        self.aliases = tuple(alias for alias in tool.aliases if not name_fault(alias))
        self._final: Final | None = None

    def final(self, name: str) -> Final:
        """The tool under a name; as it is where its own name, server or leaf has a fault."""
        known = self._final
        if known is not None and known.tool.name == name:
            return known
        fault = self.fault or (name_fault(name) if name != self.tool.name else None)
        tool = self.tool
        if not fault and (name != tool.name or len(self.aliases) < len(tool.aliases)):
            tool = replace(tool, name=name, aliases=self.aliases)
        final = Final(tool, fault, f"{self.digest}\n{json.dumps([tool.name, *tool.aliases])}")
        if tool.name == name:
            self._final = final
        return final


def content_digest(tool: Tool) -> str:
    """A digest of everything about a tool that search or a request uses, apart from its final name.

    Raises:
        TypeError, ValueError, RecursionError: The schema is not JSON.
    """
    content = [
        tool.name,
        tool.leaf,
        tool.server,
        tool.description,
        tool.search_hint,
        tool.input_schema,
        list(tool.aliases),
        tool.always_load,
        tool.read_only,
    ]
    text = json.dumps(content, sort_keys=True, allow_nan=False, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _server_fault(tool: Tool) -> str | None:
    fault = name_fault(tool.server) if tool.server is not None else None
    return f"its server's name {fault}" if fault else None
