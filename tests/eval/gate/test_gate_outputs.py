from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.errors import Problem
from toolsearch_eval.gate.baseline import Baseline, BlessedQuery
from toolsearch_eval.gate.budgets import BudgetResult, Limits, Spent
from toolsearch_eval.gate.outputs.github import escape_markdown, fault_annotations, step_summary, verdict_annotations
from toolsearch_eval.gate.outputs.junit import junit_xml
from toolsearch_eval.gate.outputs.text import verdict_lines
from toolsearch_eval.gate.verdict import Fallen, Verdict
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.statistics import Difference, Interval

FELL = Fallen(
    query_id="q1",
    text="send a message",
    slice="exact",
    before=1.0,
    now=0.5,
    must_pass=True,
    why="a was rank 1 and is rank 3 now, behind b, c",
    ranking_before=("a",),
    ranking_now=("b", "c", "a"),
)


def difference(mean: float) -> Difference:
    """A difference with an interval of a tenth around it."""
    return Difference(
        difference=Interval(mean, mean - 0.05, mean + 0.05, 20),
        p=0.01,
        wins=1,
        ties=9,
        losses=10,
        detectable=0.07,
        effect_size=-0.5,
    )


BASELINE = Baseline(
    data="mine",
    fingerprint="f" * 64,
    split="dev",
    depth=10,
    measure=parse_measure("nDCG@10"),
    ranker="default",
    tools={"a": "1"},
    queries={"q1": BlessedQuery(digest="1", value=1.0, slice="exact", group="q1", ranking=("a",))},
    must_pass=("q1", "q2"),
    limits=Limits(counter="estimate"),
    spent=Spent(answer_tokens=300.0, array=None, p95_ratio=None),
    date="2026-01-02",
    reason="first",
    version="1",
)
TOKENS = BudgetResult(name="tokens per answer", unit="tokens (estimate)", blessed=300.0, now=310.5, limit=315.0)
BROKEN = BudgetResult(
    name="tools array",
    unit="variants in 13 requests",
    blessed=1,
    now=2,
    limit=1,
    detail="it changed after: servers failed: tool 3 (send) from byte 70 on",
)
FAILED = Verdict(
    outcome="fail",
    reasons=(
        "overall: -0.100 [-0.150, -0.050]",
        "must-pass queries that fell: q1",
        f"budget tools array: {BROKEN.sentence}",
    ),
    baseline=BASELINE,
    ranker="default",
    mean_before=0.8,
    mean_now=0.7,
    overall=difference(-0.1),
    slices=(("exact", difference(-0.02)),),
    fallen=(FELL,),
    budgets=(TOKENS, BROKEN),
    margin=0.01,
    warnings=(),
)
PASSED = replace(FAILED, outcome="pass", reasons=(), fallen=(), budgets=(TOKENS,))


def test_the_text_names_what_failed_and_which_queries_fell() -> None:
    """Verdict, means, guards, and each query with its values and the reason."""
    assert verdict_lines(FAILED) == [
        "gate FAILED: default on mine (dev)",
        "nDCG@10: 0.8000 was blessed, 0.7000 now; difference -0.1000 [-0.1500, -0.0500] over 20 groups, margin 0.01",
        "tokens per answer: 310.50 tokens (estimate), 300 was blessed, at most 315 allowed",
        "because of overall: -0.100 [-0.150, -0.050]",
        "because of must-pass queries that fell: q1",
        "because of budget tools array: 2 variants in 13 requests, 1 was blessed, at most 1 allowed; it changed after: "
        "servers failed: tool 3 (send) from byte 70 on",
        "queries that fell (1):",
        "  q1 (exact, must pass) 1.000 -> 0.500: 'send a message'",
        "    a was rank 1 and is rank 3 now, behind b, c",
    ]


def test_the_text_of_a_pass_is_short() -> None:
    """The verdict, the means and the budgets; nothing fell, nothing more is said."""
    assert len(verdict_lines(PASSED)) == 3
    assert verdict_lines(PASSED)[0] == "gate passed: default on mine (dev)"


def test_another_ranker_than_the_blessed_one_is_said() -> None:
    """Both names stand in the first line."""
    line = verdict_lines(replace(PASSED, ranker="mine.toml"))[0]
    assert line == "gate passed: mine.toml, held against default, on mine (dev)"


def test_many_queries_are_cut_visibly_but_must_pass_ones_never() -> None:
    """The rest is counted, and the way to all of them is told."""
    others = tuple(replace(FELL, query_id=f"r{number}", must_pass=False) for number in range(30))
    lines = verdict_lines(replace(FAILED, fallen=(FELL, *others)), most=3)
    assert sum("->" in line for line in lines) == 3
    assert lines[-1] == "  … and 28 more; --json lists all"


