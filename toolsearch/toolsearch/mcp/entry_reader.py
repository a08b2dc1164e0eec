"""One row of a configuration: its fields checked and its variables replaced, all faults told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from toolsearch.catalog.names import name_fault
from toolsearch.errors import near_names
from toolsearch.mcp.expansion import expand
from toolsearch.mcp.server_entry import ServerEntry, Transport

Tell = Callable[[str, str], None]
"""Takes a field and what is to be said of it."""

_TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "https": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "remote": "http",
}
_ADDRESSES = ("url", "serverUrl", "httpUrl")
_FIELDS = frozenset(
    {"type", "transport", "command", "args", "env", "cwd", "headers", "timeout", "disabled", "enabled", *_ADDRESSES}
)
# What clients keep beside a server for themselves; it says nothing about how the server is reached.
_OTHERS = frozenset(
    {
        "name", "description", "alwaysAllow", "autoApprove", "trust", "gallery", "version", "icon", "tags", "dev",
        "inputs", "isActive", "registryUrl", "provider", "providerUrl", "logoUrl", "longRunning", "notes", "comment",
    }
)  # fmt: skip

MILLISECONDS_FROM = 1000.0
"""A timeout of this or more is in milliseconds: some clients write seconds, others milliseconds, none means hours."""

# What a program needs to run at all, to find its packages and to get through a proxy; never the whole environment, in
# which the keys of all other programs stand.
SURROUNDINGS = frozenset(
    {
        "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HTTP_PROXY", "HTTPS_PROXY",
        "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
        "APPDATA", "LOCALAPPDATA", "HOMEDRIVE", "HOMEPATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE",
        "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
    }
)  # fmt: skip
"""The variables of the caller that every server gets."""


def surroundings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that every server gets, sorted by name."""
    return {name: environ[name] for name in sorted(SURROUNDINGS & set(environ)) if not environ[name].startswith("()")}


