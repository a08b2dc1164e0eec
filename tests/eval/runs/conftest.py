"""A module with rankers that write down what they are asked, importable here and in other processes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import DataSet, Query, fingerprint_of

COUNTING = '''
"""Rankers of a test."""

import os
import time
from pathlib import Path

LOG = Path(__file__).with_name("asked.log")


class Counting:
    """Ranks by shared words; writes down each batch that it is asked for, a line each."""

    fingerprint = "counting 1"
    pause = 0.0

    def __init__(self, name="counting"):
        self.name = name

    def index(self, tools):
        self._tools = tools

    def rank(self, queries, depth):
        with LOG.open("a", encoding="utf-8") as log:
            log.write(f"{os.getpid()} " + "|".join(queries) + "\\\\n")
        time.sleep(self.pause)
        return [self._one(query, depth) for query in queries]

    def assess(self, queries):
        return [(len(query) / 100, "7" in query) for query in queries]

    def _one(self, query, depth):
        words = set(query.split())
        found = [(tool.name, len(words & set(tool.description.split())) / 3) for tool in self._tools]
        return sorted((pair for pair in found if pair[1]), key=lambda pair: (-pair[1], pair[0]))[:depth]


class Slow(Counting):
    """As if each batch cost something."""

    pause = 0.01


class Undeclared(Counting):
    """Says nothing about itself."""

    fingerprint = None


class Failing(Counting):
    """Fails at one query, always."""

    def rank(self, queries, depth):
        if any("w120" in query.split() for query in queries):
            raise ValueError("no")
        return super().rank(queries, depth)


class FailingTwice(Counting):
    """Fails late at an early query and at once at a later one."""

    def rank(self, queries, depth):
        words = {word for query in queries for word in query.split()}
        if "w20" in words:
            time.sleep(0.2)
            raise ValueError("early")
        if "w60" in words:
            raise ValueError("late")
        return super().rank(queries, depth)


class Dying(Counting):
    """Ends its process at one query."""

    def rank(self, queries, depth):
        if any("w120" in query.split() for query in queries):
            os._exit(9)
        return super().rank(queries, depth)


class Stopping(Counting):
    """Is interrupted at one query, as by Ctrl-C."""

    def rank(self, queries, depth):
        if any("w120" in query.split() for query in queries):
            raise KeyboardInterrupt
        return super().rank(queries, depth)


class Homebound(Counting):
    """Can't be sent anywhere."""

    def __init__(self, name="homebound"):
        super().__init__(name)
        self.key = lambda: None


class Unwelcome(Counting):
    """Can be sent, and not taken in."""

    def __init__(self, name="unwelcome"):
        super().__init__(name)
        self.home = os.getpid()

    def __setstate__(self, state):
        if state["home"] != os.getpid():
            raise ValueError("wrong house")
        self.__dict__ |= state
'''


@pytest.fixture
def rankers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module `rankers_of_test`, whose `LOG` is new."""
    (tmp_path / "rankers_of_test.py").write_text(COUNTING.replace("\\\\n", "\\n"), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "rankers_of_test", raising=False)
    importlib.invalidate_caches()
    yield importlib.import_module("rankers_of_test")
    sys.modules.pop("rankers_of_test", None)


@pytest.fixture
def many() -> DataSet:
    """A set of 230 queries that are measured, in five chunks, and 20 without an answer, in a sixth."""
    return many_queries()


@pytest.fixture
def very_many() -> DataSet:
    """A set of 1,480 queries that are measured, in 30 chunks, and 20 without an answer, in one more."""
    return many_queries(1480)


def many_queries(measured: int = 230) -> DataSet:
    """A set with so many queries that are measured and 20 without an answer; each query has a word of its own."""
    words = [f"w{number}" for number in range(measured + 20)]
    tools = tuple(
        Tool(name=f"tool_{place}", description=" ".join(["common", *words[place::5], "read"[: place + 1]]))
        for place in range(5)
    )
    queries = tuple(
        Query(
            query_id=f"q{number}",
            text=f"common {word}",
            slice="even" if number % 2 == 0 else "odd",
            split="dev",
            group=f"g{number // 2}",
            expect="none" if number >= measured else "answer",
        )
        for number, word in enumerate(words)
    )
    judgements = {f"q{number}": {f"tool_{(number + (number % 3 == 0)) % 5}": 2} for number in range(measured)}
    return DataSet(
        name="many",
        path="",
        tools=tools,
        queries=queries,
        judgements=judgements,
        fingerprint=fingerprint_of(tools, queries, judgements),
    )


@pytest.fixture
def asked(rankers: ModuleType) -> Callable[[], list[list[str]]]:
    """What was asked until now: the texts of each batch; the timed queries, which come alone, are left out."""

    def read() -> list[list[str]]:
        log: Path = rankers.LOG
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        batches = [line.partition(" ")[2].split("|") for line in lines]
        return [batch for batch in batches if len(batch) > 1]

    return read
