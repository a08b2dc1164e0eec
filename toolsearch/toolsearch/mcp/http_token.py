"""The bearer token of the gateway over HTTP: where it comes from, and how one that is sent is compared with it.

It is taken from a variable of the environment or from a file, never from the command line: what stands there is seen
by everybody on the machine and kept in the shell's history.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolsearch.errors import UsageError

SHORTEST = 16
"""Characters that a token has at least: there is no limit to guessing but its length."""

_REMEDY = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
# The characters that a header may carry as a bearer token.
_FORM = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True, slots=True)
class Token:
    """A token that can be compared but not read: only its digest is kept, and even that is in no printed form.

    >>> Token.of("a-token-of-some-length").matches(b"a-token-of-some-length")
    True
    """

    _digest: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Token:
        """The token with this text.

        Raises:
            UsageError: It is too short, or has characters that a header can't carry; the text is not repeated.
        """
        if not _FORM.fullmatch(text):
            raise UsageError(f"the token may hold letters, digits and ._~+/- alone; {_REMEDY}")
        if len(text) < SHORTEST:
            raise UsageError(
                f"the token has {len(text)} characters, which can be guessed; at least {SHORTEST}; {_REMEDY}"
            )
        return cls(hashlib.sha256(text.encode("ascii")).digest())

    def matches(self, given: bytes) -> bool:
        """Whether this is the token; how long the answer takes tells nothing of how near the guess was."""
        # Digests are of one length, so that not even the token's length shows.
        return hmac.compare_digest(hashlib.sha256(given).digest(), self._digest)


def token_of_variable(name: str, environ: Mapping[str, str]) -> Token:
    """The token in a variable of the environment.

    Raises:
        UsageError: The variable is not set, or holds no good token.
    """
    text = environ.get(name, "").strip()
    if not text:
        raise UsageError(f"the variable {name} of the environment holds no token; {_REMEDY}")
    return Token.of(text)


def token_of_file(path: str | Path) -> tuple[Token, tuple[str, ...]]:
    """The token in a file, white space around it aside, and what is to be warned of.

    Raises:
        UsageError: The file can't be read, or holds no good token.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8").strip()
        mode = file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"the token's file {file} can't be read: {reason}.") from None
    if not text:
        raise UsageError(f"the token's file {file} is empty; {_REMEDY}")
    open_to_others = sys.platform != "win32" and stat.S_IMODE(mode) & 0o077
    warnings = (f"other users may have access to the token's file {file}; chmod 600 keeps it yours",)
    return Token.of(text), warnings if open_to_others else ()
