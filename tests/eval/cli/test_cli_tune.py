"""`toolsearch tune` on the command line: its form, what it writes, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolsearch.config import load_profile
from toolsearch_eval.cli.main import main

QUICK = ["--trials", "6", "--batch", "3", "--folds", "2", "--fold-trials", "3", "--keep-test-closed"]
SPACE = (
    "[parameters]\nsaturation = { low = 0.5, high = 2.0, log = true }\nweight_keyword = { low = 0.05, high = 1.0 }\n"
)


def test_the_form_has_what_scripts_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object on stdout with study, trials, speed, choice, dev, folds and the file; all else is on stderr."""
    assert main(["tune", *QUICK, "--folder", str(tmp_path), "--json"]) == 0
    out = capsys.readouterr()
    form = json.loads(out.out)
    assert {
        "schema_version", "study", "trials", "trials_per_second", "accepted", "verdict", "chosen", "dev", "nested",
        "test", "config", "warnings",
    } <= set(form)  # fmt: skip
    assert (form["trials"], form["test"]) == (6, None)
    assert form["trials_per_second"] > 0
    assert {"before", "after", "difference", "low", "high", "p"} <= set(form["dev"])
    assert form["dev"]["sets"]["builtin"]["groups"] == form["dev"]["groups"]
    assert Path(form["config"]) == tmp_path / form["study"] / "tuned.toml"
    assert Path(form["report"]) == tmp_path / form["study"] / "report.html"
    assert load_profile(form["config"]).ranking == "standard"
    assert (tmp_path / "studies.journal").is_file()
    assert "tuning default" in out.err


def test_the_text_says_what_was_found_and_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Means, interval, verdict and file stand in plain lines; the profile goes where --out says."""
    out = tmp_path / "mine" / "tuned.toml"
    (tmp_path / "space.toml").write_text(SPACE, "utf-8")
    command = ["tune", *QUICK, "--space", str(tmp_path / "space.toml"), "--folder", str(tmp_path), "--out", str(out)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "dev (chosen here)" in said
    assert "No significant gain" in said or "shows a gain" in said
    assert str(out) in said
    assert load_profile(str(out)).weight_tfidf == load_profile("default").weight_tfidf
    assert 'study = "default-s' in out.read_text("utf-8")


def test_the_shipped_test_split_is_opened_only_when_it_may_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the test kept closed nothing is logged."""
    assert main(["tune", *QUICK, "--folder", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test"] is None
    assert not (tmp_path / "openings.jsonl").exists()


def test_two_objectives_print_their_front(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The front is in the form and in the text."""
    command = ["tune", "--trials", "8", "--folds", "0", "--keep-test-closed", "--second", "tokens"]
    assert main([*command, "--folder", str(tmp_path), "--json"]) == 0
    front = json.loads(capsys.readouterr().out)["pareto"]
    assert all(len(each["scores"]) == 2 for each in front)
    assert main([*command, "--folder", str(tmp_path)]) == 0
    assert "Pareto front" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--trials", "0"], "trials is 0"),
        (["--seed", "-1"], "seed is -1"),
        (["--jobs", "0"], "jobs is 0"),
        (["--folds", "1"], "folds is 1"),
        (["--trials", "x"], "invalid int value"),
        (["--sampler", "tpee"], "Did you mean 'tpe'"),
        (["--sampler", "gp"], "needs torch"),
        (["--measure", "nDGC@10"], "Did you mean 'nDCG'"),
        (["--measure", "nDCG@50"], "looks deeper than the depth"),
        (["--profile", "defalt"], "Did you mean 'default'"),
        (["--data", "bultin"], "Did you mean 'builtin'"),
        (["--space", "nowhere.toml"], "can't be read as a search space"),
        (["--out", "tuned.json"], "must end in .toml"),
        (["--storage", "mysql://host/db"], "unknown kind of storage 'mysql'"),
        (["--storage", "redis://user:secret@127.0.0.1:1/0"], "redis"),
        (["--storage", "postgresql+psycopg://me:secret@127.0.0.1:1/x"], "me:***@127.0.0.1:1/x can't be used"),
        (["--storage", "/proc/nowhere/x.journal"], "the study can't be kept there"),
        (["--storage", __file__], "is no journal of a study"),
        (["--worker"], "--worker works on a storage that is shared"),
        (["--grace", "1"], "the grace is 1 seconds"),
        (["--study", "other"], "is another one"),
        (["--must-pass", "nowhere"], "unknown must-pass query"),
        (["--max-tokens", "-1"], "the bound of tokens is -1"),
        (["--max-tokens", "nan"], "the bound of tokens is nan"),
        (["--second", "tokens", "--sampler", "cmaes"], "follows one objective"),
        (["--sampler", "cmaes", "--worker", "--storage", "sqlite://"], "works in one process alone"),
    ],
)
def test_wrong_use_is_one_clear_text(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code is that of wrong use, nothing is on stdout, no password and no traceback anywhere."""
    assert main(["tune", "--folds", "0", "--trials", "2", "--folder", str(tmp_path), *arguments]) == 2
    out = capsys.readouterr()
    assert message in out.err
    assert out.out == ""
    assert "Traceback" not in out.err
    assert "secret" not in out.err


def test_every_fault_of_a_space_comes_at_once_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A space with two faults is told in two lines that begin with file and line."""
    path = tmp_path / "space.toml"
    path.write_text("[parameters]\nsaturation = { low = 2, high = 1.5 }\nsaturatoin = { low = 1, high = 2 }\n", "utf-8")
    assert main(["tune", "--space", str(path), "--folder", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:2", f"{path}:2", f"{path}:3"]
    assert "Did you mean 'saturation'" in lines[-1]


def test_a_journal_that_another_process_uses_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes on one journal would propose the same trials, so the second is told what to do instead."""
    path = tmp_path / "studies.journal"
    hold = f"import fcntl; stream = open({str(path)!r}, 'ab'); fcntl.flock(stream, fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "1\n"
        assert main(["tune", *QUICK, "--folder", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        other.communicate("\n")
    assert "another process tunes with this journal now" in said


def test_workers_share_a_study_and_an_ordinary_run_ends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two workers at once make the trials of one study; a later run makes none and chooses among them."""
    database = f"sqlite:///{tmp_path / 'study.db'}"
    command = ["tune", "--profile", "reference", "--trials", "24", "--batch", "4", "--folds", "0", "--keep-test-closed"]
    command += ["--storage", database, "--json"]
    start = [
        sys.executable,
        "-c",
        "import sys; from toolsearch_eval.cli.main import main; sys.exit(main(sys.argv[1:]))",
    ]
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": ""}
    workers = [
        subprocess.Popen(
            [*start, *command, "--worker"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    answers = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], answers
    forms = [json.loads(answer[0]) for answer in answers]
    assert forms[0]["study"] == forms[1]["study"]
    assert forms[0]["trials"] == forms[1]["trials"] >= 24
    assert main([*command, "--folder", str(tmp_path)]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["study"], form["trials"]) == (forms[0]["study"], forms[0]["trials"])
    assert form["trials_per_second"] is None


def test_the_bar_shows_the_best_so_far_and_the_time_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal the trials are counted with the best mean so far and the time that is left."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["tune", *QUICK, "--folder", str(tmp_path)]) == 0
    last = capsys.readouterr().err.rpartition("\r")[2]
    assert "6/6" in last
    assert "best 0." in last
    assert "<00:00" in last  # nothing is left
