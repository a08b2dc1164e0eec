"""Measure what is asked for, then rewrite the README's blocks or check them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.ablation.kept import make_ablation, stale
from toolsearch_eval.figures.block import Block, differences
from toolsearch_eval.figures.examples import refreshed
from toolsearch_eval.figures.lab import measure_lab
from toolsearch_eval.figures.orders import measure_orders
from toolsearch_eval.figures.outputs import CommandFailed, measure_output
from toolsearch_eval.figures.quality import (
    COMMAND,
    measure_builtin,
    measure_confidence,
    measure_suites,
    profile_fingerprints,
)
from toolsearch_eval.figures.semantic import measure_semantic, profile_cost, semantic_rankers
from toolsearch_eval.figures.speed import measure_bench, measure_start
from toolsearch_eval.figures.store import (
    marked_blocks,
    read_readme,
    read_results,
    rewritten,
    write_results,
    write_whole,
)
from toolsearch_eval.figures.tuned import measure_tuned

BLOCKS = ("builtin", "confidence", "suites", "orders", "semantic", "tuned", "lab", "start", "bench", "demo", "test")
"""Every block, in the order in which they are measured. Those of `--suites` and `--bench` only when asked for."""
_OF_SUITES = ("suites", "orders", "semantic")
EXAMPLES = "examples"
"""Stands beside the blocks where one is named: the outputs under the README's own commands and scripts."""
ABLATION = "ablation"
"""Stands beside the blocks where one is named: `ablation.md` and its data beside the results. Measured only when it is
named; without that the check tells whether it shows what is kept, measured with today's profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What to measure and where it goes.

    Attributes:
        readme: The file with the marked blocks; the Makefile stands beside it.
        results: Where the figures that were measured last are kept.
        data: The set of the blocks `builtin` and `confidence`.
        suites: A folder of further data sets, or None to keep their figures as they are.
        dense: A ranker of sentence vectors to put among those whose order is compared, or "". The block `semantic`
            needs it.
        bench: Sizes for the bench, or none to keep its figures as they are.
        only: Blocks to measure (`EXAMPLES` and `ABLATION` may be some); empty for all that the README has.
        check: Write nothing and compare.
        environment: That of the process, for the commands whose output is shown.
    """

    readme: Path
    results: Path
    data: str = "builtin"
    suites: Path | None = None
    dense: str = ""
    bench: tuple[int, ...] = ()
    only: tuple[str, ...] = ()
    check: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def make_figures(task: Task, *, tell: Callable[[str], None] = lambda _: None) -> int:
    """Measure, then rewrite the marked blocks or check them.

    Blocks whose figures are the same but for noise keep what is stored, so that nothing changes without a reason.

    Args:
        task: What to do.
        tell: Is told what begins and what differs.

    Returns:
        0 good, 1 when the check found a difference, or a command or example whose output is shown failed.

    Raises:
        UsageError: The README can't be read, has no block, or one that is unknown.
        DataError: The stored figures or the data can't be read.
    """
    readme = read_readme(task.readme)
    names = list(dict.fromkeys(marked_blocks(readme)))
    for name in names:
        if name not in BLOCKS:
            raise UnknownNameError(f"block in {task.readme}", name, BLOCKS)
    if not names:
        raise UsageError(f"{task.readme} has no marked block; one is <!-- figures:builtin --> … <!-- /figures -->.")
    stored = read_results(task.results)
    measured, failures = _measured(task, _wanted(task, names), tell)
    fresh = readme
    changed: list[str] = []
    if not task.only or EXAMPLES in task.only:
        fresh, changed, failed = refreshed(readme, task.environment, tell=tell)
        failures += failed
    documents = task.results.parent
    if ABLATION in task.only:
        failures += make_ablation(
            documents, task.data, task.suites, today=_today(), check=task.check, jobs=2, tell=tell
        )
    elif task.check:
        failures += stale(documents)
    if task.check:
        faults = [*failures, *_faults(readme, names, stored, measured)]
        faults += [f"the README shows another output than it has now: {label}" for label in changed]
        for line in faults:
            tell(line)
        if faults:
            tell(f"`{COMMAND}` makes them anew.")
        return 1 if faults else 0
    kept = {
        name: stored[name] if name in stored and not differences(stored[name], block) else block
        for name, block in measured.items()
    }
    # Measuring takes long enough for somebody to edit the page meanwhile, or to measure other blocks beside this.
    present = read_readme(task.readme)
    if fresh == readme:
        fresh = present
    elif present != readme:
        failures.append(f"{task.readme} was edited meanwhile; its examples stay as they are: make them anew.")
        fresh = present
    results = {**read_results(task.results), **kept}
    for name in names:
        if name not in results:
            option = {"bench": "; --bench measures it"} | dict.fromkeys(_OF_SUITES, "; --suites DIR measures it")
            option["semantic"] = "; --suites DIR --dense st:MODEL measures it"
            tell(f"block {name!r} has no figures yet and stays as it is{option.get(name, '')}.")
    for line in failures:
        tell(line)
    write_results(task.results, results)
    write_whole(task.readme, rewritten(fresh, results))
    return 1 if failures else 0


