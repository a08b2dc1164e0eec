"""An evaluation as a folder that says all of itself: what was asked, what came out, and what it hangs on.

```
manifest.json     versions, code, seed, split, depth, measures, rankers and their settings, fingerprints, digests
data/             catalog, queries and grades as they were used: a data set like any other
rankings.jsonl    names and scores for each ranker and query, and how sure the ranker was
per_query.csv     the value of every measure for each ranker and query
summary.json      what `toolsearch eval --json` prints, times left out
trec/             a run for each ranker and the grades, for other programs
report.md, .html  for readers; the page has pictures, loads nothing and runs nothing
times.json        latency and time to build: the one file that differs from one evaluation to the next
```
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from toolsearch.errors import UsageError
from toolsearch_eval.compare import Comparison, compare_all, difference_json
from toolsearch_eval.data import DataSet, fingerprint_of
from toolsearch_eval.data_write import write_data
from toolsearch_eval.evaluate import Evaluation
from toolsearch_eval.rankers.identity import code_version, package_version
from toolsearch_eval.rankers.run import Answer
from toolsearch_eval.report.document import as_html, as_markdown
from toolsearch_eval.report.evaluation import evaluation_pieces
from toolsearch_eval.runs.trec import trec_qrels, trec_run
from toolsearch_eval.tables import per_query_csv

SCHEMA_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
TIMES: Final = "times.json"
_SEED = 0


def check_free(folder: str | Path) -> Path:
    """The folder, where a run can be written to it: a new one or an empty one. Runs are never written over.

    Raises:
        UsageError: It is there already.
    """
    target = Path(folder)
    try:
        taken = target.exists() and not (target.is_dir() and not any(target.iterdir()))
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(folder)!r} can't be used as a folder: {error}.") from error
    if taken:
        what = "holds a run" if (target / MANIFEST).is_file() else "is there already"
        raise UsageError(f"{folder} {what}, and a run is never written over; name a new folder, or remove this one.")
    return target


def compared_with(evaluation: Evaluation, baseline: str) -> tuple[Comparison, ...]:
    """Every other ranker beside one, by the first measure; p is adjusted by Holm's procedure.

    Raises:
        UnknownNameError: That one was not judged.
    """
    return compare_all(evaluation, baseline, measure=evaluation.measures[0], seed=_SEED)


def against_json(baseline: str, comparisons: tuple[Comparison, ...], evaluation: Evaluation) -> dict[str, Any]:
    """The machine-readable form of `compared_with`."""
    return {
        "ranker": baseline,
        "measure": str(evaluation.measures[0]),
        "adjusted": "holm",
        "rankers": {each.b: difference_json(each.overall) for each in comparisons},
    }


def summary_of(
    form: Mapping[str, Any], against: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """An evaluation's machine-readable form without its times, and the times."""
    times = {name: {key: values[key] for key in ("latency_ms", "build_ms")} for name, values in form["rankers"].items()}
    rankers = {
        name: {key: value for key, value in values.items() if key not in ("latency_ms", "build_ms")}
        for name, values in form["rankers"].items()
    }
    summary = {**form, "rankers": rankers}
    if against is not None:
        summary["against"] = dict(against)
    return summary, {"schema_version": SCHEMA_VERSION, "rankers": times}


def write_run(
    evaluation: Evaluation,
    folder: str | Path,
    *,
    created: str,
    against: str | None = None,
    form: Mapping[str, Any] | None = None,
) -> Path:
    """Write a run: the whole folder or nothing. Equal evaluations give equal bytes in every file but `times.json`.

    Args:
        evaluation: What to write.
        folder: A new folder or an empty one.
        created: The present time, as it is to stand in the manifest.
        against: A ranker beside which all others are put.
        form: What `evaluation.to_json()` gave, where it is at hand.

    Raises:
        UnknownNameError: `against` was not judged.
        UsageError: The folder is there already or can't be written.
    """
    target = check_free(folder)
    comparisons = compared_with(evaluation, against) if against is not None else ()
    compared = against_json(against, comparisons, evaluation) if against is not None else None
    summary, times = summary_of(form or evaluation.to_json(), compared)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:40]}.") as beside:
            fresh = Path(beside) / "run"
            fresh.mkdir()
            used = used_data(evaluation)
            write_data(used, fresh / "data")
            trec = _write_trec(evaluation, fresh / "trec")
            _write(fresh / "rankings.jsonl", _rankings(evaluation))
            _write(fresh / "per_query.csv", per_query_csv(evaluation, evaluation.measures))
            _write(fresh / "summary.json", _json(summary))
            _write(fresh / TIMES, _json(times))
            title = f"Evaluation on {evaluation.data.name}, {evaluation.split}"
            pieces = evaluation_pieces(
                evaluation, evaluation.measures, summary, against=comparisons, about=(f"Made {created}.",)
            )
            _write(fresh / "report.md", as_markdown(title, pieces))
            _write(fresh / "report.html", as_html(title, pieces))
            manifest = _manifest(evaluation, used, trec, created=created, against=against)
            manifest["files"] = file_digests(fresh)
            _write(fresh / MANIFEST, _json(manifest))
            if target.exists():
                target.rmdir()
            os.replace(fresh, target)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{folder} can't be written: {error}.") from error
    return target


