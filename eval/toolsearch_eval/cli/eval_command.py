"""`toolsearch eval`: judge rankers on a labelled data set."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UsageError
from toolsearch_eval.cli.eval_tables import print_evaluation
from toolsearch_eval.cli.judging import RANKERS, add_work_arguments, open_cache, resolved, tell_kept
from toolsearch_eval.cli.output import print_json, say, tell, tell_warnings

if TYPE_CHECKING:
    from toolsearch_eval.data import DataSet
    from toolsearch_eval.evaluate import Evaluation
    from toolsearch_eval.measures import Measure
    from toolsearch_eval.runs.cache import RankingCache
    from toolsearch_eval.stability import Stability


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser(
        "eval",
        help="judge rankers on a labelled data set",
        description="Judge rankers on a labelled data set. Exit code 2: a ranker failed; the others are shown.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data",
        nargs="+",
        action="extend",
        metavar="NAME|DIR",
        help="the data sets, one report for each (default: builtin)",
    )
    parser.add_argument(
        "--ranker",
        action="append",
        metavar=RANKERS,
        help="may be repeated (default: reference, default and bm25f); `all`: reference, default, bm25f, regex and "
        "every peer; also default:keyword, default:tfidf; with the extra peers bm25s, sklearn-words, "
        "sklearn-characters, fastmcp-bm25, fastmcp-regex, pydantic-ai, toolpicker; with the extra semantic "
        "st:NAME|PATH, a model of sentence-transformers",
    )
    parser.add_argument(
        "--against",
        metavar="RANKER",
        help="put every other ranker beside this one: difference by the first measure with its interval, and p "
        "adjusted by Holm's procedure",
    )
    parser.add_argument("--measure", action="append", metavar="M", help="such as nDCG@10; may be repeated")
    parser.add_argument("--split", choices=("dev", "test", "all"), help="default: dev, or all where there is no dev")
    parser.add_argument("--depth", type=int, default=10, metavar="N", help="results asked for (default: 10)")
    parser.add_argument(
        "--stability",
        action="store_true",
        help="judge again on the catalog shuffled, renamed and with ten times as many tools",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="write the run to this new folder (with several data sets: a folder for each inside of it)",
    )
    add_work_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Judge and print; 0 when every ranker worked, 2 when one failed or can't be had, which is said on stderr.

    After Ctrl-C what was done is printed and the code is 130. With several data sets the JSON object holds a list, and
    one on which nothing can be judged is a line on stderr.
    """
    from toolsearch_eval.cli.main import INTERRUPTED
    from toolsearch_eval.data import load_data
    from toolsearch_eval.measures import DEFAULT_MEASURES, parse_measure
    from toolsearch_eval.runs.folder import check_free

    sets = args.data or ["builtin"]
    specs = _specs(args.ranker or ["reference", "default", "bm25f"])
    if args.against is not None and args.against not in specs:
        raise UsageError(
            f"--against is {args.against!r}, which is none of the rankers: {', '.join(specs)}. Add it with --ranker."
        )
    measures = tuple(map(parse_measure, args.measure)) if args.measure else DEFAULT_MEASURES
    cache = open_cache(args)
    loaded = [load_data(each) for each in sets]
    folders = _folders(args.out, [data.name for data in loaded])
    for folder in folders:
        if folder is not None:
            check_free(folder)  # before the work, not after it
    code = 0
    forms: list[dict[str, Any]] = []
    for number, (source, data, folder) in enumerate(zip(sets, loaded, folders, strict=True)):
        try:
            result, form, faults, stopped = _judged(source, data, specs, measures, args, cache)
        except KeyboardInterrupt:
            tell_kept(cache)
            code = INTERRUPTED
            break
        except UsageError as error:
            if len(sets) == 1:
                raise
            tell(f"toolsearch: {error}")  # the other sets go on
            code = 2
            continue
        tell_warnings(form["warnings"])
        if args.json:
            forms.append(form)
        else:
            if number:
                say("")
            print_evaluation(result, form)
        if stopped:
            tell_kept(cache)
            code = INTERRUPTED
            break
        if folder is not None:
            _write(result, form, folder, args.against)
        if faults or len(result.rankings) < len(specs):
            code = 2
    if args.json and forms:
        print_json(forms[0] if len(sets) == 1 else {"schema_version": 1, "sets": forms})
    return code


