"""Who may import whom, who may read the environment, and what no file may hold."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE_ROOTS = ("toolsearch", "eval", "datasets", "app")
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
PATHS_THAT_READ_THE_ENVIRONMENT = ("eval/toolsearch_eval/cli/", "app/toolsearch_app/")
"""The edges of the program. The system takes the environment as an argument and never looks at it by itself."""


def _lint(root: Path) -> tuple[int, str]:
    """Check the import contracts of the tree at `root`; the exit status and what was printed, on one line."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(root / name) for name in SOURCE_ROOTS)}
    done = subprocess.run(
        [sys.executable, "-c", LINT], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_imports_keep_the_contracts() -> None:
    """Every import of the tree follows the contracts in pyproject.toml."""
    status, output = _lint(ROOT)
    assert status == 0, output


@pytest.mark.parametrize(
    ("path", "line", "contract"),
    [
        ("toolsearch/toolsearch/errors.py", "import toolsearch_eval", "The app shows"),
        ("datasets/toolsearch_datasets/__init__.py", "import toolsearch.errors", "The app shows"),
        ("toolsearch/toolsearch/errors.py", "import toolsearch.search.searcher", "The system flows"),
        ("toolsearch/toolsearch/config.py", "import pandas", "The system needs no library"),
        ("eval/toolsearch_eval/cli/main.py", "import optuna", "Only the tuning"),
        ("eval/toolsearch_eval/measures.py", "import streamlit", "Only the app"),
        ("toolsearch/toolsearch/catalog/tool.py", "import argparse", "Only the command line"),
    ],
)
def test_planted_import_breaks_its_contract(tmp_path: Path, path: str, line: str, contract: str) -> None:
    """An import against the flow is reported under the contract that it breaks."""
    for name in SOURCE_ROOTS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / path).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    status, output = _lint(tmp_path)
    assert status != 0
    broken = output.partition("Broken contracts")[2]
    assert contract in broken, output


def test_system_loads_no_heavy_library() -> None:
    """A search by the installed system starts without the libraries of the evaluation and the dashboard."""
    heavy = ["pandas", "scipy", "optuna", "streamlit", "matplotlib", "mcp", "jsonschema"]
    code = (
        "import sys, toolsearch, toolsearch.search.searcher\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in SOURCE_ROOTS)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_data_package_imports_the_standard_library_alone() -> None:
    """The package of the data sets needs nothing, so that whoever wants the files gets only the files."""
    for path in (ROOT / "datasets").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names, f"{path} imports {name}"


def _environment_reads(source: str) -> list[int]:
    """The lines of a module that reach for the process's environment."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and _names(node) & {"environ", "getenv"})
    ]


def _names(node: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names}


@pytest.mark.parametrize(
    "source", ["import os\nx = os.environ['A']", "import os\n\nos.getenv('A')", "from os import environ"]
)
def test_environment_reads_are_seen(source: str) -> None:
    """The check below sees each way to read the environment."""
    assert len(_environment_reads(source)) == 1


def test_environment_is_read_at_the_edges_alone() -> None:
    """The environment comes in at the command line and the dashboard; everything else gets it as an argument."""
    reads = [
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for name in SOURCE_ROOTS
        for path in (ROOT / name).rglob("*.py")
        for line in _environment_reads(path.read_text(encoding="utf-8"))
    ]
    assert [read for read in reads if not read.startswith(PATHS_THAT_READ_THE_ENVIRONMENT)] == []


HOSTS = re.compile(r"\b(?:" + "|".join(("pypi", "pythonhosted", "npmjs")) + r")\." + r"(?:org|com)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|root|farm)/\w")
NOT_WRITTEN_HERE = {".jsonl", ".json", ".tsv", ".csv", ".txt", ".png", ".svg", ".npy"}
"""Pictures, and texts of the world's tools and queries, which may speak of any host or path."""


def _own_files() -> Iterator[Path]:
    """The files that people write here, without data and without what tools leave behind."""
    folders = [ROOT / name for name in (*SOURCE_ROOTS, "tests", ".ci", ".github")]
    for path in (path for folder in folders for path in folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in NOT_WRITTEN_HERE:
            yield path
    for name in ("pyproject.toml", "constraints.txt", "Makefile", "README.md", "CHANGELOG.md"):
        yield ROOT / name


def test_no_file_names_an_index_host_or_a_path_of_one_machine() -> None:
    """An installation goes where its user's tools point, and nothing depends on the machine it was written on."""
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {match.group()}"
        for path in _own_files()
        for pattern in (HOSTS, MACHINE_PATH)
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
