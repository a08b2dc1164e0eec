from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings
from toolsearch.session.state import SessionState
from toolsearch.tokens import ESTIMATE
from toolsearch_eval.answers import mean_answer_tokens
from toolsearch_eval.cli.main import main
from toolsearch_eval.data import DataSet, Query, fingerprint_of
from toolsearch_eval.gate.baseline import make_baseline
from toolsearch_eval.gate.baseline_file import read_baseline, write_baseline
from toolsearch_eval.gate.budgets import Limits, Spent, counter_named, held_against
from toolsearch_eval.gate.latency import p95_ratio
from toolsearch_eval.gate.tools_array import ArrayVariants, watch_tools_array
from toolsearch_eval.gate.verdict import gate
from toolsearch_eval.rankers.bm25f import PlainBM25F

TOOLS = (
    *(Tool(name=f"mcp__{server}__send", server=server, description=f"Send it by {server}") for server in "abcd"),
    Tool(name="wordy", description="word " * 200),
    Tool(name="Read", description="Read a file"),
)
QUERIES = tuple(Query(query_id=f"q{number}", text=f"send {number}", split="dev") for number in range(12))
JUDGED = {query.query_id: {"mcp__a__send": 2} for query in QUERIES}
DATA = DataSet(
    name="made",
    path="",
    tools=TOOLS,
    queries=QUERIES,
    judgements=JUDGED,
    fingerprint=fingerprint_of(TOOLS, QUERIES, JUDGED),
    about={"name": "made"},
)
ESTIMATED = Limits(counter="estimate")


class Shown:
    """A ranker that gives the right tool and then these."""

    name = "shown"

    def __init__(self, *others: str) -> None:
        """Take the other names."""
        self._names = ["mcp__a__send", *others]

    def index(self, tools: Sequence[Tool]) -> None:
        """Nothing to read."""

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """The same names for each query."""
        return [[(name, float(-place)) for place, name in enumerate(self._names)] for _ in queries]


class Ticks:
    """A clock whose hands are moved by a ranker."""

    def __init__(self) -> None:
        """Begin at nought."""
        self.now = 0.0

    def __call__(self) -> float:
        """The present second."""
        return self.now


class Slow(PlainBM25F):
    """A ranker that takes so many seconds of a clock for each call."""

    def __init__(self, clock: Ticks, seconds: float) -> None:
        """Take the clock and the seconds."""
        super().__init__()
        self.name = "slow"
        self._clock, self._seconds = clock, seconds

    def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
        """Move the clock."""
        self._clock.now += self._seconds
        return [[(name, -float(place)) for place, name in enumerate(["mcp__a__send"])] for _ in queries]


def inlining(registry: ToolRegistry, state: SessionState | None) -> Session:
    """A session that defers nothing, so that its array follows the catalog."""
    return Session(registry, settings=SessionSettings(mode="false"), counter=ESTIMATE, state=state)


def test_more_tokens_than_the_margin_allows_fail_with_both_numbers() -> None:
    """One long description more in each answer: the mean by hand is that of the two texts."""
    baseline = make_baseline(DATA, Shown(), limits=ESTIMATED, date="2026-01-02")
    verdict = gate(baseline, DATA, Shown("wordy"))
    tools = {tool.name: tool for tool in TOOLS if tool.name != "Read"}
    texts = [query.text for query in QUERIES]
    before = mean_answer_tokens(texts, [["mcp__a__send"]] * 12, tools, ESTIMATE)
    now = mean_answer_tokens(texts, [["mcp__a__send", "wordy"]] * 12, tools, ESTIMATE)
    assert before is not None
    assert now is not None
    assert verdict.outcome == "fail"
    assert verdict.reasons == (
        f"budget tokens per answer: {now:.0f} tokens (estimate), {before:.0f} was blessed, at most {before * 1.05:.2f} "
        "allowed; the limit is the blessed mean and 5.0% of it",
    )
    assert verdict.fallen == ()


def test_fewer_tokens_and_those_within_the_margin_pass() -> None:
    """A budget is a bound on one side."""
    baseline = make_baseline(DATA, Shown("wordy"), limits=ESTIMATED, date="2026-01-02")
    assert gate(baseline, DATA, Shown()).outcome == "pass"
    wide = make_baseline(DATA, Shown(), limits=Limits(counter="estimate", token_margin=10), date="2026-01-02")
    assert gate(wide, DATA, Shown("wordy")).outcome == "pass"


def test_a_bound_of_its_own_holds_whatever_was_blessed() -> None:
    """What is above it can't be blessed, and later it decides where it is below the margin."""
    with pytest.raises(UsageError, match=r"can't be blessed(.|\n)*tokens per answer: .* at most 50 allowed"):
        make_baseline(DATA, Shown(), limits=Limits(counter="estimate", most_tokens=50), date="2026-01-02")
    limits = Limits(counter="estimate", token_margin=10, most_tokens=100)
    verdict = gate(make_baseline(DATA, Shown(), limits=limits, date="2026-01-02"), DATA, Shown("wordy"))
    assert "at most 100 allowed; the limit is a bound of its own" in verdict.reasons[0]


