"""Who may ask the gateway over HTTP: decided by a request's headers alone, before anything else is read.

A web page that somebody opens can send requests to this machine too. By `Origin` the page is known; by `Host` a name is
known that its owner has pointed at this machine (DNS rebinding); a token keeps other programs and machines out.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from toolsearch.mcp.http_token import Token

_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:@/?#\[\],]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""What this machine is called by itself."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered.

    Attributes:
        status: Of the response.
        reason: For whoever asked; names nothing of what lies behind.
    """

    status: int
    reason: str


NO_NAME = Refusal(421, "this server does not answer to the name in the Host header")
NO_PAGES = Refusal(403, "this server does not answer web pages of another origin")
NO_TOKEN = Refusal(401, "a bearer token is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What a request must bring along.

    Attributes:
        hosts: Names and addresses that `Host` may give, as `host_name` writes them; any port, for tunnels change it.
        any_address: Whether `Host` may give any numeric address: no page can have one of ours as its own name.
        token: What the bearer token must be; None asks for none.
    """

    hosts: frozenset[str]
    any_address: bool = False
    token: Token | None = None

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Why a request with these headers is refused, or None if it is not.

        Args:
            headers: Names in lower case, and values, as they came; one that may be there once and is twice is refused.
        """
        given: dict[bytes, list[str]] = {b"host": [], b"origin": [], b"authorization": []}
        for name, value in headers:
            if name in given:
                given[name].append(value.decode("latin-1"))
        host = _authority(given[b"host"][0]) if len(given[b"host"]) == 1 else None
        if host is None or not self._answers_to(host[0]):
            return NO_NAME
        if given[b"origin"] and not (len(given[b"origin"]) == 1 and _is_own(given[b"origin"][0], host)):
            return NO_PAGES
        if self.token is not None and not (
            len(given[b"authorization"]) == 1 and _carries(given[b"authorization"][0], self.token)
        ):
            return NO_TOKEN
        return None

    def _answers_to(self, name: str) -> bool:
        return name in self.hosts or (self.any_address and _address(name) is not None)


def guard_of(host: str, address: str, *, names: Iterable[str] = (), token: Token | None = None) -> Guard:
    """The guard of a server that listens at an address.

    Args:
        host: What the operator called it.
        address: The numeric address behind that.
        names: Further names by which clients know it, for instance that of a proxy before it.
        token: What clients must send.
    """
    listening = ipaddress.ip_address(address)
    own = {host_name(host), host_name(address)}
    if listening.is_loopback or listening.is_unspecified:
        own |= LOOPBACK_NAMES
    return Guard(
        hosts=frozenset(own | {host_name(name) for name in names}), any_address=listening.is_unspecified, token=token
    )


def host_name(text: str) -> str:
    """One writing of a host's name or address.

    >>> host_name("Tools.Example.ORG."), host_name("[0:0::1]")
    ('tools.example.org', '::1')
    """
    bare = text.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")
    address = _address(bare)
    return str(address) if address is not None else bare


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _authority(text: str) -> tuple[str, int | None] | None:
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    return host_name(found[1]), int(found[2]) if found[2] else None


def _is_own(origin: str, host: tuple[str, int | None]) -> bool:
    """Whether a page of this origin is one that the same host and port have given."""
    scheme, found, rest = origin.partition("://")
    default = _DEFAULT_PORTS.get(scheme.lower())
    authority = _authority(rest) if found and default is not None else None
    if authority is None:  # "null" too, which is what a page from a file or in a sandbox sends
        return False
    return (authority[0], authority[1] or default) == (host[0], host[1] or default)


def _carries(header: str, token: Token) -> bool:
    scheme, _, given = header.strip().partition(" ")
    return scheme.lower() == "bearer" and token.matches(given.strip().encode("latin-1"))
