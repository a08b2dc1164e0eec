"""The gateway over stdio: one client, which has started this program and talks to it over its standard streams."""

from __future__ import annotations

import os
import sys
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server

from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.stopping import told_to_end

_CHUNK = 64 * 1024


class InputLines:
    """The lines of an input, for `async for`; waiting for the next one can be cancelled.

    The library reads in a thread, and a thread that waits for a line can't be called back: a program that is told to
    end while its client says nothing would never do so.
    """

    def __init__(self, number: int) -> None:
        """Take the number of an open file, pipe or terminal; it is not closed."""
        self._number = number
        self._pieces: list[bytes] = []
        self._lines: list[bytes] = []
        self._is_over = False

    def __aiter__(self) -> InputLines:
        return self

    async def __anext__(self) -> str:
        while not self._lines:
            if self._is_over:
                raise StopAsyncIteration
            await self._read()
        return self._lines.pop(0).decode("utf-8", errors="replace")

    async def _read(self) -> None:
        try:
            await anyio.wait_readable(self._number)
        except PermissionError:  # a file, which never keeps anybody waiting
            await anyio.lowlevel.checkpoint()
        data = os.read(self._number, _CHUNK)
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._lines.append(b"".join([*self._pieces, line, b"\n"]))
            self._pieces = []
        if rest:
            self._pieces.append(rest)
        if not data:
            self._is_over = True
            if self._pieces:
                self._lines.append(b"".join(self._pieces))


async def serve_stdio(gateway: Gateway) -> None:
    """Serve the client until it goes, or until the program is told to end; the servers are gone then.

    Args:
        gateway: Not yet running.
    """
    # Waiting for a pipe is not possible on Windows; there Ctrl-C is heard once the client says something or goes.
    lines = None if sys.platform == "win32" else cast(Any, InputLines(sys.stdin.fileno()))
    with anyio.CancelScope() as whole:
        async with stdio_server(stdin=lines) as (reading, writing):
            async with told_to_end() as told, gateway.running(), anyio.create_task_group() as tasks:

                async def give_up() -> None:
                    await told.wait()
                    tasks.cancel_scope.cancel()

                tasks.start_soon(give_up)
                await gateway.serve(reading, writing)
                tasks.cancel_scope.cancel()
            # From here a second signal ends the program at once: nothing of it is left but its own streams.
            if told.is_set():
                whole.cancel()
