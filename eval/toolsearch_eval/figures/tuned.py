"""What the tuner makes of the shipped profiles on a labelled set's dev split; its test split stays closed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from toolsearch_eval.data import load_data
from toolsearch_eval.figures.block import Block, Cell, Table, rounded
from toolsearch_eval.figures.outputs import CommandFailed
from toolsearch_eval.figures.quality import COMMAND, profile_fingerprints

STUDIES: Mapping[str, int] = {"reference": 300, "default": 200}
"""Profiles and the trials that each is given."""


def measure_tuned(data: str, *, today: str, studies: Mapping[str, int] = STUDIES) -> Block:
    """A line for each profile: as it ships, tuned, and what tuning is worth on groups that it had not seen.

    Args:
        data: The labelled set; it has to have a dev split.
        today: The date to write.
        studies: Trials by profile.

    Raises:
        CommandFailed: The tuner gave another exit code than 0; its errors are in the text.
    """
    labelled = load_data(data)
    lines: list[dict[str, Cell]] = []
    for profile, trials in studies.items():
        form = _tune(["--data", data, "--profile", profile, "--trials", str(trials)])
        nested = form["nested"]
        lines.append(
            {
                "profile": profile,
                "trials": trials,
                "nDCG@10 as it ships": rounded(form["dev"]["before"]),
                "tuned, same queries": rounded(form["dev"]["after"]),
                "gain on unseen groups": {
                    "difference": rounded(nested["difference"]),
                    "low": rounded(nested["low"]),
                    "high": rounded(nested["high"]),
                },
                "taken": form["accepted"],
            }
        )
    return Block(
        command=COMMAND,
        date=today,
        fingerprints={labelled.name: labelled.fingerprint, **profile_fingerprints()},
        tables=(Table(title=f"{labelled.name}, dev", lines=tuple(lines)),),
    )


def _tune(arguments: Sequence[str]) -> dict[str, Any]:
    """One run of the command in a folder of its own, which goes again."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "toolsearch_eval.cli.main", "tune", *arguments]
        done = subprocess.run(
            [*command, "--keep-test-closed", "--jobs", "2", "--folder", folder, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise CommandFailed(f"toolsearch tune gave {done.returncode}: {done.stderr.strip()[-500:]}")
    form: dict[str, Any] = json.loads(done.stdout)
    return form
