from __future__ import annotations

from pathlib import Path

import pytest

import toolsearch_datasets
from toolsearch.errors import DataError, UsageError
from toolsearch_app.uploads import read_upload
from toolsearch_eval.data import load_data

CATALOG = b'{"name": "send_message", "description": "Sends a message."}\n'


def _tiny() -> dict[str, bytes]:
    folder = toolsearch_datasets.folder("tiny")
    names = ("catalog.jsonl", "queries.jsonl", "judgements.jsonl", "dataset.toml")
    return {name: (folder / name).read_bytes() for name in names}


def test_uploaded_files_are_the_data_set_that_the_folder_is() -> None:
    """The files of a shipped set, uploaded, give its tools, queries and grades under its name."""
    found, expected = read_upload(_tiny()), load_data("tiny")
    assert (found.name, found.fingerprint) == ("tiny", expected.fingerprint)
    assert found.path == ""


def test_catalog_alone_is_enough() -> None:
    """One file of tools under any name can be searched without a query."""
    found = read_upload({"my tools.JSONL": CATALOG})
    assert ([tool.name for tool in found.tools], found.queries, found.name) == (["send_message"], (), "uploaded")


def test_faults_are_those_of_the_command_line(tmp_path: Path) -> None:
    """Every fault comes with the uploaded file's own name and line, worded as for a folder."""
    files = {**_tiny(), "queries.jsonl": b'{"query_id": "q"}\n{"query_id": 5, "text": "a"}\n'}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as uploaded:
        read_upload(files)
    with pytest.raises(DataError) as folder:
        load_data(tmp_path)
    assert str(uploaded.value) == str(folder.value).replace(f"{tmp_path}/", "")
    assert len(uploaded.value.problems) == 2
    with pytest.raises(DataError, match=r"^mine\.json:"):
        read_upload({"mine.json": b"{"})


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"../../evil.py": b"print()"}, "no place in a data set"),
        ({"catalog.jsonl": CATALOG, "notes.jsonl": b""}, "notes.jsonl"),
        ({"queries.jsonl": b"", "qrels.tsv": b""}, "no catalog.jsonl"),
        ({"dataset.toml": b""}, "no catalog.jsonl"),
    ],
)
def test_files_without_a_place_are_refused(files: dict[str, bytes], fault: str) -> None:
    """What is no part of a data set is refused with what is accepted, whatever path its name would be."""
    with pytest.raises(UsageError, match=fault):
        read_upload(files)
