"""Rankings that are kept, by what they hang on: what was ranked once is not ranked again, also after a kill.

One file for each chunk of queries, named by the SHA-256 of the ranker's identity (its profile, the versions of the
libraries and of this project's own code), the catalog, the texts of the queries and the depth. A changed tool, query,
profile, library or line of code gives another name, so nothing is ever out of date and nothing has to be told apart.
A file appears whole or not at all; a damaged one counts as missing; what failed is never kept. The folder may be
removed at any time: it costs the ranking anew and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.catalog.formats import to_row
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.folders import user_caches
from toolsearch_eval.abstention import Sureness
from toolsearch_eval.data import Query
from toolsearch_eval.rankers.identity import identity_of
from toolsearch_eval.rankers.protocol import Ranker
from toolsearch_eval.rankers.run import Answer, Times

_FORM = 1
"""Goes into every name, so that files of another form are not looked at."""


def default_cache_folder(environment: Mapping[str, str], *, platform: str = "linux") -> Path:
    """The folder for rankings under the user's own for what may be removed at any time.

    See `toolsearch.folders.user_caches`.

    Args:
        environment: That of the process.
        platform: As `sys.platform` says it.

    >>> default_cache_folder({"XDG_CACHE_HOME": "/var/cache/ana"}).as_posix()
    '/var/cache/ana/toolsearch/rankings'
    """
    return user_caches(environment, platform=platform) / "rankings"


def catalog_fingerprint(tools: Sequence[Tool]) -> str:
    """SHA-256 (hexadecimal) over the tools in their order."""
    digest = hashlib.sha256()
    for tool in tools:
        digest.update(json.dumps(to_row(tool), sort_keys=True).encode("ascii") + b"\n")
    return digest.hexdigest()


class RankingCache:
    """A folder of rankings."""

    def __init__(self, folder: str | Path) -> None:
        """Take a folder, which is made where it is not there yet.

        Raises:
            UsageError: It can't be made or written.
        """
        self.folder = Path(folder).absolute()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"the cache {str(folder)!r} can't be written: {reason}; name another folder.") from error

    def shelf(self, ranker: Ranker, tools: Sequence[Tool], depth: int) -> RankingShelf | None:
        """Where the rankings of one ranker are kept; None where nobody can tell whether it still gives the same.

        See `identity_of` for the rankers of which that is so.

        Raises:
            UsageError: The ranker declares a fingerprint that is none.
        """
        identity = identity_of(ranker)
        if identity is None:
            return None
        # The order of the catalog is in it: one of somebody else may hang on it.
        return RankingShelf(
            self.folder, _digest([_FORM, identity.fingerprint, catalog_fingerprint(tools), depth]), depth
        )


@dataclass(frozen=True, slots=True)
class RankingShelf:
    """The rankings of one ranker on one catalog to one depth.

    Attributes:
        folder: The cache's folder.
        name: What all of its files' names hang on.
        depth: Results asked for.
    """

    folder: Path
    name: str
    depth: int

    def read(self, queries: Sequence[Query], known: Collection[str]) -> tuple[Answer, ...] | None:
        """The answers for exactly these texts in this order, or None where they are not there or damaged.

        Args:
            queries: A chunk.
            known: The names of the tools; an entry with any other is damaged.
        """
        value = self._read("answers", queries)
        if not isinstance(value, list) or len(value) != len(queries):
            return None
        answers = [_answer(each, known, self.depth) for each in value]
        return tuple(answer for answer in answers if answer is not None) if None not in answers else None

    def write(self, queries: Sequence[Query], answers: Sequence[Answer]) -> None:
        """Keep answers, whole or not at all; a full disk costs the cache and not the evaluation."""
        rows = [
            [answer.sureness.confidence, answer.sureness.flagged, [list(result) for result in answer.results]]
            for answer in answers
        ]
        self._write("answers", queries, rows)

    def read_times(self, queries: Sequence[Query]) -> Times | None:
        """How long it took when these texts were timed, or None."""
        value = self._read("times", queries)
        if not isinstance(value, dict) or set(value) != {"p50", "p95", "build"}:
            return None
        numbers = [value["p50"], value["p95"], value["build"]]
        if not all(_is_number(number) for number in numbers if number is not None) or value["build"] is None:
            return None
        return Times(latency={"p50": value["p50"], "p95": value["p95"]}, build=value["build"])

    def write_times(self, queries: Sequence[Query], times: Times) -> None:
        """Keep times, whole or not at all."""
        self._write("times", queries, {**times.latency, "build": times.build})

    def path(self, kind: str, queries: Sequence[Query]) -> Path:
        """The file of a chunk: `answers` or `times`."""
        name = _digest([self.name, kind, [query.text for query in queries]])
        return self.folder / name[:2] / f"{name}.json"

    def _read(self, kind: str, queries: Sequence[Query]) -> Any:
        path = self.path(kind, queries)
        try:
            form = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(form, dict) or form.get("digest") != _digest([path.stem, form.get(kind)]):
            return None
        return form[kind]

    def _write(self, kind: str, queries: Sequence[Query], value: Any) -> None:
        path = self.path(kind, queries)
        text = json.dumps({"digest": _digest([path.stem, value]), kind: value}, allow_nan=False)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="ascii") as file:
                    file.write(text)
                os.replace(part, path)
            except BaseException:
                Path(part).unlink(missing_ok=True)
                raise


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()


def _answer(value: Any, known: Collection[str], depth: int) -> Answer | None:
    """One answer of a file, or None where it is none: a damaged file must not become a result."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    confidence, flagged, results = value
    if not (confidence is None or _is_number(confidence)) or not (flagged is None or isinstance(flagged, bool)):
        return None
    if not isinstance(results, list) or len(results) > depth:
        return None
    if not all(isinstance(each, list) and len(each) == 2 and _is_number(each[1]) for each in results):
        return None
    names = [name for name, _ in results]
    if not all(isinstance(name, str) and name in known for name in names) or len(set(names)) < len(names):
        return None
    return Answer(
        results=tuple((name, float(score)) for name, score in results),
        sureness=Sureness(confidence=confidence, flagged=flagged),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
