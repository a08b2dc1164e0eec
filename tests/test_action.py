"""The GitHub action and the examples of its documentation, without GitHub: read, and run as a shell would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GUIDE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def step(name: str) -> dict[str, Any]:
    """One step of the action."""
    return next(each for each in ACTION["runs"]["steps"] if each.get("name", "").startswith(name))


def judged(tmp_path: Path, **inputs: str) -> tuple[int, str, str, str]:
    """Run the judging step with our own command in the place where the action installs it."""
    binary = tmp_path / "toolsearch" / "bin"
    binary.mkdir(parents=True)
    (binary / "toolsearch").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toolsearch_eval.cli.main "$@"\n')
    (binary / "toolsearch").chmod(0o755)
    environment = {**os.environ, "RUNNER_TEMP": str(tmp_path)}
    for name in ("BASELINE", "DATA", "RANKER", "MARGIN", "JUNIT", "STRICT"):
        environment[name] = inputs.get(name.lower(), "")
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (tmp_path / name).touch()
        environment[name] = str(tmp_path / name)
    ran = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step("Judge")["run"]], env=environment, capture_output=True, text=True
    )
    output, summary = ((tmp_path / name).read_text() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"))
    return ran.returncode, ran.stdout, output, summary


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped set as it is."""
    from toolsearch_eval.cli.main import main

    path = tmp_path_factory.mktemp("baseline") / "tiny.json"
    assert main(["bless", "--data", "builtin", "--baseline", str(path), "--must-pass", "best"]) == 0
    return path


def test_a_pass_is_a_pass_of_the_step(tmp_path: Path, baseline: Path) -> None:
    """Exit code, output and summary say so."""
    code, _, output, summary = judged(tmp_path, baseline=str(baseline))
    assert (code, output) == (0, "verdict=pass\n")
    assert summary.startswith("### toolsearch gate: pass\n")


def test_a_regression_fails_the_step_and_is_annotated(tmp_path: Path, baseline: Path) -> None:
    """The observed ranking is worse than the default one; JUnit is written too."""
    code, said, output, _ = judged(tmp_path, baseline=str(baseline), ranker="reference", junit=str(tmp_path / "j.xml"))
    assert (code, output) == (1, "verdict=fail\n")
    assert "::error file=" in said
    assert (tmp_path / "j.xml").read_text().startswith("<?xml")


def test_what_can_not_be_judged_is_an_error(tmp_path: Path) -> None:
    """No baseline: exit code 2."""
    code, _, output, _ = judged(tmp_path, baseline="none.json")
    assert (code, output) == (2, "verdict=error\n")


def test_inputs_are_never_read_as_commands(tmp_path: Path, baseline: Path) -> None:
    """A hostile input stays a value; in the scripts there is no expression of GitHub's."""
    judged(tmp_path, baseline=str(baseline), ranker=f"$(touch {tmp_path}/planted); touch {tmp_path}/planted")
    assert not (tmp_path / "planted").exists()
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", "")


def test_the_action_installs_what_stands_beside_it() -> None:
    """From its own folder, with the pinned versions, and from nowhere else."""
    script = step("Install")["run"]
    assert '-c "$ACTION_PATH/constraints.txt" "$ACTION_PATH[eval,tokens,peers]"' in script
    assert not re.search(r"https?:|--index", script)


def test_the_examples_of_the_guide_are_valid() -> None:
    """The YAML can be read, every input that it uses exists, and the commands have those options."""
    from toolsearch_eval.cli.main import build_parser

    workflow, hook = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL))
    used = workflow["jobs"]["search-quality"]["steps"][1]["with"]
    assert set(used) <= set(ACTION["inputs"])
    commands = re.findall(r"^\$ toolsearch (.*)$", GUIDE, re.MULTILINE)
    commands.append(hook["repos"][0]["hooks"][0]["entry"].removeprefix("toolsearch "))
    for command in commands:
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
        assert build_parser(words[0]).parse_args(words).baseline == "search_baseline.json"
