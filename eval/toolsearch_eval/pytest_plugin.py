"""A fixture for pytest that guards search quality: a test fails where `toolsearch gate` would.

It is found by pytest itself once this package is installed. Nothing but pytest is imported until the fixture is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from toolsearch_eval.gate.verdict import Verdict


class Gate:
    """What the fixture `toolsearch_gate` gives; call it."""

    def __init__(self, root: Path) -> None:
        """Take the folder that paths start from: the one of pytest's configuration."""
        self._root = root

    def __call__(
        self,
        *,
        baseline: str | Path,
        data: str | Path | None = None,
        ranker: str | None = None,
        search: Callable[..., Iterable[Any]] | None = None,
        margin: float | None = None,
    ) -> Verdict:
        """Judge, and fail the test where quality fell.

        Args:
            baseline: What `toolsearch bless` wrote.
            data: The data set; the one that was blessed unless told otherwise.
            ranker: As on the command line, and modules in the folder of pytest's configuration are found; the one that
                was blessed unless told otherwise.
            search: A search function instead of a ranker: called with a query and the number of results wanted; gives
                names or (name, score) pairs, best first, and not more than wanted.
            margin: How far a mean may fall; that of the command unless told otherwise.

        Returns:
            The verdict, where nothing fell.
        """
        __tracebackhide__ = True
        from toolsearch.errors import ToolSearchError
        from toolsearch_eval.gate.baseline_file import load_blessed_data, read_baseline
        from toolsearch_eval.gate.outputs.text import verdict_lines
        from toolsearch_eval.gate.verdict import MARGIN, gate
        from toolsearch_eval.rankers import resolve_ranker
        from toolsearch_eval.rankers.own import FunctionRanker

        path = self._root / baseline
        fault = ""
        try:
            blessed = read_baseline(path)
            # Nothing else knows of the data's folder, and a test may run from anywhere.
            folder = self._root / (blessed.data if data is None else data)
            if str(self._root) not in sys.path:
                sys.path.insert(0, str(self._root))
            verdict = gate(
                blessed,
                load_blessed_data(blessed, folder if folder.is_dir() else data),
                FunctionRanker(blessed.ranker, lambda _tools: search)
                if search is not None
                else resolve_ranker(ranker or blessed.ranker),
                margin=MARGIN if margin is None else margin,
                path=str(baseline),
                progress=False,
            )
        except ToolSearchError as error:
            fault = f"toolsearch gate: {error}"
        if fault:  # outside of the handler, so that the report is our message alone
            pytest.fail(fault, pytrace=False)
        if verdict.outcome == "fail":
            pytest.fail("\n".join(verdict_lines(verdict)), pytrace=False)
        return verdict


@pytest.fixture(scope="session")
def toolsearch_gate(pytestconfig: pytest.Config) -> Gate:
    """Fail the test where search quality fell below a blessed baseline; see `Gate`."""
    return Gate(pytestconfig.rootpath)
