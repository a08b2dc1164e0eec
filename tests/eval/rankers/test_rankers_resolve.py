"""From names to rankers: shipped ones, arms alone, profiles in files, peers, and names with a slip of the pen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, REFERENCE
from toolsearch.errors import ConfigError, UnknownNameError, UsageError
from toolsearch.search.searcher import Searcher
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import Ranker, resolve_ranker
from toolsearch_eval.rankers.order import best_first
from toolsearch_eval.rankers.resolve import KNOWN, SHIPPED

TOOLS = [
    Tool(name="send_mail", description="Send a mail to a person."),
    Tool(name="read_file", description="Read a file from the disk."),
    Tool(name="list_files", description="List the files of a folder."),
]
LIBRARIES = {
    "bm25s": "bm25s",
    "sklearn-words": "sklearn",
    "sklearn-characters": "sklearn",
    "fastmcp-bm25": "fastmcp",
    "fastmcp-regex": "fastmcp",
    "pydantic-ai": "pydantic_ai",
    "toolpicker": "toolpicker",
}
PEERS = tuple(LIBRARIES)


def ranked(ranker: Ranker, queries: Sequence[str], tools: Sequence[Tool] = tuple(TOOLS)) -> list[list[str]]:
    """The names that a ranker gives."""
    ranker.index(tools)
    return [[name for name, _ in answer] for answer in ranker.rank(queries, 10)]


def test_the_known_rankers() -> None:
    """The names that are documented, and no others."""
    assert SHIPPED == (
        "reference",
        "default",
        "reference:keyword",
        "reference:tfidf",
        "default:keyword",
        "default:tfidf",
        "bm25f",
        "regex",
    )
    assert (*SHIPPED, *PEERS) == KNOWN


@pytest.mark.parametrize("name", [name for name in KNOWN if name != "fastmcp-regex"])  # it finds and does not rank
def test_every_known_ranker_finds_the_obvious_and_keeps_its_name(name: str) -> None:
    """Each ranker puts the tool that a query spells out first and says by which name it was asked for."""
    ranker = resolve_ranker(name)
    assert ranker.name == name
    answers = ranked(ranker, ["send a mail", "read file"])
    assert [answer[0] for answer in answers] == ["send_mail", "read_file"]


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(
    "tools",
    [[], [Tool(name="!!!")], [Tool(name="the")], [Tool(name="文件", description="读取文件")]],
    ids=["none", "no letter", "a stop word", "no Latin"],
)
def test_poor_catalogs_give_short_answers_and_no_fault(name: str, tools: list[Tool]) -> None:
    """A catalog with nothing in it, or nothing that a ranker can read, is one in which little is found."""
    answers = ranked(resolve_ranker(name), ["send", "", "!!!", "the", "\x00", "文件" * 50], tools)
    assert len(answers) == 6
    assert all(set(answer) <= {tool.name for tool in tools} for answer in answers)


@pytest.mark.parametrize("name", KNOWN)
def test_no_more_than_asked_for_and_none_at_all(name: str) -> None:
    """The depth is kept, and no query gives no answer."""
    ranker = resolve_ranker(name)
    ranker.index([Tool(name=f"read_file_{number}") for number in range(30)])
    assert [len(answer) for answer in ranker.rank(["read file"], 7)] == [7]
    assert list(ranker.rank([], 7)) == []


def test_one_arm_alone_scores_as_that_arm(tmp_path: Path) -> None:
    """`profile:arm` is the profile with the other arm's weight at 0, for shipped profiles and for files."""
    (tmp_path / "mine.toml").write_text('ranking = "standard"\nweight_keyword = 0.7\n', encoding="utf-8")
    queries = ["send files", "person", "read the disk"]
    for spec, config in (
        ("default:keyword", DEFAULT.replace(weight_tfidf=0.0)),
        ("default:tfidf", DEFAULT.replace(weight_keyword=0.0)),
        ("reference:keyword", REFERENCE.replace(weight_tfidf=0.0)),
        (f"{tmp_path / 'mine.toml'}:tfidf", DEFAULT.replace(weight_keyword=0.0)),
    ):
        ranker = resolve_ranker(spec)
        ranker.index(TOOLS)
        answers = Searcher(TOOLS, config).search_batch(queries, max_results=10)
        expected = [[(result.name, result.score) for result in answer.results] for answer in answers]
        assert [list(answer) for answer in ranker.rank(queries, 10)] == expected, spec


