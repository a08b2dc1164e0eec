"""`toolsearch advise`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main

SEND, LIST = "mcp__chat__send", "mcp__chat__list"
TOOLS = [
    {"name": "Bash", "description": "Run it."},
    {"name": SEND, "description": "Send a message.", "server": "chat"},
    {"name": LIST, "description": "List channels.", "server": "chat"},
]


def rows(name: str, tool: str) -> list[dict[str, Any]]:
    """A conversation in which one tool is searched for once and called twice."""
    call = {"type": "assistant", "text": "", "calls": [{"tool": tool, "query": "send a message"}]}
    result = {"type": "tool_result", "tool": tool, "text": "done"}
    return [
        {"conversation": name, "catalog": "set", "split": "dev", "servers": {"chat": "connected"}},
        {"type": "user", "text": "Please do it.", "needs": [tool]},
        call,
        result,
        {"type": "user", "text": "Once more.", "needs": [tool]},
        call,
        result,
    ]


@pytest.fixture(autouse=True)
def folder(write_folder: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set with two conversations."""
    made: Path = write_folder(tools=TOOLS)
    (made / "conversations").mkdir()
    for name in ("one", "two"):
        text = "".join(json.dumps(row) + "\n" for row in rows(name, SEND))
        (made / "conversations" / f"{name}.jsonl").write_text(text)
    monkeypatch.chdir(made.parent)
    return made


def advice(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What the command prints as JSON."""
    assert main(["advise", "--data", "set", "--json", *arguments]) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    return form


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_the_arithmetic_can_be_done_again_from_what_is_printed(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every cost is its tokens times the printed prices, every saving their difference, every tool on one list."""
    form = advice(capsys, "--provider", provider, "--round-trip", "0.01", "--no-replay")
    prices = form["prices_per_million"]

    def cost(bill: dict[str, float]) -> float:
        return float(sum(bill[kind] * price for kind, price in prices.items()) / 1e6)

    assert sorted(form["pin"] + form["defer"]) == [LIST, SEND] == sorted(form["arithmetic"])
    for name, row in form["arithmetic"].items():
        parts = [row["deferred"][part] for part in ("announced", "searching", "calling")]
        assert [part["cost"] for part in parts] == pytest.approx([cost(part) for part in parts])
        assert row["pinned"]["cost"] == pytest.approx(cost(row["pinned"]))
        waiting = 0.01 * row["use"]["searches"]
        assert row["deferred"]["cost"] == pytest.approx(sum(map(cost, parts)) + waiting)
        assert row["saves"] == pytest.approx(row["deferred"]["cost"] - row["pinned"]["cost"])
        assert (name in form["pin"]) == (row["saves"] > 0 and row["use"]["users"] > 0)
    assert form["pin"] == [SEND]
    assert form["measured"] is None


def test_the_replay_says_what_pins_save(capsys: pytest.CaptureFixture[str]) -> None:
    """With the tool pinned nothing is searched for; pins from the other conversation do the same here."""
    measured = advice(capsys)["measured"]
    assert measured["strategy"] == "stable+header"
    for label in ("same_conversations", "left_out_conversations"):
        effect = measured[label]
        assert (effect["before"]["searches"], effect["after"]["searches"]) == (2, 0)
        assert (effect["before"]["requests"], effect["after"]["requests"]) == (6, 4)
        assert effect["saved"] == pytest.approx(effect["before"]["cost"] - effect["after"]["cost"])
        assert effect["saved"] > 0


def test_counts_of_a_team_stand_for_conversations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What every session uses is pinned, what one in a thousand uses is not; what was assumed is printed."""
    Path("usage.csv").write_text(f"tool,count\n{SEND},2000\n{LIST},1\nBash,9000\n")
    form = advice(capsys, "--usage", "usage.csv", "--sessions", "1000", "--announcements", "delta")
    assert (form["pin"], form["defer"]) == ([SEND], [LIST])
    assert form["arithmetic"][SEND]["use"]["users"] == 1000
    assert form["assumed"]["requests"] == 3
    assert form["arithmetic"][LIST]["pays_from"] > 1


def test_the_text_shows_the_arithmetic(capsys: pytest.CaptureFixture[str]) -> None:
    """Both tables, the tool that was asked for, and the replay."""
    assert main(["advise", "--data", "set", "--tool", LIST, "--pinned", LIST]) == 0
    printed = capsys.readouterr()
    assert "Pin 1 tools" in printed.out
    assert f"{LIST}: defer. Tokens × price of a million:" in printed.out
    assert "Replayed under stable+header:" in printed.out
    assert "1 of 1 pins rest on fewer than 3 sessions" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--provider", "antropic"], "unknown provider 'antropic'. Did you mean 'anthropic'?"),
        (["--tool", "mcp__chat__sned"], "unknown tool 'mcp__chat__sned'. Did you mean 'mcp__chat__send'"),
        (["--split", "test"], "no conversation of set is in the split test"),
        (["--sessions", "3"], "--sessions goes with --usage"),
        (["--usage", "u.csv"], "--usage needs --sessions N"),
        (["--usage", "u.csv", "--sessions", "0"], "--sessions is 0; it must be"),
        (["--usage", "u.csv", "--sessions", "5", "--requests", "nan"], "--requests is nan"),
        (["--usage", "u.csv", "--sessions", "5"], "u.csv:0: is missing"),
        (["--round-trip", "-1"], "--round-trip is -1; it must be"),
        (["--top", "-1"], "--top is -1; it must be"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With what is accepted, and 2."""
    assert main(["advise", "--data", "set", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_bad_conversations_are_told_with_their_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All faults of all files at once."""
    for name in ("one", "two"):
        path = folder / "conversations" / f"{name}.jsonl"
        path.write_text(path.read_text().replace(SEND, "mcp__chat__gone"))
    assert main(["advise", "--data", "set"]) == 2
    told = capsys.readouterr().err
    assert "one.jsonl:2: " in told
    assert "two.jsonl:2: " in told


def test_settings_of_recommendations_are_tried(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On dev, with a table for test; without a test conversation that is told."""
    assert main(["advise", "--data", "set", "--prefetch"]) == 2
    assert "no conversation of set is in the split test" in capsys.readouterr().err
    other = [{**rows("three", SEND)[0], "split": "test"}, *rows("three", SEND)[1:]]
    (folder / "conversations" / "three.jsonl").write_text("".join(json.dumps(row) + "\n" for row in other))
    form = advice(capsys, "--prefetch")
    assert len(form["dev"]) == 21
    assert form["test"][0]["limit"] == 0
    assert main(["advise", "--data", "set", "--prefetch"]) == 0
    assert "Shipped: at most 3 from 0.45 on." in capsys.readouterr().out
    assert main(["advise", "--data", "set", "--prefetch", "--split", "dev"]) == 2
    assert "--prefetch takes" in capsys.readouterr().err
