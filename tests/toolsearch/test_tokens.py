"""The token counter: exact with the extra, a calibrated estimate without."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolsearch_datasets
from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.tokens import ESTIMATE, token_counter


def _definitions() -> list[str]:
    rows = []
    for data_set in toolsearch_datasets.names():
        path = toolsearch_datasets.folder(data_set) / "catalog.jsonl"
        rows += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = [{key: row.get(key) for key in ("name", "description", "input_schema")} for row in rows]
    texts += [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in builtin_catalog()
    ]
    return [json.dumps(text, ensure_ascii=False, separators=(",", ":")) for text in texts]


def _queries() -> list[str]:
    path = toolsearch_datasets.folder("builtin") / "queries.jsonl"
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("The quick brown fox jumps over the lazy dog.", 10)],
)
def test_the_real_encoding_counts_as_published(text: str, tokens: int) -> None:
    """The counter gives the known o200k counts, and a special token's spelling is ordinary text."""
    assert token_counter("bpe").count(text) == tokens


def test_auto_takes_the_real_encoding_where_it_is_installed() -> None:
    """With the extra installed, `auto` counts with o200k and says so by name."""
    assert token_counter().name == token_counter("bpe").name == "o200k_base"


def test_without_the_extra_auto_is_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, `auto` is the estimate under its own name and `bpe` says what to install."""
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert token_counter("auto").name == "estimate"
    with pytest.raises(UsageError, match=r"toolsearch\[tokens\]"):
        token_counter("bpe")


def test_an_unknown_counter_is_refused_with_near_names() -> None:
    """A counter that does not exist is an error that names the near one."""
    with pytest.raises(UnknownNameError, match="estimate"):
        token_counter("estimated")  # type: ignore[arg-type]


def test_a_text_beyond_the_encodings_limit_is_counted_in_pieces() -> None:
    """A text of more than a million characters is counted, cut where no token is lost."""
    text = "hello " * 200_000
    assert abs(token_counter("bpe").count(text) - 200_001) <= 10


def test_a_lone_surrogate_is_counted() -> None:
    """Text that is not valid Unicode is counted and raises nothing, by both counters."""
    assert token_counter("bpe").count("a\ud800b") > 0
    assert ESTIMATE.count("a\ud800b") > 0


def test_the_estimate_of_all_shipped_definitions_is_within_two_percent() -> None:
    """The sum over all shipped tool definitions, which thresholds and savings use, is within 2%."""
    texts = _definitions()
    real = sum(token_counter("bpe").count(text) for text in texts)
    assert sum(ESTIMATE.count(text) for text in texts) == pytest.approx(real, rel=0.02)


def test_the_estimate_of_one_definition_is_off_by_little() -> None:
    """A single definition is off by at most 3% on average, and by 15% or, where it is tiny, by 6 tokens at worst."""
    counter = token_counter("bpe")
    pairs = [(ESTIMATE.count(text), counter.count(text)) for text in _definitions()]
    assert sum(abs(guess / real - 1) for guess, real in pairs) / len(pairs) <= 0.03
    assert all(abs(guess - real) <= max(6, 0.15 * real) for guess, real in pairs)


def test_the_estimate_of_queries_is_as_stated() -> None:
    """A query's count is off by at most 15% on average, and their sum by at most 5%."""
    counter = token_counter("bpe")
    pairs = [(ESTIMATE.count(text), counter.count(text)) for text in _queries()]
    assert sum(abs(guess / real - 1) for guess, real in pairs) / len(pairs) <= 0.15
    assert sum(guess for guess, _ in pairs) == pytest.approx(sum(real for _, real in pairs), rel=0.05)


@pytest.mark.parametrize(
    "text",
    [
        "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQgdGV4dCB0aGF0IG5vYm9keSByZWFkcw" * 20,
        "3f9a8b2c7d1e6f5a4b3c2d1e0f9a8b7c" * 40,
        "天气预报说明天会下雨，请带伞。" * 40,
        "🎉🚀✨" * 100,
        "\n\n\n    return x\n" * 60,
        "=" * 400,
    ],
)
def test_the_estimate_keeps_its_footing_on_unusual_text(text: str) -> None:
    """Base64, hexadecimal, Chinese, emoji, code and rulers are within a factor of two, short of the rulers' packing."""
    real = token_counter("bpe").count(text)
    assert real / 2 <= ESTIMATE.count(text)
    if set(text) != {"="}:
        assert ESTIMATE.count(text) <= real * 2


@given(st.text(max_size=300))
def test_only_the_empty_text_costs_nothing(text: str) -> None:
    """The estimate is 0 for the empty text and at least 1 for any other."""
    assert (ESTIMATE.count(text) == 0) == (text == "")


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_estimate_of_a_joined_text_is_close_to_its_halves(first: str, second: str) -> None:
    """Text counts where it stands: joining two texts changes the count by little, so budgets can be added up."""
    together = ESTIMATE.count(first + second)
    assert abs(together - ESTIMATE.count(first) - ESTIMATE.count(second)) <= 10
