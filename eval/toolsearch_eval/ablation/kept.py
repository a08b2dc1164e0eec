"""The ablation among the project's documents: measured, kept as data beside it, written and checked.

`docs/ablation.md` is made from `docs/ablation.json` alone, and that from measuring; neither is typed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from toolsearch.config import DEFAULT, to_toml
from toolsearch.errors import UsageError
from toolsearch_eval.ablation.document import ablation_block, document, fingerprint
from toolsearch_eval.ablation.measure import ablate
from toolsearch_eval.compare import PRIMARY
from toolsearch_eval.data import load_data
from toolsearch_eval.figures.block import Block, differences
from toolsearch_eval.figures.store import read_results, write_results, write_whole

DEVELOPMENT = ("metatool", "toolbench", "bfcl_live", "ultratool_zh", "livemcpbench")
"""The public sets by which parts may be chosen. Any other set in the same folder stays closed."""
DEV, SUITES = "dev", "suites"
COMMAND = "python -m toolsearch_eval.figures --only ablation"


def make_ablation(
    folder: Path,
    data: str,
    suites: Path | None,
    *,
    today: str,
    check: bool,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Measure the shipped profile's parts, then write document and data, or compare.

    Args:
        folder: Where `ablation.md` and `ablation.json` stand.
        data: The labelled set that ships.
        suites: A folder with the development sets, or None to keep what was measured on them.
        today: The date to write.
        check: Write nothing.
        jobs: How many processes rank; changes no result.
        tell: Is told what begins.

    Returns:
        What is stored or shown otherwise than it was measured, a line each; empty where it was written.

    Raises:
        UsageError: The folder holds none of the development sets.
        DataError: A data set, or what was kept, can't be read.
    """
    stored = read_results(_store(folder))
    measured: dict[str, Block] = {}
    wanted: list[tuple[str, str, list[str]]] = [(DEV, COMMAND, [data])]
    if suites is not None:
        wanted.append((SUITES, f"{COMMAND} --suites DIR", [data, *_development(suites)]))
    for name, command, sets in wanted:
        tell(f"measuring ablation on {len(sets)} data sets" if len(sets) > 1 else f"measuring ablation on {sets[0]}")
        found = ablate(DEFAULT, [load_data(each) for each in sets], PRIMARY, jobs=jobs)
        measured[name] = ablation_block(found, command=command, today=today)
    if check:
        faults = [] if stored else ["ablation: no figures are stored"]
        for name, block in measured.items():
            if name in stored:
                faults += [f"ablation, {name}: {line}" for line in differences(stored[name], block)]
        return [*faults, *stale(folder)]
    kept = {
        name: stored[name] if name in stored and not differences(stored[name], block) else block
        for name, block in measured.items()
    }
    results = {**stored, **kept}
    write_results(_store(folder), results)
    write_whole(_shown(folder), written(results))
    return []


def stale(folder: Path) -> list[str]:
    """What can be told without measuring: other weights than today's, or a document that does not show what is kept.

    Raises:
        DataError: What was kept can't be read.
    """
    stored = read_results(_store(folder))
    today = fingerprint(to_toml(DEFAULT))
    key = f"profile {DEFAULT.name}"
    faults = [
        f"ablation, {name}: measured with another {key}"
        for name, block in stored.items()
        if block.fingerprints.get(key) != today
    ]
    if stored and (not _shown(folder).is_file() or _shown(folder).read_text(encoding="utf-8") != written(stored)):
        faults.append("docs/ablation.md does not show the stored figures")
    return faults


def written(results: Mapping[str, Block]) -> str:
    """The document that shows what is kept: the shipped set first, then the development sets."""
    commands = [
        COMMAND,
        f"{COMMAND} --suites DIR",
        "toolsearch ablate --data builtin --jobs 2 --csv ablation.csv",
        shlex.join(["toolsearch", "ablate", "--data", "builtin", *(f"DIR/{name}" for name in DEVELOPMENT)]),
    ]
    return document([results[name] for name in (DEV, SUITES) if name in results], commands=commands)


def _development(suites: Path) -> Sequence[str]:
    found = [str(suites / name) for name in DEVELOPMENT if (suites / name / "queries.jsonl").is_file()]
    if not found:
        raise UsageError(
            f"{suites} holds none of the development sets; it must have a folder {', '.join(DEVELOPMENT)}."
        )
    return found


def _store(folder: Path) -> Path:
    return folder / "ablation.json"


def _shown(folder: Path) -> Path:
    return folder / "ablation.md"
