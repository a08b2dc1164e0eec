from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, EXTRA_PROFILES, SearchConfig, from_toml, load_profile, to_toml
from toolsearch.errors import ConfigError, UsageError
from toolsearch.folders import keep_caches, kept_caches
from toolsearch.search.batch import PreparedQueries
from toolsearch.search.explain import exact_three
from toolsearch.search.searcher import Searcher
from toolsearch.search.semantic.arm import MODELS, Models
from toolsearch.search.semantic.encoder import Vectors
from toolsearch.search.semantic.text import encoded_text
from toolsearch.search.semantic.vectors import VectorStore

Strategy = st.SearchStrategy
SEMANTIC = load_profile("default+semantic")


class WordHashes:
    """Deterministic vectors: each word a direction of its own by hash, words of one meaning the same direction."""

    name = "hashes"
    fingerprint = "f" * 64
    dimension = 16
    scripts = frozenset({"latin"})

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row for each text; the texts are remembered."""
        self.encoded += texts
        return np.array([self._row(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dimension)

    def _row(self, text: str) -> list[float]:
        row = np.zeros(self.dimension)
        for word in text.lower().replace(".", " ").split():
            meaning = {"dispatch": "send", "letter": "message"}.get(word, word)
            row += np.frombuffer(hashlib.sha256(meaning.encode()).digest(), dtype=np.int16) / 32768
        return list(row / max(float(np.linalg.norm(row)), 1e-9))


class Failing(WordHashes):
    """A model whose library breaks at its work."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Fail."""
        raise RuntimeError("out of memory")


def models(encoder: WordHashes | None = None, folder: Path | None = None) -> Models:
    """A store of models that knows one."""
    given_encoder = encoder or WordHashes()
    return Models(lambda name: given_encoder, folder=lambda: folder)


def missing(name: str) -> WordHashes:
    """What loading gives without the extra."""
    raise UsageError(f"the model {name!r} is not installed; install toolsearch[semantic].")


CATALOG = [Tool(name="send_message"), Tool(name="open_file"), Tool(name="list_issue"), Tool(name="delete_channel")]


@given(data=st.data(), weight=st.floats(0.0, 5.0))
@settings(max_examples=40)
def test_three_arms_and_their_parts_add_up_to_the_score_exactly(
    data: st.DataObject,
    weight: float,
    configs: Strategy[SearchConfig],
    catalogs: Strategy[list[Tool]],
    queries: Strategy[str],
) -> None:
    """What keyword, tfidf and semantic gave is the score to the last bit, in arms, parts and the explanation."""
    config = data.draw(configs).replace(weight_semantic=weight)
    searcher = Searcher(data.draw(catalogs), config, models=models())
    query = data.draw(queries)
    for result in searcher.search(query, max_results=50, explain=True).results:
        assert math.fsum(part.value for part in result.parts) == result.score
        assert math.fsum(result.arms.values()) == result.score
        assert min(result.arms.values()) >= 0.0
        for arm, share in result.arms.items():
            parts = [part.value for part in result.parts if part.arm == arm]
            assert math.fsum(parts) == pytest.approx(share, abs=3e-9)
        told = searcher.explain(query, result.name, max_results=50)
        assert (told.rank, told.score, told.parts) == (result.rank, result.score, result.parts)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_three_shares_are_made_to_add_up_exactly(keyword: float, tfidf: float, semantic: float) -> None:
    """The shares add up to the rounded score, none is below 0 and none moves by more than rounding."""
    total = round(keyword + tfidf + semantic, 9)
    arms = exact_three(total, keyword, semantic)
    assert math.fsum(arms.values()) == total
    assert min(arms.values()) >= 0.0
    assert arms["keyword"] == pytest.approx(keyword, abs=4e-9)
    assert arms["semantic"] == pytest.approx(semantic, abs=4e-9)


