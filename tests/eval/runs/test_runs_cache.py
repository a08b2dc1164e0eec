"""Rankings that are kept: what is there is not ranked again, and nothing that hangs on anything else is taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolsearch.config import DEFAULT
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.evaluate import Evaluation, Interrupted, evaluate
from toolsearch_eval.rankers import identity, resolve_ranker
from toolsearch_eval.rankers.identity import identity_of
from toolsearch_eval.rankers.peers_vectors import SentenceVectors
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.rankers.resolve import KNOWN
from toolsearch_eval.runs.cache import RankingCache, default_cache_folder

Asked = Callable[[], list[list[str]]]


@pytest.fixture
def cache(tmp_path: Path) -> RankingCache:
    """An empty cache."""
    return RankingCache(tmp_path / "cache")


def outcome(result: Evaluation) -> Any:
    """All that came out, but for times."""
    form = result.to_json()
    for values in form["rankers"].values():
        del values["latency_ms"], values["build_ms"]
    return form, {name: (list(ran.answers), list(ran.silent)) for name, ran in result.runs.items()}


def test_what_was_ranked_is_not_ranked_again(
    many: DataSet, cache: RankingCache, rankers: ModuleType, asked: Asked
) -> None:
    """The second evaluation asks nothing of the ranker and gives the same, times too."""
    first = evaluate(many, [rankers.Counting()], cache=cache)
    assert [len(batch) for batch in asked()] == [50, 50, 50, 50, 30, 20]
    assert first.runs["counting"].reused == 0
    rankers.LOG.unlink()
    second = evaluate(many, [rankers.Counting()], cache=cache)
    assert not rankers.LOG.exists()
    assert second.runs["counting"].reused == 250
    assert outcome(second) == outcome(first) == outcome(evaluate(many, [rankers.Counting()]))
    assert second.to_json() == first.to_json()


@pytest.mark.parametrize("name", KNOWN)
def test_every_ranker_with_a_name_is_kept(name: str, many: DataSet, cache: RankingCache) -> None:
    """Names, profiles, arms and peers say what their results hang on, and what is kept is what they gave."""
    first = evaluate(many, [resolve_ranker(name)], cache=cache)
    second = evaluate(many, [resolve_ranker(name)], cache=cache)
    assert second.runs[name].reused == 250
    assert outcome(second) == outcome(first) == outcome(evaluate(many, [resolve_ranker(name)]))


def test_only_chunks_with_another_text_are_ranked(
    many: DataSet, cache: RankingCache, rankers: ModuleType, asked: Asked
) -> None:
    """A query that is reworded costs its own chunk; a label, an id or a slice that changes costs nothing."""
    evaluate(many, [rankers.Counting()], cache=cache)
    rankers.LOG.unlink()
    queries = list(many.queries)
    queries[60] = replace(queries[60], text="common other")
    queries[0] = replace(queries[0], slice="new")
    evaluate(
        replace(many, queries=tuple(queries), judgements={**many.judgements, "q1": {"tool_0": 1}}),
        [rankers.Counting()],
        cache=cache,
    )
    assert [batch[10] for batch in asked()] == ["common other"]


Change = Callable[[DataSet, Any], tuple[DataSet, Any, int]]
CHANGES: dict[str, Change] = {
    "another catalog": lambda data, ranker: (replace(data, tools=data.tools[:4]), ranker, 10),
    "another order of the catalog": lambda data, ranker: (replace(data, tools=data.tools[::-1]), ranker, 10),
    "another depth": lambda data, ranker: (data, ranker, 11),
    "another fingerprint": lambda data, ranker: (data, _declared(ranker, "counting 2"), 10),
    "another ranker of the same fingerprint": lambda data, ranker: (data, _named(ranker, "other"), 10),
}


def _declared(ranker: Any, fingerprint: str) -> Any:
    ranker.fingerprint = fingerprint
    return ranker


def _named(ranker: Any, name: str) -> Any:
    ranker.name = name
    return ranker


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_is_taken_that_was_made_with_anything_else(
    change: Change, many: DataSet, cache: RankingCache, rankers: ModuleType
) -> None:
    """Another catalog, depth or ranker ranks all of it anew."""
    evaluate(many, [rankers.Counting()], cache=cache)
    data, ranker, depth = change(many, rankers.Counting())
    assert evaluate(data, [ranker], depth=depth, cache=cache).runs[ranker.name].reused == 0


def test_another_profile_code_or_library_is_another_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them changes the fingerprint; the name in reports does not."""
    ranker = ProfileRanker("default", DEFAULT)

    def fingerprint(each: Any) -> str:
        found = identity_of(each)
        assert found is not None
        return found.fingerprint

    plain = fingerprint(ranker)
    assert fingerprint(ProfileRanker("mine.toml", DEFAULT)) == plain
    others = [
        fingerprint(ProfileRanker("default", DEFAULT.replace(saturation=1.3))),
        fingerprint(resolve_ranker("bm25f")),
    ]
    monkeypatch.setattr(identity, "package_version", lambda name: "0" if name == "numpy" else None)
    others.append(fingerprint(ranker))
    monkeypatch.setattr(identity, "code_version", lambda: "other")
    others.append(fingerprint(ranker))
    assert len({plain, *others}) == 5


