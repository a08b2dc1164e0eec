"""Where the trials of a study are kept: a journal in a file for one process, a database or Redis for many machines."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.extras import require
from toolsearch_eval.tuning.propose import Tried, distributions
from toolsearch_eval.tuning.space import Space

if TYPE_CHECKING:
    import optuna
    from optuna.storages.journal import BaseJournalBackend

SCHEMES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "postgresql+psycopg": (("psycopg", "postgres"),),
    "sqlite": (),
    "redis": (("redis", "redis"),),
    "rediss": (("redis", "redis"),),
}
"""The kinds of address that are accepted, each with the libraries that it needs and the extras that bring them."""
_ATTEMPTS = 6
_PASSING = (
    "already exists",
    "duplicate key",
    "UNIQUE constraint",
    "administrator command",
    "closed the connection",
    "connection is lost",
    "shutting down",
    "starting up",
    "refused",
)
"""What a database says while another worker makes its tables or its server starts again; soon it will say otherwise."""
_PASSWORD = re.compile(r"(?<=://)([^/:@]*):[^/]*@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An open storage.

    Attributes:
        storage: Optuna's.
        shared: Several workers may use it at once.
        grace: Seconds without a sign of life after which a worker counts as gone.
    """

    storage: optuna.storages.BaseStorage
    shared: bool = False
    grace: int = 60

    def close(self) -> None:
        """Close the connections of a database."""
        from optuna.storages import RDBStorage

        if isinstance(self.storage, RDBStorage):
            self.storage.remove_session()
            self.storage.engine.dispose()


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
        self._storage = storage
        self._study = optuna.create_study(
            study_name=name, storage=storage, directions=["maximize"] * objectives, load_if_exists=True
        )
        self._space = space
        self._ranges = distributions(space)
        self.name = name

    def tried(self) -> list[Tried]:
        """All trials that are finished or running, by number."""
        states = self._optuna.trial.TrialState
        found = self._study.get_trials(deepcopy=False, states=(states.COMPLETE, states.RUNNING))
        return [
            Tried(
                number=each.number,
                values={name: float(each.params[name]) for name in self._ranges},
                scores=tuple(each.values) if each.state == states.COMPLETE else None,
                constraints=each.constraints or None,
            )
            for each in found
        ]

    def begin(self, proposals: Sequence[Mapping[str, float]]) -> list[Tried]:
        """Write down what is tried next; the trials run from now on."""
        before = len(self._study.get_trials(deepcopy=False))
        running = self._optuna.trial.TrialState.RUNNING
        for values in proposals:
            with undisturbed():
                self._study.add_trial(self._frozen(values, running))
        return [Tried(number=before + place, values=dict(values)) for place, values in enumerate(proposals)]

    def finish(self, number: int, scores: Sequence[float], *, constraints: Mapping[str, float] | None = None) -> None:
        """Write down what a running trial gave."""
        if constraints:
            trial = self._optuna.trial.Trial(self._study, self._trial_id(number))
            known = self._study.get_trials(deepcopy=False)[number].constraints
            for name, value in constraints.items():
                # A process that was stopped in between may have written a part.
                if name not in known:
                    with undisturbed():
                        trial.set_constraint(name, value)
        with undisturbed():
            self._study.tell(number, list(scores))

    def _frozen(
        self, values: Mapping[str, float], state: Any, facts: Mapping[str, Any] | None = None
    ) -> optuna.trial.FrozenTrial:
        return self._optuna.trial.create_trial(
            state=state, params=dict(values), distributions=self._ranges, user_attrs=dict(facts or {})
        )

    def _trial_id(self, number: int) -> int:
        study_id = self._storage.get_study_id_from_name(self.name)
        return self._storage.get_trial_id_from_study_id_trial_number(study_id, number)


