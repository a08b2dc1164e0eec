"""Rankers of strangers: each way to be wrong is one line that names the ranker and the query."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.rankers.run import run_ranker

TOOLS = [Tool(name=name) for name in ("send_mail", "read_file", "list_files")]
QUERIES = [Query(query_id=f"q{number}", text=text) for number, text in enumerate(["mail", "file", "boom", "list"])]
DATA = DataSet(
    name="n",
    path="",
    tools=tuple(TOOLS),
    queries=tuple(QUERIES),
    judgements={query.query_id: {"send_mail": 1} for query in QUERIES},
    fingerprint="",
)


class Answering:
    """Gives a fixed answer to the query `boom` and a good one to all others."""

    name = "theirs"

    def __init__(self, answer: Any) -> None:
        """Take the answer; an exception is raised, a function is called."""
        self._answer = answer

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to do."""

    def rank(self, queries: Sequence[str], depth: int) -> list[Any]:
        """A list for each query."""
        return [self._bad() if query == "boom" else [("send_mail", 1.0)] for query in queries]

    def _bad(self) -> Any:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer() if callable(self._answer) else self._answer


class Speechless:
    """A value that can't say what it is."""

    def __repr__(self) -> str:
        """It fails."""
        raise RuntimeError("no words")


BAD: list[tuple[str, Any, str]] = [
    ("a name that is no tool", [("sent_mail", 1.0)], "query 'q2': gave 'sent_mail', which is none of the 3 tools"),
    ("a name that is no text", [(5, 1.0)], "query 'q2': gave 5, which is none of the 3 tools"),
    ("a name that can't be hashed", [([], 1.0)], "query 'q2': gave [], which is none of the 3 tools"),
    (
        "one tool twice",
        [("send_mail", 1), ("send_mail", 0)],
        "query 'q2': gave 'send_mail' twice; each tool may come once",
    ),
    ("NaN", [("send_mail", float("nan"))], "query 'q2': gave 'send_mail' the score nan; it must be a finite number"),
    ("infinity", [("send_mail", float("-inf"))], "gave 'send_mail' the score -inf; it must be a finite number"),
    ("no score", [("send_mail", None)], "gave 'send_mail' the score None; it must be a finite number"),
    ("a score as a text", [("send_mail", "1.0")], "gave 'send_mail' the score '1.0'; it must be a finite number"),
    ("a score that is too large", [("send_mail", 10**400)], "it must be a finite number"),
    ("a list as a score", [("send_mail", np.array([1.0, 2.0]))], "it must be a finite number"),
    ("names alone", ["send_mail"], "query 'q2': gave 'send_mail' as a result; (name, score) is needed"),
    ("a name of two letters alone", ["ab"], "query 'q2': gave 'ab' as a result; (name, score) is needed"),
    ("three values", [("send_mail", 1.0, 2)], "gave ('send_mail', 1.0, 2) as a result; (name, score) is needed"),
    ("nothing", None, "query 'q2': gave None; a list of (name, score) is needed"),
    ("a text", "send_mail", "query 'q2': gave 'send_mail'; a list of (name, score) is needed"),
    ("a mapping", {"send_mail": 1.0}, "query 'q2': gave {'send_mail': 1.0}; a list of (name, score) is needed"),
    ("what has no words", Speechless, "query 'q2': gave a Speechless; a list of (name, score) is needed"),
    ("too much to show", [("x" * 500, 1.0)], "xxx…, which is none of the 3 tools"),
    ("too many", [(tool.name, 1.0) for tool in TOOLS], "query 'q2': gave more than the 2 results that were asked for"),
    ("an error", ZeroDivisionError("by zero"), "query 'q2': ZeroDivisionError: by zero"),
    ("an error of many lines", ValueError("a\nb\n" + "c" * 999), "query 'q2': ValueError: a b ccc"),
    ("an error without a text", KeyError(), "query 'q2': KeyError"),
    ("an exit", SystemExit(3), "query 'q2': SystemExit: 3"),
]


