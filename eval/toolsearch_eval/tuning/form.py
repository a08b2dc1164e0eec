"""The machine-readable form of what came out of tuning."""

from __future__ import annotations

from typing import Any

from toolsearch_eval.compare import difference_json
from toolsearch_eval.tuning.macro import macro_mean
from toolsearch_eval.tuning.outcome import Tuned


def tuned_json(tuned: Tuned, out: str) -> dict[str, Any]:
    """The machine-readable form."""
    shipped = tuned.shipped
    test = None
    if tuned.test is not None:
        test = {
            "before": tuned.test.before,
            "after": tuned.test.after,
            **difference_json(tuned.test.gain),
            "openings": tuned.test.openings,
        }
    return {
        "schema_version": 1,
        "study": tuned.study,
        "trials": len(tuned.trials),
        "trials_per_second": tuned.made / tuned.seconds if tuned.made and tuned.seconds else None,
        "accepted": tuned.accepted,
        "verdict": tuned.verdict,
        "chosen": {
            "trial": tuned.chosen.number,
            "values": dict(tuned.chosen.values),
            "as_good_as_best": tuned.choice.as_good if tuned.choice else 0,
        },
        "best": {
            "trial": tuned.choice.best,
            "value": macro_mean(tuned.trial(tuned.choice.best).groups),
        }
        if tuned.choice
        else None,
        "dev": {
            "before": macro_mean(shipped.groups),
            "after": macro_mean(tuned.chosen.groups),
            "sets": {
                each.name: {"before": float(a.mean()), "after": float(b.mean()), "groups": len(a)}
                for each, a, b in zip(tuned.sets, shipped.groups, tuned.chosen.groups, strict=True)
            },
            **(difference_json(tuned.dev) if tuned.dev else {}),
        },
        "nested": {
            **difference_json(tuned.nested.gain),
            "gain_seen": tuned.nested.seen,
            "optimism": tuned.nested.optimism,
            "folds": len(tuned.nested.folds),
            "trials": tuned.nested.trials,
        }
        if tuned.nested
        else None,
        "pareto": [
            {"trial": number, "scores": list(tuned.trial(number).scores), "values": dict(tuned.trial(number).values)}
            for number in tuned.front
        ],
        "test": test,
        "config": out,
        "warnings": list(tuned.warnings),
    }
