"""`${VAR}` in a configuration: replaced from an environment that the caller passes in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Accepted: ${NAME}, ${NAME:-default} and ${env:NAME}, as the common clients write them. A name of any other form (a
# client's own `${workspaceFolder}` is one of the first form, `${input:key}` is not) is told, never passed on as it is:
# a server that gets the letters `${KEY}` for a key fails much later and says nothing of why.
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_NAME = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its variables replaced.

    Attributes:
        text: The text; where a variable is missing, its placeholder stands as it was.
        values: What came in from the environment, by variable; secrets as likely as not. A default isn't among them.
        faults: What is wrong with the placeholders, a sentence each; none when all could be replaced.
    """

    text: str
    values: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Without the texts, which may be secrets."""
        return f"Expanded(variables={[name for name, _ in self.values]!r}, faults={list(self.faults)!r})"


def expand(text: str, environ: Mapping[str, str]) -> Expanded:
    """Replace `${VAR}`, `${VAR:-default}` and `${env:VAR}`.

    An empty variable is as good as none where there is a default. What comes in is never looked through again, so a
    value that holds `${` stays what it is.

    Args:
        text: The text of a configuration.
        environ: The environment; usually that of the process.

    >>> expand("${HOST:-localhost}:${PORT}", {"PORT": "80"}).text
    'localhost:80'
    >>> expand("Bearer ${KEY}", {}).faults
    ('the variable KEY is not set; set it, or give a default: ${KEY:-default}',)
    """
    values: dict[str, str] = {}
    faults: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        form = _NAME.fullmatch(match[1])
        if form is None:
            faults.append(
                f"{match[0][:60]} can't be replaced; accepted are ${{VAR}}, ${{VAR:-default}} and ${{env:VAR}}"
            )
            return match[0]
        name, default = form[1], form[2]
        value = environ.get(name)
        if value is None or (value == "" and default is not None):
            if default is not None:
                return str(default)
            faults.append(f"the variable {name} is not set; set it, or give a default: ${{{name}:-default}}")
            return match[0]
        values[name] = value
        return value

    result = _PLACEHOLDER.sub(replaced, text)
    if "${" in _PLACEHOLDER.sub("", text):
        faults.append("a ${ is never closed; write ${VAR}")
    return Expanded(result, tuple(values.items()), tuple(dict.fromkeys(faults)))