def test_a_session_over_the_catalog_has_one_tools_array() -> None:
    """Servers come, fail and come back, tools change, the history is compacted and resumed: thirteen equal arrays."""
    assert watch_tools_array(TOOLS) == ArrayVariants(variants=1, requests=13, broken_by="")
    assert watch_tools_array([]) is None


def test_a_tools_array_that_changes_fails_and_what_changed_it_is_said() -> None:
    """A session that sends every tool changes its array first when the servers that came late are there."""
    baseline = make_baseline(DATA, Shown(), limits=ESTIMATED, date="2026-01-02")
    verdict = gate(baseline, DATA, Shown(), make_session=inlining)
    assert verdict.outcome == "fail"
    assert len(verdict.reasons) == 1
    assert verdict.reasons[0].startswith("budget tools array: ")
    # Before the late servers came: Read, mcp__a__send, mcp__c__send, wordy and the final answer.
    assert "it changed after: servers finished connecting: tool 3 (mcp__b__send) from byte " in verdict.reasons[0]
    assert verdict.reasons[0].endswith("on, 5 tools before and 7 now")
    with pytest.raises(UsageError, match="can't be blessed"):
        make_baseline(DATA, Shown(), limits=ESTIMATED, make_session=inlining, date="2026-01-02")


def test_a_slow_ranker_fails_where_time_is_looked_at() -> None:
    """Three seconds beside the yardstick's one: a ratio of 3 is above 2, by a clock that is moved by hand."""
    clock = Ticks()
    assert p95_ratio(Slow(clock, 3.0), Slow(clock, 1.0), TOOLS, ["a", "b"], clock=clock) == pytest.approx(3.0)
    blessed, now = (Spent(answer_tokens=None, array=None, p95_ratio=ratio) for ratio in (1.5, 3.0))
    (result,) = held_against(Limits(counter="estimate", most_p95_ratio=2.0), blessed, now)
    assert not result.kept
    assert result.sentence == "3 times the p95 of bm25f, 1.50 was blessed, at most 2 allowed"
    assert held_against(ESTIMATED, blessed, now) == ()


def test_time_is_taken_beside_the_yardstick_in_the_same_run() -> None:
    """The yardstick moves no such clock, so its p95 is nought and the ranker's ratio beyond any bound."""
    clock = Ticks()
    baseline = make_baseline(
        DATA, Shown(), limits=Limits(counter="estimate", most_p95_ratio=2.0), clock=clock, date="2026-01-02"
    )
    assert baseline.spent.p95_ratio == 0.0
    verdict = gate(baseline, DATA, Slow(clock, 0.5), clock=clock)
    assert [reason for reason in verdict.reasons if reason.startswith("budget p95 ratio: ")]


def test_a_ranker_that_fails_while_it_is_timed_is_named() -> None:
    """Anyone's ranker may fail at any call."""

    class Failing(Shown):
        name = "failing"

        def rank(self, queries: Sequence[str], depth: int) -> list[list[tuple[str, float]]]:
            """Fail."""
            raise KeyError("gone")

    with pytest.raises(UsageError, match="ranker 'failing' failed while it was timed: KeyError: 'gone'"):
        p95_ratio(Failing(), PlainBM25F(), TOOLS, ["a"])
    assert p95_ratio(Failing(), PlainBM25F(), TOOLS, []) is None


