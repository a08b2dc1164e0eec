"""Many processes over the chunks of a ranker's queries; what comes out is the same whatever their number."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.errors import ToolSearchError, UsageError
from toolsearch.folders import keep_caches, kept_caches
from toolsearch_eval.data import Query
from toolsearch_eval.rankers.identity import code_version, identity_of
from toolsearch_eval.rankers.own import described
from toolsearch_eval.rankers.protocol import Ranker
from toolsearch_eval.rankers.resolve import resolve_ranker
from toolsearch_eval.rankers.run import Answer, AtWork, Shelf, Times, place_of


class CannotTravelError(UsageError):
    """A ranker or a catalog that can't be sent to another process."""


class Crew:
    """A number of processes, started when they are first needed and ended with the block.

    Each is a fresh interpreter that imports the main module again, so that a script of one's own needs the usual
    `if __name__ == "__main__":`. An interrupt is the parent's business; a process whose parent is gone finishes its
    chunk, keeps it and ends.
    """

    def __init__(self, jobs: int, tools: Sequence[Tool], depth: int) -> None:
        """Take the number of processes, above 1, and what every ranker is given."""
        self._jobs = jobs
        self._tools = tools
        self._depth = depth
        self._given: bytes | None = None
        self._workers: list[tuple[Any, Connection]] = []

    def __enter__(self) -> Crew:
        """Nothing is started yet."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """End all processes, after a failure or an interrupt at once; what they had finished is kept."""
        for process, connection in self._workers:
            if kind is not None:
                process.terminate()
            connection.close()  # a process that waits for a task ends by this
        for process, _connection in self._workers:
            process.join()
        self._workers = []

    def bench(self, ranker: Ranker, shelf: Shelf | None) -> CrewBench:
        """The crew at work for one ranker.

        Raises:
            CannotTravelError: The ranker, or a tool, can't be sent to another process; says why.
        """
        if self._given is None:
            # A tool's meta may be a view of a mapping, which can't be sent; a copy of what it shows can.
            tools = tuple(replace(tool, meta=dict(tool.meta)) for tool in self._tools)
            try:
                self._given = pickle.dumps((code_version(), tools, self._depth, kept_caches()))
            except Exception as error:  # functions of tools made in memory
                raise CannotTravelError(f"the tools can't be sent to another process: {described(error)}") from error
        return CrewBench(self, ranker.name, _packed(ranker, shelf))

    def workers(self) -> list[tuple[Any, Connection]]:
        """All processes, those that ended replaced by new ones."""
        alive = [(process, connection) for process, connection in self._workers if process.is_alive()]
        context = multiprocessing.get_context("spawn")
        while len(alive) < self._jobs:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, self._given), daemon=True)
            process.start()
            theirs.close()
            alive.append((process, ours))
        self._workers = alive
        return list(alive)


class CrewBench:
    """A crew that works for one ranker."""

    def __init__(self, crew: Crew, name: str, packed: bytes) -> None:
        """Take the crew, the ranker's name for messages, and the ranker as it travels."""
        self._crew = crew
        self._name = name
        self._packed = packed

    def ranked(self, chunks: Mapping[int, Sequence[Query]]) -> Iterator[tuple[int, tuple[Answer, ...]]]:
        """The answers for each chunk as they are done.

        Of several failures the one of the lowest number is told, as it is where there is one process.

        Raises:
            UsageError: As for `AtWork.ranked`, or a process ended.
            CannotTravelError: The ranker can't be taken in over there.
        """
        waiting = deque(sorted(chunks))
        workers = self._crew.workers() if waiting else []
        idle = workers[: len(waiting)]
        busy: dict[Connection, tuple[Any, int]] = {}
        failed: dict[int, ToolSearchError] = {}
        while busy or (waiting and idle and not failed):
            while waiting and idle and not failed:
                process, connection = idle.pop(0)
                number = waiting.popleft()
                connection.send(("rank", self._packed, chunks[number]))
                busy[connection] = (process, number)
            ready = wait(list(busy))
            for connection in [each for each in busy if each in ready]:
                process, number = busy.pop(connection)
                try:
                    answers = self._reply(process, connection, chunks[number])
                except ToolSearchError as error:
                    failed[number] = error
                else:
                    yield number, answers
                if process.is_alive():
                    idle.append((process, connection))
        if failed:
            raise failed[min(failed)]

    def timed(self, queries: Sequence[Query]) -> Times:
        """How long it takes in one of the processes, while the others rest.

        Raises:
            UsageError: It failed there, or the process ended.
        """
        process, connection = self._crew.workers()[0]
        connection.send(("time", self._packed, tuple(queries)))
        times: Times = self._reply(process, connection, queries)
        return times

    def _reply(self, process: Any, connection: Connection, queries: Sequence[Query]) -> Any:
        try:
            outcome, value = connection.recv()
        except (EOFError, ConnectionError):
            process.join()
            place = f"{place_of(queries)}: " if queries else ""
            raise UsageError(
                f"ranker {self._name!r} failed: {place}its process ended with the code {process.exitcode}"
            ) from None
        if outcome == "interrupted":
            raise KeyboardInterrupt
        if outcome == "strange":
            raise CannotTravelError(value)
        if outcome == "failed":
            raise UsageError(value)
        return value


def _packed(ranker: Ranker, shelf: Shelf | None) -> bytes:
    """A ranker as it travels: by name where that says all, as some libraries' objects can't be sent."""
    identity = identity_of(ranker)
    named = identity is not None and identity.kind == "peer"
    try:
        return pickle.dumps((ranker.name if named else None, None if named else ranker, shelf))
    except Exception as error:  # a stranger's object may fail in any way
        raise CannotTravelError(
            f"ranker {ranker.name!r} can't be sent to another process: {described(error)}"
        ) from error


def _serve(connection: Connection, given: bytes) -> None:
    """What a process does: take a task, answer it, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code, tools, depth, caches = pickle.loads(given)
    keep_caches(caches)
    # A process that starts after an edit would rank with other code, and keep that under the name of the code before.
    changed = code != code_version()
    packed, work = b"", None
    with suppress(EOFError, ConnectionError), redirect_stdout(sys.stderr):  # a ranker may print
        while True:
            kind, wanted, queries = connection.recv()
            if changed:
                connection.send(("failed", "the code changed since the evaluation began; begin it again"))
                continue
            if work is None or packed != wanted:
                packed, work = wanted, None
                try:
                    name, ranker, shelf = pickle.loads(wanted)
                    work = AtWork(ranker or resolve_ranker(name), tools, depth, shelf)
                except Exception as error:  # a stranger's object may fail in any way
                    connection.send(("strange", f"a ranker can't be taken in: {described(error)}"))
                    continue
            try:
                value: Any = work.answers(queries) if kind == "rank" else work.timed(queries)
            except ToolSearchError as error:
                connection.send(("failed", str(error)))
            except KeyboardInterrupt:
                connection.send(("interrupted", None))
            else:
                connection.send(("done", value))
