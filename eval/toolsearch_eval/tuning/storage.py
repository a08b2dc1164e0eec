"""Where the trials of a study are kept, and what was kept before."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsearch.errors import UsageError
from toolsearch_eval.tuning.propose import Tried, distributions
from toolsearch_eval.tuning.space import Space

if TYPE_CHECKING:
    import optuna


class StoredStudy:
    """One study in a storage of Optuna's; whatever shows Optuna's studies shows it."""

    def __init__(self, storage: optuna.storages.BaseStorage, name: str, space: Space, *, objectives: int = 1) -> None:
        """Begin a study, or go on with the one of that name.

        Args:
            storage: Where it is kept.
            name: Says in itself all that a change of which makes another study.
            space: What moves.
            objectives: How many scores a trial has.
        """
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._study = optuna.create_study(
            study_name=name, storage=storage, directions=["maximize"] * objectives, load_if_exists=True
        )
        self._space = space
        self.name = name

    def tried(self) -> list[Tried]:
        """All trials that are finished or running, by number."""
        states = self._optuna.trial.TrialState
        found = self._study.get_trials(deepcopy=False, states=(states.COMPLETE, states.RUNNING))
        return [
            Tried(
                number=each.number,
                values={name: float(each.params[name]) for name in self._space.shipped},
                scores=tuple(each.values) if each.state == states.COMPLETE else None,
                constraints=each.constraints or None,
            )
            for each in found
        ]

    def begin(self, proposals: Sequence[Mapping[str, float]]) -> list[Tried]:
        """Write down what is tried next; the trials run from now on."""
        before = len(self._study.get_trials(deepcopy=False))
        ranges = distributions(self._space)
        running = self._optuna.trial.TrialState.RUNNING
        self._study.add_trials(
            [
                self._optuna.trial.create_trial(state=running, params=dict(values), distributions=ranges)
                for values in proposals
            ]
        )
        return [Tried(number=before + place, values=dict(values)) for place, values in enumerate(proposals)]

    def finish(self, number: int, scores: Sequence[float], *, constraints: Mapping[str, float] | None = None) -> None:
        """Write down what a running trial gave."""
        if constraints:
            frozen = self._study.get_trials(deepcopy=False)[number]
            trial = self._optuna.trial.Trial(self._study, frozen._trial_id)
            for name, value in constraints.items():
                trial.set_constraint(name, value)
        self._study.tell(number, list(scores))

    def note(self, name: str, value: Any) -> None:
        """Write a fact about the study beside it."""
        self._study.set_user_attr(name, value)


def journal(path: str) -> optuna.storages.BaseStorage:
    """A journal in a file.

    Raises:
        UsageError: The file can't be written.
    """
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab"):
            pass
    except (OSError, ValueError) as error:
        raise UsageError(f"{os.fspath(path)[:200]}: the study can't be kept there: {error}") from error
    return JournalStorage(JournalFileBackend(path))