def test_a_profile_in_a_file_is_searched_with(tmp_path: Path) -> None:
    """Weights of a TOML file count: without field weights but the description's, a name is no longer found."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'ranking = "standard"\nweight_keyword = 0.0\nweight_tfidf = 1.0\n'
        "[field_weights]\nname = 0.0\nserver = 0.0\nhint = 0.0\ndescription = 1.0\nparameter_names = 0.0\n"
        "parameter_descriptions = 0.0\n",
        encoding="utf-8",
    )
    ranker = resolve_ranker(str(path))
    ranker.index(TOOLS)
    config = DEFAULT.replace(
        weight_keyword=0.0,
        weight_tfidf=1.0,
        field_weights=type(DEFAULT.field_weights)(
            name=0.0, server=0.0, hint=0.0, description=1.0, parameter_names=0.0, parameter_descriptions=0.0
        ),
    )
    [answer] = Searcher(TOOLS, config).search_batch(["folder"], max_results=5)
    assert [list(each) for each in ranker.rank(["folder"], 5)] == [[(r.name, r.score) for r in answer.results]]


UNKNOWN = [
    ("defualt", "unknown ranker 'defualt'. Did you mean 'default'"),
    ("bm25", "Did you mean 'bm25s', 'bm25f'"),
    ("sklearn-word", "Did you mean 'sklearn-words'"),
    ("default:keywrd", "Did you mean 'default:keyword'"),
    ("defualt:keyword", "Did you mean 'default:keyword'"),
    ("", "Known: bm25f, bm25s, default"),
    (":make", "unknown ranker ':make'"),
    ("zzz", "Also: a profile's file.toml, st:MODEL, or module:factory."),
    ("a.toml:keywrd", "unknown ranker 'a.toml:keywrd'"),
]


@pytest.mark.parametrize(("spec", "message"), UNKNOWN)
def test_unknown_rankers_name_near_ones(spec: str, message: str) -> None:
    """A slip of the pen is answered with the names that are near and the other accepted forms."""
    with pytest.raises(UnknownNameError) as caught:
        resolve_ranker(spec)
    assert message in str(caught.value)


def test_a_profile_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """A missing file and a wrong setting are errors of the configuration."""
    with pytest.raises(ConfigError, match="can't be read as a profile"):
        resolve_ranker("missing.toml")
    (tmp_path / "bad.toml").write_text("weight_keywrd = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="weight_keywrd"):
        resolve_ranker(str(tmp_path / "bad.toml"))


@pytest.mark.parametrize("name", PEERS)
def test_a_missing_library_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its library a peer says what to install."""
    library = LIBRARIES[name]
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError) as caught:
        resolve_ranker(name)
    assert str(caught.value) == (
        f"the ranker {name!r} needs {library}, which is not installed; install toolsearch[peers]."
    )


def test_labels_know_a_reserved_name_as_it_was_given() -> None:
    """A server's tool with a core tool's name is searched under its full id and judged under the name in the data."""
    tools = [Tool(name="Read", server="disk", description="Read a file."), *TOOLS[:1]]
    for name in ("reference", "default"):
        assert ranked(resolve_ranker(name), ["read a file"], tools)[0][0] == "Read"


@pytest.mark.parametrize("name", KNOWN)
def test_the_same_numbers_one_by_one_and_in_batches(name: str) -> None:
    """A ranking does not depend on the queries that are ranked with it."""
    tiny = load_data("tiny")
    ranker = resolve_ranker(name)
    ranker.index(tiny.tools)
    texts = [query.text for query in tiny.queries if query.text]
    together = [list(answer) for answer in ranker.rank(texts, 10)]
    assert together == [list(ranker.rank([text], 10)[0]) for text in texts]


def test_rankers_can_be_judged_side_by_side() -> None:
    """All known rankers in one call, each with its own numbers, on a shipped set."""
    result = evaluate(load_data("tiny"), [resolve_ranker(name) for name in KNOWN], split="all")
    assert tuple(result.rankings) == KNOWN
    form = result.to_json()["rankers"]
    assert all(0.0 <= form[name]["measures"]["nDCG@10"]["mean"] <= 1.0 for name in KNOWN)
    assert form["default"]["measures"]["nDCG@10"]["mean"] > 0.5


def test_best_first_rounds_before_it_compares() -> None:
    """Scores that differ in the last bits alone are a tie, which names settle."""
    results = [("b", 0.1 + 0.2), ("a", 0.3), ("c", 0.30000001)]
    assert [name for name, _ in best_first(results, 3)] == ["c", "a", "b"]
    assert best_first(results, 0) == []