@contextmanager
def undisturbed() -> Generator[None, None, None]:
    """Let Ctrl-C wait until something is written: met in between, the journal's lock can't be given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    met: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: met.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if met:
        raise KeyboardInterrupt


def open_storage(where: str, *, grace: int = 60, pause: Callable[[float], object] = time.sleep) -> Kept:
    """A storage by address, or a journal in a file.

    Args:
        where: `postgresql+psycopg://…`, `sqlite:///…`, `redis://…`, or a file's path.
        grace: Seconds without a sign of life after which a worker counts as gone, at least 2.
        pause: Waits that many seconds.

    Raises:
        UnknownNameError: Another kind of address.
        UsageError: It can't be reached or written, its library is not installed, or another process uses the journal.
    """
    if grace < 2:
        raise UsageError(f"the grace is {grace} seconds; it must be at least 2.")
    scheme, separator, _ = where.partition("://")
    if not separator:
        return Kept(storage=journal(where), grace=grace)
    if scheme not in SCHEMES:
        raise UnknownNameError("kind of storage", scheme, SCHEMES, "A path without :// is a journal in a file.")
    for library, extra in SCHEMES[scheme]:
        require(library, extra=extra, purpose=f"a storage {scheme}://")
    try:
        with warnings.catch_warnings():
            # Heartbeats and Redis are still marked as experimental; both are tested here with the pinned version.
            warnings.simplefilter("ignore")
            storage = _redis(where) if scheme.startswith("redis") else _tables(where, grace, pause)
    except Exception as error:  # the drivers have errors of their own, of many kinds
        first = " ".join(str(error).partition("(Background")[0].split())[:200]
        raise UsageError(f"storage {shown(where)} can't be used: {shown(first)}") from error
    return Kept(storage=storage, shared=True, grace=grace)


def in_memory() -> Kept:
    """A storage that goes with the process, for a study that nobody goes on with."""
    from optuna.storages import InMemoryStorage

    return Kept(storage=InMemoryStorage())


def shown(address: str) -> str:
    """An address without its password.

    >>> shown("postgresql+psycopg://me:secret@host/db")
    'postgresql+psycopg://me:***@host/db'
    """
    return _PASSWORD.sub(r"\1:***@", address)[:200]


def journal(path: str) -> optuna.storages.BaseStorage:
    """A journal in a file, for one process at a time.

    Raises:
        UsageError: The file can't be written, holds something else, or is in use by another process.
    """
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab"):
            pass
        _hold(path)
        return JournalStorage(JournalFileBackend(path))
    except UsageError:
        raise
    except (ValueError, KeyError) as error:
        raise UsageError(f"{os.fspath(path)[:200]}: is no journal of a study; give another file.") from error
    except OSError as error:
        text = " ".join(str(error).split())[:200]
        raise UsageError(f"{os.fspath(path)[:200]}: the study can't be kept there: {text}") from error


_held: dict[str, IO[bytes]] = {}
"""Journals that this process holds, by path; held until it ends."""


def _hold(path: str) -> None:
    """Keep other processes away from a journal: two at once would propose the same trials.

    Raises:
        UsageError: Another process holds it.
    """
    if sys.platform == "win32":
        return
    import fcntl

    real = os.path.realpath(path)
    if real in _held:
        return
    stream = open(real, "ab")  # noqa: SIM115 - held until the process ends
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise UsageError(
            f"{path}: another process tunes with this journal now. For several at once give --storage "
            "postgresql+psycopg://… or another --folder."
        ) from error
    _held[real] = stream


def _tables(url: str, grace: int, pause: Callable[[float], object]) -> optuna.storages.BaseStorage:
    """The database with its tables; of several workers that find none at once one makes them, the others wait."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _database(url, grace)
        except Exception as error:
            passing = any(words in str(error) for words in _PASSING)
            if not passing or attempt == _ATTEMPTS:
                raise
            pause(0.2 * attempt)
    raise AssertionError("the last attempt returns or raises")


def _database(url: str, grace: int) -> optuna.storages.BaseStorage:
    from optuna.storages import RDBStorage

    return RDBStorage(
        url,
        # A connection that the server has closed is noticed before it is used.
        engine_kwargs={"pool_pre_ping": True},
        heartbeat_interval=max(1, grace // 6),
        grace_period=grace,
    )


def _redis(url: str) -> optuna.storages.BaseStorage:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import BaseJournalBackend, JournalRedisBackend

    class LogsOnly(BaseJournalBackend):
        """Redis without snapshots: those are pickles, which run whatever somebody wrote into the storage."""

        def __init__(self, inner: BaseJournalBackend) -> None:
            self._inner = inner

        def read_logs(self, log_number_from: int) -> Any:
            return self._inner.read_logs(log_number_from)

        def append_logs(self, logs: list[dict[str, Any]]) -> None:
            self._inner.append_logs(logs)

    return JournalStorage(LogsOnly(JournalRedisBackend(url, prefix="toolsearch")))