def test_budgets_are_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    """Limits and what was spent are in the file."""
    limits = Limits(counter="estimate", token_margin=0.5, most_tokens=900.0, yardstick="regex", most_p95_ratio=1e9)
    baseline = make_baseline(DATA, Shown(), limits=limits, date="2026-01-02")
    write_baseline(baseline, tmp_path / "b.json")
    again = read_baseline(tmp_path / "b.json")
    assert (again.limits, again.spent) == (limits, baseline.spent)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"counter": "words"}, "the token counter is 'words'; accepted: o200k_base, estimate"),
        ({"counter": None}, "budgets.counter"),
        ({"token_margin": -1}, "budgets.token_margin"),
        ({"token_margin": 11}, "the token margin is 11"),
        ({"most_tokens": "many"}, "budgets.most_tokens"),
        ({"most_tokens": 0}, "most tokens is 0; it must be a number above 0"),
        ({"array_variants": True}, "budgets.array_variants"),
    ],
)
def test_budgets_in_a_file_that_make_no_sense_are_bad_data(
    tmp_path: Path, changes: dict[str, Any], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is told with its place; the exit code is 2."""
    path = tmp_path / "b.json"
    write_baseline(make_baseline(DATA, Shown(), limits=ESTIMATED, date="2026-01-02"), path)
    form = json.loads(path.read_text(encoding="utf-8"))
    form["budgets"] |= changes
    path.write_text(json.dumps(form), encoding="utf-8")
    assert main(["gate", "--baseline", str(path)]) == 2
    assert expected in capsys.readouterr().err


def test_a_counter_that_is_not_installed_is_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are held against tokens of the same kind; the message says both ways out."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match=r"counts tokens by o200k_base, which is not installed(.|\n)*--counter estimate"
    ):
        counter_named("o200k_base")


@pytest.fixture
def blessed(tmp_path: Path) -> Iterator[Path]:
    """A baseline of the small shipped set."""
    path = tmp_path / "b.json"
    assert main(["bless", "--data", "tiny", "--ranker", "bm25f", "--baseline", str(path), "--counter", "estimate"]) == 0
    yield path


def _forms(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str, str]:
    """Exit code, standard output with annotations, JUnit and step summary."""
    capsys.readouterr()
    junit, summary = tmp_path / "j.xml", tmp_path / "s.md"
    code = main(
        ["gate", "--baseline", str(path), "--github", "--junit", str(junit), "--step-summary", str(summary), *more]
    )
    return code, capsys.readouterr().out, junit.read_text(encoding="utf-8"), summary.read_text(encoding="utf-8")


def _plant(path: Path, **changes: Any) -> None:
    baseline = read_baseline(path)
    write_baseline(
        replace(
            baseline,
            limits=replace(baseline.limits, **{key: changes[key] for key in changes if key != "answer_tokens"}),
            spent=replace(baseline.spent, answer_tokens=changes.get("answer_tokens", baseline.spent.answer_tokens)),
        ),
        path,
    )


def test_a_broken_token_budget_is_in_every_output(
    blessed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A baseline of ten tokens an answer, planted: exit code 1, and each form says so."""
    _plant(blessed, answer_tokens=10.0)
    code, said, junit, summary = _forms(blessed, tmp_path, capsys)
    assert code == 1
    assert "gate FAILED: bm25f on tiny" in said
    assert "because of budget tokens per answer: " in said
    assert "::error file=" in said
    assert '<testcase classname="toolsearch.gate" name="budget tokens per answer"><failure' in junit
    assert "| tokens per answer \\(broken\\) | 10 |" in summary
    capsys.readouterr()
    assert main(["gate", "--baseline", str(blessed), "--json"]) == 1
    form = json.loads(capsys.readouterr().out)
    assert [(each["name"], each["kept"]) for each in form["budgets"]] == [
        ("tokens per answer", False),
        ("tools array", True),
    ]


def test_a_session_that_thaws_its_array_is_caught_by_the_command(
    blessed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted in the product: what was discovered joins the array."""
    frozen = Session._tools

    def thawed(session: Session) -> Any:
        found = frozen(session)
        more = [{"name": name, "input_schema": {}} for name in session.discovered]
        return replace(found, array=[*found.array, *more])

    monkeypatch.setattr(Session, "_tools", thawed)
    code, said, junit, summary = _forms(blessed, tmp_path, capsys)
    assert code == 1
    assert "because of budget tools array: " in said
    assert "it changed after: the model found tools: tool " in said
    assert 'name="budget tools array"><failure' in junit
    assert "| tools array \\(broken\\) | 1 |" in summary


def test_a_broken_p95_ratio_is_in_every_output(
    blessed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No search takes a millionth of another's time."""
    _plant(blessed, most_p95_ratio=1e-6)
    code, said, junit, summary = _forms(blessed, tmp_path, capsys)
    assert code == 1
    assert "because of budget p95 ratio: " in said
    assert 'name="budget p95 ratio"><failure' in junit
    assert "| p95 ratio \\(broken\\) |" in summary


def test_blessing_takes_over_budgets_and_changes_those_that_are_named(
    blessed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`off` takes a bound away again; what changed is said."""
    again = ["bless", "--baseline", str(blessed)]
    assert main([*again, "--most-tokens", "100000", "--token-margin", "0.2", "--most-p95-ratio", "1e9"]) == 0
    assert read_baseline(blessed).limits == Limits(
        counter="estimate", token_margin=0.2, most_tokens=100_000.0, most_p95_ratio=1e9
    )
    said = capsys.readouterr().out
    assert "tokens per answer: " in said
    assert "p95 ratio: " in said
    assert main([*again, "--most-tokens", "off", "--most-p95-ratio", "off"]) == 0
    assert read_baseline(blessed).limits == Limits(counter="estimate", token_margin=0.2)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--token-margin", "nan"], "the token margin is nan"),
        (["--most-tokens", "-3"], "most tokens is -3.0"),
        (["--most-p95-ratio", "inf"], "most p95 ratio is inf"),
        (["--yardstick", "bm25"], "unknown ranker 'bm25'"),
        (["--most-tokens", "5"], "over its own budget"),
    ],
)
def test_budgets_that_make_no_sense_are_wrong_use(
    blessed: Path, options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and a line; the old baseline stays as it was."""
    before = blessed.read_bytes()
    assert main(["bless", "--baseline", str(blessed), *options]) == 2
    assert expected in capsys.readouterr().err
    assert blessed.read_bytes() == before
