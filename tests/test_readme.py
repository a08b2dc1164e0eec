"""The README says only what holds: its commands run, its figures are the stored ones, its paths and tests exist.

How its examples are written, run and compared is said in `toolsearch_eval.figures.examples`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolsearch_eval.cli.figures_entry import build_parser as figures_parser
from toolsearch_eval.cli.main import build_parser as command_parser
from toolsearch_eval.figures.block import Block
from toolsearch_eval.figures.examples import Example, agrees, examples, fences, run_example
from toolsearch_eval.figures.make import BLOCKS
from toolsearch_eval.figures.store import marked_blocks, read_results, rewritten

ROOT = Path(__file__).parents[1]
SOURCE_ROOTS = ("toolsearch", "eval", "datasets", "app")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"<!-- figures:.*?<!-- /figures -->", "", README, flags=re.DOTALL)
ALL = examples(README)
RUN = [example for example in ALL if not example.is_long]
_TEST = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")


def _commands() -> list[str]:
    """Every command line of the README: those of its console blocks, of its figures, and those written as code."""
    in_blocks = [example.code for example in ALL if not example.is_python]
    in_figures = re.findall(r"^\$ (.*)$", README, re.MULTILINE)
    as_code = re.findall(r"`((?:make|toolsearch|python -m|pip install) [^`\n]+)`", PROSE)
    return sorted({*in_blocks, *in_figures, *as_code})


@pytest.mark.parametrize("example", RUN, ids=lambda example: example.code.split("\n")[0])
def test_an_example_runs_and_prints_what_is_shown(example: Example) -> None:
    """Each command and script gives 0 in a folder of its own, and where an output is shown it is that one."""
    outcome = run_example(example, README, os.environ)
    assert outcome.code == 0, outcome.errors
    assert example.output is None or agrees(outcome.output, example.output), outcome.output


def test_the_readme_has_examples_to_run() -> None:
    """The ways to find commands and examples find some, so that the tests beside this one can't pass over nothing."""
    assert sum(not example.is_python for example in RUN) >= 8
    assert sum(example.is_python for example in RUN) >= 2
    assert all(example.output for example in RUN if example.is_python)
    files = {fence.file for fence in fences(README)}
    assert {"tools.jsonl", "my_ranker.py", "my_data/queries.jsonl"} <= files
    assert {"make demo", "make test", "make figures", "pip install -e ."} <= set(_commands())


