"""The errors of the package.

```
ToolSearchError                 base of all; its text is fit to be shown to a user
├── UsageError                  a wrong argument, setting or name; exit code 2
│   └── UnknownNameError        a name that does not exist; carries near names
├── DataError                   bad data in files; carries every problem found; exit code 2
│   └── DuplicateToolError      two tools of one name on one server (`duplicate_tool_name`)
├── ConfigError                 a search configuration that is not valid; exit code 2
└── ServerError                 a server of a protocol that can't be reached, or fails to answer; exit code 1
```

Nothing else is raised on purpose. A problem that does not stop the work is a warning value, never an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class ToolSearchError(Exception):
    """Base of all errors of the package; the text says what was given, what is accepted and what to do."""


class UsageError(ToolSearchError):
    """A wrong argument or setting."""


class ConfigError(ToolSearchError):
    """A search configuration that is not valid."""


class ServerError(ToolSearchError):
    """A server that can't be reached, or fails to answer.

    Attributes:
        server: The server's name.
        reason: What happened, a sentence without secrets.
        stderr_tail: The last lines that it wrote on its error stream, secrets masked; "" when there are none.
    """

    def __init__(self, server: str, reason: str, stderr_tail: str = "") -> None:
        """Keep the parts; the text is `server: reason`, the tail below it."""
        self.server, self.reason, self.stderr_tail = server, reason, stderr_tail
        super().__init__(f"server {server!r}: {reason}" + (f"\n{stderr_tail}" if stderr_tail else ""))


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a data file.

    Attributes:
        path: The file as it was named by the caller, or a word such as `<tools>` for data without a file.
        line: The 1-based line, or 0 when the fault concerns the whole file.
        field: The field at fault, or "" when it is the whole line.
        message: What is wrong, what is accepted, what to do.
    """

    path: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        """`path:line: field: message`, the form that editors jump to."""
        field = f"{self.field}: " if self.field else ""
        return f"{self.path}:{self.line}: {field}{self.message}"


class DataError(ToolSearchError):
    """Bad data; `problems` holds every fault that was found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Join the problems to one text, a line each."""
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DuplicateToolError(DataError):
    """Two tools of one name on one server; names both sources."""


class UnknownNameError(UsageError):
    """A name that does not exist; `suggestions` holds near names, nearest first."""

    def __init__(self, kind: str, name: str, known: Iterable[str], remedy: str = "") -> None:
        """Say which name of which kind is unknown and which names are near."""
        names = sorted(known)
        self.suggestions = near_names(name, names)
        hint = f" Did you mean {', '.join(map(repr, self.suggestions))}?" if self.suggestions else ""
        if not hint and names:
            shown = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
            hint = f" Known: {shown}."
        super().__init__(f"unknown {kind} {name!r}.{hint}{' ' + remedy if remedy else ''}")


def near_names(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Names that look like `name`, nearest first, letter case ignored; empty when none is near.

    >>> near_names("mesure", ["measure", "gate"])
    ('measure',)
    """
    folded: dict[str, list[str]] = {}
    for candidate in sorted(known):
        folded.setdefault(candidate.casefold(), []).append(candidate)
    hits = difflib.get_close_matches(name.casefold()[:200], list(folded), n=limit, cutoff=0.6)
    return tuple(original for hit in hits for original in folded[hit])[:limit]
