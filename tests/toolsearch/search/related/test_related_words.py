from __future__ import annotations

import math
from importlib.resources import files

import numpy as np
import pytest

from toolsearch.search.analysis.standard import STOP_WORDS, stem
from toolsearch.search.related.make import DIMENSIONS, condensed
from toolsearch.search.related.words import CEILING, FLOOR, WordVectors, related, shipped, worth

SMALL = WordVectors(("east", "north", "northeast"), np.array([[5, 0], [0, 5], [4, 3]], dtype=np.int8))


def test_near_words_come_nearest_first_with_their_cosines() -> None:
    """Worked by hand: (4, 3) has the cosines 4/5 and 3/5 with the axes, and these have none with each other."""
    assert SMALL.near("northeast") == (("east", 0.8), ("north", 0.6))
    assert SMALL.near("north") == (("northeast", 0.6),)


def test_a_word_without_a_vector_has_no_near_words() -> None:
    """Nothing is said of an unknown word."""
    assert SMALL.near("west") == ()
    assert related("qwrtzp") == ()


def test_equally_near_words_stand_in_the_order_of_the_alphabet() -> None:
    """A tie of cosines is settled by the words alone."""
    tied = WordVectors(("a", "b", "c"), np.array([[1, 1], [2, 2], [3, 3]], dtype=np.int8))
    assert [word for word, _ in tied.near("c")] == ["a", "b"]


@pytest.mark.parametrize(
    ("stems", "rows"),
    [
        (("b", "a"), [[1, 0], [0, 1]]),
        (("a", "a"), [[1, 0], [0, 1]]),
        (("a",), [[1, 0], [0, 1]]),
        (("a", "b"), [[1, 0], [0, 0]]),
    ],
    ids=["not sorted", "twice", "too few", "all 0"],
)
def test_stems_and_vectors_that_do_not_fit_are_refused(stems: tuple[str, ...], rows: list[list[int]]) -> None:
    """A damaged table is no table."""
    with pytest.raises(ValueError, match=r"sorted|all 0"):
        WordVectors(stems, np.array(rows, dtype=np.int8))


def test_cosines_are_those_of_whole_numbers() -> None:
    """Added up without any rounding in Python's own whole numbers, the shipped vectors give the very same cosines."""
    stems = (files("toolsearch.search.related") / "data" / "stems.txt").read_text(encoding="utf-8").split()
    with (files("toolsearch.search.related") / "data" / "vectors.npy").open("rb") as file:
        rows = np.load(file, allow_pickle=False)
    numbers = {word: number for number, word in enumerate(stems)}
    for asked in ("flight", "invoic", "weather"):
        near = shipped().near(asked)
        own = [int(value) for value in rows[numbers[asked]]]
        for word, cosine in near[:20]:
            other = [int(value) for value in rows[numbers[word]]]
            product = sum(a * b for a, b in zip(own, other, strict=True))
            lengths = math.sqrt(sum(a * a for a in own)) * math.sqrt(sum(b * b for b in other))
            assert cosine == product / lengths


def test_every_sum_of_products_fits_into_a_float_exactly() -> None:
    """128 products of 8 bits stay below the whole numbers that 32 bits of a float tell apart."""
    assert DIMENSIONS * 127 * 127 < 2**24


def test_the_shipped_words_are_stems_and_none_is_a_stop_word() -> None:
    """What the index never holds would never be found."""
    held = shipped().stems
    assert len(held) > 10_000
    assert not STOP_WORDS & set(held)
    assert sum(stem(word) == word for word in held) / len(held) > 0.9


@pytest.mark.parametrize(
    ("asked", "other"), [("flight", "airport"), ("photo", "imag"), ("weather", "rain"), ("restaur", "meal")]
)
def test_words_of_one_matter_are_near(asked: str, other: str) -> None:
    """Some that anyone would expect, in both directions."""
    assert other in dict(related(asked))
    assert asked in dict(related(other))


def test_worth_grows_from_the_floor_to_the_ceiling() -> None:
    """Nothing at the floor, all from the ceiling on, evenly between."""
    assert [worth(FLOOR), worth(CEILING), worth(1.0), worth(-1.0)] == [0.0, 1.0, 1.0, 0.0]
    assert worth((FLOOR + CEILING) / 2) == pytest.approx(0.5)


def test_forms_of_one_word_share_a_vector_and_stop_words_have_none() -> None:
    """`file` and `files` are one stem; `the` is in no table."""
    rows = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    stems, vectors = condensed(["airport", "file", "files", "flight", "the"], rows)
    assert stems == ["airport", "file", "flight"]
    assert vectors.dtype == np.int8
    assert vectors.shape == (3, 5)
    assert np.abs(vectors).max(axis=1).tolist() == [127, 127, 127]


def test_condensed_vectors_keep_the_cosines() -> None:
    """With all directions kept, cosines are those of the centred vectors up to what 8 bits can hold."""
    words = ["alpha", "beta", "gamma", "delta", "kappa", "lambda"]
    rows = np.random.default_rng(1).normal(size=(6, 40)).astype(np.float32)
    stems, vectors = condensed(words, rows)
    centred = rows - rows.mean(axis=0)
    table = WordVectors(tuple(stems), vectors)
    for asked, row in zip(words, centred, strict=True):
        for word, cosine in table.near(stem(asked)):
            [place] = [number for number, other in enumerate(words) if stem(other) == word]
            other = centred[place]
            assert cosine == pytest.approx(row @ other / (np.linalg.norm(row) * np.linalg.norm(other)), abs=0.02)


def test_the_licence_of_the_vectors_stands_beside_them() -> None:
    """They are derived from a model, so they go with its licence."""
    text = (files("toolsearch.search.related") / "data" / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0" in text