@pytest.mark.parametrize("command", _commands())
def test_a_command_is_written_as_it_is_accepted(command: str) -> None:
    """Targets are in the Makefile; verbs and options are known to the parsers, also of commands that take minutes."""
    program, *arguments = shlex.split(command)
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert [target for target in arguments if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    elif program == "toolsearch":
        command_parser(arguments[0]).parse_args(arguments)
    elif program == "python":
        assert arguments[:2] == ["-m", "toolsearch_eval.figures"]
        figures_parser().parse_args(arguments[2:])
    else:
        assert command == "pip install -e ."


def test_the_figures_are_those_that_are_stored() -> None:
    """Every block is marked, has stored figures, and shows them to the letter."""
    stored = read_results(ROOT / "docs" / "results.json")
    assert sorted(marked_blocks(README)) == sorted(BLOCKS) == sorted(stored)
    assert rewritten(README, stored) == README


def _lines(block: Block, number: int = 0) -> list[Mapping[str, Any]]:
    return list(block.tables[number].lines)


def _closed(stored: Mapping[str, Block]) -> float:
    """The share of the gap between the profiles that tuning alone closes on unseen groups."""
    reference, default = _lines(stored["tuned"])
    gap = default["nDCG@10 as it ships"] - reference["nDCG@10 as it ships"]
    return float(reference["gain on unseen groups"]["difference"] / gap)


CLAIMS: list[tuple[str, Callable[[Mapping[str, Block]], bool]]] = [
    (
        "`default` is ahead of `reference` on every set.",
        lambda stored: all(line["default"] > line["reference"] for line in _lines(stored["suites"])),
    ),
    (
        "close about a quarter of the gap to `default`",
        lambda stored: 0.2 < _closed(stored) < 0.35,
    ),
    (
        "For `default` nothing better was found that holds on unseen queries",
        lambda stored: not _lines(stored["tuned"])[1]["taken"],
    ),
    (
        "On the mean of the public sets it is ahead of a plain BM25F by an interval clear of zero.",
        lambda stored: any(
            line["ranker"] == "bm25f" and line["less default"]["high"] < 0 for line in _lines(stored["suites"], 1)
        ),
    ),
    (
        "All queries of ten public sets",
        lambda stored: len(_lines(stored["suites"])) == 11,
    ),
    (
        "flag at least 70 % of the queries that have no answer, and at most 5 % of those that have one",
        lambda stored: [line["goal"] for line in _lines(stored["confidence"])] == ["at least 70%", "at most 5%"] * 2,
    ),
    (
        "the breaks that are left are compactions",
        lambda stored: (
            {
                str(line["anthropic"]).split(" by ")[1]
                for line in _lines(stored["lab"])
                if str(line["statement"]).startswith("What breaks it (stable")
            }
            == {"compaction"}
        ),
    ),
    (
        "`delta` saves more of it with every provider",
        lambda stored: all(
            float(str(delta[name]).split()[0]) > float(str(header[name]).split()[0]) + 10
            for header, delta in [
                [
                    line
                    for line in _lines(stored["lab"])
                    if str(line["statement"]).startswith("Deferring saves of the money")
                ]
            ]
            for name in ("anthropic", "openai", "gemini")
        ),
    ),
    (
        "The second goal is missed by far.",
        lambda stored: all(line["share flagged"] > 0.1 for line in _lines(stored["confidence"])[1::2]),
    ),
]
"""What the prose says of the figures: when it stops to be true, the sentence has to go."""


@pytest.mark.parametrize(("sentence", "holds"), CLAIMS, ids=[claim[0] for claim in CLAIMS])
def test_what_the_prose_says_of_the_figures_holds(sentence: str, holds: Callable[[Mapping[str, Block]], bool]) -> None:
    """A sentence about the figures stands in the README and is true of the stored ones."""
    assert sentence in " ".join(PROSE.split())
    assert holds(read_results(ROOT / "docs" / "results.json"))


def test_every_decision_names_a_test_that_is_collected() -> None:
    """Each point of the list of decisions names at least one test, and pytest finds all of them."""
    section = README.partition("<!-- decisions -->")[2].partition("<!-- /decisions -->")[0]
    points = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    assert len(points) >= 20
    assert [point for point in points if not _TEST.search(point)] == []
    names = _TEST.findall(README)
    # The run that collects is a plain one, whatever run this is.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *names],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [name for name in names if name not in done.stdout] == []


def test_every_link_and_path_exists() -> None:
    """Links without a scheme, and code that is written as a path of the repository, lead to something."""
    links = [link for link in re.findall(r"\]\(([^)#\s]+)\)", README) if "://" not in link]
    assert links
    paths = [code for code in re.findall(r"`([\w./-]+/[\w./-]*)`", PROSE) if code.split("/")[0] in _top_names()]
    assert [path for path in [*links, *paths] if not (ROOT / path).exists()] == []


def _top_names() -> set[str]:
    return {path.name for path in ROOT.iterdir()} - {"runs"}


def _map_of_the_code() -> dict[str, set[str]]:
    """What the map names: for each package the names below it, which may be patterns."""
    [block] = [fence.body for fence in fences(README) if fence.kind == "text" and fence.body.startswith("app/")]
    found: dict[str, set[str]] = {}
    path: list[str] = []
    for line in block.rstrip("\n").split("\n"):
        depth = (len(line) - len(line.lstrip())) // 2
        names = re.split(r"\s{2,}", line.strip())[0].split()
        for name in names:
            found.setdefault("".join(path[:depth]), set()).add(name)
        path = [*path[:depth], names[0]]
    return found


def test_the_map_of_the_code_shows_what_exists() -> None:
    """Every file and folder of the map is there."""
    lost = [
        f"{parent}{name}"
        for parent, names in _map_of_the_code().items()
        for name in names
        if not list(ROOT.glob(f"{parent}{name}".rstrip("/")))
    ]
    assert lost == []


def test_the_map_of_the_code_names_every_folder_of_the_packages() -> None:
    """A folder with code stands in the map, or among those that are said to be in work."""
    shown = _map_of_the_code()
    in_work = set(re.findall(r"`(\w+/)`", README.partition("In work,")[2].partition("\n\n")[0]))
    packages = [
        f"{path.parent.name}/{path.name}/" for root in SOURCE_ROOTS for path in (ROOT / root).glob("toolsearch*")
    ]
    assert len(packages) == 4
    assert set(packages) <= shown[""]
    missing = [
        f"{package}{folder.name}/"
        for package in packages
        for folder in (ROOT / package).iterdir()
        if (folder / "__init__.py").is_file() and f"{folder.name}/" not in shown.get(package, set()) | in_work
    ]
    assert missing == []
