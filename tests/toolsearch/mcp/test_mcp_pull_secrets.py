from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest

from toolsearch.catalog.formats import write_catalog
from toolsearch.mcp.pull import Pulled, pull
from toolsearch.mcp.server_entry import ServerEntry

SERVER = Path(__file__).parent / "servers" / "moody_server.py"
KEY = "kk-90ab12cd34ef56gh"


def pulled(folder: Path, start: str) -> Pulled:
    """What comes of a server that repeats its key wherever it can."""
    state = folder / "state.json"
    state.write_text(json.dumps({"start": start, "tools": ["plain"]}), encoding="utf-8")
    entry = ServerEntry(name="moody", command=sys.executable, args=(str(SERVER), str(state)), env={"API_KEY": KEY})

    async def ask() -> Pulled:
        return (await pull([entry], timeout=30))[0]

    return anyio.run(ask)


def test_a_key_that_a_server_repeats_is_not_written(tmp_path: Path) -> None:
    """In description, schema and default the written catalog has a mask where the server wrote its key."""
    outcome = pulled(tmp_path, "noise")
    assert outcome.failure is None
    write_catalog(outcome.tools, tmp_path / "catalog.jsonl")
    written = (tmp_path / "catalog.jsonl").read_text(encoding="utf-8")
    assert KEY not in written
    assert written.count("[redacted]") == 3


@pytest.mark.parametrize("start", ["refuse", "nonsense", "down"])
def test_a_failure_has_no_key_in_reason_and_error_stream(tmp_path: Path, start: str) -> None:
    """A list that is refused or none, and a start that fails, are told with the environment's echo masked."""
    outcome = pulled(tmp_path, start)
    assert outcome.failure is not None
    assert KEY not in f"{outcome.failure} {outcome.failure!r} {outcome.failure.stderr_tail}"
    assert "API_KEY=[redacted]" in outcome.failure.stderr_tail
