"""Folders with small data sets, for the tests of the evaluation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "send_mail", "description": "Send a mail to a person."},
    {"name": "read_file", "description": "Read a file from the disk."},
    {"name": "list_files", "description": "List all files of a folder."},
)


@pytest.fixture(autouse=True)
def _own_caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder for caches of its own, so that no command takes or leaves rankings elsewhere."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))


class WriteFolder(Protocol):
    """Writes a data set's files: rows as JSON lines, texts and bytes as they are."""

    def __call__(
        self,
        *,
        tools: Sequence[Any] | str | bytes = TOOLS,
        queries: Sequence[Any] | str | bytes = (),
        qrels: str | bytes | None = "",
        judgements: Sequence[Any] | str | bytes | None = None,
        about: str | bytes | None = None,
    ) -> Path:
        """The folder; the same one at every call of a test."""


@pytest.fixture
def write_folder(tmp_path: Path) -> WriteFolder:
    """What writes a data set into a new folder."""

    def write(
        *,
        tools: Sequence[Any] | str | bytes = TOOLS,
        queries: Sequence[Any] | str | bytes = (),
        qrels: str | bytes | None = "",
        judgements: Sequence[Any] | str | bytes | None = None,
        about: str | bytes | None = None,
    ) -> Path:
        folder = tmp_path / "set"
        folder.mkdir(exist_ok=True)
        files = {
            "catalog.jsonl": tools,
            "queries.jsonl": queries,
            "qrels.tsv": qrels,
            "judgements.jsonl": judgements,
            "dataset.toml": about,
        }
        for name, content in files.items():
            if content is not None:
                (folder / name).write_bytes(_bytes(content))
        return folder

    return write


def _bytes(content: Sequence[Any] | str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode("utf-8")
    return "".join(json.dumps(row) + "\n" for row in content).encode("ascii")
