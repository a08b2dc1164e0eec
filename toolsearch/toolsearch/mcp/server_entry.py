"""One server of a configuration, as a value that keeps its secrets to itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from toolsearch.mcp.redaction import (
    MASK,
    MIN_SECRET,
    Redactor,
    address_secrets,
    argument_secrets,
    secret_values,
    shown_address,
)

Transport = Literal["stdio", "http"]
"""A process whose streams are spoken over, or streamable HTTP."""


def _frozen() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """How one server is reached. The representation shows no secret.

    Attributes:
        name: The server's name in the configuration.
        transport: `stdio` or `http`.
        command: The program to start (`stdio`).
        args: Its arguments.
        env: Variables that are set for it, on top of `surroundings`.
        surroundings: What it gets of the caller's own environment; empty: the few variables that every program needs.
        cwd: The folder that it starts in; None for the current one.
        url: The address (`http`).
        headers: Headers of every request (`http`).
        timeout: Seconds for one request, where the configuration sets it.
        disabled: The configuration keeps the server and has it switched off.
        written: Command and arguments as they stand in the file, variables not replaced; what is shown to a reader.
        variables: Values that came in from the environment; treated as secrets unless they are plainly none.
        origin: Where the entry was read, `path:line`, or a word.
    """

    name: str
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=_frozen)
    surroundings: Mapping[str, str] = field(default_factory=_frozen)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=_frozen)
    timeout: float | None = None
    disabled: bool = False
    written: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=_frozen)
    origin: str = ""

    def __repr__(self) -> str:
        """Name, transport and the address or command as it may be shown."""
        return f"ServerEntry(name={self.name!r}, transport={self.transport!r}, {self.shown()!r})"

    def shown(self) -> str:
        """The command line, or the address, fit to be shown: as it stands in the file, secrets masked.

        >>> ServerEntry(name="x", command="serve", args=("--token", "abc123", "my folder")).shown()
        "serve --token '[redacted]' 'my folder'"
        """
        if self.transport == "http":
            return self.redactor()(shown_address(self.url))
        words = self.written or (self.command, *self.args)
        return " ".join(shlex.quote(self.redactor()(word)) for word in words)

    def secrets(self) -> tuple[str, ...]:
        """The texts of this entry that are secrets; they must not even stand in a catalog."""
        found = [
            *secret_values(self.env),
            *secret_values(self.headers, headers=True),
            *secret_values(self.variables),
            *argument_secrets(self.args),
            *address_secrets(self.url),
            *_arrived_in(self.variables, self.headers),
        ]
        return tuple(dict.fromkeys(secret for secret in found if len(secret.strip()) >= MIN_SECRET and secret != MASK))

    def redactor(self) -> Redactor:
        """What keeps the entry's secrets out of names, descriptions, schemas, logs and errors."""
        return Redactor(self.secrets())


def _arrived_in(variables: Mapping[str, str], headers: Mapping[str, str]) -> list[str]:
    """Variables that went into a header: whatever their name, they are there to prove who calls."""
    return [value for value in variables.values() if any(value and value in header for header in headers.values())]