def _wanted(task: Task, names: Collection[str]) -> list[str]:
    """The blocks to measure, in their order."""
    for name in task.only:
        if name not in (*BLOCKS, EXAMPLES, ABLATION):
            raise UnknownNameError("block", name, (*BLOCKS, EXAMPLES, ABLATION))
        if name not in (*names, EXAMPLES, ABLATION):
            raise UsageError(f"{task.readme} has no block {name!r}; it has {', '.join(names)}.")
    asked = dict.fromkeys(_OF_SUITES, task.suites is not None) | {"bench": bool(task.bench)}
    asked["semantic"] = task.suites is not None and bool(task.dense)
    return [name for name in BLOCKS if name in (task.only or names) and asked.get(name, True)]


def _measured(task: Task, wanted: Sequence[str], tell: Callable[[str], None]) -> tuple[dict[str, Block], list[str]]:
    today = _today()
    folder = task.readme.resolve().parent
    ways: dict[str, Callable[[], Block]] = {
        "builtin": lambda: measure_builtin(task.data, today=today),
        "confidence": lambda: measure_confidence(task.data, today=today),
        "suites": lambda: measure_suites(task.suites or Path(), today=today, tell=tell),
        "orders": lambda: measure_orders(task.data, task.suites or Path(), task.dense, today=today, tell=tell),
        "semantic": lambda: measure_semantic(
            task.data,
            task.suites or Path(),
            semantic_rankers(task.dense),
            today=today,
            tell=tell,
            cost=profile_cost(task.data),
        ),
        "tuned": lambda: measure_tuned(task.data, today=today),
        "lab": lambda: measure_lab(task.data, today=today),
        "start": lambda: measure_start(today=today),
        "bench": lambda: measure_bench(task.bench, today=today, tell=tell),
        "demo": lambda: measure_output("demo", folder, today=today, environment=task.environment),
        "test": lambda: measure_output("test", folder, today=today, environment=task.environment),
    }
    measured: dict[str, Block] = {}
    failures: list[str] = []
    for name in wanted:
        tell(f"measuring {name}")
        try:
            measured[name] = ways[name]()
        except CommandFailed as error:
            failures.append(f"{name}: {error}")
    return measured, failures


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def _faults(readme: str, names: Sequence[str], stored: Mapping[str, Block], measured: Mapping[str, Block]) -> list[str]:
    profiles = profile_fingerprints()
    found = []
    for name in names:
        if name not in stored:
            found.append(f"{name}: no figures are stored")
        elif name in measured:
            found += [f"{name}: {line}" for line in differences(stored[name], measured[name])]
        else:
            # Not measured now; what can be told without measuring is whether it is of today's profiles.
            old = stored[name].fingerprints
            found += [
                f"{name}: measured with another {profile}"
                for profile in profiles
                if profile in old and old[profile] != profiles[profile]
            ]
    if rewritten(readme, stored) != readme:
        found.append("the README does not show the stored figures")
    return found
