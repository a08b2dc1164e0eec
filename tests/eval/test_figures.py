from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.figures_entry import main
from toolsearch_eval.cli.main import main as toolsearch
from toolsearch_eval.figures.block import Block, Cell, Table, block_from_json, differences, shown
from toolsearch_eval.figures.make import BLOCKS
from toolsearch_eval.figures.quality import measure_builtin, measure_confidence
from toolsearch_eval.figures.speed import measure_bench, measure_start
from toolsearch_eval.figures.store import read_results, rewritten
from toolsearch_eval.rankers.resolve import EVERY
from toolsearch_eval.report.numbers import p_text

LINE: dict[str, Cell] = {
    "ranker": "default",
    "nDCG@10": {"mean": 0.5, "low": 0.4, "high": 0.6},
    "queries": 1200,
    "its ms": 0.4,
    "ratio": 0.5,
    "met": True,
}
BLOCK = Block(
    command="make figures",
    date="2026-01-02",
    fingerprints={"tiny": "abc"},
    circumstances={"machine": "two processors"},
    tables=(Table(title="dev", lines=(LINE,)),),
)
MAKEFILE = (
    "demo:\n\t@echo 'in $(CURDIR)'; echo took 0.4 s >&2\n\ntest:\n\t@echo one; echo two; echo '3 passed in 9.5s'\n"
)


def readme(*blocks: str) -> str:
    """A README with marked blocks that are not made yet."""
    return "before\n" + "".join(f"<!-- figures:{name} -->\nold\n<!-- /figures -->\nbetween\n" for name in blocks)


def changed(**values: Cell) -> Block:
    """The example block with other values in its line."""
    line = {name: value for name, value in {**LINE, **values}.items() if value != "(gone)"}
    return Block(
        command="other", date="2026-02-03", fingerprints={"tiny": "abc"}, tables=(Table(title="dev", lines=(line,)),)
    )


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command on the set `tiny` in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, text: str | None = None) -> int:
        if text is not None:
            Path("README.md").write_text(text, encoding="utf-8")
        return main(["--data", "tiny", *arguments])

    return run


def test_a_block_shows_its_tables_and_how_they_were_made() -> None:
    """Title, header and values are written out; date, command and circumstances follow."""
    text = shown(BLOCK)
    assert "*dev*\n\n| ranker | nDCG@10 | queries | its ms | ratio | met |\n" in text
    assert "| default | 0.500 (0.400 to 0.600) | 1,200 | 0.400 | 0.500 | yes |" in text
    assert "Measured 2026-01-02 by `make figures`; two processors." in text


def test_a_block_of_output_is_shown_as_it_was_printed() -> None:
    """The text stands in a fence, without date: it says itself what was run."""
    assert shown(Block(command="c", date="d", text="$ make demo\n| not a table |")) == (
        "\n```console\n$ make demo\n| not a table |\n```\n\n"
    )


def test_a_block_reads_back_the_same() -> None:
    """What is stored as JSON gives the same block, with tables or with an output."""
    for block in (BLOCK, Block(command="c", date="d", text="one\n\ntwo")):
        assert block_from_json(json.loads(json.dumps(block.to_json()))) == block


def test_only_marked_blocks_with_figures_are_rewritten() -> None:
    """The text around a block and a block without figures stay as they are; a second time changes nothing."""
    once = rewritten(readme("builtin"), {"builtin": BLOCK})
    assert once.startswith("before\n<!-- figures:builtin -->\n\n*dev*")
    assert once.endswith("<!-- /figures -->\nbetween\n")
    assert rewritten(once, {"builtin": BLOCK}) == once
    assert rewritten(readme("builtin"), {"suites": BLOCK}) == readme("builtin")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"its ms": 40.0}, []),
        ({"ratio": 1.0}, []),
        ({"ratio": 0.25, "met": False}, []),
        ({"ratio": 1.01}, ["line 1 (default 1200), ratio: stored 0.500, measured 1.010"]),
        (
            {"ratio": "(gone)"},
            ["line 1 (default 1200), ratio: stored 0.500, measured "],
        ),
        ({"queries": 1201}, ["line 1 (default 1201), queries: stored 1,200, measured 1,201"]),
        (
            {"nDCG@10": {"mean": 0.501, "low": 0.4, "high": 0.6}},
            ["line 1 (default 1200), nDCG@10: stored 0.500 (0.400 to 0.600), measured 0.501 (0.400 to 0.600)"],
        ),
    ],
)
def test_quality_must_be_equal_ratios_within_a_factor_of_two_and_times_are_the_machines(
    changes: dict[str, Cell], expected: list[str]
) -> None:
    """A doubled ratio is noise and more is not; milliseconds are not compared; any other value must be the same."""
    assert differences(BLOCK, changed(**changes)) == expected