@pytest.mark.parametrize(("answer", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_wrong_answer_names_the_ranker_and_the_query(answer: Any, message: str) -> None:
    """Whatever a stranger's ranker gives or raises, the error is one line with its name and the query's."""
    with pytest.raises(UsageError) as caught:
        run_ranker(Answering(answer), TOOLS, QUERIES, 2)
    text = str(caught.value)
    assert text.startswith("ranker 'theirs' failed: query 'q2': ")
    assert message in text
    assert "\n" not in text
    assert len(text) < 420


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "queries 'q0' to 'q3': gave 0 rankings for 4 queries; one for each is needed"),
        ([[]] * 3, "queries 'q0' to 'q3': gave 3 rankings for 4 queries"),
        ([[]] * 5, "queries 'q0' to 'q3': gave more than 4 rankings for 4 queries"),
        (None, "gave NoneType for 4 queries; a list for each query is needed"),
        ("abcd", "gave str for 4 queries; a list for each query is needed"),
        ({}, "gave dict for 4 queries"),
    ],
)
def test_a_wrong_number_of_rankings(answers: Any, message: str) -> None:
    """There must be one ranking for each query, and the error says which queries were asked."""

    class Wrong(Answering):
        def rank(self, queries: Sequence[str], depth: int) -> Any:
            return answers

    with pytest.raises(UsageError) as caught:
        run_ranker(Wrong(None), TOOLS, QUERIES, 2)
    assert str(caught.value).startswith("ranker 'theirs' failed: ")
    assert message in str(caught.value)


def test_a_failure_of_several_queries_together_names_them_all() -> None:
    """Where no query fails alone, the error names the whole batch."""

    class Together(Answering):
        def rank(self, queries: Sequence[str], depth: int) -> Any:
            if len(queries) > 1:
                raise MemoryError
            return [[]]

    with pytest.raises(UsageError, match="queries 'q0' to 'q3' together: MemoryError"):
        run_ranker(Together(None), TOOLS, QUERIES, 2)


def test_a_failure_while_the_tools_are_taken() -> None:
    """An error in `index` is told with the ranker's name."""

    class Refusing(Answering):
        def index(self, tools: Sequence[Tool]) -> None:
            raise OSError("disk full")

    with pytest.raises(UsageError, match="ranker 'theirs' failed: OSError: disk full"):
        run_ranker(Refusing(None), TOOLS, QUERIES, 2)


@pytest.mark.parametrize(
    "answer",
    [
        (("send_mail", 1), ("read_file", 2)),
        [["send_mail", np.float32(0.5)], ("read_file", True)],
        np.array([("send_mail", 1), ("read_file", 2)], dtype=object),
        iter([("send_mail", 1.0), ("read_file", 2.0)]),
        [],
    ],
    ids=["tuple", "lists and numpy numbers", "array", "iterator", "empty"],
)
def test_any_iterable_of_pairs_is_fine(answer: Any) -> None:
    """Pairs may be of any kind; they are put in order by score."""
    queries = QUERIES[2:3]
    names = run_ranker(Answering(lambda: iter(list(answer))), TOOLS, queries, 2).rankings
    assert [list(each) for each in names] == (
        [["read_file", "send_mail"]] if not isinstance(answer, list) or answer else [[]]
    )


def test_a_broken_ranker_does_not_stop_the_others() -> None:
    """The others are judged, and the broken one is a warning."""
    result = evaluate(DATA, [Answering(ValueError("no")), resolve_ranker("bm25f")], measures=[parse_measure("RR@2")])
    assert list(result.rankings) == ["bm25f"]
    assert result.warnings == ("ranker 'theirs' failed: query 'q2': ValueError: no",)


def test_an_interrupt_is_no_failure_of_a_ranker() -> None:
    """Ctrl-C goes through."""
    with pytest.raises(KeyboardInterrupt):
        run_ranker(Answering(KeyboardInterrupt()), TOOLS, QUERIES, 2)


