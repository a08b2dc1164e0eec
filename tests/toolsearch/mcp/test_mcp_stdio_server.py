"""The standard input of the gateway, read so that waiting for it can be given up."""

from __future__ import annotations

import os
from pathlib import Path

import anyio

from toolsearch.mcp.stdio_server import InputLines


def test_lines_are_whole_however_they_come() -> None:
    """A line in pieces, several at once and a last one without an end are given as they were written."""

    async def main() -> list[str]:
        reading, writing = os.pipe()
        found: list[str] = []

        async def write() -> None:
            for piece in (b"on", b"e\ntwo\n\nth\xc3", b"\xbcree\n\xff\nlast"):
                os.write(writing, piece)
                await anyio.sleep(0.01)
            os.close(writing)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            found += [line async for line in InputLines(reading)]
        os.close(reading)
        return found

    assert anyio.run(main) == ["one\n", "two\n", "\n", "thüree\n", "\ufffd\n", "last"]


def test_a_long_line_is_given_whole() -> None:
    """A line that is larger than what is read at once is one line."""

    async def main() -> list[str]:
        reading, writing = os.pipe()
        line = b"x" * 300_000 + b"\n"

        async def write() -> None:
            await anyio.to_thread.run_sync(_write_all, writing, line)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            found = [each async for each in InputLines(reading)]
        os.close(reading)
        return found

    assert [len(line) for line in anyio.run(main)] == [300_001]


def _write_all(number: int, data: bytes) -> None:
    with open(number, "wb") as file:
        file.write(data)


def test_a_file_is_read_too(tmp_path: Path) -> None:
    """An input that is a file, which the system lets nobody wait for, is read to its end."""
    path = tmp_path / "requests"
    path.write_bytes(b"one\ntwo")

    async def main() -> list[str]:
        with path.open("rb") as file:
            return [line async for line in InputLines(file.fileno())]

    assert anyio.run(main) == ["one\n", "two"]


def test_waiting_for_a_line_can_be_given_up() -> None:
    """A cancelled reader of a silent input ends, which a thread that reads would not."""

    async def main() -> bool:
        reading, writing = os.pipe()
        with anyio.move_on_after(0.05) as scope:
            async for _ in InputLines(reading):
                raise AssertionError("nothing was written")
        os.close(reading)
        os.close(writing)
        return scope.cancelled_caught

    assert anyio.run(main)