def test_whether_a_target_is_met_counts_where_there_is_no_ratio() -> None:
    """A start that misses its target is a difference, whatever its time."""
    before, after = (
        Block(command="c", date="d", tables=(Table(lines=({"what": "start", "best ms": 90.0, "met": met},)),))
        for met in (True, False)
    )
    assert differences(before, after) == ["line 1 (start), met: stored yes, measured no"]


def test_times_in_an_output_are_noise_and_other_words_are_not() -> None:
    """A test run that took longer is the same; one with more tests is another."""
    stored, slower, more = (
        Block(command="c", date="d", text=text) for text in ("3 passed in 9.5s", "3 passed in 70.1s", "4 passed in 9s")
    )
    assert differences(stored, slower) == []
    assert differences(stored, more) == ["the output is another one"]


def test_changed_data_and_missing_lines_are_differences() -> None:
    """Another fingerprint is named by its set, and so is another number of lines."""
    other = Block(command="c", date="d", fingerprints={"tiny": "abd"}, tables=(Table(lines=()),))
    assert differences(BLOCK, other) == [
        "measured with other data or settings: tiny",
        "1 lines are stored, 0 were measured",
    ]


def test_the_shipped_set_is_judged_by_split_and_ranker() -> None:
    """A table for each split with the yardsticks, each arm alone and the profile; one by slice, where few are told."""
    block = measure_builtin("tiny", today="2026-01-02")
    *splits, slices = block.tables
    assert [table.title for table in splits] == [
        "tiny, dev: 7 queries in 5 groups, 12 tools",
        "tiny, test: 11 queries in 7 groups, 12 tools",
    ]
    assert {line["dev default"] for line in slices.lines} == {"too few to tell"}
    for table in splits:
        names = [line["ranker"] for line in table.lines]
        assert names == [*EVERY, "default:keyword", "default:tfidf"]
        for line in table.lines:
            cell = line["nDCG@10"]
            assert isinstance(cell, dict)
            assert 0 < cell["mean"] <= 1
        for column in ("less default", "p"):
            assert [line["ranker"] for line in table.lines if line[column] is None] == ["default"]


