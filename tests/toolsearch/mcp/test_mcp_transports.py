from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from toolsearch.errors import ServerError
from toolsearch.mcp.failures import in_words
from toolsearch.mcp.server_entry import ServerEntry
from toolsearch.mcp.stderr_tail import StderrTail
from toolsearch.mcp.stdio import ServerProcess
from toolsearch.mcp.transports import connect

SERVER = Path(__file__).parent / "servers" / "small_server.py"


def small(*options: str, env: dict[str, str] | None = None) -> ServerEntry:
    """The entry of the small server."""
    return ServerEntry(name="small", command=sys.executable, args=(str(SERVER), *options), env=env or {})


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not collected by its new parent counts as gone."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


async def names(entry: ServerEntry, tail: StderrTail | None = None) -> list[str]:
    """The tools of the server's first page."""
    async with connect(entry, stderr=tail) as session:
        return [tool.name for tool in (await session.list_tools()).tools]


def test_a_server_over_stdio_is_ready_for_requests() -> None:
    """After the handshake the session answers requests."""
    assert anyio.run(names, small("--tools", "2")) == ["count_000", "count_001"]


def test_lines_that_are_no_messages_are_passed_over_and_counted() -> None:
    """Garbage on the output costs nothing but a line in the report."""
    tail = StderrTail()
    assert anyio.run(names, small("--tools", "1", "--garbage"), tail) == ["count_000"]
    assert tail.noise == 2
    assert "(on its output) Welcome! {not json" in tail.text()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (small("--exit", "3", "--say", "no key given"), "ended with exit code 3 before it answered"),
        (small("--silent", "--say", "no key given"), "no answer within 0.8 seconds"),
        (
            ServerEntry(name="small", command="/nowhere/at-all"),
            "'/nowhere/at-all' can't be started: No such file or directory; is it installed?",
        ),
        (ServerEntry(name="small", command=sys.executable, cwd="/nowhere"), "'/nowhere' can't be started"),
        (ServerEntry(name="small", transport="http", url="http://127.0.0.1:9/mcp"), "can't be reached"),
    ],
)
def test_a_failing_start_is_named_with_the_end_of_the_error_stream(entry: ServerEntry, reason: str) -> None:
    """A server that can't be started, ends or stays silent is one error that says which and why."""

    async def attempt() -> None:
        timeout = 0.8 if "--silent" in entry.args else 30.0
        async with connect(entry, start_timeout=timeout, grace=0.2):
            raise AssertionError("connected")

    with pytest.raises(ServerError) as caught:
        anyio.run(attempt)
    assert caught.value.server == "small"
    assert caught.value.reason.startswith(reason)
    assert caught.value.stderr_tail == ("no key given" if "--say" in entry.args else "")


def test_what_the_body_raises_comes_out_as_it_is() -> None:
    """An error of the caller is not wrapped, and the server is gone all the same."""
    seen: list[ServerProcess] = []

    async def attempt() -> None:
        async with connect(small(), on_process=seen.append):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        anyio.run(attempt)
    assert not alive(seen[0].pid)


def test_what_a_server_has_started_is_gone_with_it() -> None:
    """A grandchild that ignores its end is ended too, and no file handle stays open."""
    tail = StderrTail()
    before = len(os.listdir("/proc/self/fd"))

    async def attempt() -> None:
        async with connect(small("--child"), stderr=tail, grace=0.3):
            pass

    anyio.run(attempt)
    child = int(tail.text().split()[-1])
    deadline = time.monotonic() + 5
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_cancelled_caller_leaves_no_process() -> None:
    """Cancellation while the handshake hangs ends the process."""
    seen: list[ServerProcess] = []

    async def attempt() -> None:
        with anyio.move_on_after(0.4):
            async with connect(small("--silent"), on_process=seen.append, grace=0.2):
                pass

    anyio.run(attempt)
    assert not alive(seen[0].pid)


def test_the_end_of_a_server_is_told_while_it_is_used() -> None:
    """A process that ends under a request fails the request and calls back with how it ended."""
    ends: list[str] = []

    async def attempt() -> None:
        async with connect(small("--die-on-list"), on_end=ends.append) as session:
            with pytest.raises(Exception, match=r"(?i)closed"):
                await session.list_tools()

    anyio.run(attempt)
    assert ends == ["ended with exit code 7"]


def test_a_message_without_end_ends_the_connection() -> None:
    """A message above the bound is not collected in memory for ever."""
    ends: list[str] = []

    async def attempt() -> None:
        async with connect(small("--tools", "400"), max_message=5000, on_end=ends.append) as session:
            with pytest.raises(Exception, match=r"(?i)closed"):
                await session.list_tools()

    anyio.run(attempt)
    assert ends == ["sent a message of more than 5000 bytes"]


def test_secrets_are_masked_in_the_error_stream() -> None:
    """A key that a server complains about doesn't reach the report, not even cut in two."""
    key = "sk-4f9a8b7c6d5e"
    tail = StderrTail(small(env={"API_KEY": key}).redactor())
    tail.feed(b"bad key sk-4f9a")
    tail.feed(b"8b7c6d5e given\n")
    assert tail.text() == "bad key [redacted] given"


def test_a_secret_that_is_cut_in_two_is_masked() -> None:
    """No part of a key is shown: not of a line without an end yet, and not where a line is too long to be kept whole."""
    tail = StderrTail(small(env={"API_KEY": "sk-4f9a8b7c6d5e"}).redactor(), width=40)
    tail.feed(b"bad key sk-4f9a8b")
    assert tail.text() == "bad key [redacted]"
    tail.feed(b"7c6d5e given\n")
    assert tail.text() == "bad key [redacted] given"
    # A line is read up to sixteen times its width: this one ends within a key.
    tail.feed(b"x" * 632 + b"sk-4f9a8")
    tail.feed(b"b7c6d5e and so on")
    tail.feed(b", sk-4f9a8b7c6d5e\nnext\n")
    assert tail.text() == f"bad key [redacted] given\n{'x' * 40} …\nnext"


def test_each_line_of_a_long_secret_is_masked() -> None:
    """A key of several lines is masked though an error stream is read line by line."""
    lines = ["-----BEGIN KEY-----", "MIIEowIBAAKCAQEA7", "q2f8+Zb1xY==", "-----END KEY-----"]
    tail = StderrTail(small(env={"SIGNING_KEY": "\n".join(lines)}).redactor())
    tail.feed("\n".join(["using", *lines, "done", ""]).encode())
    assert tail.text().split("\n") == ["using", *["[redacted]"] * 4, "done"]


def test_an_error_of_a_server_is_not_taken_for_the_end_of_the_connection() -> None:
    """What a server answers with the code of a closed connection is told in its words, its secrets masked before it is cut."""
    mask = small(env={"API_KEY": "sk-4f9a8b7c6d5e"}).redactor()
    told = in_words(MCPError(-32000, "." * 295 + "sk-4f9a8b7c6d5e"), mask=mask)
    assert told == f"answered with an error: {'.' * 295}[reda (-32000)"
    assert in_words(MCPError(-32000, "Connection closed")) == "closed the connection"
