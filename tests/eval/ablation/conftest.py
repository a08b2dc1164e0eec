"""Two small sets whose outcome can be worked out by hand."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from toolsearch_eval.data import DataSet, load_data

MakeSet = Callable[..., Path]


def write_set(folder: Path, tools: dict[str, str], queries: Sequence[tuple[str, str]], split: str = "dev") -> Path:
    """Write a set: tools by name and description, and queries with the one tool that each needs, a group each."""
    folder.mkdir(parents=True)
    rows = [{"name": tool, "description": text} for tool, text in tools.items()]
    (folder / "catalog.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "dataset.toml").write_text(f"name = {json.dumps(folder.name)}\n", encoding="utf-8")
    asked = [
        {"query_id": f"q{number}", "text": text, "split": split, "group": f"g{number}"}
        for number, (text, _) in enumerate(queries)
    ]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), encoding="utf-8")
    labels = "".join(f"q{number}\t{tool}\t2\n" for number, (_, tool) in enumerate(queries))
    (folder / "qrels.tsv").write_text("query_id\ttool\tgrade\n" + labels, encoding="utf-8")
    return folder


@pytest.fixture
def make_set(tmp_path: Path) -> MakeSet:
    """Writes a set into the test's folder."""
    return lambda name, *content: write_set(tmp_path / name, *content)


def long_and_short(*words: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """A tool for each word, whose description is the word, and before all in name one that tells of every word.

    The word finds the short description first; without descriptions both tools have nothing, and the name decides.
    """
    tools = {"all": f"A great many things that nobody asks for, among them {', '.join(words)}, and further ones."}
    tools |= {f"tool_{number}": word for number, word in enumerate(words)}
    return tools, [(word, f"tool_{number}") for number, word in enumerate(words)]


@pytest.fixture
def by_description(make_set: MakeSet) -> DataSet:
    """Three queries that descriptions answer, and one that a name answers: nDCG 1 for each."""
    tools, queries = long_and_short("letter", "kettle", "wall")
    return load_data(make_set("by_description", {**tools, "forecast": "Rain."}, [*queries, ("forecast", "forecast")]))


@pytest.fixture(scope="session")
def fourteen(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """Fourteen queries that descriptions answer."""
    words = (
        "letter", "kettle", "wall", "violin", "tiger", "carpet", "lemon", "harbour", "candle", "rocket", "meadow",
        "pepper", "ladder", "orchid",
    )  # fmt: skip
    return load_data(write_set(tmp_path_factory.mktemp("sets") / "fourteen", *long_and_short(*words)))


@pytest.fixture
def by_name(make_set: MakeSet) -> DataSet:
    """Two queries that names answer."""
    tools = {"send_mail": "Nothing.", "read_file": "Nothing."}
    return load_data(make_set("by_name", tools, [("mail", "send_mail"), ("file", "read_file")], "test"))


@pytest.fixture(scope="session")
def shipped_part() -> DataSet:
    """Every twentieth dev query of the shipped set over the tools that they need and a part of the others."""
    data = load_data("builtin")
    queries = [query for query in data.queries if query.split == "dev" and query.expect != "none"][::20]
    needed = {name for query in queries for name in data.judgements[query.query_id]}
    tools = tuple(tool for place, tool in enumerate(data.tools) if place % 8 == 0 or tool.name in needed)
    return dataclasses.replace(data, name="part", tools=tools, queries=tuple(queries), fingerprint="part")