def address_fault(url: str) -> str:
    """What is wrong with a server's address; empty when nothing is. Never repeats the address, which may hold a key.

    >>> address_fault("ftp://example.org")
    'is no address of a server; it must start with http:// or https:// and name a host'
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    unfit = any(character.isspace() or not character.isprintable() for character in url)
    if good and not unfit:
        return ""
    return "is no address of a server; it must start with http:// or https:// and name a host"


def read_entry(
    name: str, row: object, *, environ: Mapping[str, str], origin: str, fault: Tell, note: Tell
) -> ServerEntry | None:
    """The entry of a row, or None when faults were told.

    Args:
        name: The server's name.
        row: The decoded value.
        environ: Where variables come from.
        origin: Where the row stands.
        fault: Called for each fault.
        note: Called for each field that is not taken notice of.
    """
    return _Reader(name, environ, origin, fault, note).read(row)


class _Reader:
    """Reads one row; counts its faults, and collects what came from the environment."""

    def __init__(self, name: str, environ: Mapping[str, str], origin: str, fault: Tell, note: Tell) -> None:
        self.name, self.given, self.origin, self.note = name, environ, origin, note
        self._tell = fault
        self.faults = 0
        self.variables: dict[str, str] = {}

    def fault(self, field: str, message: str) -> None:
        self.faults += 1
        self._tell(field, message)

    def read(self, row: object) -> ServerEntry | None:
        unfit = name_fault(self.name)
        if unfit:
            self.fault("", f"the server's name {unfit}; rename it")
        if not isinstance(row, dict):
            self.fault("", "must be an object with a command or a url")
            return None
        disabled = self._disabled(row)
        if disabled:
            # What is switched off is not looked at further: its variables may well not be set.
            return None if self.faults else ServerEntry(name=self.name, disabled=True, origin=self.origin)
        self._unknown(row)
        address = next((key for key in _ADDRESSES if key in row), "")
        transport = self._transport(row, address)
        timeout = self._timeout(row)
        values: dict[str, Any] = {"transport": transport, "timeout": timeout, "origin": self.origin}
        if transport == "stdio":
            values |= self._process(row)
        elif transport == "http":
            values |= self._http(row, address)
        if self.faults:
            return None
        return ServerEntry(name=self.name, variables=dict(self.variables), **values)

    def _transport(self, row: dict[str, Any], address: str) -> Transport | None:
        key = "type" if "type" in row else "transport"
        kind = row.get(key)
        if "command" in row and address:
            self.fault("", f"has both a command and a {address}; a server is reached by one of the two")
            return None
        if kind is None:
            if "command" not in row and not address:
                self.fault("", "has neither command nor url; give the program to start or the address to reach")
                return None
            return "http" if address else "stdio"
        if isinstance(kind, str) and kind.casefold() == "sse":
            self.fault(
                key, "sse is the protocol's old form, which is not spoken; use the server's streamable HTTP address"
            )
            return None
        found = _TRANSPORTS.get(kind.casefold()) if isinstance(kind, str) else None
        if found is None:
            self.fault(key, "must be one of stdio, http, streamable-http")
        elif found == "stdio" and "command" not in row:
            self.fault("command", "is missing; a server over stdio needs the program to start")
            return None
        elif found == "http" and not address:
            self.fault("url", "is missing; a server over HTTP needs its address")
            return None
        return found

    def _process(self, row: dict[str, Any]) -> dict[str, Any]:
        command = row["command"]
        args = row.get("args")
        args = [] if args is None else args
        if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
            command, args = command[0], [*command[1:], *(args if isinstance(args, list) else [])]
        if not isinstance(command, str) or not command.strip():
            self.fault("command", "must be a text that is not empty: the program to start")
            command = ""
        if not isinstance(args, list):
            self.fault("args", "must be a list of texts")
            args = []
        words: list[str] = []
        for number, word in enumerate(args):
            # People write ports and switches bare; a shell would hand them on as texts too.
            if isinstance(word, int | float) and not isinstance(word, bool):
                words.append(str(word))
            elif isinstance(word, str):
                words.append(word)
            else:
                self.fault(f"args[{number}]", "must be a text")
        if "headers" in row:
            self.note("headers", "is not used: a server over stdio takes none")
        cwd = row.get("cwd")
        if cwd is not None and (not isinstance(cwd, str) or not cwd):
            self.fault("cwd", "must be a text: the folder to start in")
            cwd = None
        values: dict[str, Any] = {
            "command": self._expanded("command", command),
            "args": tuple(self._expanded(f"args[{number}]", word) for number, word in enumerate(words)),
            "env": self._texts(row, "env"),
            "surroundings": surroundings_of(self.given),
            "cwd": None if cwd is None else self._expanded("cwd", cwd),
            "written": (command, *words),
        }
        if any("\0" in text for text in (values["command"], *values["args"], *values["env"].values())):
            self.fault("", "holds a zero character, which no program can be given")
        return values

    def _http(self, row: dict[str, Any], address: str) -> dict[str, Any]:
        for key in ("args", "env", "cwd"):
            if row.get(key):
                self.note(key, "is not used: a server over HTTP is not started from here")
        url = row[address]
        if not isinstance(url, str):
            self.fault(address, "must be a text: the server's address")
            return {}
        before = self.faults
        url = self._expanded(address, url.strip())
        problem = address_fault(url) if self.faults == before else ""
        if problem:
            self.fault(address, problem)
        headers = self._texts(row, "headers")
        for name, value in headers.items():
            if not name or any(sign in name for sign in " :\r\n\t") or not name.isascii():
                self.fault("headers", "has a name that no header can have")
            elif any(ord(sign) < 32 or ord(sign) == 127 for sign in value) or not value.isascii():
                self.fault(
                    f"headers.{name}", "has a value that no header can have (line breaks, signs outside of ASCII)"
                )
        return {"url": url, "headers": headers}

    def _texts(self, row: dict[str, Any], key: str) -> dict[str, str]:
        table = row.get(key)
        if table is None:
            return {}
        if not isinstance(table, dict):
            self.fault(key, "must be an object of names and texts")
            return {}
        found: dict[str, str] = {}
        for name, value in table.items():
            if isinstance(value, bool):
                value = str(value).lower()
            if isinstance(value, int | float):
                value = str(value)
            if not isinstance(value, str):
                self.fault(f"{key}.{name}", "must be a text")
            elif key == "env" and (not name or "=" in name or "\0" in name):
                self.fault(key, "has a name that no variable can have")
            else:
                found[name] = self._expanded(f"{key}.{name}", value)
        return found

    def _expanded(self, field: str, text: str) -> str:
        result = expand(text, self.given)
        for message in result.faults:
            self.fault(field, message)
        self.variables.update(result.values)
        return result.text

    def _timeout(self, row: dict[str, Any]) -> float | None:
        value = row.get("timeout")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            self.fault("timeout", "must be a number above 0: seconds, or milliseconds from 1000 on")
            return None
        return value / 1000 if value >= MILLISECONDS_FROM else float(value)

    def _disabled(self, row: dict[str, Any]) -> bool:
        for key in ("disabled", "enabled"):
            if key in row and not isinstance(row[key], bool):
                self.fault(key, "must be true or false")
        return row.get("disabled") is True or row.get("enabled") is False

    def _unknown(self, row: dict[str, Any]) -> None:
        for key in row:
            if key not in _FIELDS and key not in _OTHERS:
                near = near_names(key, _FIELDS, limit=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self.note(key if not name_fault(key) else "", f"is not known and not taken notice of{hint}")
