"""Many workers on one study: each claims trials, proposes new ones where none wait, and takes over what others left.

A trial is written down as waiting, claimed by whoever comes first, and finished. A worker that is killed leaves its
claimed trials running: where the storage knows heartbeats those are missed, and elsewhere the other workers see that a
trial runs far longer than any does. Either way it is failed, and tried again under a new number.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from toolsearch.errors import UsageError
from toolsearch_eval.tuning.evaluator import Evaluator
from toolsearch_eval.tuning.loop import Aim, Done, Plan
from toolsearch_eval.tuning.propose import STEPWISE, Proposer, Tried
from toolsearch_eval.tuning.space import Space
from toolsearch_eval.tuning.storage import Kept, StoredStudy

if TYPE_CHECKING:
    import optuna

Answer = TypeVar("Answer")
PATIENCE = 120.0
"""Seconds for which a storage may be away, as while its server starts again."""
_RETRY = "retry_of"
"""A fact about a trial: which failed one it tries again."""
_AWAY = ("OperationalError", "InterfaceError", "ConnectionError", "TimeoutError")
"""What the drivers call it when a server can't be reached; by name, as not every driver is installed."""
_SLOWEST = 20.0
"""A trial that runs this many times as long as our own do has lost its worker."""


class SharedStudy(StoredStudy):
    """A study that other workers use at the same time."""

    def __init__(
        self,
        kept: Kept,
        name: str,
        space: Space,
        *,
        objectives: int = 1,
        worker: str = "",
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """Begin a study, or join the one of that name.

        Args:
            kept: The storage.
            name: As in `StoredStudy`.
            space: What moves.
            objectives: How many scores a trial has.
            worker: A name that no other worker has.
            clock: Seconds that only ever grow.
            pause: Waits that many seconds.
        """
        self._clock, self._pause = clock, pause
        self._grace = kept.grace
        self._seen: dict[tuple[int, str], float] = {}
        self._own: set[int] = set()
        self._ids: dict[int, int] = {}
        self._patience = 0.2 + 2.0 * random.Random(worker).random()
        super_init = super().__init__
        # Two workers may begin it in the same moment: the second then joins.
        self.patiently(lambda: super_init(kept.storage, name, space, objectives=objectives))

    def patiently(self, action: Callable[[], Answer]) -> Answer:
        """Do something with the storage; wait for it while it is away.

        Raises:
            UsageError: It stayed away for `PATIENCE` seconds.
        """
        until = self._clock() + PATIENCE
        wait = 0.05
        while True:
            try:
                return action()
            except Exception as error:  # each driver has errors of its own
                if not _away(error):
                    raise
                if self._clock() > until:
                    raise UsageError(
                        f"the storage has been away for {PATIENCE:g} seconds: {' '.join(str(error).split())[:200]}. "
                        "What was finished is kept; the same command goes on."
                    ) from error
                self._pause(wait)
                wait = min(2.0, wait * 2)

    def counts(self) -> tuple[int, int, int]:
        """How many trials are finished, running and waiting."""
        states = self._optuna.trial.TrialState
        counted = Counter(each.state for each in self._trials())
        return counted[states.COMPLETE], counted[states.RUNNING], counted[states.WAITING]

    def best(self) -> float:
        """The best first score of all finished trials that meet the constraints."""
        scores = [
            each.scores[0]
            for each in self.history()
            if each.scores and all(value <= 0 for value in (each.constraints or {}).values())
        ]
        return max(scores, default=float("-inf"))

    def history(self) -> list[Tried]:
        """All trials that are finished or running, by number."""
        return self.patiently(self.tried)

    def offer(self, proposals: Sequence[Mapping[str, float]], *, retry_of: int | None = None) -> None:
        """Write trials down as waiting, for whoever claims them.

        Args:
            proposals: What they try.
            retry_of: The number of a failed trial that is tried again.
        """
        waiting = self._optuna.trial.TrialState.WAITING
        for values in proposals:
            frozen = self._frozen(values, waiting, {} if retry_of is None else {_RETRY: retry_of})
            self.patiently(lambda frozen=frozen: self._study.add_trial(frozen))  # type: ignore[misc]

    def claim(self, count: int) -> list[Tried]:
        """Take up to so many waiting trials; none is given to two workers."""
        waiting = self._optuna.trial.TrialState.WAITING
        claimed: list[Tried] = []
        for each in [each for each in self._trials() if each.state == waiting][:count]:
            # A sign of life before it runs: no trial that runs is without one, wherever its worker is killed.
            self.beat([each.number])
            if self.patiently(lambda number=each.number: self._set(number, "RUNNING")):  # type: ignore[misc]
                self._own.add(each.number)
                values = {name: float(each.params[name]) for name in self._ranges}
                claimed.append(Tried(number=each.number, values=values))
        return claimed

    def done(self, number: int, scores: Sequence[float], constraints: Mapping[str, float]) -> None:
        """Write down what a claimed trial gave; nothing where it was taken for lost and is tried elsewhere."""
        from optuna.exceptions import UpdateFinishedTrialError

        def tell() -> None:
            try:
                self.finish(number, scores, constraints=constraints)
            except (UpdateFinishedTrialError, ValueError):
                # Finished already: by this worker, whose first attempt was written although its answer got lost, or
                # failed by another one, which tries it again.
                if self._state(number) == self._optuna.trial.TrialState.RUNNING:
                    raise

        self.patiently(tell)
        self._own.discard(number)

    def recover(self, longest: float) -> int:
        """Let trials whose worker is gone be tried again.

        Args:
            longest: Seconds that a batch of ours took at most.

        Returns:
            How many failed trials nobody has tried again yet: whoever failed one may have been killed right after.
        """
        from optuna.storages import fail_stale_trials

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # heartbeats are still marked as experimental
            self.patiently(lambda: fail_stale_trials(self._study))
        states, now = self._optuna.trial.TrialState, self._clock()
        trials = self._trials()
        retried = {each.user_attrs.get(_RETRY) for each in trials}
        failed = [each for each in trials if each.state == states.FAIL and each.number not in retried]
        others = [each for each in trials if each.state == states.RUNNING and each.number not in self._own]
        # Our own clock alone: those of other machines may show anything.
        watched = {(each.number, each.state.name) for each in (*failed, *others)}
        self._seen = {trial: self._seen.get(trial, now) for trial in watched}
        for each in others:
            if now - self._seen[each.number, "RUNNING"] > max(2.0 * self._grace, _SLOWEST * longest):
                self.patiently(lambda number=each.number: self._set(number, "FAIL"))  # type: ignore[misc]
        left = 0
        for each in failed:
            # Each worker takes its own while before it steps in, so that seldom two try the same trial again.
            if now - self._seen[each.number, "FAIL"] < self._patience:
                left += 1
            else:
                self.offer([{name: float(each.params[name]) for name in self._ranges}], retry_of=each.number)
        return left

    def beat(self, numbers: Sequence[int]) -> None:
        """Give a sign of life for some trials, where the storage has such."""
        from optuna.storages import RDBStorage

        if isinstance(self._storage, RDBStorage):
            storage = self._storage
            for number in numbers:
                self.patiently(lambda number=number: storage.record_heartbeat(self._trial_id(number)))  # type: ignore[misc]

    @contextmanager
    def alive(self, numbers: Sequence[int]) -> Generator[None, None, None]:
        """Give signs of life for some trials while something takes its time."""
        over = threading.Event()

        def beats() -> None:
            while not over.wait(max(0.5, self._grace / 6)):
                self.beat(numbers)

        thread = threading.Thread(target=beats, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _trials(self) -> list[optuna.trial.FrozenTrial]:
        trials = self.patiently(lambda: self._study.get_trials(deepcopy=False))
        self._ids |= {each.number: each._trial_id for each in trials}
        return trials

    def _trial_id(self, number: int) -> int:
        known = self._ids.get(number)
        return super()._trial_id(number) if known is None else known

    def _set(self, number: int, state: str) -> bool:
        """Whether it was this worker that brought the trial into the state."""
        from optuna.exceptions import UpdateFinishedTrialError

        wanted = self._optuna.trial.TrialState[state]
        try:
            return bool(self._storage.set_trial_state_values(self._trial_id(number), wanted))
        except UpdateFinishedTrialError:
            return False

    def _state(self, number: int) -> Any:
        return self._storage.get_trial(self._trial_id(number)).state


def share(
    plan: Plan, evaluator: Evaluator, objective: Aim, study: SharedStudy, *, worker: str
) -> Generator[int, None, None]:
    """Work on a study until it has its trials, beside any number of others; gives how many are finished.

    Args:
        plan: As every worker has it; the study may end with a few trials more.
        evaluator: The dev queries.
        objective: What is made as large as can be.
        study: The study.
        worker: A name that no other worker has: two with one name would propose the same.

    Raises:
        UsageError: The sampler builds on its own proposals and can't be shared, or the storage stays away.
    """
    if plan.sampler in STEPWISE:
        raise UsageError(
            f"sampler {plan.sampler!r} builds on its own proposals step by step, so it works in one process alone; "
            "for several workers take tpe, random or gp."
        )
    own = int.from_bytes(hashlib.sha256(f"{plan.seed}:{worker}".encode()).digest()[:4], "big")
    batch, longest = 0, 0.0
    while True:
        left = study.recover(longest)
        finished, running, waiting = study.counts()
        yield finished
        if finished >= plan.trials and not running + waiting + left:
            return
        claimed = study.claim(plan.batch)
        if not claimed:
            room = plan.trials - finished - running - waiting - left
            if room <= 0:
                # What is left runs elsewhere; should its worker be gone, it will wait for us soon. All workers see the
                # last trial finished, so that all end with the same ones.
                study._pause(0.2)
                continue
            proposer = Proposer(
                evaluator.space, plan.sampler, seed=own, population=plan.batch, objectives=objective.count
            )
            proposer.add(study.history())
            proposals = proposer.ask(batch, min(plan.batch, room))
            batch += 1
            # Proposing takes a while, in which others may have proposed the rest.
            study.offer(proposals[: max(0, plan.trials - sum(study.counts()) - left)])
            continue
        began = study._clock()
        with study.alive([each.number for each in claimed]):
            for each, measured in zip(claimed, evaluator.many([each.values for each in claimed]), strict=True):
                scores, constraints = objective.judge(measured)
                study.done(each.number, scores, constraints)
        longest = max(longest, study._clock() - began)


def collected(study: SharedStudy, evaluator: Evaluator, objective: Aim) -> list[Done]:
    """All finished trials of a study, whoever made them, with their group values worked out here."""
    finished = [each for each in study.history() if each.scores is not None]
    return [
        Done(
            number=each.number,
            values=each.values,
            scores=each.scores or (),
            constraints=dict(each.constraints or {}),
            groups=measured.groups,
            gauges=measured.gauges,
        )
        for each, measured in zip(finished, evaluator.many([each.values for each in finished]), strict=True)
    ]


def _away(error: BaseException) -> bool:
    """Whether an error says that the storage is away, and not that something is wrong with what was asked."""
    seen: BaseException | None = error
    while seen is not None:
        if any(each.__name__ in _AWAY for each in type(seen).__mro__):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
