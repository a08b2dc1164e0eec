"""`toolsearch tune`: look for better weights."""

from __future__ import annotations

import argparse
import os
import socket
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UsageError
from toolsearch_eval.cli.output import neutralise, print_json, say, tell, tell_warnings, text_table

if TYPE_CHECKING:
    from toolsearch_eval.tuning.outcome import Settings, Tuned
    from toolsearch_eval.tuning.panel import LabelledSet
    from toolsearch_eval.tuning.space import Space
    from toolsearch_eval.tuning.storage import Kept

DEFAULT_FOLDER = "runs/tune"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "tune",
        help="look for better weights",
        description="Search for better weights of a profile on the dev split, estimate by nested cross-validation what "
        "that is worth, and look at the test split once for what was chosen. A study that was stopped goes on when the "
        "same command is given again. Exit code 0 also where nothing better is found.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data",
        action="append",
        metavar="NAME|DIR",
        help="a data set with a dev split; may be repeated, then each "
        "set counts alike (default: builtin, unless --whole is given)",
    )
    parser.add_argument(
        "--whole",
        action="append",
        default=[],
        metavar="NAME|DIR",
        help="a data set without a dev split: all of it is for development; may be repeated",
    )
    parser.add_argument("--profile", metavar="NAME|FILE.toml", help="where the search begins (default: default)")
    parser.add_argument("--space", metavar="FILE.toml", help="what moves how far (default: the profile's own)")
    parser.add_argument("--trials", type=int, default=200, metavar="N", help="of the study in all (default: 200)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="same seed, same study (default: 0)")
    parser.add_argument(
        "--sampler", default="tpe", metavar="NAME", help="tpe, cmaes, nsgaii, random or gp (default: tpe)"
    )
    parser.add_argument("--batch", type=int, default=16, metavar="N", help="trials proposed at once (default: 16)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; changes no result (default: 1)")
    parser.add_argument("--measure", default="nDCG@10", metavar="M", help="what is improved (default: nDCG@10)")
    parser.add_argument("--depth", type=int, default=10, metavar="N", help="results asked for (default: 10)")
    parser.add_argument(
        "--folds", type=int, default=5, metavar="N", help="of nested cross-validation; 0 for none (default: 5)"
    )
    parser.add_argument(
        "--fold-trials", type=int, default=200, metavar="N", help="at most, in each fold (default: 200)"
    )
    parser.add_argument(
        "--must-pass",
        action="append",
        default=[],
        metavar="QUERY_ID",
        help="a query that must not become worse; may be repeated",
    )
    parser.add_argument(
        "--max-tokens", type=float, metavar="N", help="most mean tokens of the first five results' definitions"
    )
    parser.add_argument(
        "--max-p95",
        type=float,
        metavar="MS",
        help="most milliseconds of a search, 95th percentile; a timing, so such a study is not the same twice",
    )
    parser.add_argument(
        "--second", metavar="M|tokens", help="a second objective: a measure, or tokens (fewer are better)"
    )
    parser.add_argument("--keep-test-closed", action="store_true", help="don't look at the test split")
    parser.add_argument("--force", action="store_true", help="tune also on fewer than 20 groups of queries")
    parser.add_argument(
        "--storage",
        metavar="URL|FILE",
        help="where the study is kept: a journal's file, for one process (default: studies.journal in the folder); "
        "for many machines postgresql+psycopg://USER@HOST/DATABASE or redis://HOST:PORT; sqlite:///FILE",
    )
    parser.add_argument(
        "--worker",
        action="store_true",
        help="on a shared storage: make trials until the study has them, and nothing else",
    )
    parser.add_argument(
        "--grace",
        type=int,
        default=60,
        metavar="SECONDS",
        help="on a shared storage: a worker without a sign of life for so long is gone (default: 60)",
    )
    parser.add_argument("--study", metavar="NAME", help="refuse to work on any study but this one")
    parser.add_argument(
        "--folder", default=DEFAULT_FOLDER, metavar="DIR", help=f"for all that is written (default: {DEFAULT_FOLDER})"
    )
    parser.add_argument("--out", metavar="FILE.toml", help="the profile to use (default: tuned.toml beside the report)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Tune and print; the exit code is 0 whatever was found."""
    from toolsearch_eval.data import load_data
    from toolsearch_eval.tuning.document import write_report
    from toolsearch_eval.tuning.form import tuned_json
    from toolsearch_eval.tuning.profile_file import tuned_toml, write_text
    from toolsearch_eval.tuning.propose import check_sampler
    from toolsearch_eval.tuning.space import load_space
    from toolsearch_eval.tuning.storage import open_storage
    from toolsearch_eval.tuning.tune import label_all, tune

    if arguments.out is not None and not arguments.out.endswith(".toml"):
        raise UsageError(f"--out is {arguments.out[:80]!r}; a profile's file must end in .toml.")
    settings = _settings(arguments)
    check_sampler(settings.sampler)
    space = load_space(arguments.space, arguments.profile)
    given = arguments.data or ([] if arguments.whole else ["builtin"])
    sets = label_all([load_data(each) for each in given], [load_data(each) for each in arguments.whole], settings)
    folder = Path(arguments.folder)
    kept = open_storage(arguments.storage or str(folder / "studies.journal"), grace=arguments.grace)
    with closing(kept):
        if arguments.worker and not kept.shared:
            raise UsageError(
                "--worker works on a storage that is shared: give --storage postgresql+psycopg://… or redis://…"
            )
        tell(
            f"tuning {neutralise(space.profile.name)}: {len(space.parameters)} parameters, "
            f"{sum(len(each.queries) for each in sets)} queries in {sum(len(each.groups) for each in sets)} groups"
        )
        worker = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}"
        if arguments.worker:
            return _work(arguments, settings, space, sets, kept, worker)
        with _bar(settings.trials) as progress:
            tuned = tune(
                sets,
                space,
                settings,
                kept=kept,
                openings=folder / "openings.jsonl",
                now=lambda: datetime.now(UTC),
                worker=worker,
                name=arguments.study,
                progress=progress,
            )
    written = folder / tuned.study
    out = Path(arguments.out or written / "tuned.toml")
    write_text(out, tuned_toml(tuned, datetime.now(UTC)))
    form = tuned_json(tuned, str(out))
    report = write_report(tuned, form, written)
    tell_warnings(tuned.warnings)
    if arguments.json:
        print_json({**form, "report": str(report)})
    else:
        _print(tuned, form)
        say(f"Report: {neutralise(str(report))}")
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from toolsearch_eval.measures import parse_measure
    from toolsearch_eval.tuning.gauges import Demands
    from toolsearch_eval.tuning.outcome import Settings

    return Settings(
        trials=arguments.trials,
        seed=arguments.seed,
        sampler=arguments.sampler,
        batch=arguments.batch,
        jobs=arguments.jobs,
        measure=parse_measure(arguments.measure),
        depth=arguments.depth,
        folds=arguments.folds,
        fold_trials=arguments.fold_trials,
        force=arguments.force,
        open_test=not arguments.keep_test_closed,
        demands=Demands(
            must_pass=tuple(dict.fromkeys(arguments.must_pass)),
            max_tokens=arguments.max_tokens,
            max_p95_ms=arguments.max_p95,
            second=arguments.second,
        ),
    )


def _work(
    arguments: argparse.Namespace,
    settings: Settings,
    space: Space,
    sets: Sequence[LabelledSet],
    kept: Kept,
    worker: str,
) -> int:
    """Make trials of a shared study and nothing else."""
    from toolsearch_eval.tuning.run import work

    with _bar(settings.trials) as progress:
        searched = work(sets, space, settings, kept=kept, worker=worker, name=arguments.study, progress=progress)
    rate = searched.made / searched.seconds if searched.seconds else None
    if arguments.json:
        form = {"study": searched.name, "trials": len(searched.trials), "trials_per_second": rate}
        print_json({"schema_version": 1, **form, "evaluated_here": searched.evaluated, "warnings": []})
    else:
        say(f"study {searched.name}: {len(searched.trials)} trials, of which {searched.made} in this time")
    return 0


@contextmanager
def _bar(total: int) -> Iterator[Any]:
    """A progress bar with the best so far and the time left; nothing where nobody looks."""
    import sys
    from importlib.util import find_spec

    if not sys.stderr.isatty() or find_spec("tqdm") is None:
        yield lambda done, best: None
        return
    from tqdm import tqdm

    with tqdm(total=total, file=sys.stderr, unit="trial") as bar:

        def advance(done: int, best: float) -> None:
            bar.set_postfix_str(f"best {best:.4f}", refresh=False)
            bar.update(done - bar.n)

        yield advance


def _print(tuned: Tuned, form: Mapping[str, Any]) -> None:
    rows: list[tuple[str, ...]] = []
    for name, key in (("dev (chosen here)", "dev"), ("nested folds", "nested"), ("test", "test")):
        part = form[key]
        if part is not None and part.get("difference") is not None:
            low, high = part["low"], part["high"]
            rows.append(
                (
                    name,
                    _number(part.get("before")),
                    _number(part.get("after")),
                    f"{part['difference']:+.4f}",
                    "" if low is None else f"{low:+.4f} to {high:+.4f}",
                    f"{part['p']:.4f}",
                    str(part["groups"]),
                )
            )
    say(text_table(("queries", "before", "after", "gain", "95% interval", "p", "groups"), rows))
    changed = [
        (name, f"{tuned.space.shipped[name]:g}", f"{value:g}")
        for name, value in tuned.chosen.values.items()
        if value != tuned.space.shipped[name]
    ]
    if changed:
        say("\n" + text_table(("chosen", "shipped", "trial " + str(tuned.chosen.number)), changed))
    if tuned.front:
        second = tuned.settings.demands.second or ""
        front = [
            (str(number), *(f"{abs(score):.4f}" for score in tuned.trial(number).scores)) for number in tuned.front
        ]
        say("\n" + text_table(("Pareto front: trial", str(tuned.settings.measure), second), front))
    say(f"\n{tuned.verdict}")
    if tuned.test is not None:
        say(f"The test split has been seen by {tuned.test.openings} configurations, this one too.")
    if form["trials_per_second"]:
        say(f"{tuned.made} trials, {form['trials_per_second']:.1f} a second; study {tuned.study}")
    say(f"Written to {neutralise(form['config'])}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
