"""An evaluation that is killed goes on where it was: nothing finished is lost, and nothing finished is done again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from toolsearch_eval.data import DataSet, load_data
from toolsearch_eval.data_write import write_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.measures import parse_measure
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.runs.cache import RankingCache
from toolsearch_eval.runs.folder import write_run

SCRIPT = """
import sys
from toolsearch_eval.cli.main import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
RANKER = "rankers_of_test:Slow"
KILLS = 10


@pytest.fixture
def command(many: DataSet, tmp_path: Path, rankers: ModuleType) -> list[str]:
    """The command on the set `many`."""
    return command_for(many, tmp_path)


def command_for(data: DataSet, tmp_path: Path) -> list[str]:
    """The command that evaluates the slow ranker on a set and keeps its rankings."""
    write_data(data, tmp_path / "set")
    (tmp_path / "start.py").write_text(SCRIPT, encoding="utf-8")
    arguments = ["eval", "--data", str(tmp_path / "set"), "--ranker", RANKER, "--measure", "nDCG@10"]
    return [sys.executable, str(tmp_path / "start.py"), *arguments, "--cache", str(tmp_path / "cache")]


def started(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """The command in a session of its own, so that its signals are its own too."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A shell that runs the tests behind itself has them ignore Ctrl-C, and what they start would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def files(folder: Path) -> dict[str, bytes]:
    """The bytes of the files of a run that bear neither times nor a date."""
    names = ("rankings.jsonl", "per_query.csv", "summary.json", "trec/rankers_of_test_slow.run", "data/queries.jsonl")
    return {name: (folder / name).read_bytes() for name in names}


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Until it holds or the process has ended."""
    while not condition() and process.poll() is None:
        time.sleep(0.001)


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_at_ten_random_moments(
    jobs: int, very_many: DataSet, tmp_path: Path, rankers: ModuleType, asked: Callable[[], list[list[str]]]
) -> None:
    """Killed ten times and started again, the outcome is that of an evaluation left alone.

    A chunk that stood in the cache when the kill came is never ranked again, and each kill costs at most the chunks that
    were running, one for each process.
    """
    source = random.Random(f"kill {jobs}")
    command = [*command_for(very_many, tmp_path), "--out", str(tmp_path / "run"), "--jobs", str(jobs)]
    shelf = RankingCache(tmp_path / "cache").shelf(rankers.Slow(RANKER), very_many.tools, 10)
    assert shelf is not None
    groups = (very_many.queries[:1480], very_many.queries[1480:])
    chunks = [group[start : start + 50] for group in groups for start in range(0, len(group), 50)]
    kept: set[str] = set()
    for _ in range(KILLS):
        before = asked()
        process = started(command, tmp_path)
        # The moment is counted in work and not in seconds, so that a slow machine is killed in the same places; the
        # little pause puts it before, into or behind the writing of a file.
        goal = len(before) + source.randint(1, 2)
        wait_for(lambda goal=goal: len(asked()) >= goal, process)  # type: ignore[misc]
        time.sleep(source.uniform(0, 0.02))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        time.sleep(0.05)  # another process of the group may still be ending
        assert not kept & {batch[0] for batch in asked()[len(before) :]}
        now = {chunk[0].text for chunk in chunks if shelf.path("answers", chunk).exists()}
        assert kept <= now
        kept = now
        assert not (tmp_path / "run").exists()
    before = asked()
    process = started(command, tmp_path)
    _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    assert not kept & {batch[0] for batch in asked()[len(before) :]}
    counts = Counter(batch[0] for batch in asked())
    assert set(counts) == {chunk[0].text for chunk in chunks}
    assert sum(counts.values()) - len(chunks) <= KILLS * jobs
    assert files(tmp_path / "run") == files(evaluate_alone(tmp_path))


def evaluate_alone(tmp_path: Path) -> Path:
    """The run of the same evaluation without a cache and without an end before its time."""
    result = evaluate(load_data(tmp_path / "set"), [resolve_ranker(RANKER)], measures=[parse_measure("nDCG@10")])
    return write_run(result, tmp_path / "alone", created="then")


def test_what_stands_in_the_cache_is_not_ranked_again_after_a_kill(
    command: list[str], tmp_path: Path, rankers: ModuleType, asked: Callable[[], list[list[str]]]
) -> None:
    """Killed in the middle of a chunk: those before are taken from the cache, the running one and the rest are ranked."""
    process = started(command, tmp_path)
    wait_for(lambda: len(asked()) >= 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = len(list((tmp_path / "cache").rglob("*.json")))
    assert 2 <= kept < 6
    rankers.LOG.unlink()
    process = started(command, tmp_path)
    _, errors = process.communicate()
    assert process.returncode == 0
    assert len(asked()) == 6 - kept
    first = min(int(batch[0].split("w")[-1]) for batch in asked())
    assert first == kept * 50
    assert f"note: {kept * 50} of 250 rankings were kept from before in ".encode() in errors


def test_an_interrupt_says_what_is_kept_and_how_to_go_on(
    command: list[str], tmp_path: Path, asked: Callable[[], list[list[str]]]
) -> None:
    """Ctrl-C ends with 130 and without a traceback, and names the folder from which the same command goes on."""
    process = started(command, tmp_path)
    wait_for(lambda: len(asked()) >= 2, process)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate()
    assert process.returncode == 130
    assert output == b""
    told = errors.decode()
    assert f"what was ranked is kept in {tmp_path / 'cache'}, and the same command goes on from there" in told
    assert "Traceback" not in told
    process = started(command, tmp_path)
    assert process.communicate()[0].startswith(b"many: 230 of 250 queries")
    assert process.returncode == 0
