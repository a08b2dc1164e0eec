"""The commands where only the base is installed: what needs an extra says which, all else works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# A process of its own: what it hides must be hidden before anything is imported.
RUNNER = """
import contextlib, importlib.metadata, io, json, sys

BASE = {
    "numpy", "numpy.libs", "snowballstemmer", "jsonschema", "attr", "attrs", "referencing", "rpds",
    "jsonschema_specifications", "typing_extensions",
    "toolsearch", "toolsearch_eval", "toolsearch_app", "toolsearch_datasets",
}
installed = importlib.metadata.packages_distributions()
hidden = [name for name in installed if name not in BASE and name not in sys.stdlib_module_names]
sys.modules.update(dict.fromkeys(hidden))

from toolsearch_eval.cli.main import main

answers = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    answers.append([code, out.getvalue(), err.getvalue()])
loaded = [name for name in hidden if sys.modules[name] is not None]
print(json.dumps({"answers": answers, "hidden": hidden, "loaded": loaded}))
"""

WORKS = [
    (["--help"], "commands:"),
    (["--version"], "toolsearch "),
    (["search", "schedule a job"], "CronCreate"),
    (["search", "定时任务", "--profile", "reference", "--json"], '"results": ['),
    (["explain", "schedule a job", "--tool", "CronCreate"], ", score"),
    (["catalog", "check"], " tools, 0 errors"),
    (["catalog", "stats", "--json"], '"schema_version": 1'),
    (["catalog", "convert", "tools.json", "out.jsonl"], "1 tools written to out.jsonl"),
    (["dataset", "check", "--data", "tiny"], "tiny: 0 errors"),
    (["dataset", "stats", "--data", "tiny"], "tools: 12"),
    (["eval", "--data", "tiny"], "bm25f"),
    (["eval", "--data", "tiny", "--ranker", "default:tfidf", "--json"], '"default:tfidf": {'),
    (
        ["eval", "--data", "tiny", "--against", "default", "--out", "run", "--jobs", "2", "--cache", "kept"],
        "less that of",
    ),
    (
        ["compare", "--a", "run:reference", "--b", "default", "--data", "tiny", "--cache", "kept"],
        "default less reference",
    ),
    (["compare", "--a", "run:bm25f", "--b", "run:default", "--out", "compared"], "default less bm25f in nDCG@10"),
]
FAILS = [
    (
        ["eval", "--data", "tiny", "--ranker", f"{name}"],
        f"toolsearch: the ranker '{name}' needs {library}, which is not installed; install toolsearch[peers].\n",
    )
    for name, library in (("bm25s", "bm25s"), ("sklearn-words", "sklearn"), ("sklearn-characters", "sklearn"))
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Exit code, stdout and stderr of every command, run in one process that sees the base alone."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "tools.json").write_text('{"tools": [{"name": "add", "inputSchema": {}}]}', encoding="utf-8")
    commands = [row[0] for row in WORKS + FAILS]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)}
    variables["XDG_CACHE_HOME"] = str(folder / "caches")
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, json.dumps(commands)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        env=variables,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("place", range(len(WORKS)), ids=[" ".join(row[0]) for row in WORKS])
def test_what_needs_no_extra_works(place: int, base: dict[str, Any]) -> None:
    """Searching, explaining, catalogs, data and the shipped rankers need the base alone."""
    code, out, err = base["answers"][place]
    assert code == 0, err
    assert WORKS[place][1] in out
    assert "Traceback" not in err


@pytest.mark.parametrize("place", range(len(FAILS)), ids=[" ".join(row[0]) for row in FAILS])
def test_what_needs_an_extra_says_which(place: int, base: dict[str, Any]) -> None:
    """A ranker of an extra is one line that names it, and the code is 2."""
    assert base["answers"][len(WORKS) + place] == [2, "", FAILS[place][1]]


def test_the_process_saw_the_base_alone(base: dict[str, Any]) -> None:
    """The libraries of all extras are installed here, were hidden there, and none of them was loaded."""
    assert {"pandas", "scipy", "tqdm", "sklearn", "bm25s"} <= set(base["hidden"])
    assert base["loaded"] == []