def used_data(evaluation: Evaluation) -> DataSet:
    """The part of the data that was used: all tools, the queries of the split, and their grades."""
    data = evaluation.data
    queries = {query.query_id: query for query in reversed(data.queries) if evaluation.split in ("all", query.split)}
    in_order = tuple(reversed(queries.values()))
    judgements = {
        each.query_id: data.judgements[each.query_id] for each in in_order if each.query_id in data.judgements
    }
    return replace(
        data,
        path="",
        queries=in_order,
        judgements=judgements,
        labels=(),
        conversations=(),
        fingerprint=fingerprint_of(data.tools, in_order, judgements),
    )


def file_digests(folder: Path) -> dict[str, str]:
    """SHA-256 (hexadecimal) of each file by its path, but for the manifest itself and the times."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if name not in (MANIFEST, TIMES)
    }


def _manifest(
    evaluation: Evaluation, used: DataSet, trec: Mapping[str, str], *, created: str, against: str | None
) -> dict[str, Any]:
    rankers: dict[str, dict[str, Any]] = {}
    for name, identity in evaluation.identities.items():
        rankers[name] = {
            "kind": identity.kind if identity else "own",
            "fingerprint": identity.fingerprint if identity else None,
            "settings": dict(identity.settings) if identity else {},
            "packages": dict(identity.packages) if identity else {},
            "trec": trec[name],
        }
    packages: dict[str, str | None] = {"toolsearch": package_version("toolsearch")}
    for values in rankers.values():
        packages |= values["packages"]
    return {
        "schema_version": SCHEMA_VERSION,
        "created": created,
        "versions": {"python": platform.python_version(), **packages},
        "code": code_version(),
        "seed": _SEED,
        "split": evaluation.split,
        "depth": evaluation.depth,
        "measures": list(map(str, evaluation.measures)),
        "against": against,
        "data": {
            "name": evaluation.data.name,
            "fingerprint": evaluation.data.fingerprint,
            "used": used.fingerprint,
            "tools": len(used.tools),
            "queries": evaluation.size,
        },
        "rankers": rankers,
    }


def _rankings(evaluation: Evaluation) -> str:
    lines = []
    for name, ran in evaluation.runs.items():
        for queries, answers in ((evaluation.queries, ran.answers), (evaluation.no_answer, ran.silent)):
            lines += [
                json.dumps({"ranker": name, "query_id": query.query_id, **_answer(answer)}, allow_nan=False)
                for query, answer in zip(queries, answers, strict=True)
            ]
    return "".join(f"{line}\n" for line in lines)


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "confidence": answer.sureness.confidence,
        "flagged": answer.sureness.flagged,
        "results": [list(result) for result in answer.results],
    }


def _write_trec(evaluation: Evaluation, folder: Path) -> dict[str, str]:
    """The file of each ranker, under a name that every system can hold and that is no other's."""
    folder.mkdir()
    query_ids = [query.query_id for query in evaluation.queries]
    _write(folder / "qrels", trec_qrels(query_ids, evaluation.data.judgements))
    files: dict[str, str] = {}
    for name, rankings in evaluation.rankings.items():
        stem = re.sub(r"[^a-zA-Z0-9.-]+", "_", name).strip("._")[:60].lower() or "ranker"
        number = 1
        while (file := f"trec/{stem}{'' if number == 1 else f'-{number}'}.run") in files.values():
            number += 1
        files[name] = file
        _write(folder.parent / file, trec_run(query_ids, rankings, name))
    return files


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
