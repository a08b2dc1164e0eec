"""`toolsearch app`: the dashboard, on this machine alone, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toolsearch.errors import UsageError
from toolsearch_eval.cli.output import tell

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8501
VARIABLE = "TOOLSEARCH_APP"
"""Hands the options to the dashboard, which reads no others."""
_APP = "toolsearch_app"
_GRACE_SECONDS = 10


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "app",
        help="open the dashboard",
        description="Open the dashboard in a browser: on this machine alone, read-only unless --edit is given, until "
        "Ctrl-C. What it can show is fixed here: the shipped data, and what lies in the folders named below.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, metavar="N", help=f"0 takes a free one (default: {DEFAULT_PORT})"
    )
    parser.add_argument("--headless", action="store_true", help="open no browser")
    parser.add_argument("--edit", action="store_true", help="let the dashboard write: labels, queries, runs, studies")
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="DIR",
        help="a data set, a folder with a catalog alone, or a folder of such; may be repeated",
    )
    for name, default, what in (
        ("runs", "runs", "whose folders are runs"),
        ("profiles", "profiles", "with profiles (*.toml)"),
        ("studies", "runs", "whose folders hold studies of `toolsearch tune`"),
        ("baselines", "eval/baselines", "with baselines of the gate"),
    ):
        parser.add_argument(f"--{name}", default=default, metavar="DIR", help=f"the folder {what} (default: {default})")


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C, which gives 0; else what the server ended with.

    Raises:
        UsageError: The extra is missing, a folder is none, or the port can't be had.
    """
    script = _script()
    for folder in arguments.data:
        if not os.path.isdir(folder):
            raise UsageError(
                f"--data is {folder!r}, which is no folder; name a data set's folder or one that holds some."
            )
    port = _port(arguments.port)
    options = {
        "data": [os.path.abspath(folder) for folder in arguments.data],
        **{name: os.path.abspath(getattr(arguments, name)) for name in ("runs", "profiles", "studies", "baselines")},
        "edit": arguments.edit,
    }
    command = server_command(script, port, headless=arguments.headless)
    tell(f"the dashboard is at http://{ADDRESS}:{port} ({'' if arguments.edit else 'read-only; '}Ctrl-C closes it)")
    return _serve(command, {**os.environ, VARIABLE: json.dumps(options)})


def server_command(script: Path, port: int, *, headless: bool) -> list[str]:
    """The command that serves the dashboard; what keeps it on this machine stands here, before any file's settings."""
    settings = {
        "server.address": ADDRESS,
        "server.port": str(port),
        "server.headless": "true" if headless else "false",
        "server.showEmailPrompt": "false",
        "server.enableXsrfProtection": "true",
        "server.enableCORS": "true",
        "browser.serverAddress": ADDRESS,
        "browser.gatherUsageStats": "false",
        "logger.hideWelcomeMessage": "true",
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    return [sys.executable, "-m", "streamlit", "run", str(script), *options]


def _script() -> Path:
    """The dashboard's file, found without importing it.

    Raises:
        UsageError: A library that it needs is not installed.
    """
    found = find_spec(_APP)
    missing = [name for name in ("streamlit", "altair", "pandas", "matplotlib") if find_spec(name) is None]
    if found is None or not found.submodule_search_locations or missing:
        named = ", ".join(missing) or _APP
        raise UsageError(
            f"the dashboard needs {named}, which is not installed; install it with pip install 'toolsearch[app]'."
        )
    return Path(next(iter(found.submodule_search_locations))) / "server.py"


def _port(wanted: int) -> int:
    """The port, free at this moment.

    Raises:
        UsageError: It is no port, or taken.
    """
    if not 0 <= wanted <= 65535:
        raise UsageError(f"--port is {wanted}; accepted: 0 to 65535, where 0 takes a free one.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, wanted))
        except OSError as error:
            raise UsageError(
                f"port {wanted} can't be had ({error.strerror}); name another with --port, or 0 for a free one."
            ) from error
        return int(probe.getsockname()[1])


def _serve(command: list[str], environment: Mapping[str, str]) -> int:
    """Run the server, and end it whatever ends us."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    server = subprocess.Popen(command, env=dict(environment))
    try:
        return 2 if server.wait() else 0
    except KeyboardInterrupt:
        tell("toolsearch: the dashboard is closed.")
        return 0
    finally:
        signal.signal(signal.SIGTERM, before)
        server.terminate()
        try:
            server.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
