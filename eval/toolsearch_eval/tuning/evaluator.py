"""Group values of many profiles, worked out once for each and on as many processes as asked for."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType

from toolsearch_eval.tuning.gauges import Gauge
from toolsearch_eval.tuning.macro import Floats
from toolsearch_eval.tuning.panel import LabelledSet
from toolsearch_eval.tuning.space import Space

Values = tuple[Floats, ...]
"""A value for each group of each data set."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one profile gave.

    Attributes:
        groups: A value for each group of each data set.
        gauges: The gauges by name.
    """

    groups: Values
    gauges: Mapping[str, float] = field(default_factory=dict)


_DIE_WITH_PARENT = 1
"""The number of this wish in Linux's `prctl`."""
_inherited: list[Evaluator] = []
"""What a forked process evaluates with: too large to be sent, and there already."""


class Evaluator:
    """Ranks labelled queries under one profile after another; the same profile is worked out once."""

    def __init__(
        self, sets: Sequence[LabelledSet], space: Space, *, jobs: int = 1, gauges: Sequence[Gauge] = ()
    ) -> None:
        """Take the queries and the space.

        Args:
            sets: The labelled queries; prepared at the first evaluation.
            space: Says what the values mean.
            jobs: How many processes evaluate (threads where the system can't fork); changes no result.
            gauges: What is measured beside the quality.
        """
        self.sets = tuple(sets)
        self.space = space
        self.jobs = jobs
        self.gauges = tuple(gauges)
        self._known: dict[tuple[float, ...], Measured] = {}
        self._pool: Executor | None = None
        self.evaluated = 0

    def __enter__(self) -> Evaluator:
        """Prepare the queries, then start the processes, which so have them."""
        self._evaluate(self.space.shipped)
        if self.jobs > 1:
            _inherited[:] = [self]
            self._pool = forked(self.jobs) if sys.platform == "linux" else ThreadPoolExecutor(self.jobs)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        _inherited.clear()

    def many(self, proposals: Sequence[Mapping[str, float]]) -> list[Measured]:
        """The group values and gauges of some proposals, in their order.

        Args:
            proposals: In canonical form.
        """
        keys = [self._key(values) for values in proposals]
        new = {key: values for key, values in zip(keys, proposals, strict=True) if key not in self._known}
        if self._pool is not None and len(new) > 1:
            # In few and large pieces: a piece costs a process a message, and an evaluation takes little more.
            size = -(-len(new) // self.jobs)
            found = list(self._pool.map(_evaluate_inherited, map(dict, new.values()), chunksize=size))
        else:
            found = [self._evaluate(values) for values in new.values()]
        self._known.update(zip(new, found, strict=True))
        self.evaluated += len(new)
        return [self._known[key] for key in keys]

    def _key(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return tuple(values[each.name] for each in self.space.parameters)

    def _evaluate(self, values: Mapping[str, float]) -> Measured:
        config = self.space.config(values)
        groups = tuple(each.group_values(each.values(config)) for each in self.sets)
        return Measured(groups, {gauge.name: gauge.read(self.sets, config) for gauge in self.gauges})


def forked(jobs: int) -> ProcessPoolExecutor:
    """Processes that have all that this one has; they leave Ctrl-C to this one and end when it does."""
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_fork, initargs=(os.getpid(),))
    if threading.current_thread() is not threading.main_thread():
        return pool
    # Begun at once and deaf from their first moment: one that Ctrl-C met before would take the whole pool with it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pool.submit(os.getpid).result()
    finally:
        signal.signal(signal.SIGINT, before)
    return pool


def _begin_fork(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A process that is killed takes these with it: else they would wait for ever and keep its journal locked.
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _evaluate_inherited(values: Mapping[str, float]) -> Measured:
    [evaluator] = _inherited
    return evaluator._evaluate(values)
