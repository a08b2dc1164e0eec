"""A tuned profile as TOML that says where it comes from."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolsearch.config import SearchConfig, to_toml
from toolsearch.errors import UsageError

if TYPE_CHECKING:
    from toolsearch_eval.tuning.outcome import Tuned


def tuned_toml(tuned: Tuned, now: datetime, *, config: SearchConfig | None = None) -> str:
    """The profile with a table `provenance`; whatever reads profiles reads it.

    Args:
        tuned: What came out of tuning.
        now: The date that is written.
        config: Another profile than the one to use, such as the chosen one that was not accepted.
    """
    rows: list[tuple[str, object]] = [
        ("study", tuned.study),
        ("trial", tuned.chosen.number if tuned.accepted or config is not None else 0),
        ("accepted", tuned.accepted),
        ("verdict", tuned.verdict),
        ("date", now.isoformat(timespec="seconds")),
        ("seed", tuned.settings.seed),
        ("sampler", tuned.settings.sampler),
        ("trials", len(tuned.trials)),
        ("measure", str(tuned.settings.measure)),
        ("space", tuned.space.fingerprint),
        ("data", [f"{each.name} ({each.split}): {each.fingerprint}" for each in tuned.sets]),
    ]
    for label, gain in (
        ("dev", tuned.dev),
        ("nested", tuned.nested.gain if tuned.nested else None),
        ("test", tuned.test.gain if tuned.test else None),
    ):
        if gain is not None and gain.difference.mean is not None:
            numbers = (gain.difference.mean, gain.difference.low, gain.difference.high)
            rows.append((f"{label}_gain", [round(number, 6) for number in numbers if number is not None]))
    lines = [f"{key} = {_toml(value)}" for key, value in rows]
    return to_toml(config or tuned.config) + "\n[provenance]\n" + "\n".join(lines) + "\n"


def write_text(path: str | Path, text: str) -> None:
    """Write a file whole or not at all, its folders too.

    Raises:
        UsageError: It can't be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]}: can't be written: {error}") from error


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # What JSON writes of texts, numbers and truth values is TOML too; DEL is the one character that differs.
    return json.dumps(value).replace("\x7f", "\\u007f")
