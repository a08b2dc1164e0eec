"""Where what may be removed at any time is kept: nowhere, until whoever starts the process names a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def user_caches(environment: Mapping[str, str], *, platform: str = "linux") -> Path:
    """The folder of this project under the user's own for caches; it is not made.

    `$XDG_CACHE_HOME` where it is an absolute path, on Windows `%LOCALAPPDATA%`, else `~/.cache` (macOS:
    `~/Library/Caches`); in it `toolsearch`.

    Args:
        environment: That of the process.
        platform: As `sys.platform` says it.

    Raises:
        RuntimeError: The user has no home.

    >>> user_caches({"XDG_CACHE_HOME": "/var/cache/ana"}).as_posix()
    '/var/cache/ana/toolsearch'
    """
    given = environment.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / "toolsearch"
    home = Path(environment["HOME"]) if environment.get("HOME") else Path.home()
    return home / ("Library/Caches" if platform == "darwin" else ".cache") / "toolsearch"


_named: list[Path] = []


def keep_caches(folder: Path | None) -> None:
    """Let this process keep what costs time below a folder; None keeps nothing beyond the process, as it begins.

    The command line names the user's folder. A program that has the library in it decides for itself.
    """
    _named[:] = [] if folder is None else [folder]


def kept_caches() -> Path | None:
    """The folder that `keep_caches` was given last."""
    return _named[0] if _named else None