def test_the_version_of_a_peers_library_is_part_of_what_it_is() -> None:
    """The identity of a peer names its distribution with the installed version."""
    found = identity_of(resolve_ranker("bm25s"))
    assert found is not None
    assert found.packages["bm25s"] == identity.package_version("bm25s") is not None


def test_a_ranker_that_says_nothing_about_itself_is_never_kept(
    many: DataSet, cache: RankingCache, rankers: ModuleType, asked: Asked
) -> None:
    """One's own ranker without a fingerprint ranks anew each time, and a subclass of a shipped one too."""
    for _ in range(2):
        assert evaluate(many, [rankers.Undeclared()], cache=cache).runs["counting"].reused == 0
    assert len(asked()) == 12
    assert list(cache.folder.iterdir()) == []

    class Mine(ProfileRanker):
        """Might do anything."""

    assert identity_of(Mine("default", DEFAULT)) is None


def test_a_fingerprint_reaches_through_the_command_lines_name(rankers: ModuleType) -> None:
    """`module:factory` has the fingerprint that the object, or the function, declares."""
    found = identity_of(resolve_ranker("rankers_of_test:Counting"))
    assert found is not None
    assert found.settings["fingerprint"] == "counting 1"
    assert identity_of(resolve_ranker("rankers_of_test:Undeclared")) is None


@pytest.mark.parametrize("declared", ["", " ", 7])
def test_a_fingerprint_that_is_none_is_refused(
    declared: object, many: DataSet, cache: RankingCache, rankers: ModuleType
) -> None:
    """It must be a text with something in it; the message says what it is for."""
    with pytest.raises(UsageError, match="it must be a text, not empty, that changes with everything"):
        evaluate(many, [_declared(rankers.Counting(), declared)], cache=cache)  # type: ignore[arg-type]


