"""TREC files: other programs measure the same, whatever they do with ranks, ties, short floats and white space."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import ModuleType

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch_eval.data import DataSet, Query, fingerprint_of
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.runs.folder import write_run
from toolsearch_eval.runs.trec import plain_field, trec_field, trec_qrels, trec_run

NAMES = ("z tool", "a%tool", "m\ttool", "工具", "b")


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG@3", "RR@10", "P@3", "AP"])
def test_another_program_measures_the_same(measure: str, rankers: ModuleType, tmp_path: Path) -> None:
    """Ties in score, names out of order and with white space, and a query without results change no value."""
    tools = tuple(Tool(name=name, description="same words for all") for name in NAMES if "\t" not in name)
    queries = tuple(
        Query(query_id=f"q {number}", text=text) for number, text in enumerate(("same words", "all", "none"))
    )
    judgements = {"q 0": {"z tool": 1, "a%tool": 1}, "q 1": {"工具": 1}, "q 2": {"b": 1}}
    data = DataSet(
        name="n", path="", tools=tools, queries=queries, judgements=judgements,
        fingerprint=fingerprint_of(tools, queries, judgements),
    )  # fmt: skip
    evaluation = evaluate(data, [rankers.Counting()])
    assert [len(ranking) for ranking in evaluation.rankings["counting"]] == [4, 4, 0]
    folder = write_run(evaluation, tmp_path / "run", created="now")
    run = ir_measures.read_trec_run(str(folder / "trec" / "counting.run"))  # type: ignore[no-untyped-call]
    qrels = ir_measures.read_trec_qrels(str(folder / "trec" / "qrels"))  # type: ignore[no-untyped-call]
    found = {
        plain_field(each.query_id): each.value
        for each in ir_measures.iter_calc([ir_measures.parse_measure(measure)], qrels, run)
    }
    ours = evaluation.values("counting", parse_measure(measure))
    assert found == pytest.approx({query.query_id: value for query, value in zip(queries, ours, strict=True)})


def test_the_lines_of_a_run() -> None:
    """Rank and score fall together, and the score is 1 / rank whatever the ranker's own was."""
    assert trec_run(["q 1", "q2"], [["a b", "c"], []], "my ranker") == (
        "q%201 Q0 a%20b 1 1 my%20ranker\nq%201 Q0 c 2 0.5 my%20ranker\n"
    )
    assert trec_qrels(["q 1", "q3"], {"q 1": {"a b": 2, "c": -1}, "q2": {"c": 1}}) == "q%201 0 a%20b 2\nq%201 0 c -1\n"


def test_scores_stay_apart_in_32_bits() -> None:
    """Neighbouring ranks differ also where a program holds scores in short floats, down to rank 1,000."""
    import numpy

    lines = trec_run(["q"], [[f"t{number}" for number in range(1000)]], "r").splitlines()
    scores = [numpy.float32(line.split()[4]) for line in lines]
    assert all(first > second for first, second in itertools.pairwise(scores))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_field_has_no_white_space_and_can_be_read_back(text: str) -> None:
    """Any id or name is one field, and no two of them are the same one."""
    field = trec_field(text)
    assert field.split() == [field]
    assert plain_field(field) == text
