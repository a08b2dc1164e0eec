"""Names that a provider of models refuses, mapped there and back.

A fit name goes as it is. Any other becomes a readable part of itself and a digest of the whole, so what it is called
does not depend on which other tools there are or on their order. Two tools never share a name, even when one was named
to look like the other's mapped form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_DIGEST_LENGTH = 10


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which names a provider accepts.

    Attributes:
        others: The characters besides ASCII letters and digits, ready for a character class.
        length: The most characters.
        first: The first character must be an ASCII letter or `_`.
    """

    others: str
    length: int
    first: bool = False

    def fits(self, name: str) -> bool:
        """Whether a name is accepted as it is.

        >>> NameRule("_-", 64).fits("mcp__chat__send"), NameRule("_-", 64).fits("todo.add")
        (True, False)
        """
        pattern = rf"[A-Za-z0-9{re.escape(self.others)}]{{1,{self.length}}}"
        return re.fullmatch(pattern, name) is not None and not (self.first and not re.match("[A-Za-z_]", name))

    def mapped(self, name: str, salt: int = 0) -> str:
        """An accepted name for one that is not: what is readable of it, and a digest of all of it.

        >>> NameRule("_-", 64).mapped("todo.add")
        'todo_add_270f634954'
        """
        text = name if not salt else f"{salt}\0{name}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
        readable = re.sub(rf"[^A-Za-z0-9{re.escape(self.others)}]+", "_", name).strip("_")
        if self.first and not re.match("[A-Za-z_]", readable):
            readable = f"t_{readable}"
        readable = readable[: self.length - len(digest) - 1].rstrip("_") or "t"
        return f"{readable}_{digest}"


ANTHROPIC_NAMES = NameRule("_-", 128)
"""What the API's own refusal states: `^[a-zA-Z0-9_-]{1,128}$`."""

OPENAI_NAMES = NameRule("_-", 64)
"""As the client's documentation of `FunctionDefinition.name` states; Grok and other compatible servers follow it."""

GEMINI_NAMES = NameRule("_.-", 64, first=True)
"""A letter or `_` first. The documentation states 128 and colons by now, the servers have been refusing both."""

ANTHROPIC_PARAMETERS = NameRule("_.-", 64)
"""Keys of the outermost `properties`; inner ones are not checked."""

GEMINI_PARAMETERS = NameRule("_", 64, first=True)
"""Keys of the outermost `properties`, as the documentation of `FunctionDeclaration.parameters` states."""


def map_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """An accepted name for every name, each different; independent of the order in which they come.

    >>> map_names(["send", "todo.add"], NameRule("_-", 64))
    {'send': 'send', 'todo.add': 'todo_add_270f634954'}
    """
    known = sorted(set(names))
    sent = {name: name for name in known if rule.fits(name)}
    taken = set(sent)
    for name in known:
        if name in sent:
            continue
        salt = 0
        while (candidate := rule.mapped(name, salt)) in taken:
            salt += 1
        sent[name] = candidate
        taken.add(candidate)
    return {name: sent[name] for name in known}


@dataclass(frozen=True, slots=True)
class NameMap:
    """How the tools of a request, and their parameters, are called at the provider.

    Attributes:
        sent: The provider's name by the tool's name.
        parameters: By the tool's name, the real parameter by the name under which it was sent; only those that differ.
    """

    sent: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    _tools: Mapping[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Work out the way back."""
        object.__setattr__(self, "_tools", MappingProxyType({sent: name for name, sent in self.sent.items()}))

    def to_sent(self, name: str) -> str:
        """The provider's name of a tool; a name that was not mapped stays as it is."""
        return self.sent.get(name, name)

    def to_tool(self, sent: str) -> str:
        """The tool that the provider calls by this name; an unknown name stays as it is.

        >>> names = NameMap({"todo.add": "todo_add_270f634954"})
        >>> names.to_tool(names.to_sent("todo.add"))
        'todo.add'
        """
        return self._tools.get(sent, sent)

    def arguments(self, name: str, arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
        """Arguments of a call under the tool's own parameter names; a raw string stays as it is."""
        renamed = self.parameters.get(name)
        if not renamed or isinstance(arguments, str):
            return arguments
        # Where a model gives both names, the real one is what it means.
        kept = (key for key in arguments if key not in renamed or renamed[key] not in arguments)
        return {renamed.get(key, key): arguments[key] for key in kept}

    def choice(self, value: Any) -> Any:
        """A choice of tools (`tool_choice`, `tool_config`) under the provider's names; all else in it stays."""
        if isinstance(value, list):
            return [self.choice(inner) for inner in value]
        if not isinstance(value, Mapping):
            return value
        chosen = {key: self.choice(inner) for key, inner in value.items()}
        if isinstance(value.get("name"), str):
            chosen["name"] = self.to_sent(value["name"])
        for key in ("allowed_function_names", "allowedFunctionNames"):
            if isinstance(value.get(key), list):
                chosen[key] = [self.to_sent(name) for name in value[key]]
        return chosen