def test_the_table_of_the_shipped_set_holds_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """Means, differences with their intervals and p are those of `toolsearch eval --against default`, to each digit."""
    table = measure_builtin("tiny", today="2026-01-02").tables[0]
    rankers = [option for name in ("all", "default:keyword", "default:tfidf") for option in ("--ranker", name)]
    assert toolsearch(["eval", "--data", "tiny", "--split", "dev", *rankers, "--against", "default", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    for line in table.lines:
        name = str(line["ranker"])
        mean = form["rankers"][name]["measures"]["nDCG@10"]
        assert line["nDCG@10"] == {key: round(mean[key], 3) for key in ("mean", "low", "high")}
        if name != "default":
            found = form["against"]["rankers"][name]
            assert line["less default"] == {key: round(found[key], 3) for key in ("difference", "low", "high")}
            assert line["p"] == p_text(found["p"])


def test_the_flag_is_counted_with_and_without_an_answer(tmp_path: Path) -> None:
    """Of two wishes without an answer one shares a word with a tool; what has an answer is not flagged."""
    (tmp_path / "catalog.jsonl").write_text('{"name": "send_mail"}\n{"name": "list_files"}\n', encoding="utf-8")
    rows = [
        {"query_id": "1", "text": "send mail", "split": "test"},
        {"query_id": "2", "text": "zzz", "split": "test", "expect": "none"},
        {"query_id": "3", "text": "send_mail", "split": "test", "expect": "none"},
    ]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("query_id\ttool\tgrade\n1\tsend_mail\t2\n", encoding="utf-8")
    [table] = measure_confidence(str(tmp_path), today="2026-01-02").tables
    none, answer = table.lines
    assert (none["queries"], none["flagged"], none["of these with nothing found"], none["met"]) == (2, 1, 1, False)
    assert (answer["queries"], answer["flagged"], answer["share flagged"], answer["met"]) == (1, 0, 0.0, True)


def test_a_folder_of_suites_is_measured_and_kept(make: Callable[..., int], tmp_path: Path) -> None:
    """Each set has its line and the mean over the sets comes last; without the folder the stored block stays."""
    for name in ("one", "two"):
        suite = tmp_path / "suites" / name
        suite.mkdir(parents=True)
        (suite / "catalog.jsonl").write_text('{"name": "send_message"}\n{"name": "send"}\n', encoding="utf-8")
        (suite / "queries.jsonl").write_text('{"query_id": "q", "text": "send a message"}\n', encoding="utf-8")
        (suite / "qrels.tsv").write_text("query_id\ttool\tgrade\nq\tsend_message\t1\n", encoding="utf-8")
    assert make("--suites", str(tmp_path / "suites"), text=readme("suites")) == 0
    made = Path("README.md").read_text(encoding="utf-8")
    # `fastmcp-regex` does not order by how well a tool fits: the right one comes second, which is worth 1 / log2(3).
    means = " | ".join("0.631" if name == "fastmcp-regex" else "1.000" for name in EVERY)
    assert f"| one | 2 | 1 | {means} |" in made
    assert f"| mean of the sets |  |  | {means} |" in made
    # Of one query nothing is sure, and two equal differences have an interval without width.
    assert "| bm25f | +0.000 (+0.000 to +0.000) | 0 | 0 | 2 |" in made
    assert "| fastmcp-regex | -0.369 (-0.369 to -0.369) | 0 | 0 | 2 |" in made
    assert "suites DIR" in made and str(tmp_path) not in made
    assert make() == 0
    assert Path("README.md").read_text(encoding="utf-8") == made


def test_speed_is_measured_by_the_bench_itself() -> None:
    """Ratios, targets, growth and memory come from the bench; a start has its own block."""
    block = measure_bench((5, 10), today="2026-01-02", rounds=1)
    side_by_side, growth, memory = block.tables
    sized = [
        line for line in side_by_side.lines if not str(line["case"]).startswith("trial")
    ]  # those have data of their own
    assert {line["tools"] for line in sized} == {5, 10}
    assert all(isinstance(line["ratio"], float) for line in side_by_side.lines)
    assert {(line["from tools"], line["to tools"]) for line in growth.lines} == {(5, 10)}
    assert [line["tools"] for line in memory.lines] == [5, 10]
    assert "load average" in shown(block)
    assert differences(block, block) == []
    [starts] = measure_start(today="2026-01-02", rounds=1).tables
    assert [line["what"] for line in starts.lines] == [
        "import toolsearch",
        "import toolsearch.search.searcher",
        "toolsearch --help",
    ]


def test_figures_are_made_then_hold_then_fall(make: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """What was made passes the check; one changed by hand in the README fails it."""
    text = readme("builtin", "confidence")
    assert make("--check", text=text) == 1
    assert "builtin: no figures are stored" in capsys.readouterr().err
    assert make() == 0
    assert make("--check") == 0
    made = Path("README.md").read_text(encoding="utf-8")
    assert "default:keyword" in made
    assert make("--check", text=made.replace("default:keyword", "default:keyw0rd")) == 1
    assert "does not show the stored figures" in capsys.readouterr().err


def test_figures_that_are_the_same_keep_their_date(make: Callable[..., int]) -> None:
    """A second run over the same data changes no byte of what is stored, even where it says another day."""
    assert make(text=readme("confidence")) == 0
    results = Path("docs/results.json")
    aged = results.read_text(encoding="utf-8").replace('"date": "20', '"date": "19')
    results.write_text(aged, encoding="utf-8")
    assert make() == 0
    assert results.read_text(encoding="utf-8") == aged
    assert "Measured 19" in Path("README.md").read_text(encoding="utf-8")


def test_what_was_edited_while_figures_were_measured_stays(
    make: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence written meanwhile is there afterwards, and so is a block that another run has measured meanwhile."""
    results = Path("docs/results.json")
    assert make("--only", "builtin", text=readme("builtin", "confidence")) == 0
    builtin = json.loads(results.read_text(encoding="utf-8"))
    results.unlink()

    def slowly(*given: Any, **named: Any) -> Block:
        page = Path("README.md")
        page.write_text(page.read_text(encoding="utf-8") + "\nA new sentence.\n", encoding="utf-8")
        results.write_text(json.dumps(builtin), encoding="utf-8")
        return measure_confidence(*given, **named)

    monkeypatch.setattr("toolsearch_eval.figures.make.measure_confidence", slowly)
    assert make("--only", "confidence", text=readme("builtin", "confidence")) == 0
    assert "A new sentence." in Path("README.md").read_text(encoding="utf-8")
    assert set(json.loads(results.read_text(encoding="utf-8"))) == {"builtin", "confidence"}


def test_figures_of_another_profile_fall_without_being_measured(
    make: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Suites that were measured with other weights than today's are a difference, though the folder is not there."""
    form = {"command": "c", "date": "d", "fingerprints": {"profile default": "0"}, "circumstances": {}, "text": ["x"]}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results.json").write_text(json.dumps({"suites": form}), encoding="utf-8")
    made = rewritten(readme("suites"), read_results(tmp_path / "docs" / "results.json"))
    assert make("--check", text=made) == 1
    assert "suites: measured with another profile default" in capsys.readouterr().err


def test_outputs_of_make_are_shown_without_the_paths_of_the_machine(make: Callable[..., int], tmp_path: Path) -> None:
    """The demo is shown in full with what it says on stderr, of the tests the last line; the folder is a dot."""
    (tmp_path / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    assert make(text=readme("demo", "test")) == 0
    made = Path("README.md").read_text(encoding="utf-8")
    assert "```console\n$ make demo\nin .\ntook 0.4 s\n```" in made
    assert "```console\n$ make test\none\n…\n3 passed in 9.5s\n```" in made


def test_a_command_that_fails_leaves_its_block_and_gives_1(
    make: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Failed tests are told with their last lines and shown nowhere; other blocks are made."""
    (tmp_path / "Makefile").write_text("test:\n\t@echo 1 failed; exit 1\n", encoding="utf-8")
    assert make(text=readme("test", "confidence")) == 1
    assert "test: `make test` gave 2:\n1 failed" in capsys.readouterr().err
    made = Path("README.md").read_text(encoding="utf-8")
    assert "figures:test -->\nold\n" in made
    assert "no answer" in made
    assert list(read_results(tmp_path / "docs" / "results.json")) == ["confidence"]


def test_only_the_named_blocks_are_measured(make: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """`--only` measures its blocks alone; the others stay as they are, and the missing ones are told."""
    assert make("--only", "confidence", text=readme("builtin", "confidence", "suites", "bench")) == 0
    told = capsys.readouterr().err
    assert "measuring confidence" in told
    assert "measuring builtin" not in told
    assert "'suites' has no figures yet and stays as it is; --suites DIR measures it." in told
    assert "'bench' has no figures yet and stays as it is; --bench measures it." in told


WRONG: list[tuple[str, str | None, list[str], str]] = [
    ("nothing marked\n", None, [], "no marked block"),
    (readme("builtim"), None, [], "'builtim'. Did you mean 'builtin'?"),
    (readme("builtin"), "not json", [], "can't be read as JSON"),
    (readme("builtin"), "[]", [], "must be an object of blocks"),
    (readme("builtin"), '{"builtin": {"command": "c"}}', [], "must be an object of blocks"),
    (readme("suites"), None, ["--suites", "empty"], "holds no folder"),
    (readme("builtin"), None, ["--readme", "missing.md"], "missing.md can't be read"),
    (readme("builtin"), None, ["--only", "bulitin"], "unknown block 'bulitin'. Did you mean 'builtin'"),
    (readme("builtin"), None, ["--only", "demo"], "has no block 'demo'; it has builtin"),
    (readme("bench"), None, ["--bench", "ten"], "--sizes is 'ten'"),
    (readme("demo"), None, [], "has no Makefile"),
]


@pytest.mark.parametrize(("text", "store", "arguments", "expected"), WRONG)
def test_wrong_use_is_one_text_and_exit_code_2(
    make: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    text: str,
    store: str | None,
    arguments: list[str],
    expected: str,
) -> None:
    """A README without blocks, a broken store, an empty folder or a slip of the pen say what is wrong, change nothing."""
    if store is not None:
        Path("docs").mkdir()
        Path("docs/results.json").write_text(store, encoding="utf-8")
    assert make(*arguments, text=text) == 2
    assert expected in capsys.readouterr().err
    assert Path("README.md").read_text(encoding="utf-8") == text


def test_every_block_of_the_list_can_be_stored_and_read(tmp_path: Path) -> None:
    """A file with all blocks reads back, each under its name."""
    forms: dict[str, Any] = {name: BLOCK.to_json() for name in BLOCKS}
    (tmp_path / "results.json").write_text(json.dumps(forms), encoding="utf-8")
    assert read_results(tmp_path / "results.json") == dict.fromkeys(BLOCKS, BLOCK)
