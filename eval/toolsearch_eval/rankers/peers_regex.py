r"""Search by regular expression, as a provider's tool search does it that takes one.

What is documented of that tool (Anthropic's `tool_search_tool_regex_20251119`): the model writes a pattern in the
syntax of Python's `re.search`, of at most 200 characters, case-sensitive unless it begins with `(?i)`; it is looked for
in the names and descriptions of the tools and in the names and descriptions of their arguments; the three to five most
relevant tools come back. It runs on the provider's servers, so that it can't be called here.

Two things are not documented, and a comparison depends on both:

- *which pattern a model writes*. Here it says "any of the query's words, in any case": `(?i)` and the words with `|`
  between them. English function words and single letters are left out, as nobody would search for them; words enter in
  the order of the query as long as they fit into the limit. A word is what `\w+` finds: Chinese without spaces is thus
  one long word.
- *which of the tools that match are the most relevant*. Here it is those in which more of the pattern's words are
  found; ties go by name.

A model may write better patterns than this one, and may try several; so the figure is that of the rule above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolsearch.catalog.tool import Tool
from toolsearch_eval.rankers.bm25f import STOP_WORDS
from toolsearch_eval.rankers.order import best_first
from toolsearch_eval.rankers.peers_text import texts_of, writable

MAX_PATTERN: Final = 200
"""The documented limit, in characters; a longer pattern is refused by the provider."""
_ANY_CASE: Final = "(?i)"
_WORD: Final = re.compile(r"\w+")


def words_of(query: str) -> list[str]:
    """The words of a query for a pattern: each once, longest first, so many that the pattern keeps to the limit.

    Nothing but function words: they are searched for, as there is nothing else.

    >>> words_of("Read the file, then read_file!")
    ['read_file', 'read', 'file']
    >>> words_of("to be or not to be"), words_of("a+b*(c) ???")
    (['not', 'to', 'be', 'or'], ['a', 'b', 'c'])
    """
    words = list(dict.fromkeys(_WORD.findall(writable(query).lower())))
    telling = [word for word in words if len(word) > 1 and word not in STOP_WORDS]
    kept: list[str] = []
    length = len(_ANY_CASE) - 1  # the first word needs no bar
    for word in telling or words:
        if length + 1 + len(word) <= MAX_PATTERN:
            kept.append(word)
            length += 1 + len(word)
    # An alternation takes the first branch that fits: "file|files" would never find the longer word.
    return sorted(kept, key=len, reverse=True)


def pattern_of(query: str) -> str:
    """The pattern that stands for a query; empty where it has no words.

    Words hold no character with a meaning of its own, so that no query can become an expensive pattern.

    >>> pattern_of("Which files are in the folder?"), pattern_of("?!")
    ('(?i)folder|files', '')
    """
    words = words_of(query)
    return _ANY_CASE + "|".join(words) if words else ""


class RegexRanker:
    """Tools in which the pattern of a query is found; those first in which more of its words are."""

    name = "regex"

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []

    def index(self, tools: Sequence[Tool]) -> None:
        """Read a catalog: name, description with the hint behind it, names and descriptions of arguments."""
        self._texts = []
        for text in texts_of(tools):
            parts = [text.name, text.description_with_hint]
            for parameter, described in text.parameters.items():
                parts += [parameter, described]
            self._texts.append((text.original, "\n".join(part for part in parts if part)))

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Names with the number of different words found; no words in a query: nothing is found."""
        return [self._found(query, depth) for query in queries]

    def _found(self, query: str, depth: int) -> list[tuple[str, float]]:
        pattern = pattern_of(query)
        if not pattern:
            return []
        compiled = re.compile(pattern)
        results: list[tuple[str, float]] = []
        for name, text in self._texts:
            # What `re.search` finds and how often else, in one pass: nothing here where it would find nothing.
            words = {found.lower() for found in compiled.findall(text)}
            if words:
                results.append((name, float(len(words))))
        return best_first(results, depth)
