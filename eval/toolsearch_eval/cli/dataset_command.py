"""`toolsearch dataset ACTION`: look after a labelled data set; each action is a module of `cli/dataset`."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from types import ModuleType

ACTIONS = {
    "check": "report every error and every doubtful line",
    "stats": "count what it holds",
    "import": "make a data set from files of another form",
    "export": "write a data set in the form of BEIR or TREC",
    "split": "give every group to dev or to test, for good",
    "pool": "write out what rankers bring and nobody has judged",
    "judge": "take in grades that were filled in",
    "agreement": "how far passes or judges agree",
}
"""Every action with one line on what it does, in the order of the help; one is offered once its module exists."""

_MODULES = {"import": "importing"}
"""Where the module can't have the action's name."""


def available_actions() -> tuple[str, ...]:
    """The actions whose module exists, in the order of the help."""
    folder = Path(__file__).parent / "dataset"
    return tuple(action for action in ACTIONS if (folder / f"{_MODULES.get(action, action)}.py").is_file())


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb, its actions and their arguments."""
    parser = subparsers.add_parser(
        "dataset",
        help="check, count, import, split, pool or judge a labelled data set",
        description="Look after a labelled data set.",
        epilog="toolsearch dataset ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    for action in available_actions():
        module = _module(action)
        one = actions.add_parser(action, help=ACTIONS[action], description=module.DESCRIPTION, allow_abbrev=False)
        module.add_parser(one)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run one action; its module says what the exit codes mean."""
    return int(_module(args.action).run(args))


def _module(action: str) -> ModuleType:
    return importlib.import_module(f"toolsearch_eval.cli.dataset.{_MODULES.get(action, action)}")
