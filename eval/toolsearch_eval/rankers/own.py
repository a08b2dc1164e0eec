"""Anyone's own ranker, by `module:factory`; whatever is wrong with it is told in one line."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.search.results import Explanation
from toolsearch_eval.rankers.protocol import Ranker

_NEEDED = (
    "a ranker has the methods index(tools) and rank(queries, depth), "
    "or is a function (tools) that gives a function (query, depth)"
)


class OwnRanker:
    """A user's object with `index` and `rank`, under the name by which it was asked for."""

    assess: Callable[[Sequence[str]], Sequence[tuple[float, bool]]]
    """Only there where the object has it."""
    explain: Callable[[str, str, int], Explanation]
    """Only there where the object has it."""

    def __init__(self, name: str, ranker: Any) -> None:
        """Take the name in reports and the object."""
        self.name = name
        self.keeps_order = bool(getattr(ranker, "keeps_order", False))
        self._ranker = ranker
        if callable(getattr(ranker, "assess", None)):
            self.assess = ranker.assess
        if callable(getattr(ranker, "explain", None)):
            self.explain = ranker.explain
        self.fingerprint = getattr(ranker, "fingerprint", None)

    def index(self, tools: Sequence[Tool]) -> None:
        """Hand the tools on."""
        self._ranker.index(tools)

    def rank(self, queries: Sequence[str], depth: int) -> Sequence[Sequence[tuple[str, float]]]:
        """Whatever the object gives; it is checked before it is judged."""
        answers: Sequence[Sequence[tuple[str, float]]] = self._ranker.rank(list(queries), depth)
        return answers


class FunctionRanker:
    """A user's search function `(tools) -> (query, depth) -> names`, or names with scores."""

    # Names without scores have no order but that in which they come; with scores, too, the function decides it.
    keeps_order = True

    def __init__(self, name: str, factory: Callable[[Sequence[Tool]], object]) -> None:
        """Take the name in reports and the function that takes the tools."""
        self.name = name
        self.fingerprint = getattr(factory, "fingerprint", None)
        self._factory = factory

    def index(self, tools: Sequence[Tool]) -> None:
        """Call the factory with the tools.

        Raises:
            UsageError: It gives something that can't be called.
        """
        search = self._factory(tools)
        if not callable(search):
            raise UsageError(f"gave {type(search).__name__} for the tools; a function (query, depth) is needed")
        self._search: Callable[[str, int], Iterable[Any]] = search

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The function's order; a name without a score gets 1 / rank."""
        return [
            [
                (found, 1 / rank) if isinstance(found, str) else found
                for rank, found in enumerate(islice(self._search(query, depth), depth + 1), 1)
            ]
            for query in queries
        ]


def own_ranker(spec: str, known: Iterable[str]) -> Ranker:
    """The ranker of `module:factory`.

    The factory is a class or function without required arguments that gives a ranker, a ranker itself, or a function
    that takes the tools and gives a search function. The present folder is looked into first.

    Args:
        spec: `module:factory`.
        known: The rankers with a name, for near names.

    Raises:
        UnknownNameError: There is no such module, or no such name in it.
        UsageError: The module fails when it is imported, or what it holds is no ranker.
    """
    module_name, _, name = spec.rpartition(":")
    found = _imported(spec, module_name, known)
    if not name or not hasattr(found, name):
        raise UnknownNameError(
            f"ranker in module {module_name}", name, (each for each in vars(found) if each[0] != "_")
        )
    factory = getattr(found, name)
    if not isinstance(factory, type) and _is_ranker(factory):
        return OwnRanker(spec, factory)
    if not callable(factory):
        raise UsageError(f"ranker {spec!r} is {type(factory).__name__}; {_NEEDED}.")
    if not isinstance(factory, type) and _takes_tools(factory):
        return FunctionRanker(spec, factory)
    try:
        ranker = factory()
    except (Exception, SystemExit) as error:  # a user's code may fail in any way
        raise UsageError(f"ranker {spec!r} can't be made: {described(error)}") from error
    if not _is_ranker(ranker):
        raise UsageError(f"ranker {spec!r} gave {type(ranker).__name__}; {_NEEDED}.")
    return OwnRanker(spec, ranker)


def described(error: BaseException) -> str:
    """A stranger's error as one short line: its kind and text, or only the text where it is one of ours.

    >>> described(KeyError("x")), described(UsageError("wrong")), described(ValueError())
    ("KeyError: 'x'", 'wrong', 'ValueError')
    """
    text = " ".join(str(error).split())[:300]
    if isinstance(error, UsageError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _imported(spec: str, name: str, known: Iterable[str]) -> Any:
    try:
        # An installed command doesn't look into the folder where it is started; one's own ranker usually lies there.
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise UnknownNameError(
                "ranker", spec, known, f"There is no module {name!r} in this folder either."
            ) from error
        raise UsageError(f"ranker {spec!r} can't be loaded: {described(error)}") from error
    except (Exception, SystemExit) as error:  # a user's module may fail in any way while it is imported
        raise UsageError(f"ranker {spec!r} can't be loaded: {described(error)}") from error


def _is_ranker(value: object) -> bool:
    return all(callable(getattr(value, name, None)) for name in ("index", "rank"))


def _takes_tools(factory: Callable[..., object]) -> bool:
    """Whether a function has to be given something; what tells nothing about itself is taken for one that doesn't."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(each.kind in by_place and each.default is inspect.Parameter.empty for each in parameters)