MODULE = """
class Good:
    name = "anything"
    def index(self, tools):
        self.names = [tool.name for tool in tools]
    def rank(self, queries, depth):
        return [[(name, -place) for place, name in enumerate(self.names[:depth])] for _ in queries]

ready = Good()

def make():
    return Good()

def make_with_options(depth=3):
    return Good()

def search(tools):
    names = [tool.name for tool in tools]
    return lambda query, depth: names[:depth]

def scored(tools):
    return lambda query, depth: [(tool.name, 0.5) for tool in tools][:depth]

def endless(tools):
    def find(query, depth):
        while True:
            yield from (tool.name for tool in tools)
    return find

def gives_none(tools):
    return None

def makes_nothing():
    return None

def fails():
    raise RuntimeError("out of order")

class NeedsMore:
    def __init__(self, model):
        pass

class Half:
    def index(self, tools):
        pass

number = 5
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the present folder, under a name that no other test has."""
    (tmp_path / "ranker_of_test.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_ranker_of_test.py").write_text("import no_such_thing_at_all\n", encoding="utf-8")
    (tmp_path / "exiting_ranker_of_test.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("ranker_of_test", "broken_ranker_of_test", "exiting_ranker_of_test"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return "ranker_of_test"


@pytest.mark.parametrize("factory", ["Good", "ready", "make", "make_with_options", "search", "scored"])
def test_every_form_of_a_ranker_is_judged_under_the_name_it_was_asked_for(module: str, factory: str) -> None:
    """A class, an object, a function that makes one, and a function that takes the tools all work."""
    ranker = resolve_ranker(f"{module}:{factory}")
    assert ranker.name == f"{module}:{factory}"
    names = run_ranker(ranker, TOOLS, QUERIES[:1], 2).rankings
    assert names == [["send_mail", "read_file"]]


FORMS = [
    ("makes_nothing", "ranker 'ranker_of_test:makes_nothing' gave NoneType; a ranker has the methods index(tools)"),
    ("Half", "ranker 'ranker_of_test:Half' gave Half; a ranker has the methods"),
    ("fails", "ranker 'ranker_of_test:fails' can't be made: RuntimeError: out of order"),
    ("NeedsMore", "ranker 'ranker_of_test:NeedsMore' can't be made: TypeError: "),
    ("number", "ranker 'ranker_of_test:number' is int; a ranker has the methods"),
    ("goood", "unknown ranker in module ranker_of_test 'goood'. Did you mean 'Good'?"),
    ("", "unknown ranker in module ranker_of_test ''"),
]


@pytest.mark.parametrize(("factory", "message"), FORMS)
def test_what_is_no_ranker_is_refused_at_once(module: str, factory: str, message: str) -> None:
    """What a module holds is looked at before anything runs."""
    with pytest.raises(UsageError) as caught:
        resolve_ranker(f"{module}:{factory}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("gives_none", "failed: gave NoneType for the tools; a function (query, depth) is needed"),
        ("endless", "failed: query 'q0': gave more than the 2 results that were asked for"),
    ],
)
def test_what_shows_later_is_told_later(module: str, factory: str, message: str) -> None:
    """A function that takes the tools is seen to be wrong when it is called."""
    with pytest.raises(UsageError) as caught:
        run_ranker(resolve_ranker(f"{module}:{factory}"), TOOLS, QUERIES[:1], 2)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no_such_module_at_all:make", "There is no module 'no_such_module_at_all' in this folder either."),
        ("ranker_of_test.deeper:make", "ranker_of_test"),
        ("broken_ranker_of_test:make", "can't be loaded: ModuleNotFoundError: No module named 'no_such_thing_at_all'"),
        ("exiting_ranker_of_test:make", "can't be loaded: SystemExit: 0"),
        ("..:make", "can't be loaded: TypeError"),
    ],
)
def test_a_module_that_cannot_be_had(module: str, spec: str, message: str) -> None:
    """A module that is not there, or fails, is one line."""
    with pytest.raises(UsageError) as caught:
        resolve_ranker(spec)
    assert spec in str(caught.value)
    assert message in str(caught.value)


def test_what_tells_nothing_about_itself_is_called_without_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A callable without a signature is taken for one that makes a ranker."""

    class Odd:
        __signature__ = "nonsense"

        def __call__(self) -> Answering:
            return Answering([])

    module = ModuleType("odd_ranker_of_test")
    module.make = Odd()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "odd_ranker_of_test", module)
    assert run_ranker(resolve_ranker("odd_ranker_of_test:make"), TOOLS, QUERIES[2:3], 2).rankings == [[]]


def test_unknown_names_are_of_their_own_kind(module: str) -> None:
    """Near names can be had from the error, as for every other unknown name."""
    with pytest.raises(UnknownNameError) as caught:
        resolve_ranker(f"{module}:serach")
    assert "search" in caught.value.suggestions
