"""`toolsearch serve --http` as a process of its own, with real clients, from its start to Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from toolsearch_eval.cli.main import main

SERVER = Path(__file__).parents[2] / "toolsearch" / "mcp" / "servers" / "fault_server.py"
STUBBORN = Path(__file__).parents[2] / "toolsearch" / "mcp" / "servers" / "small_server.py"
SECRET = "a-token-of-some-length"


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """A file with a server that works, and one that leaves a process behind which ignores its end."""
    mark = str(tmp_path / "state")
    servers: dict[str, Any] = {
        "alpha": {"command": sys.executable, "args": [str(SERVER), "alpha", mark]},
        "stubborn": {"command": sys.executable, "args": [str(STUBBORN), "--child", "--key", mark]},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


@dataclass(slots=True)
class _Command:
    process: subprocess.Popen[str]
    url: str
    told: list[str]

    def read_until(self, wanted: Callable[[str], bool]) -> str:
        """The first line on the standard error that is wanted, be it one that was read before: servers come in any order."""
        assert self.process.stderr is not None
        for line in self.told:
            if wanted(line):
                return line
        for line in self.process.stderr:
            self.told.append(line)
            if wanted(line):
                return line
        raise AssertionError("".join(self.told))

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The exit code after a signal, and all that was said."""
        self.process.send_signal(number)
        out, rest = self.process.communicate(timeout=60)
        assert out == ""
        return self.process.returncode, "".join(self.told) + rest


@contextmanager
def _command(configuration: Path, *options: str, **environment: str) -> Generator[_Command]:
    arguments = ["-m", "toolsearch_eval.cli.main", "serve", "--mcp-config", str(configuration), "--yes", "--http"]
    process = subprocess.Popen(
        [sys.executable, *arguments, "--port", "0", *options],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests behind itself has them ignore Ctrl-C, and what they start would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    command = _Command(process, "", [])
    try:
        command.url = command.read_until(lambda line: line.startswith("serving at")).split()[2]
        command.read_until(lambda line: "alpha: connected" in line)
        yield command
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _with_argument(mark: Path) -> list[str]:
    """The processes that were started with this argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            if os.fsencode(mark) in path.read_bytes():
                found.append(path.parent.name)
    return found


def _children_of(pids: list[str]) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] in pids:
                found.append(path.parent.name)
    return found


def test_it_serves_a_client_with_the_token_and_ends_in_order(configuration: Path) -> None:
    """A client with the token runs a tool, one without it gets 401; Ctrl-C ends it with 0, all processes and the port."""
    mark = configuration.parent / "state"

    async def talk(command: _Command) -> None:
        good = {"authorization": f"Bearer {SECRET}"}
        async with (
            httpx2.AsyncClient(headers=good) as client,
            streamable_http_client(command.url, http_client=client) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            params = {"tool_name": "mcp__alpha__alpha_echo", "params": {"word": "hello"}}
            refused = await session.call_tool("ExecuteExtraTool", params)
            assert refused.meta == {"toolsearch/code": "undiscovered"}
            result = await session.call_tool("ExecuteExtraTool", params)
            assert [block.text for block in result.content if isinstance(block, TextContent)] == ["alpha: hello"]
        async with httpx2.AsyncClient() as client:
            assert (await client.post(command.url, json={})).status_code == 401

    with _command(configuration, "--token-env", "GATE", "--require-discovery", GATE=SECRET) as command:
        command.read_until(lambda line: "stubborn: connected" in line)
        anyio.run(talk, command)
        servers = _with_argument(mark)
        grandchildren = _children_of(servers)
        assert (len(servers), len(grandchildren)) == (2, 1)
        code, told = command.end(signal.SIGINT)
    assert code == 0
    assert told.endswith("ending\nended; all servers are gone\n")
    assert "Traceback" not in told
    assert SECRET not in told
    assert _with_argument(mark) == []
    for _ in range(200):  # it was killed, which the system does in its own time
        if not _runs(grandchildren[0]):
            break
        time.sleep(0.05)
    assert not _runs(grandchildren[0])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(command.url.rsplit(":", 1)[1].removesuffix("/mcp")))) != 0


def _runs(pid: str) -> bool:
    """Whether a process runs; one that has ended and was not collected by its new parent counts as gone."""
    try:
        return "\nState:\tZ" not in Path("/proc", pid, "status").read_text(encoding="utf-8")
    except OSError:
        return False


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--http", "--host", "0.0.0.0"], "0.0.0.0 is reached by other machines, which needs a token"),
        (["--http", "--host", ""], "is no name or address of this machine"),
        (["--http", "--port", "70000"], "port 70000 does not exist"),
        (
            ["--http", "--token-env", "NO_SUCH_VARIABLE"],
            "the variable NO_SUCH_VARIABLE of the environment holds no token",
        ),
        (["--http", "--token-env", ""], "of the environment holds no token"),
        (["--http", "--token-env", "SHORT"], "which can be guessed; at least 16"),
        (["--http", "--token-file", "/no/such/file"], "/no/such/file can't be read"),
        (["--port", "8000"], "--port says something of HTTP alone; give --http too"),
        (["--host", ""], "--host says something of HTTP alone"),
        (["--token-env", "SHORT"], "--token-env says something of HTTP alone"),
        (["--allow-host", "tools.example.org"], "--allow-host says something of HTTP alone"),
        (["--http", "--token", SECRET], "unrecognized arguments"),
    ],
)
def test_wrong_use_is_explained_in_a_line(
    configuration: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    expected: str,
) -> None:
    """Exit code 2 and what to do, before any server is started."""
    monkeypatch.setenv("SHORT", "secret-word")
    assert main(["serve", "--mcp-config", str(configuration), "--yes", *options]) == 2
    told = capsys.readouterr().err
    assert expected in told
    assert str(SERVER) not in told
    assert "secret-word" not in told
    assert "Traceback" not in told
    assert _with_argument(configuration.parent / "state") == []


def test_a_port_that_is_taken_is_named(configuration: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and a line with the port, before any server is started."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["serve", "--mcp-config", str(configuration), "--yes", "--http", "--port", str(port)]) == 2
    assert f"port {port} of 127.0.0.1 is taken by another program" in capsys.readouterr().err
    assert _with_argument(configuration.parent / "state") == []
