"""Catalogs of any size for measuring speed: seeded, of fixed length, with the skew of real vocabularies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from toolsearch.catalog.tool import Tool, tool_id

WORDS_PER_TOOL = 60
"""Words of a tool over all its fields: name, hint, description, parameter names and their descriptions."""

_VOCABULARY = 30_000
_ZIPF_EXPONENT = 1.05
# Real catalogs repeat few verbs and many objects.
_VERBS = [
    "get",
    "list",
    "create",
    "update",
    "delete",
    "search",
    "send",
    "add",
    "remove",
    "find",
    "fetch",
    "read",
    "write",
    "run",
    "start",
    "stop",
    "check",
    "move",
    "copy",
    "share",
    "export",
    "import",
    "convert",
    "merge",
    "open",
    "close",
    "set",
    "upload",
    "download",
    "schedule",
]
_ONSETS = (
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "w",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "n", "r", "l", "t", "s", "ck", "m")
_TYPES = ("string", "integer", "boolean", "array")


def synthetic_catalog(count: int, *, seed: int = 0) -> tuple[Tool, ...]:
    """That many tools of `WORDS_PER_TOOL` words each; the same for the same count and seed.

    Args:
        count: How many tools, >= 0.
        seed: Of the generator.

    Returns:
        Tools of about `count / 25` servers, names unique, with one to five parameters each.
    """
    generator = np.random.default_rng([seed, count])
    words = _vocabulary()
    weights = 1.0 / np.arange(1, len(words) + 1) ** _ZIPF_EXPONENT
    drawn = generator.choice(len(words), size=(count, WORDS_PER_TOOL), p=weights / weights.sum())
    servers = max(1, count // 25)
    return tuple(_tool(number, [words[index] for index in row], servers, generator) for number, row in enumerate(drawn))


def changed_tools(tools: Sequence[Tool], count: int, *, seed: int = 0) -> tuple[Tool, ...]:
    """`count` of the tools, evenly spread, each with a new description of the same length.

    Args:
        tools: A synthetic catalog of at least `count` tools.
        count: How many change.
        seed: A different seed gives different descriptions.
    """
    step = max(1, len(tools) // max(1, count))
    chosen = list(itertools.islice(tools, 0, None, step))[:count]
    generator = np.random.default_rng([seed, len(tools), count])
    changed = []
    for tool in chosen:
        words = (tool.description or "").split()
        order = generator.permutation(len(words))
        description = " ".join([f"revised{seed}", *(words[index] for index in order[1:])])
        changed.append(
            Tool(
                name=tool.name,
                server=tool.server,
                description=description,
                search_hint=tool.search_hint,
                input_schema=tool.input_schema,
            )
        )
    return tuple(changed)


def synthetic_queries(tools: Sequence[Tool], count: int, *, seed: int = 0) -> tuple[str, ...]:
    """Queries of two to six words that some tool of the catalog has, one in three with a word of the tool's name."""
    generator = np.random.default_rng([seed, len(tools), count, 1])
    queries = []
    for _ in range(count):
        tool = tools[int(generator.integers(len(tools)))]
        words = (tool.description or "").split()
        chosen = generator.choice(len(words), size=min(len(words), int(generator.integers(2, 7))), replace=False)
        parts = [words[index] for index in chosen]
        if generator.random() < 1 / 3:
            parts[0] = tool.leaf.split("_")[0]
        queries.append(" ".join(parts))
    return tuple(queries)


def _vocabulary() -> list[str]:
    syllables = ["".join(parts) for parts in itertools.product(_ONSETS, _VOWELS, _CODAS)]
    generator = np.random.default_rng(7)
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        length = int(generator.integers(1, 4))
        words["".join(syllables[index] for index in generator.integers(len(syllables), size=length))] = None
    return list(words)


def _tool(number: int, words: list[str], servers: int, generator: np.random.Generator) -> Tool:
    verb = _VERBS[int(generator.integers(len(_VERBS)))]
    server = f"server{int(generator.integers(servers))}"
    objects = int(generator.integers(1, 3))
    parameters = int(generator.integers(1, 6))
    rest = iter(words[: WORDS_PER_TOOL - 2])  # the verb and the number are words of the name too
    # The number keeps names unique; real catalogs of this size have versions and dates in that place.
    leaf = "_".join([verb, *itertools.islice(rest, objects), str(number)])
    properties: dict[str, dict[str, str]] = {}
    for place in range(parameters):
        word = next(rest)
        # A word that was drawn twice is numbered, so that no parameter and none of its words is lost.
        properties[word if word not in properties else f"{word}{place}"] = {
            "type": _TYPES[int(generator.integers(len(_TYPES)))],
            "description": " ".join(itertools.islice(rest, 3)),
        }
    hint = " ".join(itertools.islice(rest, 3)) if generator.random() < 0.5 else None
    return Tool(
        name=tool_id(server, leaf),
        server=server,
        leaf=leaf,
        description=" ".join(rest),
        search_hint=hint,
        input_schema={"type": "object", "properties": properties, "required": list(properties)[:1]},
    )
