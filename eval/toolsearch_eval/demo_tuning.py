"""The demo's short tuning: what weights alone make of the reference ranking, checked on queries that it never saw."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet
from toolsearch_eval.statistics import FEW_GROUPS

PROFILE = "reference"
"""It is the one whose weights are worth moving; those of `default` came out of the tuner."""
TRIALS = 100
_FOLD_TRIALS = 60


def brief_tuning(data: DataSet, *, trials: int = TRIALS, now: Callable[[], datetime]) -> dict[str, Any] | str:
    """The machine-readable form of `toolsearch tune`, without what a clock has part in; or why nothing was tuned.

    The study is made anew each time and kept nowhere: same data, same outcome.

    Args:
        data: Dev is tuned on; what is chosen there is looked at once on test, where there is one.
        trials: Of the study.
        now: The clock of the log of looks at test, which goes with the study.
    """
    from toolsearch_eval.tuning.form import tuned_json
    from toolsearch_eval.tuning.outcome import Settings
    from toolsearch_eval.tuning.space import load_space
    from toolsearch_eval.tuning.storage import in_memory
    from toolsearch_eval.tuning.tune import label_all, tune

    groups = {query.group for query in data.queries if query.split == "test"}
    settings = Settings(trials=trials, fold_trials=_FOLD_TRIALS, open_test=len(groups) >= FEW_GROUPS)
    with tempfile.TemporaryDirectory() as folder:
        try:
            sets = label_all([data], [], settings)
            space = load_space(None, PROFILE)
            tuned = tune(sets, space, settings, kept=in_memory(), openings=Path(folder) / "openings", now=now)
        except UsageError as error:
            return str(error)
    form = tuned_json(tuned, "")
    del form["trials_per_second"], form["config"]
    return {"profile": PROFILE, **form}
