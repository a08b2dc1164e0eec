"""A server as a process of its own, spoken to over its streams, and surely gone at the end.

The protocol library has a transport of this kind too. This one differs where servers are not to be trusted: a message
has a largest size, lines that are no messages are kept for the report in place of being logged, the error stream is
read into a bounded tail, and whatever the process has started is ended with it even when the process itself went first.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail

MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of one message; results may hold pictures, but nothing that a model is shown is larger."""

GRACE = 2.0
"""Seconds that a server has to end by itself once its input is closed, and again after it was told to."""

_CHUNK = 256 * 1024
_POLL = 0.01

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@dataclass(slots=True)
class ServerProcess:
    """The process behind a connection.

    Attributes:
        pid: Its number; also that of its process group.
        ended: Why its output ended while the connection was open, in words; "" as long as it has not.
    """

    process: Process
    ended: str = ""

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self.process.pid

    def exit_words(self) -> str:
        """How the process ended, in words; "" while it runs."""
        code = self.process.returncode
        if code is None:
            return ""
        if code < 0:
            with suppress(ValueError):
                return f"ended by signal {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


def environment_of(entry: ServerEntry) -> dict[str, str]:
    """The whole environment that a server's process gets."""
    base: Mapping[str, str] = entry.surroundings or get_default_environment()
    return {**base, **entry.env}


@asynccontextmanager
async def open_process(
    entry: ServerEntry,
    tail: StderrTail,
    *,
    grace: float = GRACE,
    max_message: int = MAX_MESSAGE,
    on_end: Callable[[str], None] | None = None,
) -> AsyncIterator[tuple[Incoming, Outgoing, ServerProcess]]:
    """Start a server and give the two streams of messages and its process.

    Args:
        entry: The server, over stdio.
        tail: Takes in its error stream.
        grace: Seconds to end by itself, before it is told to, and again before it is killed.
        max_message: Bytes of one message; a larger one ends the connection.
        on_end: Called once, with the reason in words, when the server's output ends before the connection does.

    Raises:
        OSError: The process can't be started.
    """
    process = await anyio.open_process(
        [entry.command, *entry.args],
        env=environment_of(entry),
        cwd=entry.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=sys.platform != "win32",
    )
    # Nothing is awaited from here until the `try`: a cancellation in between would leave the process behind.
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    server = ServerProcess(process)
    closing = False

    async def read() -> None:
        assert process.stdout is not None
        reason = ""
        try:
            async with to_session:
                reason = await _read_messages(process.stdout, to_session, tail, max_message)
        finally:
            if not closing:
                await _settled(process)
                server.ended = reason or server.exit_words() or "closed its output"
                if on_end is not None:
                    on_end(server.ended)

    async def read_errors() -> None:
        assert process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            while True:
                tail.feed(await process.stderr.receive(_CHUNK))

    async def write() -> None:
        assert process.stdin is not None
        try:
            async with from_session:
                async for message in from_session:
                    line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(line.encode("utf-8") + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            # A server that takes nothing in can't answer: what waits for it is told now, not at its time limit.
            await to_session.aclose()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(read_errors)
            tasks.start_soon(write)
            try:
                yield incoming, outgoing, server
            finally:
                closing = True
                with anyio.CancelScope(shield=True):
                    incoming.close()
                    outgoing.close()
                    await _end(process, grace)
                tasks.cancel_scope.cancel()
    finally:
        _kill_group(process)  # without waiting: it holds even where a cancellation has cut the orderly end short
        for stream in (incoming, outgoing, to_session, from_session):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _close_streams(process)


async def _read_messages(
    output: ByteReceiveStream,
    target: MemoryObjectSendStream[SessionMessage | Exception],
    tail: StderrTail,
    max_message: int,
) -> str:
    """Hand on each line that is a message; the reason to stop, "" when the output simply ended."""
    pieces: list[bytes] = []
    size = 0
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            data = await output.receive(_CHUNK)
            *whole, rest = data.split(b"\n")
            for line in whole:
                message = b"".join([*pieces, line])
                pieces, size = [], 0
                if len(message) > max_message:
                    return f"sent a message of more than {max_message} bytes"
                await _hand_on(message, target, tail)
            if rest:
                pieces.append(rest)
                size += len(rest)
                if size > max_message:
                    return f"sent a message of more than {max_message} bytes"
    return ""


async def _hand_on(line: bytes, target: MemoryObjectSendStream[SessionMessage | Exception], tail: StderrTail) -> None:
    if not line.strip():
        return
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        tail.stray(line)
        return
    await target.send(SessionMessage(message))


async def _settled(process: Process) -> None:
    """Wait a moment for the exit code: a stream's end is seen before the end of the process."""
    with anyio.move_on_after(0.2, shield=True):
        while process.returncode is None:
            await anyio.sleep(_POLL)


async def _end(process: Process, grace: float) -> None:
    """Close the input, wait, ask, kill: each step bounded, and the whole group each time."""
    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if not await _gone(process, grace):
        _signal_group(process, "SIGTERM")
        if not await _gone(process, grace):
            _kill_group(process)
            await _gone(process, grace)
    elif _signal_group(process, "SIGTERM"):
        # The server ended by itself; what it started and left behind gets a moment to end as well.
        with anyio.move_on_after(grace):
            while _signal_group(process, ""):
                await anyio.sleep(_POLL)
    _kill_group(process)


async def _gone(process: Process, seconds: float) -> bool:
    # Not `process.wait()`, which also waits for the end of streams that a grandchild may hold open.
    with anyio.move_on_after(seconds):
        while process.returncode is None:
            await anyio.sleep(_POLL)
    return process.returncode is not None


def _signal_group(process: Process, name: str) -> bool:
    """Send a signal to the whole group ("" only asks); whether there was anybody left to get it."""
    if sys.platform == "win32":
        with suppress(OSError):
            process.kill()
        return False
    try:
        os.killpg(process.pid, getattr(signal, name) if name else 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _kill_group(process: Process) -> None:
    _signal_group(process, "SIGKILL")


async def _close_streams(process: Process) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()
    # The event loop's own transport stays open while a process outside of the group holds a pipe; there is no public
    # way to it, and without closing it the pipes would be reported as leaked.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    close = getattr(transport, "close", None)
    if callable(close):
        with suppress(OSError):
            close()
