"""Which texts of a configuration are secret, and how they are kept out of what is shown or written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

MASK = "[redacted]"
"""Stands where a secret stood."""

MIN_SECRET = 4
"""A shorter text is no secret worth the name, and would be found in every other word."""

MIN_LINE = 8
"""A shorter line of a secret that has several, such as a brace of JSON, is none by itself."""

_SECRET_WORD = re.compile(
    r"(?:^|[^a-z])(?:api[-_]?key|access[-_]?key|key|token|secret|pass|passwd|password|passphrase|pwd|auth|authorization"
    r"|bearer|credentials?|cookie|session|signature|sig|pat|dsn)(?:$|[^a-z])"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "cache-control"})
_OPTION = re.compile(r"--?([A-Za-z][\w-]*)")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z][\w-]*)([=:]\s*)(.+)", re.DOTALL)
_KEY_LIKE = re.compile(r"[A-Za-z0-9_.~+/=-]{16,}")
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|apikey)\s+(.+)", re.IGNORECASE | re.DOTALL)


def is_secret_name(name: str) -> bool:
    """Whether a variable, header, option or query field of this name holds a secret.

    >>> [is_secret_name(name) for name in ("GITHUB_TOKEN", "apiKey", "--password", "KEYBOARD", "NODE_ENV")]
    [True, True, True, False, False]
    """
    return _SECRET_WORD.search(_CAMEL.sub("_", name).casefold()) is not None


def looks_like_a_key(text: str) -> bool:
    """Whether a text is what services hand out as keys: 16 or more signs without a blank, letters and digits mixed.

    Paths, addresses and version numbers are not.

    >>> [looks_like_a_key(text) for text in ("sk-proj-1a2b3c4d5e6f7g8h", "/usr/local/share/node20", "production")]
    [True, False, False]
    """
    return bool(
        _KEY_LIKE.fullmatch(text)
        and not text.startswith(("/", "./", "../", "@"))
        and "://" not in text
        and len(re.findall("[0-9]", text)) >= 3
        and re.search("[A-Za-z]", text)
    )


def secret_values(pairs: Mapping[str, str], *, headers: bool = False) -> tuple[str, ...]:
    """The values that must not be shown, of variables or of headers.

    A variable's value is one when its name says so, when it looks like a key, or for the password in an address;
    every header's is, except of the few that describe content. Of `Bearer x`, the `x` is one too.
    """
    found: list[str] = []
    for name, value in pairs.items():
        if headers:
            secret = name.casefold() not in _HARMLESS_HEADERS
        else:
            secret = is_secret_name(name) or looks_like_a_key(value)
        if secret:
            found.append(value)
            scheme = _SCHEME.fullmatch(value.strip())
            if scheme:
                found.append(scheme[1])
        found += address_secrets(value)
    return tuple(found)


def address_secrets(text: str) -> tuple[str, ...]:
    """The secrets inside an address: password, user before an `@`, query fields and path parts that are keys."""
    if "://" not in text:
        return ()
    try:
        parts = urlsplit(text)
        found = [unquote(part) for part in (parts.username, parts.password) if part]
        found += [part for part in (parts.username, parts.password) if part]
    except ValueError:
        return ()
    for field, value in parse_qsl(parts.query, keep_blank_values=True):
        if is_secret_name(field) or looks_like_a_key(value):
            found.append(value)
    found += [part for part in parts.path.split("/") if looks_like_a_key(part)]
    return tuple(found)


def argument_secrets(arguments: Iterable[str]) -> tuple[str, ...]:
    """The secrets among arguments: after `--token`, in `--token=x`, `KEY=x` and `Authorization: x`, keys, addresses."""
    found: list[str] = []
    option = ""
    for argument in arguments:
        assigned = _ASSIGNED.fullmatch(argument)
        if option and not argument.startswith("-"):
            found.append(argument)
        if assigned and is_secret_name(assigned[1]) and not assigned[3].startswith("//"):
            found += secret_values({assigned[1].lstrip("-"): assigned[3]})
        elif assigned and looks_like_a_key(assigned[3]):
            found.append(assigned[3])
        elif looks_like_a_key(argument):
            found.append(argument)
        found += address_secrets(assigned[3] if assigned and "://" in assigned[3] else argument)
        named = _OPTION.fullmatch(argument)
        option = argument if named and is_secret_name(named[1]) else ""
    return tuple(found)


def shown_address(url: str) -> str:
    """An address fit to be shown: no user, no password; fields of the query by name alone; key-like parts masked.

    >>> shown_address("https://me:pw@example.org/mcp?key=123&v=2")
    'https://example.org/mcp?key=…&v=…'
    """
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        path = "/".join(MASK if looks_like_a_key(part) else part for part in parts.path.split("/"))
        query = "&".join(f"{name}=…" for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        return urlunsplit((parts.scheme, host, path, query, ""))
    except ValueError:
        return "(an address that can't be read)"


class Redactor:
    """Replaces known secrets in texts.

    Args:
        secrets: The secrets; those under four signs and doubles don't count. Longest first, so that a secret inside of
            another one leaves no rest. They are also found as they stand in JSON and in an address, and each line of
            one that has several.
    """

    __slots__ = ("_ordered", "_pattern")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Make one pattern of all forms."""
        forms: set[str] = set()
        for secret in secrets:
            bare = secret.strip()
            if len(bare) >= MIN_SECRET:
                # Error streams are read by the line: a key in PEM form would never be seen whole.
                lines = [line.strip() for line in bare.splitlines()]
                forms |= {line for line in lines if len(line) >= MIN_LINE} if len(lines) > 1 else set()
                forms |= {bare, quote(bare, safe=""), quote_plus(bare), quote(bare)}
                forms |= {json.dumps(bare)[1:-1], json.dumps(bare, ensure_ascii=False)[1:-1], repr(bare)[1:-1]}
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._ordered = tuple(ordered)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __repr__(self) -> str:
        """Without the secrets."""
        return "Redactor()"

    def __call__(self, text: str) -> str:
        """The text with a mask for each secret.

        >>> Redactor(["hunter22"])("login with hunter22 failed")
        'login with [redacted] failed'
        """
        return self._pattern.sub(MASK, text) if self._pattern else text

    def cut(self, text: str) -> str:
        """As a call, for a text that may have been cut off: the beginning of a secret at its end is masked too.

        >>> Redactor(["hunter22"]).cut("login with hunte")
        'login with [redacted]'
        """
        masked = self(text)
        for length in range(max(map(len, self._ordered), default=1) - 1, MIN_SECRET - 1, -1):
            if any(len(form) > length and masked.endswith(form[:length]) for form in self._ordered):
                return masked[:-length] + MASK
        return masked

    def value(self, value: object) -> object:
        """A JSON value with each secret in its texts and keys replaced; the value itself when nothing was found."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {self(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value