def test_junit_has_a_case_for_every_guard() -> None:
    """Overall, each slice, each must-pass query and each budget; those that fired hold a failure."""
    root = ElementTree.fromstring(junit_xml(FAILED))
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "3")
    cases = {case.get("name"): case.find("failure") is not None for case in suite.iter("testcase")}
    assert cases == {
        "overall": True,
        "slice exact": False,
        "must pass q1": True,
        "must pass q2": False,
        "budget tokens per answer": False,
        "budget tools array": True,
    }


def test_a_slice_whose_name_holds_a_colon_fails_its_own_case() -> None:
    """`a: b` is another slice than `a`."""
    verdict = replace(
        PASSED, outcome="fail", reasons=("slice a: b: -0.2",), slices=(("a", difference(0)), ("a: b", difference(-0.2)))
    )
    cases = ElementTree.fromstring(junit_xml(verdict)).iter("testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["slice a: b"]


def test_the_json_holds_every_budget() -> None:
    """With what was blessed, what is now, the limit, and whether it was kept."""
    budgets = FAILED.to_json()["budgets"]
    assert [(each["name"], each["kept"]) for each in budgets] == [("tokens per answer", True), ("tools array", False)]
    assert (budgets[0]["blessed"], budgets[0]["now"], budgets[0]["limit"]) == (300.0, 310.5, 315.0)
    assert budgets[0]["unit"] == "tokens (estimate)"
    assert budgets[1]["detail"].startswith("it changed after: servers failed")


def test_annotations_are_workflow_commands() -> None:
    """One for each guard, then the queries; the special characters of GitHub are escaped."""
    lines = verdict_annotations(FAILED, path="a,b:c.json")
    assert lines[0] == "::error file=a%2Cb%3Ac.json,title=toolsearch gate::overall: -0.100 [-0.150, -0.050]"
    assert lines[2].startswith("::error file=a%2Cb%3Ac.json,title=toolsearch gate::budget tools array: 2 variants in")
    assert lines[3].startswith("::error file=a%2Cb%3Ac.json,title=query that fell::q1: 1.000 -> 0.500: send a message")
    assert verdict_annotations(PASSED, path="b.json") == []
    assert verdict_annotations(replace(PASSED, outcome="inconclusive"), path="b")[0].startswith("::notice ")


def test_faults_of_the_data_are_annotated_at_their_line() -> None:
    """The file and the line are those of the fault."""
    lines = fault_annotations([Problem("q.jsonl", 7, "text", "is empty\n100%")])
    assert lines == ["::error file=q.jsonl,line=7,title=toolsearch gate::is empty%0A100%25"]


def test_the_step_summary_is_a_table() -> None:
    """The means, the slices and the queries stand in Markdown tables."""
    text = step_summary(FAILED)
    assert text.startswith("### toolsearch gate: fail\n")
    assert "| slice exact | | | -0.0200 | -0.0700 to +0.0300 | 20 |" in text
    assert "| q1 \\(must pass\\) | send a message | 1.000 | 0.500 |" in text
    assert (
        "| tokens per answer | 300 | 310.50 | 315 | tokens (estimate) |".replace("(", "\\(").replace(")", "\\)") in text
    )
    assert "| tools array \\(broken\\) | 1 | 2 | 1 | variants in 13 requests |" in text


HOSTILE = "::error::x\n::set-output name=a::b|<img src=x onerror=alert(1)>\x1b[31m\u202e`@team` ]]> &amp; \x00\ud800%0A"


def hostile(text: str) -> Verdict:
    """A verdict in which everything that comes from data is this text."""
    baseline = replace(BASELINE, data=text, ranker=text, must_pass=(text,))
    fallen = replace(FELL, query_id=text, text=text, slice=text, why=text)
    return replace(
        FAILED,
        baseline=baseline,
        ranker=text,
        reasons=(text,),
        fallen=(fallen,),
        slices=((text, difference(0.0)),),
        budgets=(replace(BROKEN, unit=text, detail=text),),
    )


@given(st.one_of(st.just(HOSTILE), st.text()))
def test_no_text_from_data_leaves_its_place(text: str) -> None:
    """Annotations stay on one line, a table row stays a row, and the XML can be read back."""
    verdict = hostile(text)
    for line in verdict_annotations(verdict, path="b.json"):
        assert line.startswith("::")
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", line)
    rows = [line for line in step_summary(verdict).split("\n") if line.startswith("| ")]
    assert len(rows) == 7
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) in (6, 7)
        assert "<" not in row
    ElementTree.fromstring(junit_xml(verdict).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "plain words"),
        ("a_b*c", "a\\_b\\*c"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("[x](http://y)", "\\[x\\]\\(http\\:\\/\\/y\\)"),
        ("one\ntwo", "one two"),
    ],
)
def test_markdown_is_escaped(text: str, expected: str) -> None:
    """Markup, HTML, links and line breaks from data are shown, not obeyed."""
    assert escape_markdown(text) == expected