@given(data=st.data())
@settings(max_examples=40)
def test_batch_and_tuner_give_what_a_single_search_gives(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """With the third arm, too, a query has one answer however many are asked together or prepared for a tuner."""
    config = data.draw(configs).replace(weight_semantic=data.draw(st.floats(0.0, 3.0)))
    asked = data.draw(st.lists(queries, min_size=1, max_size=4))
    known, snapshot = models(), ToolRegistry(data.draw(catalogs)).snapshot()
    searcher = Searcher(snapshot, config, models=known)
    single = [searcher.search(query, max_results=9, explain=True) for query in asked]
    assert searcher.search_batch(asked, max_results=9, explain=True) == single
    prepared = PreparedQueries(snapshot, asked, models=known)
    found, scores = prepared.ranked(config, 9)
    for row, answer in enumerate(single):
        names = [prepared.tools[number].name for number in found[row] if number >= 0]
        assert names == [result.name for result in answer.results]
        assert scores[row, : len(names)].tolist() == [result.score for result in answer.results]


@given(data=st.data())
@settings(max_examples=40)
def test_required_words_and_names_hold_with_the_third_arm(
    data: st.DataObject, configs: Strategy[SearchConfig], catalogs: Strategy[list[Tool]], queries: Strategy[str]
) -> None:
    """However heavy meaning is, `+word` filters as it does on two arms and a whole name stands first."""
    config = data.draw(configs).replace(weight_semantic=100.0, semantic_reach=0.0)
    catalog = data.draw(catalogs)
    with_arm, without = (
        Searcher(catalog, each, models=models()) for each in (config, config.replace(weight_semantic=0))
    )
    query = f"{data.draw(queries)} +send"
    ours, plain = (searcher.search(query, max_results=50) for searcher in (with_arm, without))
    assert {result.name for result in ours.results} == {result.name for result in plain.results}
    for tool in ToolRegistry(catalog).deferred():
        assert with_arm.search(tool.name).results[0].reason == "exact_name"


def test_a_tool_is_found_by_meaning_alone() -> None:
    """A query that shares no word with any tool finds the one that means the same; on two arms it finds nothing."""
    found = Searcher(CATALOG, SEMANTIC, models=models()).search("dispatch letter", explain=True)
    bare = SEMANTIC.replace(weight_semantic=0.0, synonym_weight=0.0, near_synonym_weight=0.0)
    assert Searcher(CATALOG, bare).search("dispatch letter").results == ()
    best = found.results[0]
    assert best.name == "send_message"
    # Weight .43 beside 1 of the other two, cosine 1.
    assert best.arms["semantic"] == pytest.approx(0.43 / 1.43, abs=1e-6)
    assert ("semantic", "", "cosine 1.000") in {(part.arm, part.field, part.term) for part in best.parts}


@pytest.mark.parametrize("query", ["发送消息", "메시지 보내기", "メッセージを送る", "the of", "???"])
def test_the_arm_abstains_where_its_model_can_not_read(query: str) -> None:
    """In another script, and without a word that means something, every answer is that of the two arms."""
    catalog = [*CATALOG, Tool(name="发送消息"), Tool(name="메시지_보내기"), Tool(name="the_of")]
    two = Searcher(catalog, SEMANTIC.replace(weight_semantic=0.0)).search(query, explain=True)
    three = Searcher(catalog, SEMANTIC, models=models()).search(query, explain=True)
    assert [(each.name, each.score, each.parts) for each in three.results] == [
        (each.name, each.score, each.parts) for each in two.results
    ]


def test_a_tool_that_the_model_can_not_read_keeps_its_two_arm_score() -> None:
    """In a mixed catalog a tool in another script is neither pulled down nor up by the arm that abstains from it."""
    catalog = [*CATALOG, Tool(name="发送", description="slack 发送频道消息和通知给用户")]
    two = Searcher(catalog, SEMANTIC.replace(weight_semantic=0.0)).search("slack", max_results=9)
    three = Searcher(catalog, SEMANTIC, models=models()).search("slack", max_results=9)
    scores = [{result.name: result.score for result in each.results}["发送"] for each in (two, three)]
    assert scores[0] == scores[1] > 0


@pytest.mark.parametrize("encoder", [None, Failing()])
def test_without_its_model_a_profile_says_so_and_runs_on_two_arms(encoder: WordHashes | None) -> None:
    """A missing extra, or a model that fails at its work, is a warning and the two-arm answer, never an exception."""
    store = Models(missing) if encoder is None else models(encoder)
    searcher = Searcher(CATALOG, SEMANTIC, models=store)
    answer = searcher.search("send message")
    plain = Searcher(CATALOG, SEMANTIC.replace(weight_semantic=0.0)).search("send message")
    assert answer.results == plain.results
    [warning] = answer.warnings
    assert "runs on two arms" in warning
    assert ("toolsearch[semantic]" if encoder is None else "RuntimeError: out of memory") in warning
    assert searcher.search("send message").warnings == answer.warnings


def test_only_new_texts_are_encoded_and_vectors_are_kept_on_disk(tmp_path: Path) -> None:
    """A changed tool costs one encoding, and another process none; queries are not written."""
    first = WordHashes()
    registry = ToolRegistry(CATALOG)
    searcher = Searcher(registry, SEMANTIC, models=models(first, tmp_path))
    searcher.search("dispatch")
    assert sorted(first.encoded) == sorted([*map(encoded_text, CATALOG), "dispatch"])
    registry.add(Tool(name="archive_channel"))
    searcher.search("dispatch")
    assert first.encoded[5:] == ["archive channel"]
    second = WordHashes()
    again = Searcher(registry, SEMANTIC, models=models(second, tmp_path)).search("dispatch")
    assert second.encoded == ["dispatch"]
    assert again == searcher.search("dispatch")


def test_a_damaged_or_foreign_pack_counts_as_missing(tmp_path: Path) -> None:
    """Cut files are encoded anew, and nothing is left half written."""
    VectorStore(WordHashes(), tmp_path).of(["a", "b"])
    [pack] = tmp_path.iterdir()
    pack.write_bytes(pack.read_bytes()[:50])
    encoder = WordHashes()
    VectorStore(encoder, tmp_path).of(["a", "b", "a"])
    assert encoder.encoded == ["a", "b"]
    assert [path.name for path in tmp_path.iterdir()] == [pack.name]
    last = WordHashes()
    VectorStore(last, tmp_path).of(["b"])
    assert last.encoded == []


def test_the_folder_is_bounded_and_one_that_can_not_be_written_costs_nothing(tmp_path: Path) -> None:
    """Old packs go when all together are too large; a file in the folder's place is no failure."""
    store = VectorStore(WordHashes(), tmp_path / "kept", most_bytes=2000)
    for number in range(9):
        store.of([f"text {number}"])
    packs = list((tmp_path / "kept").iterdir())
    assert 0 < sum(path.stat().st_size for path in packs) <= 2000
    (tmp_path / "file").write_text("")
    assert VectorStore(WordHashes(), tmp_path / "file").of(["a"]).shape == (1, 16)


def test_the_models_of_a_process_keep_their_vectors_where_it_keeps_its_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The models that ship write nothing until a folder is named, and then find there what another process left."""
    encoder = WordHashes()
    monkeypatch.setattr(MODELS, "_load", lambda name: encoder)
    monkeypatch.setattr(MODELS, "_missing", {})
    before = kept_caches()
    try:
        for folder, encoded in ((None, 5), (tmp_path, 5), (tmp_path, 1), (None, 5)):
            encoder.encoded.clear()
            monkeypatch.setattr(MODELS, "_arms", {})
            keep_caches(folder)
            Searcher(CATALOG, SEMANTIC).search("dispatch")
            assert len(encoder.encoded) == encoded
        assert [path.suffix for path in (tmp_path / "vectors").iterdir()] == [".npz"]
    finally:
        keep_caches(before)


def test_the_profile_is_default_and_one_arm_more() -> None:
    """`default+semantic` differs from `default` in the arm's weight and the bound of its flag, and survives TOML."""
    assert EXTRA_PROFILES["default+semantic"] is SEMANTIC
    same = SEMANTIC.replace(name="default", weight_semantic=0.0, confidence_bound=DEFAULT.confidence_bound)
    assert same == DEFAULT
    assert from_toml(to_toml(SEMANTIC)) == SEMANTIC


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weight_semantic": -1.0}, "weight_semantic is -1.0"),
        ({"semantic_model": " "}, "semantic_model is ' '"),
        ({"semantic_floor": 0.5, "semantic_ceiling": 0.5}, "the floor must be below the ceiling"),
        ({"semantic_ceiling": 2.0}, "semantic_ceiling is 2.0"),
    ],
)
def test_settings_of_the_arm_are_checked(changes: dict[str, float], said: str) -> None:
    """What can't be used is refused with the setting's name."""
    with pytest.raises(ConfigError, match=said):
        DEFAULT.replace(**changes)
