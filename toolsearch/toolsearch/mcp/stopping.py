"""How a program that serves is told to end: by Ctrl-C, by the system, or since its terminal was closed."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskStatus


@asynccontextmanager
async def told_to_end() -> AsyncGenerator[anyio.Event]:
    """Give what is set when the program is told to end.

    Inside of the block such a signal does nothing but that, the second one too: what is being ended then, processes
    of servers among it, is ended in order. Signals that the program was started to ignore stay ignored. On Windows
    nothing is set; there Ctrl-C cancels the block.
    """
    told = anyio.Event()
    if sys.platform == "win32":
        yield told
        return
    wanted = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]

    async def watch(*, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(*wanted) as signals:
            task_status.started()
            async for _ in signals:
                told.set()

    async with anyio.create_task_group() as tasks:
        await tasks.start(watch)
        try:
            yield told
        finally:
            tasks.cancel_scope.cancel()
