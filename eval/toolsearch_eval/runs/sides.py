"""The two sides of a comparison: rankers that are judged now, or what stands in a run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.config import from_toml
from toolsearch.errors import ToolSearchError, UnknownNameError, UsageError
from toolsearch_eval.compare import Judged
from toolsearch_eval.rankers import Ranker, resolve_ranker
from toolsearch_eval.rankers.identity import identity_of
from toolsearch_eval.rankers.own import described
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.reasons import Explain, Side, explainer, silent_explainer
from toolsearch_eval.report.document import Piece, as_html, as_markdown
from toolsearch_eval.runs.folder import check_free
from toolsearch_eval.runs.reading import Run, is_run, read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One side as it was named.

    Attributes:
        text: What was written.
        ranker: The ranker's name.
        run: The run it stands in; None for one that is judged now.
    """

    text: str
    ranker: str
    run: Run | None = None

    def label(self, other: Named) -> str:
        """How the side is called: by its ranker, or as it was written where both sides have one name."""
        return self.text if self.ranker == other.ranker else self.ranker


def named_side(text: str, opened: dict[str, Run]) -> Named:
    """Read `NAME`, `DIR` or `DIR:NAME`: a ranker, a run of one ranker, or one ranker of a run.

    What names a folder with a run is that run; everything else is a ranker.

    Args:
        text: What was written.
        opened: Runs that were read already, by folder; one that is read is added.

    Raises:
        UsageError: A run of several rankers without a name.
        UnknownNameError: The run has no such ranker.
        DataError: The run is damaged.
    """
    ends = [len(text), *(place for place, character in enumerate(text) if character == ":")]
    for end in ends:
        folder, name = text[:end], text[end + 1 :]
        if not folder or not is_run(folder):
            continue
        run = opened.setdefault(folder, read_run(folder)) if folder not in opened else opened[folder]
        rankers = list(run.rankings)
        if not name and len(rankers) > 1:
            raise UsageError(f"{folder} holds several rankers: {', '.join(rankers)}. Name one: {folder}:{rankers[0]}")
        if name and name not in rankers:
            raise UnknownNameError(f"ranker in {folder}", name, rankers)
        return Named(text=text, ranker=name or rankers[0], run=run)
    return Named(text=text, ranker=text)


def explain_side(side: Named, judged: Judged) -> Explain:
    """What says why a tool has its score on a side.

    A ranker of a run is asked only where it is still the same: profile, libraries and code.
    """
    if side.run is None:
        return _lazy(judged, lambda: resolve_ranker(side.ranker))
    recorded = side.run.manifest["rankers"][side.ranker]
    if recorded["fingerprint"] is None:
        return silent_explainer(f"{side.ranker} does not say what its results hang on, so the run can't be explained")
    try:
        if recorded["kind"] == "profile":
            ranker: Ranker = ProfileRanker(side.ranker, from_toml(str(recorded["settings"].get("profile"))))
        else:
            ranker = resolve_ranker(side.ranker)
        now = identity_of(ranker)
    except (ToolSearchError, Exception) as error:  # it may be anyone's, or be gone
        return silent_explainer(f"{side.ranker} can't be had any more: {described(error)}")
    if now is None or now.fingerprint != recorded["fingerprint"]:
        return silent_explainer(f"{side.ranker} is not the same any more: profile, libraries or code changed")
    return _lazy(judged, lambda: ranker)


def _lazy(judged: Judged, make: Callable[[], Ranker]) -> Explain:
    """An explainer whose ranker takes in the catalog when it is first asked."""
    ready: list[Explain] = []

    def ask(query: str, tool: str) -> Side:
        if not ready:
            ranker = make()
            try:
                ranker.index([tool for tool in judged.data.tools if is_deferred(tool)])
                ready.append(explainer(ranker, judged.depth))
            except (Exception, SystemExit) as error:  # it may be anyone's
                ready.append(silent_explainer(f"{ranker.name} failed: {described(error)}"))
        return ready[0](query, tool)

    return ask


def write_comparison(folder: str | Path, form: Mapping[str, Any], title: str, pieces: Sequence[Piece]) -> Path:
    """Write `comparison.json`, `report.md` and `report.html`: the whole folder or nothing.

    Raises:
        UsageError: The folder is there already or can't be written.
    """
    target = check_free(folder)
    files = {
        "comparison.json": json.dumps(form, ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        "report.md": as_markdown(title, pieces),
        "report.html": as_html(title, pieces),
    }
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:40]}.") as beside:
            fresh = Path(beside) / "comparison"
            fresh.mkdir()
            for name, text in files.items():
                (fresh / name).write_bytes(text.encode("utf-8"))
            if target.exists():
                target.rmdir()
            os.replace(fresh, target)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{folder} can't be written: {error}.") from error
    return target
