"""Files of every form with one value put in the place of another: a set comes out, or an error of ours; nothing else."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.errors import DataError, UsageError
from toolsearch_eval.data import load_data
from toolsearch_eval.data_write import write_data
from toolsearch_eval.importers.forms import FORMS, import_data

JUNK: tuple[Any, ...] = (
    None,
    0,
    -1.5,
    True,
    "",
    "x",
    "\x1b[31m\u202e",
    [],
    {},
    [[]],
    [{}],
    {"": []},
    "a\tb\nc",
    10**30,
    "1" * 300,
)


def _small_files() -> dict[str, dict[str, str]]:
    spec = importlib.util.spec_from_file_location("small_files", Path(__file__).with_name("test_importers_forms.py"))
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    files: dict[str, dict[str, str]] = module.FILES
    return files


FILES = _small_files()


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += _places(inner, (*path, number))
    return found


def _changed(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _changed(value[path[0]], path[1:], junk)
    return copy


def _mutated(text: str, source: random.Random) -> str:
    """The text with one value of its JSON, one cell or one line replaced, doubled or taken away."""
    junk = source.choice(JUNK)
    try:
        lines = [json.loads(line) for line in text.splitlines()]
        number = source.randrange(len(lines))
        lines[number] = _changed(lines[number], source.choice(_places(lines[number])), junk)
        return "".join(json.dumps(line) + "\n" for line in lines)
    except ValueError:
        pass
    try:
        whole = json.loads(text)
        return json.dumps(_changed(whole, source.choice(_places(whole)), junk))
    except ValueError:
        pass
    rows = text.splitlines()
    number = source.randrange(len(rows))
    cells = rows[number].split(source.choice(["\t", ",", " "]))
    cells[source.randrange(len(cells))] = str(junk)
    rows[number] = source.choice(["\t".join(cells), ",".join(cells), "", rows[number] * 2])
    return "\n".join(rows)


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_one_wrong_value_anywhere_never_raises_anything_else(form: str, seed: int) -> None:
    """What comes out can be written and read; an error names its file."""
    source = random.Random(seed)
    with TemporaryDirectory() as beside:
        folder = Path(beside) / "raw"
        wrong = source.choice(list(FILES[form]))
        for name, text in FILES[form].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_mutated(text, source) if name == wrong else text, "utf-8", "surrogatepass")
        try:
            found = import_data(form, [folder])
            assert load_data(write_data(found.data, Path(beside) / "out")).fingerprint == found.data.fingerprint
        except DataError as error:
            assert all(problem.path and problem.message for problem in error.problems)
        except UsageError as error:
            assert str(error)
