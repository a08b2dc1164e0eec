"""A tool as the catalog holds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

MCP_PREFIX = "mcp__"
"""Begins the id of a tool that belongs to a server: `mcp__<server>__<leaf>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool of a catalog; a value that never changes.

    `None` for description, hint, schema or server means that the source had none.

    Attributes:
        name: The id by which the tool is selected and executed; unique in a registry.
        description: What the tool does, as its owner wrote it (untrusted text).
        search_hint: A few words that only the search sees.
        input_schema: The JSON Schema of the parameters.
        server: The owner; stored, never guessed from the name.
        leaf: The name as the owner gave it, without server and prefix; empty input means: worked out from name and
            server by `leaf_of`.
        aliases: Further names that select the tool.
        always_load: The tool is loaded always and never deferred.
        read_only: The tool changes nothing.
        meta: Whatever else the source said.
        is_enabled: Answers whether the tool can run now; absent means yes.
        check_permissions: The target's own permission check.
        call: Runs the tool, sync or async; a catalog from a file has none.
    """

    name: str
    description: str | None = None
    search_hint: str | None = None
    input_schema: Mapping[str, Any] | None = None
    server: str | None = None
    leaf: str = ""
    aliases: tuple[str, ...] = ()
    always_load: bool = False
    read_only: bool = False
    meta: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    is_enabled: Callable[[], bool] | None = field(default=None, compare=False)
    check_permissions: Callable[[Mapping[str, Any]], Any] | None = field(default=None, compare=False)
    call: Callable[..., Any | Awaitable[Any]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Fill in the leaf name where the caller gave none."""
        if not self.leaf:
            object.__setattr__(self, "leaf", leaf_of(self.name, self.server))


def leaf_of(name: str, server: str | None) -> str:
    """The tool's own name without its owner's prefix; the whole name when the owner is unknown or no prefix stands.

    >>> leaf_of("mcp__chat__send", "chat"), leaf_of("mcp__chat__send", None), leaf_of("send", "chat")
    ('send', 'mcp__chat__send', 'send')
    """
    if server:
        prefix = f"{MCP_PREFIX}{server}__"
        if name.startswith(prefix) and len(name) > len(prefix):
            return name[len(prefix) :]
    return name


def tool_id(server: str, leaf: str) -> str:
    """The id of a server's tool.

    >>> tool_id("chat", "send")
    'mcp__chat__send'
    """
    return f"{MCP_PREFIX}{server}__{leaf}"
