"""How long the page Explore takes from a new query to its answer: `python -m toolsearch_app.rerun_time`.

The page runs in this process, as the server runs it, without a browser. For maintainers, so no verb of the command
line.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamlit.testing.v1 import AppTest

from toolsearch.catalog.rows import to_row
from toolsearch_app import loading
from toolsearch_app.settings import VARIABLE
from toolsearch_eval.data import load_data
from toolsearch_eval.sessionlab.scaling import sized_catalog

TOOLS = 1000
QUERIES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """One rerun of the page.

    Attributes:
        query: What was asked.
        milliseconds: By the clock; other programs of the machine are in it.
        processor: The same in processor time of this process.
    """

    query: str
    milliseconds: float
    processor: float


def rerun_times(folder: Path, queries: Sequence[str]) -> tuple[Rerun, ...]:
    """Ask the page each query on the catalog of a folder; opening it and the first ranking are not in the times.

    Args:
        folder: A data set, or a folder with a catalog alone.
        queries: What is asked, each another rerun.

    Raises:
        RuntimeError: The page failed.
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = json.dumps({"data": [str(folder)]})
    loading.settings.clear()
    try:
        page = AppTest.from_file(str(Path(__file__).with_name("main.py")), default_timeout=120)
        page.query_params["data"] = folder.name
        page.run()
        found = []
        for query in queries:
            page.text_input(key="q").set_value(query)
            clock, processor = time.perf_counter(), time.process_time()
            page.run()
            spent = time.perf_counter() - clock, time.process_time() - processor
            if page.exception or page.error or page.selectbox(key="data").value != folder.name:
                raise RuntimeError(f"the page failed on {query!r}")
            found.append(Rerun(query=query, milliseconds=1000 * spent[0], processor=1000 * spent[1]))
        return tuple(found)
    finally:
        loading.settings.clear()
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def main() -> None:
    """Measure on a thousand tools of the shipped catalog, some under further servers, and print median and worst."""
    data = load_data("builtin")
    tools = sized_catalog(data.tools, data.conversations[0], TOOLS, seed=0)[:TOOLS]
    queries = [query.text for query in data.queries if query.split == "dev"][:QUERIES]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "thousand"
        folder.mkdir()
        rows = "".join(json.dumps(to_row(tool)) + "\n" for tool in tools)
        (folder / "catalog.jsonl").write_text(rows, encoding="utf-8")
        found = rerun_times(folder, queries)
    for what, times in (("clock", [e.milliseconds for e in found]), ("processor", [e.processor for e in found])):
        sys.stdout.write(f"{what}: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms\n")


if __name__ == "__main__":
    main()
