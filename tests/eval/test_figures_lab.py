"""The design decisions as figures: from a small set of conversations, so that each can be worked out again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.main import main
from toolsearch_eval.figures.block import Block, shown
from toolsearch_eval.figures.lab import measure_lab

TOOLS = [
    {"name": "Bash", "description": "Run it."},
    {"name": "SendMessage", "description": "Send a message to a member of the team."},
    *(
        {"name": f"mcp__chat__{name}", "description": f"{name.title()} a message of a channel.", "server": "chat"}
        for name in ("send", "pin", "delete", "forward", "translate", "schedule")
    ),
]


def talk(name: str, split: str, *rows: dict[str, Any]) -> str:
    """A conversation with the server connected."""
    header = {"conversation": name, "catalog": "set", "split": split, "servers": {"chat": "connected"}}
    return "".join(json.dumps(row) + "\n" for row in (header, *rows))


def turn(tool: str) -> list[dict[str, Any]]:
    """A user's wish, the call that meets it, and its result."""
    name = f"mcp__chat__{tool}"
    return [
        {"type": "user", "text": f"please {tool} it", "needs": [name]},
        {"type": "assistant", "text": "", "calls": [{"tool": name, "params": {}, "query": f"{tool} message"}]},
        {"type": "tool_result", "tool": name, "text": "done"},
        {"type": "assistant", "text": "Done."},
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set with a long conversation that is compacted and a short one that needs nothing."""
    made = tmp_path_factory.mktemp("lab") / "set"
    (made / "conversations").mkdir(parents=True)
    (made / "catalog.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TOOLS))
    (made / "queries.jsonl").write_text("")
    (made / "qrels.tsv").write_text("query_id\ttool\tgrade\n")
    long: list[dict[str, Any]] = [
        *turn("send"),
        *turn("pin"),
        {"type": "compact", "keep": 1},
        *turn("delete"),
        *turn("forward"),
    ]
    (made / "conversations" / "long.jsonl").write_text(talk("long", "test", *long))
    small: list[dict[str, Any]] = [
        {"type": "user", "text": "good morning", "needs": []},
        {"type": "assistant", "text": "Good morning."},
    ]
    (made / "conversations" / "small.jsonl").write_text(talk("small", "dev", *small))
    return made


@pytest.fixture(scope="module")
def block(folder: Path) -> Block:
    """The figures of two providers."""
    return measure_lab(str(folder), today="2026-01-02", providers=("anthropic", "openai"))


def said(block: Block, table: int, start: str) -> list[dict[str, Any]]:
    """The lines of a table whose statement begins so."""
    return [dict(line) for line in block.tables[table].lines if str(line["statement"]).startswith(start)]


def simulated(folder: Path, capsys: pytest.CaptureFixture[str], command: str, *options: str) -> dict[str, Any]:
    """What the command of a line gives as JSON."""
    assert main([*command.split()[1:], "--data", str(folder), "--json", *options]) == 0
    return dict(json.loads(capsys.readouterr().out)["strategies"])


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_each_figure_follows_from_the_command_beside_it(
    block: Block, folder: Path, capsys: pytest.CaptureFixture[str], provider: str
) -> None:
    """Savings, extra cost and what is kept are worked out again from the JSON of the command that the line names."""
    tokens, _, _, money = said(block, 0, "Deferring saves")
    form = simulated(folder, capsys, str(tokens["command"]), "--provider", provider)
    inline, header = form["inline"], form["stable+header"]
    assert tokens[provider] == f"{100 * (1 - header['tool_tokens'] / inline['tool_tokens']):.1f} %"
    form = simulated(folder, capsys, str(money["command"]), "--provider", provider)
    assert money[provider] == f"{100 * (1 - form['stable+delta']['cost'] / form['inline']['cost']):.1f} %"
    (injecting,) = said(block, 0, "Injecting")
    form = simulated(folder, capsys, str(injecting["command"]), "--provider", provider)
    assert injecting[provider] == f"{100 * (form['inject']['cost'] / form['stable+header']['cost'] - 1):.1f} %"
    kept = said(block, 0, "Of the prefix")
    assert kept[2][provider] == f"{100 * form['inject']['prefix_kept']:.1f} %"
    assert kept[0][provider] == f"{100 * form['stable+header']['prefix_kept']:.1f} %"


def test_a_stable_array_is_broken_by_compaction_alone(block: Block) -> None:
    """One compaction, one break; injecting is broken by each of the four discoveries too, where a request follows it."""
    header, delta, inject = said(block, 0, "What breaks it")
    assert header["anthropic"] == delta["anthropic"] == "1 by compaction"
    assert inject["anthropic"].endswith(" by discovery")


def test_from_which_length_on_is_answered_over_all_and_for_each_conversation(block: Block) -> None:
    """The short conversation is one request long, in which a mark costs more than it gains: there delta never pays."""
    over, each = said(block, 0, "From which")
    assert each["anthropic"] == "1 from 1, 1 never"
    assert str(over["anthropic"]).startswith("turn 1, request 2")
    paused = said(block, 1, "From which turn on")[0]
    assert "--pause 360" in paused["command"]


def test_team_tools_are_measured_by_pinning_them(
    block: Block, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The set has one team tool; the difference of what is sent with and without the pin is the figure."""
    (line,) = said(block, 1, "Deferring SendMessage saves")
    command, _, pin = str(line["command"]).partition(", without and with ")
    sent = [
        simulated(folder, capsys, command, *options)["stable+header"]["tokens"]["sent"] for options in ([], pin.split())
    ]
    assert line["measured"].startswith(f"{sent[1] - sent[0]:,} tokens, ")


def test_other_conversations_are_other_data(block: Block, folder: Path, tmp_path: Path) -> None:
    """The fingerprint follows the conversations, which the set's own does not; prices have one for each provider."""
    other = tmp_path / "set"
    (other / "conversations").mkdir(parents=True)
    for name in ("catalog.jsonl", "queries.jsonl", "qrels.tsv"):
        (other / name).write_text((folder / name).read_text())
    rows: list[dict[str, Any]] = [
        {"type": "user", "text": "hello", "needs": []},
        {"type": "assistant", "text": "Hello."},
    ]
    (other / "conversations" / "small.jsonl").write_text(talk("small", "dev", *rows))
    found = measure_lab(str(other), today="2026-01-02", providers=("openai",))
    assert found.fingerprints["set"] == block.fingerprints["set"]
    assert found.fingerprints["conversations"] != block.fingerprints["conversations"]
    assert found.fingerprints["provider openai"] == block.fingerprints["provider openai"]
    assert "provider anthropic" not in found.fingerprints
    assert found.tables[-1].lines == ()


def test_every_strategy_and_the_recommendations_are_in_the_block(block: Block) -> None:
    """Four strategies with one array each but inject, and both lines about test conversations, which are shown."""
    strategies, recommendations = block.tables[2].lines, block.tables[3].lines
    assert [line["strategy"] for line in strategies] == ["inline", "inject", "stable+header", "stable+delta"]
    assert [line["arrays"] == 1 for line in strategies] == [True, False, True, True]
    assert [line["strategy"] for line in recommendations] == ["stable+header", "stable+header+prefetch"]
    assert "| stable+delta |" in shown(block)