def _specs(given: Sequence[str]) -> list[str]:
    """The rankers by name, `all` written out; what it stands for is not named twice."""
    from toolsearch_eval.rankers.resolve import EVERY

    if "all" not in given:
        return list(given)
    return list(dict.fromkeys(name for spec in given for name in (EVERY if spec == "all" else (spec,))))


def _folders(out: str | None, names: Sequence[str]) -> list[Path | None]:
    """Where each run goes: to the folder itself, or of several each to one that bears its data set's name."""
    if out is None:
        return [None for _ in names]
    if len(names) == 1:
        return [Path(out)]
    plain = [re.sub(r"[^\w.-]+", "_", name).strip(".") or "set" for name in names]
    if len(set(plain)) < len(plain):
        raise UsageError(f"--out needs data sets whose names differ; given: {', '.join(names)}.")
    return [Path(out) / name for name in plain]


def _judged(
    source: str,
    data: DataSet,
    specs: Sequence[str],
    measures: tuple[Measure, ...],
    args: argparse.Namespace,
    cache: RankingCache | None,
) -> tuple[Evaluation, dict[str, Any], list[str], bool]:
    """One data set: the evaluation, its form with what was asked for besides, faults, and whether it was stopped."""
    from toolsearch_eval.evaluate import Interrupted, evaluate
    from toolsearch_eval.runs.folder import against_json, compared_with

    stability: dict[str, dict[str, Stability]] = {}
    # Rankers may be anyone's; what they print must not stand among our results.
    with redirect_stdout(sys.stderr):
        rankers, faults = resolved(specs)
        stopped = False
        try:
            result = evaluate(
                data, rankers, measures=measures, split=args.split, depth=args.depth, jobs=args.jobs, cache=cache
            )
        except Interrupted as stop:
            result, stopped = stop.finished, True
        _refuse_nothing(result, source)
        if args.stability and not stopped:
            try:
                _measure_stability(result, stability, faults)
            except KeyboardInterrupt:
                stopped = True
                faults.append(f"interrupted; stability is measured for: {', '.join(stability) or 'none'}")
    form = result.to_json()
    for name, changes in stability.items():
        form["rankers"][name]["stability"] = {change: asdict(values) for change, values in changes.items()}
    if args.against in result.rankings:
        form["against"] = against_json(args.against, compared_with(result, args.against), result)
    elif args.against is not None:
        faults.append(f"nothing stands beside {args.against!r}, which was not judged")
    form["warnings"] = [*faults, *form["warnings"]]
    reused = sum(ran.reused for ran in result.runs.values())
    for note in result.notes:
        tell(f"note: {note}")
    if cache is not None and reused:
        total = len(result.runs) * (len(result.queries) + len(result.no_answer))
        tell(f"note: {reused} of {total} rankings were kept from before in {cache.folder}; so are their times.")
    return result, form, faults, stopped


def _write(result: Evaluation, form: Mapping[str, Any], folder: Path, against: str | None) -> None:
    from toolsearch_eval.runs.folder import write_run

    now = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    plain = {key: value for key, value in form.items() if key != "against"}
    written = write_run(
        result, folder, created=now, against=against if against in result.rankings else None, form=plain
    )
    tell(f"the run is in {written}")


def _refuse_nothing(result: Evaluation, data: str) -> None:
    """Measuring nothing is wrong use: whoever reads the exit code alone must not take it for a good result."""
    if result.queries:
        return
    left_out = ", ".join(f"{count} {reason}" for reason, count in result.excluded.items() if count)
    splits = ", ".join(sorted({query.split for query in result.data.queries})) or "none"
    raise UsageError(
        f"{data}: no query of split {result.split} can be measured: of {result.size} queries left out: "
        f"{left_out or 'none'}. The data has the splits: {splits}."
    )


def _measure_stability(result: Evaluation, found: dict[str, dict[str, Stability]], faults: list[str]) -> None:
    """Add what is found of each ranker as soon as it is known."""
    from toolsearch_eval.progress import progress_bar
    from toolsearch_eval.rankers import resolve_ranker
    from toolsearch_eval.stability import CHANGES, measure_stability

    with progress_bar(len(CHANGES) * len(result.rankings) * len(result.queries)) as advance:
        for name in result.rankings:
            try:
                found[name] = measure_stability(result, name, partial(resolve_ranker, name), advance=advance)
            except UsageError as error:
                faults.append(str(error))
