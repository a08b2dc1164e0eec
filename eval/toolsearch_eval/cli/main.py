"""The entry point of `toolsearch`: finds the verb, runs it, and turns every outcome into an exit code.

Exit codes: 0 good, 1 regression or failed check, 2 wrong use or bad data, 3 inconclusive, 130 interrupted.
Only the module of the verb that was asked for is imported, so that `--help` stays quick.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from toolsearch.errors import DataError, ToolSearchError, UnknownNameError
from toolsearch.folders import keep_caches, user_caches
from toolsearch_eval.cli.output import prepare_streams, tell

VERBS = {
    "demo": "the main job end to end on the shipped data, in about a minute",
    "search": "search a catalog",
    "explain": "say why a tool stands where it stands for a query",
    "catalog": "check, count, convert or fetch a catalog of tools",
    "dataset": "check, count, import, pool or split a labelled data set",
    "eval": "judge rankers on a labelled data set",
    "compare": "compare two rankers query by query",
    "gate": "fail when search quality falls below a baseline",
    "bless": "make or change a baseline",
    "tune": "look for better weights",
    "ablate": "measure what each part of a ranking is worth",
    "simulate": "replay conversations and count tokens and cache",
    "advise": "say which tools to pin or to defer",
    "fieldtest": "run the field reports",
    "bench": "measure speed side by side",
    "serve": "serve the search over MCP",
    "app": "open the dashboard",
}
"""Every verb with one line on what it does, in the order of the help; a verb is offered once its module exists."""

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal."""


def available_verbs() -> tuple[str, ...]:
    """The verbs whose module exists, in the order of the help."""
    folder = Path(__file__).parent
    return tuple(verb for verb in VERBS if (folder / f"{verb}_command.py").is_file())


def build_parser(verb: str | None) -> argparse.ArgumentParser:
    """The parser with the arguments of one verb; the others are only named.

    Args:
        verb: The verb that will run; None gives the list of verbs alone.
    """
    parser = argparse.ArgumentParser(
        prog="toolsearch",
        description="Search the tools of an LLM agent, and judge the search.",
        epilog="toolsearch COMMAND --help says more about a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    subparsers = parser.add_subparsers(dest="verb", metavar="COMMAND", title="commands")
    for name in available_verbs():
        if name == verb:
            importlib.import_module(f"toolsearch_eval.cli.{name}_command").add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=VERBS[name], add_help=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: The arguments without the program's name; None takes those of the process.

    Returns:
        The exit code. A user's mistake is one text on stderr, never a traceback.
    """
    prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except DataError as error:
        tell(str(error))  # each line begins with the place, which editors and CI pick up
        return 2
    except ToolSearchError as error:
        tell(f"toolsearch: {error}")
        return 2
    except KeyboardInterrupt:
        tell("toolsearch: interrupted; what had been finished is kept.")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output is gone. The stream is turned away so that the interpreter's own flush stays quiet.
        _silence_stdout()
        return 0
    return code


def _run(arguments: list[str]) -> int:
    verb = next((argument for argument in arguments if not argument.startswith("-")), None)
    known = available_verbs()
    if verb is not None and verb not in known:
        raise UnknownNameError("command", verb, known, "`toolsearch --help` lists the commands.")
    parser = build_parser(verb)
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    if parsed.version:
        print(f"toolsearch {package_version()}")
        return 0
    if verb is None:
        parser.print_help(sys.stderr)
        return 2
    with contextlib.suppress(RuntimeError):  # a user without a home keeps nothing
        keep_caches(user_caches(os.environ, platform=sys.platform))
    module = importlib.import_module(f"toolsearch_eval.cli.{verb}_command")
    return int(module.run(parsed))


def package_version() -> str:
    """The installed version, or a word that says that there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("toolsearch")
    except PackageNotFoundError:
        return "(not installed)"


def _silence_stdout() -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    sys.exit(main())
