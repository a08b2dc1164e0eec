"""What the peers that take whole tools are given: the same text for each of them, in a form that breaks none.

Name, description, and the names and descriptions of the outermost parameters: that is all that any of them reads of a
tool. The search hint has no place in most of them; there it stands behind the description, so that no peer sees less
than the rankers of this project. Only the server's name is left out, as these libraries have it in the tool's name or
not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from toolsearch.catalog.tool import Tool

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """The text of a tool.

    Attributes:
        name: As in the catalog; lone surrogates, which no library can write down, are replaced.
        original: The name exactly as in the catalog, which results must bear.
        description: Empty where the tool has none.
        hint: Empty where the tool has none.
        parameters: The names of the outermost parameters, each with its description, which may be empty.
    """

    name: str
    original: str
    description: str = ""
    hint: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def description_with_hint(self) -> str:
        """Both, with a space between them where there are both."""
        return " ".join(part for part in (self.description, self.hint) if part)

    @property
    def schema(self) -> dict[str, object]:
        """A JSON Schema that holds the parameters' names and descriptions and nothing else."""
        properties = {name: {"description": text} if text else {} for name, text in self.parameters.items()}
        return {"type": "object", "properties": properties}


def texts_of(tools: Sequence[Tool]) -> list[ToolText]:
    """The text of each tool, by name; of tools with the same name the first.

    By name, because most of these libraries leave ties in the order of the catalog, which must decide nothing here.

    >>> [text.name for text in texts_of([Tool(name="b"), Tool(name="a"), Tool(name="b", description="Again.")])]
    ['a', 'b']
    """
    found: dict[str, ToolText] = {}
    for tool in sorted(tools, key=lambda tool: tool.name):
        found.setdefault(
            writable(tool.name),
            ToolText(
                name=writable(tool.name),
                original=tool.name,
                description=writable(tool.description or ""),
                hint=writable(tool.search_hint or ""),
                parameters=_parameters(tool),
            ),
        )
    return list(found.values())


def _parameters(tool: Tool) -> dict[str, str]:
    properties = (tool.input_schema or {}).get("properties")
    found: dict[str, str] = {}
    for name, schema in (properties if isinstance(properties, Mapping) else {}).items():
        described = schema.get("description") if isinstance(schema, Mapping) else None
        found[writable(str(name))] = writable(described) if isinstance(described, str) else ""
    return found


def writable(text: str) -> str:
    r"""A text without lone surrogates: each becomes a question mark.

    >>> writable("caf\u00e9"), writable("a\ud800b")
    ('café', 'a?b')
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def free_name(name: str, taken: Sequence[str] | frozenset[str]) -> str:
    """The name, with as many underscores behind it as make it one that is not taken.

    >>> free_name("search", ["search", "search_"])
    'search__'
    """
    while name in taken:
        name += "_"
    return name


def by_rank(names: Sequence[str]) -> list[tuple[str, float]]:
    """Names in order, of a library that tells no scores, with a score for each: one divided by its rank.

    >>> by_rank(["a", "b"])
    [('a', 1.0), ('b', 0.5)]
    """
    return [(name, 1.0 / rank) for rank, name in enumerate(names, 1)]


def awaited(start: Callable[[], Coroutine[object, object, _Result]]) -> _Result:
    """What a coroutine gives, also where an event loop runs already, as it does in a notebook.

    >>> async def answer() -> int:
    ...     return 42
    >>> awaited(answer)
    42
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    with ThreadPoolExecutor(1) as other:
        return other.submit(lambda: asyncio.run(start())).result()
