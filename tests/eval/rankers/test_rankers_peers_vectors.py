"""Sentence vectors by name or path; the library is a small fake, as the real one is too heavy for every run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch_eval.cli.main import main
from toolsearch_eval.rankers import resolve_ranker

WORDS = ("mail", "file", "folder")


class FakeModel:
    """Counts three words, to a length of 1, with the arguments of the real library's model."""

    loaded: list[tuple[str, str]]
    batches: list[list[str]]

    def __init__(self, name: str, *, device: str) -> None:
        if name == "no/such":
            raise OSError("no/such is not a local folder\nand is not a valid model identifier")
        self.loaded.append((name, device))

    def encode(
        self, texts: Sequence[str], *, normalize_embeddings: bool, convert_to_numpy: bool, show_progress_bar: bool
    ) -> Any:
        """Unit vectors, in single precision like the real ones."""
        assert (normalize_embeddings, convert_to_numpy, show_progress_bar) == (True, True, False)
        self.batches.append(list(texts))
        counts = np.array([[text.lower().count(word) for word in WORDS] for text in texts], dtype=np.float32)
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        return counts / np.where(lengths == 0, 1, lengths)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> type[FakeModel]:
    """A sentence-transformers in which every model counts words."""
    FakeModel.loaded, FakeModel.batches = [], []
    module = ModuleType("sentence_transformers")
    module.__spec__ = sys.__spec__  # looked for by the check whether it is there
    vars(module)["SentenceTransformer"] = FakeModel
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return FakeModel


TOOLS = [
    Tool(name="both", description="A mail with a file."),
    Tool(name="only", description="A mail."),
    Tool(name="also", description="Mail!"),
    Tool(name="none", description="The weather."),
]


def test_tools_by_cosine(model: type[FakeModel]) -> None:
    """A tool with the query's direction has 1, one with a second word 1/√2, one without any 0; ties go by name."""
    ranker = resolve_ranker("st:some/model")
    assert ranker.name == "st:some/model"
    ranker.index(TOOLS)
    [answer] = ranker.rank(["mail"], 10)
    assert [name for name, _ in answer] == ["also", "only", "both", "none"]
    assert [score for _, score in answer] == pytest.approx([1.0, 1.0, 2**-0.5, 0.0], abs=1e-6)
    assert len(ranker.rank(["mail"], 2)[0]) == 2


@pytest.mark.parametrize("path", ["all-MiniLM-L6-v2", "/models/mine", "C:\\models\\mine", "a.toml", "x:keyword"])
def test_the_model_is_loaded_as_it_was_named(path: str, model: type[FakeModel]) -> None:
    """Whatever stands after the prefix is the model's name or folder, once, on the processor."""
    assert resolve_ranker(f"st:{path}").name == f"st:{path}"
    assert model.loaded == [(path, "cpu")]


def test_every_text_is_encoded_alone(model: type[FakeModel]) -> None:
    """No result can depend on what was encoded beside it; the text is that which bm25s gets."""
    ranker = resolve_ranker("st:any")
    ranker.index([Tool(name="readFile", description="Reads.", server="disk"), Tool(name="half\ud800")])
    ranker.rank(["one", "two"], 10)
    assert model.batches == [["read File disk Reads."], ["half?"], ["one"], ["two"]]


def test_poor_catalogs_and_queries(model: type[FakeModel]) -> None:
    """No tools, an empty query, a name that comes twice and a tool without text break nothing."""
    ranker = resolve_ranker("st:any")
    ranker.index([])
    assert list(ranker.rank(["mail", ""], 10)) == [[], []]
    ranker.index([Tool(name="a", description="file"), Tool(name="a", description="mail"), Tool(name="___")])
    assert [list(answer) for answer in ranker.rank(["mail", " "], 10)] == [[("___", 0.0), ("a", 0.0)], []]
    assert list(ranker.rank([], 10)) == []


def test_a_model_that_cannot_be_loaded_is_one_line(model: type[FakeModel]) -> None:
    """What the library says of a missing model is told in one line with the ranker's name."""
    with pytest.raises(UsageError) as caught:
        resolve_ranker("st:no/such")
    assert str(caught.value) == (
        "the ranker 'st:no/such' can't load its model: OSError: no/such is not a local folder and is not a valid "
        "model identifier"
    )


@pytest.mark.parametrize("spec", ["st:", "st: "])
def test_a_model_must_be_named(spec: str) -> None:
    """The prefix alone is answered with what is to be written."""
    with pytest.raises(UsageError, match="names no model; write st: and a model's name or folder"):
        resolve_ranker(spec)


def test_without_the_library_one_line_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The extra to install is named, and the other ranker is judged."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert main(["eval", "--data", "tiny", "--split", "all", "--ranker", "st:any", "--ranker", "bm25f"]) == 2
    output = capsys.readouterr()
    expected = "the ranker 'st:any' needs sentence_transformers, which is not installed; install toolsearch[semantic]."
    assert [line for line in output.err.splitlines() if "st:any" in line] == [f"warning: {expected}"]
    assert "bm25f" in output.out


def test_it_is_judged_like_any_other(model: type[FakeModel], capsys: pytest.CaptureFixture[str]) -> None:
    """The command line takes it by its prefix."""
    assert main(["eval", "--data", "tiny", "--split", "all", "--ranker", "st:any"]) == 0
    assert "st:any" in capsys.readouterr().out
