"""Workers on one storage: who claims what, what becomes of trials whose worker is gone, and a storage that is away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch_eval.tuning.shared import PATIENCE, SharedStudy
from toolsearch_eval.tuning.space import Space
from toolsearch_eval.tuning.storage import Kept, open_storage, shown

GRACE = 1_000_000  # heartbeats never go stale within a test; the workers' own clock is what is tested
VALUES = [{"weight_keyword": 0.1, "field_weights.name": 1.0 + place, "confidence_bound": 0.1} for place in range(6)]


class Clock:
    """A clock that a test moves; waiting moves it too."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.now = 0.0

    def __call__(self) -> float:
        """The present."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """A storage in a file."""
    opened = open_storage(f"sqlite:///{tmp_path / 'study.db'}", grace=GRACE)
    yield opened
    opened.close()


def _worker(kept: Kept, space: Space, clock: Clock, name: str) -> SharedStudy:
    return SharedStudy(kept, "study", space, worker=name, clock=clock, pause=clock.wait)


def _states(kept: Kept) -> list[str]:
    study = optuna.load_study(study_name="study", storage=kept.storage)
    return [trial.state.name for trial in study.get_trials(deepcopy=False)]


def test_no_trial_is_claimed_twice(kept: Kept, space: Space) -> None:
    """What one worker has claimed the other does not get; both together get all."""
    clock = Clock()
    first, second = _worker(kept, space, clock, "a"), _worker(kept, space, clock, "b")
    first.offer(VALUES)
    mine, theirs = first.claim(2), second.claim(10)
    assert [each.number for each in mine] == [0, 1]
    assert [each.number for each in theirs] == [2, 3, 4, 5]
    assert [dict(each.values) for each in (*mine, *theirs)] == VALUES
    assert first.claim(1) == []
    for each in mine:
        first.done(each.number, (0.5,), {"tokens": -1.0})
    assert second.counts() == (2, 4, 0)
    assert second.history()[0].constraints == {"tokens": -1.0}


def test_a_trial_whose_worker_is_gone_is_tried_again_once(kept: Kept, space: Space) -> None:
    """After long enough by its own clock another worker fails the trial and offers it again, and only one time."""
    clock = Clock()
    gone, other = _worker(kept, space, clock, "a"), _worker(kept, space, clock, "b")
    gone.offer(VALUES[:1])
    [lost] = gone.claim(1)
    assert other.recover(0.1) == 0
    clock.wait(2 * GRACE + 1)
    other.recover(0.1)
    assert _states(kept) == ["FAIL"]
    assert other.recover(0.1) == 1  # seen, and left to whoever failed it for a moment
    clock.wait(5.0)
    assert other.recover(0.1) == 0
    assert _states(kept) == ["FAIL", "WAITING"]
    [again] = other.claim(1)
    assert (again.number, again.values) == (1, lost.values)
    other.done(again.number, (0.25,), {})
    clock.wait(5.0)
    assert other.recover(0.1) == 0
    gone.done(lost.number, (0.25,), {})  # late, and no longer wanted
    assert _states(kept) == ["FAIL", "COMPLETE"]


def test_a_slow_worker_is_given_time(kept: Kept, space: Space) -> None:
    """Where our own batches take long, another worker's trial may take twenty times as long before it counts as lost."""
    clock = Clock()
    slow, other = _worker(kept, space, clock, "a"), _worker(kept, space, clock, "b")
    slow.offer(VALUES[:1])
    slow.claim(1)
    other.recover(GRACE)
    clock.wait(19 * GRACE)
    other.recover(GRACE)
    assert _states(kept) == ["RUNNING"]
    clock.wait(2 * GRACE)
    other.recover(GRACE)
    assert _states(kept) == ["FAIL"]


def test_a_storage_that_comes_back_is_waited_for(kept: Kept, space: Space) -> None:
    """Errors of a connection are tried again; one that stays is told, and any other error is not hidden."""
    from sqlalchemy.exc import OperationalError

    clock = Clock()
    study = _worker(kept, space, clock, "a")
    failures = [OperationalError("statement", {}, Exception("gone")), ConnectionError("refused")]

    def returning() -> str:
        if failures:
            raise failures.pop()
        return "back"

    def away() -> None:
        raise TimeoutError("no answer")

    def wrong() -> None:
        raise KeyError("bug")

    assert study.patiently(returning) == "back"
    with pytest.raises(UsageError, match="has been away for 120 seconds: no answer"):
        study.patiently(away)
    assert clock.now >= PATIENCE
    with pytest.raises(KeyError):
        study.patiently(wrong)


@pytest.mark.parametrize(
    "said", ["the database system is starting up", "terminating connection due to administrator command"]
)
def test_a_server_that_starts_again_is_waited_for_while_the_storage_opens(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server says while it is restarted is tried again a few times; any other refusal is told at once."""
    waited: list[float] = []
    real = optuna.storages.RDBStorage
    failures = [ConnectionError(said)] * 3

    def stubborn(*given: Any, **named: Any) -> optuna.storages.RDBStorage:
        if failures:
            raise failures.pop()
        return real(*given, **named)

    url = f"sqlite:///{tmp_path / 'study.db'}"
    with monkeypatch.context() as patched:
        patched.setattr(optuna.storages, "RDBStorage", stubborn)
        opened = open_storage(url, grace=GRACE, pause=waited.append)
        assert len(waited) == 3
        failures[:] = [ConnectionError("password authentication failed")]
        with pytest.raises(UsageError, match="password authentication failed"):
            open_storage(url, grace=GRACE, pause=waited.append)
    assert len(waited) == 3
    opened.close()


def test_addresses_are_checked_and_shown_without_their_password() -> None:
    """An unknown kind of storage is refused; a password never stands in a message."""
    with pytest.raises(UnknownNameError, match="Did you mean 'postgresql\\+psycopg'"):
        open_storage("postgresql://me:secret@host/db")
    assert shown("postgresql+psycopg://me:se@cret@host/db") == "postgresql+psycopg://me:***@host/db"
    assert shown("redis://:secret@host:6379") == "redis://:***@host:6379"
    assert shown("sqlite:///file") == "sqlite:///file"
