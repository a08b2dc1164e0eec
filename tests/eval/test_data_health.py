"""What a data set lacks, as its labels and finished runs tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import DataSet, Query, fingerprint_of
from toolsearch_eval.data_health import data_health, rankings_of
from toolsearch_eval.data_texts import copied_texts, repeated_texts
from toolsearch_eval.evaluate import Evaluation, evaluate

TOOLS = tuple(Tool(name=name, server="s" if name == "e" else None, description=f"does {name}") for name in "abcdef")
QUERIES = (
    Query(query_id="q1", text="one", slice="exact", split="dev"),
    Query(query_id="q2", text="two", slice="exact", split="test"),
    Query(query_id="q3", text="three", slice="typo", split="test"),
    Query(query_id="q4", text="four", slice="typo", split="test", expect="none"),
    Query(query_id="q5", text="five", slice="typo", split="test"),
)
GRADES = {"q1": {"a": 2, "b": 0}, "q2": {"e": 2, "f": 1}, "q3": {"b": 2, "c": 2, "a": 0}, "q4": {"a": 0}}


class Fixed:
    """A ranker that gives the names it was told to give for each text."""

    def __init__(self, name: str, names: Mapping[str, str]) -> None:
        self.name = name
        self._names = names

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to read."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """One letter is one tool."""
        return [[(name, -float(place)) for place, name in enumerate(self._names[text][:depth])] for text in queries]


def made(**changes: object) -> DataSet:
    """Five queries on six tools; `q5` has no label."""
    data = DataSet(
        name="made", path="", tools=TOOLS, queries=QUERIES, judgements=GRADES, fingerprint="", about={"name": "made"}
    )
    data = replace(data, **changes)  # type: ignore[arg-type]
    return replace(data, fingerprint=fingerprint_of(data.tools, data.queries, data.judgements))


@pytest.fixture(scope="module")
def run() -> Evaluation:
    """Two rankers on all queries with a label or without an answer."""
    first = Fixed("first", {"one": "ab", "two": "ac", "three": "ab", "four": "ab"})
    second = Fixed("second", {"one": "ba", "two": "cb", "three": "cb", "four": "ac"})
    return evaluate(made(), [first, second], split="all", progress=False)


def test_coverage_counts_each_slice_of_each_split() -> None:
    """Queries, groups, those without an answer, those without a label, and the median of labels, by hand."""
    found = [
        (each.slice, each.split, each.queries, each.groups, each.no_answer, each.unlabelled, each.labels, each.few)
        for each in data_health(made(), []).coverage
    ]
    assert found == [
        ("exact", "dev", 1, 1, 0, 0, 2.0, True),
        ("exact", "test", 1, 1, 0, 0, 2.0, True),
        ("typo", "test", 3, 3, 1, 1, 1.0, True),
    ]


def test_what_rankers_bring_and_nobody_has_judged_is_pooled(run: Evaluation) -> None:
    """Queries without an answer are pooled too; a pair that both bring stands once with both names."""
    health = data_health(made(), [("r", run)])
    pairs = {(each.query_id, each.tool): each.rankers for each in health.pool.candidates}
    assert pairs == {
        ("q2", "a"): ("r: first",),
        ("q2", "b"): ("r: second",),
        ("q2", "c"): ("r: first", "r: second"),
        ("q4", "b"): ("r: first",),
        ("q4", "c"): ("r: second",),
    }
    assert (health.pool.counts["test"].pairs, health.pool.counts["test"].judged) == (9, 4)
    shares = {(each.ranker, each.split): (each.queries, each.share) for each in health.judged}
    assert shares == {
        ("first", "dev"): (1, 1.0),
        ("first", "test"): (2, 0.5),
        ("second", "dev"): (1, 1.0),
        ("second", "test"): (2, 0.5),
    }


def test_a_new_label_changes_the_pool_without_a_new_run(run: Evaluation) -> None:
    """The run was made before the label; its rankings still hold and the pair is gone from the pool."""
    labelled = made(judgements={**GRADES, "q2": {**GRADES["q2"], "c": 2}})
    health = data_health(labelled, [("r", run)])
    assert ("q2", "c") not in {(each.query_id, each.tool) for each in health.pool.candidates}
    assert health.misfits == ()
    assert [each.query.query_id for each in health.hard] == ["q2", "q3"][: len(health.hard)]


def test_the_hardest_queries_come_first(run: Evaluation) -> None:
    """A query that no ranker answers has 0 and no nearest rank; one that some ranker answers fully is left out."""
    hard = data_health(made(), [("r", run)]).hard
    assert [(each.query.query_id, each.best, each.by, each.nearest) for each in hard] == [("q2", 0.0, "", None)]
    assert hard[0].needed == ("e",)


def test_tools_that_nobody_found_say_who_needs_them(run: Evaluation) -> None:
    """Needed ones come first; without a run nothing is said of any tool."""
    found = data_health(made(), [("r", run)]).never_found
    assert [(each.tool, each.server, each.needed_by) for each in found] == [
        ("e", "s", ("q2",)),
        ("d", "", ()),
        ("f", "", ()),
    ]
    assert data_health(made(), []).never_found == ()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "other"}, "was made on made"),
        ({"tools": TOOLS[:-1]}, "1 tools differ"),
        ({"tools": (*TOOLS[:-1], Tool(name="f", description="else"))}, "1 tools differ"),
        ({"queries": tuple(replace(query, text=query.text + "!") for query in QUERIES)}, "no query with the text"),
    ],
)
def test_a_run_on_something_else_is_left_out_and_says_why(
    changes: dict[str, object], why: str, run: Evaluation
) -> None:
    """Another data set, another catalog or other texts: nothing of the run is used."""
    health = data_health(made(**changes), [("r", run)])
    assert [each.run for each in health.misfits] == ["r"]
    assert why in health.misfits[0].why
    assert (health.rankings, health.pool.candidates, health.hard) == ((), (), ())


def test_a_query_with_another_text_is_left_out_alone(run: Evaluation) -> None:
    """The rankings of the other queries hold on."""
    changed = made(queries=(replace(QUERIES[0], text="uno"), *QUERIES[1:]))
    found = rankings_of(changed, "r", run)
    assert isinstance(found, tuple)
    assert all(set(each.names) == {"q2", "q3", "q4"} for each in found)


def test_tools_with_one_description_are_twins() -> None:
    """Letter case and blanks make no difference; tools without a description are no twins."""
    tools = (
        Tool(name="x", description="Send  mail"),
        Tool(name="y", description="send mail"),
        Tool(name="z", description=""),
        Tool(name="w", description=None),
    )
    assert data_health(made(tools=tools, judgements={}), []).twins == (("x", "y"),)


def test_leaks_and_repeats_are_found_once_each() -> None:
    """A query that copies a description is a leak; a query that says the same again is a repeat of the first."""
    tools = (Tool(name="mail", description="Send a mail to one person of the team"), *TOOLS)
    queries = (
        Query(query_id="q1", text="send a mail to one person", split="dev"),
        Query(query_id="q2", text="Send a mail, to one PERSON!", split="test"),
        Query(query_id="q3", text="...", split="test"),
        Query(query_id="q4", text="---", split="test"),
    )
    data = made(tools=tools, queries=queries, judgements={"q1": {"mail": 2}, "q2": {"a": 2}})
    assert [(each.query.query_id, each.tool, each.kind) for each in copied_texts(data)] == [
        ("q1", "mail", "description"),
        ("q2", "mail", "description"),
    ]
    [repeat] = repeated_texts(data)
    assert (repeat.query.query_id, repeat.first.query_id) == ("q2", "q1")
    assert (repeat.same_answers, repeat.same_split) == (False, False)