def test_a_model_in_a_folder_is_known_by_its_files_and_a_named_one_not(tmp_path: Path) -> None:
    """A changed file is another model; what a name stands for can change unseen, so that it is not kept."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"1")
    ranker = SentenceVectors(f"st:{tmp_path / 'model'}", None)
    first = identity_of(ranker)
    (tmp_path / "model" / "weights").write_bytes(b"2")
    second = identity_of(ranker)
    assert first is not None
    assert second is not None
    assert first.fingerprint != second.fingerprint
    assert identity_of(SentenceVectors("st:some-model", None)) is None


def test_failures_are_never_kept_and_what_was_done_before_is(
    many: DataSet, cache: RankingCache, rankers: ModuleType, asked: Asked
) -> None:
    """The query that fails stands in the third chunk: two are kept, and the third is tried again each time."""
    for reused in (0, 2):
        with pytest.raises(UsageError, match="ranker 'counting' failed: query 'q120': ValueError: no"):
            evaluate(many, [rankers.Failing()], cache=cache)
        assert len(list(cache.folder.rglob("*.json"))) == 2, reused
    assert [len(batch) for batch in asked()] == [50, 50]


def test_an_interrupt_keeps_what_was_ranked(many: DataSet, cache: RankingCache, rankers: ModuleType) -> None:
    """After Ctrl-C in the third chunk the same call takes two chunks from before."""
    with pytest.raises(Interrupted):
        evaluate(many, [resolve_ranker("bm25f"), rankers.Stopping()], cache=cache)
    ranker = rankers.Stopping()
    type(ranker).rank = rankers.Counting.rank
    assert evaluate(many, [ranker], cache=cache).runs["counting"].reused == 100


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "no JSON": lambda data: b"\xff\xfe{",
    "a list": lambda data: b"[]",
    "a changed score": lambda data: data.replace(b"0.66666", b"0.56666"),
    "a changed name": lambda data: data.replace(b"tool_1", b"tool_2"),
    "no digest": lambda data: (
        json.dumps({"answers": json.loads(data)["answers"]}).encode() if b"answers" in data else b"{}"
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_as_good_as_none(
    damage: Callable[[bytes], bytes], many: DataSet, cache: RankingCache, rankers: ModuleType
) -> None:
    """Whatever happened to the files, they are ranked anew and put right, and the outcome is the same."""
    first = evaluate(many, [rankers.Counting()], cache=cache)
    paths = sorted(cache.folder.rglob("*.json"))
    before = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.write_bytes(damage(before[path]))
    second = evaluate(many, [rankers.Counting()], cache=cache)
    assert outcome(second) == outcome(first)
    answers = {path: data for path, data in before.items() if b'"answers"' in data}
    assert {path: path.read_bytes() for path in answers} == answers


def test_a_file_with_a_right_digest_and_wrong_content_is_not_taken(
    many: DataSet, cache: RankingCache, rankers: ModuleType
) -> None:
    """Names that the catalog lacks, twins, too many results and numbers that are none never become results."""
    shelf = cache.shelf(rankers.Counting(), many.tools, 2)
    assert shelf is not None
    query = [Query(query_id="q", text="x")]
    known = {"a", "b", "c"}
    good: list[Any] = [[0.5, True, [["a", 1.0], ["b", 0.5]]]]
    wrong: list[Any] = [
        [],
        good * 2,
        [[0.5, True, [["z", 1.0]]]],
        [[0.5, True, [["a", 1.0], ["a", 0.5]]]],
        [[0.5, True, [["a", 1.0], ["b", 0.5], ["c", 0.1]]]],
        [[0.5, True, [["a", True]]]],
        [[0.5, True, [["a", "1"]]]],
        [[0.5, 1, []]],
        [["sure", None, []]],
        [[0.5, True]],
        [{}],
        {},
    ]
    for value in wrong:
        shelf._write("answers", query, value)
        assert shelf.read(query, known) is None, value
    shelf._write("answers", query, good)
    found = shelf.read(query, known)
    assert found is not None
    assert found[0].results == (("a", 1.0), ("b", 0.5))
    bad_times: list[Any] = [{"p50": "1", "p95": 2, "build": 3}, {"p50": 1, "p95": 2, "build": None}, {"p50": 1}, []]
    for times in bad_times:
        shelf._write("times", query, times)
        assert shelf.read_times(query) is None, times


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A file in its place is wrong use."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"the cache '.*file' can't be written: .*; name another folder"):
        RankingCache(tmp_path / "file")


def test_a_full_disk_costs_the_cache_and_not_the_evaluation(
    many: DataSet, cache: RankingCache, rankers: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing more can be written, the evaluation goes on, and no half file stays."""

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("toolsearch_eval.runs.cache.os.replace", full)
    result = evaluate(many, [rankers.Counting()], cache=cache)
    assert len(result.rankings["counting"]) == 230
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "linux", "/c/toolsearch/rankings"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "linux", "/h/.cache/toolsearch/rankings"),
        ({"HOME": "/h"}, "linux", "/h/.cache/toolsearch/rankings"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/toolsearch/rankings"),
        ({"LOCALAPPDATA": "/l", "XDG_CACHE_HOME": "/c"}, "win32", "/l/toolsearch/rankings"),
    ],
)
def test_the_cache_stands_where_the_user_has_caches(environment: dict[str, str], platform: str, expected: str) -> None:
    """The folder follows the custom of the system, and a relative path, which means nothing there, is passed over."""
    assert default_cache_folder(environment, platform=platform).as_posix() == expected
