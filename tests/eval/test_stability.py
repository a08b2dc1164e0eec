"""What changes of a catalog do to rankings, by rankers whose answer is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from toolsearch.catalog.tool import Tool, tool_id
from toolsearch_eval.data import DataSet, Query, load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.stability import CHANGES, Stability, changed_catalog, measure_stability

TOOLS = [
    Tool(name="send_mail", description="Send a mail now"),
    Tool(name="read_file", description="Read one file"),
    Tool(name="mcp__chat__post", server="chat", leaf="post", description="Post it"),
    Tool(name="odd", server="chat", description=None),
]


class Keyed:
    """Gives all tools by a key of theirs, the smallest first."""

    name = "keyed"
    keeps_order = True

    def __init__(self, key: Callable[[int, Tool], object]) -> None:
        """Take the key: of the place in the catalog and the tool."""
        self._key = key

    def index(self, tools: Sequence[Tool]) -> None:
        """Put the tools in order."""
        numbered = sorted(enumerate(tools), key=lambda row: str(self._key(*row)))
        self._names = [tool.name for _, tool in numbered]

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The same for every query."""
        return [[(name, 0.0) for name in self._names[:depth]] for _ in queries]


def data_set(count: int = 12) -> DataSet:
    """Tools `t00`, `t01`, … with descriptions `000`, `001`, … and one query that wants the first."""
    tools = tuple(Tool(name=f"t{number:02}", description=f"{number:03} word") for number in range(count))
    queries = (Query(query_id="q", text="x"),)
    return DataSet(name="n", path="", tools=tools, queries=queries, judgements={"q": {"t00": 1}}, fingerprint="")


def measured(key: Callable[[int, Tool], object]) -> dict[str, Stability]:
    """What each change does to a ranker that orders by a key."""
    evaluation = evaluate(data_set(), [Keyed(key)], measures=[parse_measure("RR@10")])
    return measure_stability(evaluation, "keyed", lambda: Keyed(key))


def test_an_order_by_the_catalog_falls_when_it_is_shuffled() -> None:
    """A ranker that gives the catalog's beginning loses the tool that stood first, and nothing when names change."""
    found = measured(lambda place, tool: f"{place:06}")
    assert tuple(found) == CHANGES
    shuffled = found["shuffled"]
    assert shuffled.difference is not None
    assert shuffled.difference < 0
    assert shuffled.same == 0.0
    unmoved = Stability(difference=0.0, low=None, high=None, same=1.0, overlap=1.0)
    assert found["renamed"] == unmoved
    # Distractors stand after the tools of the catalog.
    assert found["distractors"] == unmoved


def test_an_order_by_description_hangs_on_neither_order_nor_names() -> None:
    """A ranker that looks at nothing but texts is the same on a shuffled and on a renamed catalog."""
    found = measured(lambda place, tool: tool.description)
    unmoved = Stability(difference=0.0, low=None, high=None, same=1.0, overlap=1.0)
    assert (found["shuffled"], found["renamed"]) == (unmoved, unmoved)
    assert found["distractors"].same == 0.0


def test_the_overlap_is_the_share_that_is_still_there() -> None:
    """Pushed out by as many distractors as there are ranks, nothing of what was found is left."""
    found = measured(lambda place, tool: f"{10**6 - place:07}")
    assert found["distractors"] == Stability(difference=0.0, low=None, high=None, same=0.0, overlap=0.0)


@pytest.mark.parametrize("name", ["default", "bm25f", "sklearn-words"])
def test_rankers_that_keep_no_order_of_the_catalog_are_stable_under_shuffling(name: str) -> None:
    """On a shipped set nothing moves when the catalog is shuffled, and distractors never raise the mean."""
    evaluation = evaluate(load_data("tiny"), [resolve_ranker(name)], split="all")
    found = measure_stability(evaluation, name, lambda: resolve_ranker(name))
    shuffled = found["shuffled"]
    assert (shuffled.difference, shuffled.low, shuffled.high, shuffled.same) == (0.0, 0.0, 0.0, 1.0)
    assert found["distractors"].difference is not None
    assert found["distractors"].difference <= 0.0
    again = measure_stability(evaluation, name, lambda: resolve_ranker(name))
    assert again == found


def test_a_shuffled_catalog_has_the_same_tools() -> None:
    """Only the order differs, and it differs by seed."""
    tools = load_data("tiny").tools
    orders = [changed_catalog(tools, "shuffled", seed=seed) for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    for changed, old_names in orders:
        assert changed != list(tools)
        assert sorted(changed, key=lambda tool: tool.name) == sorted(tools, key=lambda tool: tool.name)
        assert old_names == {}


def test_a_renamed_catalog_keeps_owners_and_texts() -> None:
    """Every name gets an ending; ids of servers stay ids, and all else stays as it was."""
    changed, old_names = changed_catalog(TOOLS, "renamed")
    assert [old_names[tool.name] for tool in changed] == [tool.name for tool in TOOLS]
    for new, old in zip(changed, TOOLS, strict=True):
        assert new.name.startswith(f"{old.name}_")
        assert len(new.name) == len(old.name) + 7
        assert (new.server, new.description) == (old.server, old.description)
    assert changed[2].name == tool_id("chat", changed[2].leaf)


def test_distractors_are_nine_for_each_tool_and_made_of_the_catalogs_words() -> None:
    """They have the lengths of the tools, names of their own, and no word that the catalog lacks."""
    changed, old_names = changed_catalog(TOOLS, "distractors")
    assert changed[:4] == TOOLS
    assert len(changed) == 40
    assert len({tool.name for tool in changed}) == 40
    assert old_names == {}
    words = {word for tool in TOOLS for word in (tool.description or "").split()}
    assert {word for tool in changed[4:] for word in (tool.description or "").split()} <= words
    assert [len((tool.description or "").split()) for tool in changed[4:]] == [4] * 9 + [3] * 9 + [2] * 9 + [0] * 9


@pytest.mark.parametrize("change", CHANGES)
def test_poor_catalogs_are_changed_without_a_fault(change: str) -> None:
    """No tool at all, and tools without a word, can be changed too."""
    assert changed_catalog([], change)[0] == []
    changed, _ = changed_catalog([Tool(name="!!!")], change)
    assert len(changed) == (10 if change == "distractors" else 1)


def test_nothing_measured_has_no_number() -> None:
    """Without a query there is nothing to compare, never 0 or NaN."""
    data = DataSet(name="n", path="", tools=tuple(TOOLS), queries=(), judgements={}, fingerprint="")
    evaluation = evaluate(data, [resolve_ranker("bm25f")])
    nothing = Stability(difference=None, low=None, high=None, same=None, overlap=None)
    assert measure_stability(evaluation, "bm25f", lambda: resolve_ranker("bm25f")) == dict.fromkeys(CHANGES, nothing)
