"""`toolsearch simulate` from the outside."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from toolsearch_eval.cli.main import main

HEADER = {"conversation": "talk", "catalog": "set", "split": "dev", "servers": {}}
TOOLS = [
    {"name": "Bash", "description": "Run it."},
    {"name": "mcp__chat__send", "description": "Send a message.", "server": "chat"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set with one small conversation."""
    made = tmp_path / "set"
    (made / "conversations").mkdir(parents=True)
    (made / "catalog.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TOOLS))
    (made / "queries.jsonl").write_text("")
    (made / "qrels.tsv").write_text("query_id\ttool\tgrade\n")
    rows = [
        {**HEADER, "servers": {"chat": "connected"}},
        {"type": "user", "text": "tell them", "needs": ["mcp__chat__send"]},
        {
            "type": "assistant",
            "text": "",
            "calls": [{"tool": "mcp__chat__send", "params": {}, "query": "send message"}],
        },
        {"type": "tool_result", "tool": "mcp__chat__send", "text": "sent"},
    ]
    (made / "conversations" / "talk.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made


def test_the_published_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object on stdout with tokenizer, currency, date of the prices and the strategies that were asked for."""
    arguments = ["--data", str(folder), "--strategy", "stable+delta", "--provider", "openai", "--tokens", "estimate"]
    assert main(["simulate", *arguments, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["tokenizer"], form["currency"], form["prices_as_of"]) == ("estimate", "USD", "2026-12-02")
    assert set(form["strategies"]) == {"stable+delta"}
    found = form["strategies"]["stable+delta"]
    tokens = found["tokens"]
    assert tokens["sent"] == tokens["cached"] + tokens["written"] + tokens["new"] == sum(found["parts"].values())
    assert (found["prefix_breaks"], found["tools_array_variants"], found["searches"]) == (0, 1, 1)


def test_a_pinned_tool_is_not_searched_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pinned from the command line, the tool stands in the array: no search, and its definition is sent as a core one."""
    found = []
    for pins in ([], ["--pin", "mcp__chat__send"]):
        assert main(["simulate", "--data", str(folder), "--strategy", "stable+delta", "--json", *pins]) == 0
        found.append(json.loads(capsys.readouterr().out)["strategies"]["stable+delta"])
    assert [each["searches"] for each in found] == [1, 0]
    assert found[1]["parts"]["core_tools"] > found[0]["parts"]["core_tools"] / 2


def test_a_folder_with_everything(folder: Path, tmp_path: Path) -> None:
    """Summary, every request as CSV, the report in both forms and the sizes; never written over."""
    out = tmp_path / "out"
    arguments = ["simulate", "--data", str(folder), "--sizes", "1,3", "--out", str(out)]
    assert main(arguments) == 0
    assert {path.name for path in out.iterdir()} == {
        "summary.json",
        "requests.csv",
        "sizes.json",
        "report.md",
        "report.html",
    }
    with (out / "requests.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    form = json.loads((out / "summary.json").read_text("utf-8"))
    for name, each in form["strategies"].items():
        mine = [row for row in rows if row["strategy"] == name]
        assert len(mine) == each["requests"]
        assert sum(int(row["sent"]) for row in mine) == each["tokens"]["sent"]
    assert {row["size"] for row in form["sizes"]} == {1, 3}
    page = (out / "report.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert main(arguments) == 2


def test_every_fault_of_conversations_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults of form in two files: exit code 2, a line each, beginning with path and line; nothing on stdout."""
    place = folder / "conversations"
    (place / "talk.jsonl").write_text(json.dumps(HEADER) + '\n{"type": "usr"}\n{"type": "user", "needs": 3}\n')
    (place / "other.jsonl").write_text(json.dumps({**HEADER, "conversation": "other", "split": "x"}) + "\n")
    assert main(["simulate", "--data", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    for start in ("other.jsonl:1:", "talk.jsonl:2:", "talk.jsonl:3:"):
        assert any(line.startswith(str(place / start)) for line in said.err.splitlines()), start


def test_faults_against_the_catalog_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A need and a call of tools that don't exist are both told with their lines."""
    path = folder / "conversations" / "talk.jsonl"
    lines = path.read_text().replace("mcp__chat__send", "mcp__chat__sned")
    path.write_text(lines)
    assert main(["simulate", "--data", str(folder)]) == 2
    said = capsys.readouterr().err
    assert f"{path}:2:" in said
    assert f"{path}:3:" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--strategy", "stable+heder"], "stable+header"),
        (["--provider", "antropic"], "anthropic"),
        (["--conversation", "tlk"], "talk"),
        (["--split", "test"], "split test"),
        (["--sizes", "0"], "at least 1"),
        (["--seed", "-1"], "at least 0"),
        (["--pause", "-1"], "at least 0"),
        (["--pin", "mcp__chat__sned"], "mcp__chat__send"),
        (["--pause", "nan"], "at least 0"),
    ],
)
def test_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    """Exit code 2 and what is accepted, on stderr."""
    assert main(["simulate", "--data", str(folder), *arguments]) == 2
    found = capsys.readouterr()
    assert said in found.err
    assert found.out == ""


def test_a_data_set_without_conversations(capsys: pytest.CaptureFixture[str]) -> None:
    """The remedy says where conversations are kept."""
    assert main(["simulate", "--data", "tiny"]) == 2
    assert "conversations/*.jsonl" in capsys.readouterr().err
