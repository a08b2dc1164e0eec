"""Dev and test by group: the same groups always get the same, and what is there stays where it is."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.errors import DataError
from toolsearch_datasets import names
from toolsearch_eval.data import load_data
from toolsearch_eval.data_check import check_data
from toolsearch_eval.splitting import (
    DIGEST,
    Rule,
    check_split,
    follows_hash,
    group_slices,
    hash_split,
    plan_split,
    split_digest,
    stored_splits,
    write_split,
)

GROUPS = st.dictionaries(st.text(max_size=5), st.sampled_from(["a", "b", "c"]), max_size=20)
RULES = st.sampled_from(["hash", "balanced"])


@given(GROUPS, GROUPS, RULES)
def test_adding_groups_moves_none_of_those_that_are_there(old: Any, new: Any, rule: Rule) -> None:
    """Whatever comes later and in whatever order, a group keeps its split."""
    first = plan_split(old, {}, rule)
    later = plan_split({**new, **old}, first.splits, rule)
    assert {group: later.splits[group] for group in old} == first.splits
    assert later.kept == len(old)
    assert later.new == tuple(sorted(set(new) - set(old)))


@given(GROUPS, RULES, st.randoms())
def test_the_same_groups_get_the_same_in_any_order(slices: Any, rule: Rule, random: Any) -> None:
    """The order of the file changes nothing."""
    items = list(slices.items())
    random.shuffle(items)
    assert plan_split(dict(items), {}, rule).splits == plan_split(slices, {}, rule).splits


@given(GROUPS)
def test_balanced_halves_differ_by_one_group_a_slice(slices: Any) -> None:
    """In each slice dev and test have as many groups, or one has one more."""
    splits = plan_split(slices, {}, "balanced").splits
    counts = Counter((slices[group], split) for group, split in splits.items())
    assert all(abs(counts[name, "dev"] - counts[name, "test"]) <= 1 for name in "abc")


@given(GROUPS)
def test_the_hash_hangs_on_the_name_alone(slices: Any) -> None:
    """By the rule `hash` each group is where the first byte of the SHA-256 of its name says."""
    splits = plan_split(slices, {}, "hash").splits
    for group, split in splits.items():
        first = int(hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:2], 16)
        assert split == ("dev" if first % 2 == 0 else "test")


def test_without_a_rule_it_goes_on_as_it_began() -> None:
    """New groups follow the hash where the stored ones do; a set without any, or with others, is balanced."""
    slices = dict.fromkeys(("a", "b", "c", "d"), "s")
    by_hash = {group: hash_split(group) for group in ("a", "b")}
    turned: Any = {group: "dev" if split == "test" else "test" for group, split in by_hash.items()}
    assert plan_split(slices, by_hash).rule == "hash"
    assert follows_hash(plan_split(slices, by_hash).splits)
    assert (plan_split(slices, {}).rule, plan_split(slices, turned).rule) == ("balanced", "balanced")


def test_new_groups_level_out_what_is_there() -> None:
    """Where one half of a slice is ahead the new groups go to the other until they are level."""
    stored: Any = {"a": "dev", "b": "dev", "c": "dev"}
    splits = plan_split(dict.fromkeys("abcdef", "s"), stored, "balanced").splits
    assert [splits[group] for group in "def"] == ["test"] * 3


def test_the_slice_of_a_group_is_that_of_most_of_its_queries(write_folder: Any) -> None:
    """Of several that are level it is the first by name."""
    rows = [
        {"query_id": f"q{number}", "text": "x", "slice": name, "group": group}
        for number, (group, name) in enumerate([("g", "b"), ("g", "b"), ("g", "a"), ("h", "b"), ("h", "a")])
    ]
    assert group_slices(load_data(write_folder(queries=rows)).queries) == {"g": "b", "h": "a"}


ROWS = [
    '{"query_id":"a", "text":"x", "split":"dev", "group":"g1"}',
    '{"query_id": "b", "text": "é", "slice": "s", "group": "g1"}',
    "",
    '{"query_id": "c", "text": "x", "note": 1}',
]


def test_only_rows_without_a_split_are_written_anew(write_folder: Any) -> None:
    """The split comes where the layout has it; rows of a group that has one get the same; the digest is kept."""
    folder = write_folder(queries="\n".join(ROWS) + "\n", about='# mine\nname = "n"\n[more]\nx = 1\n')
    data = load_data(folder)
    stored = stored_splits(data)
    assert stored == {"g1": "dev"}
    plan = plan_split(group_slices(data.queries), stored, "balanced")
    write_split(data, plan)
    split = plan.splits["c"]
    assert (folder / "queries.jsonl").read_text(encoding="utf-8").split("\n") == [
        ROWS[0],
        '{"query_id": "b", "text": "é", "slice": "s", "split": "dev", "group": "g1"}',
        "",
        f'{{"query_id": "c", "text": "x", "note": 1, "split": "{split}"}}',
        "",
    ]
    after = load_data(folder)
    assert stored_splits(after) == {"g1": "dev", "c": split}
    toml = (folder / "dataset.toml").read_text()
    assert toml == f'{DIGEST} = "{split_digest(plan.splits)}"\n# mine\nname = "n"\n[more]\nx = 1\n'
    assert check_split(after) == ("frozen", [])
    write_split(after, plan_split(group_slices(after.queries), stored_splits(after)))
    assert (folder / "dataset.toml").read_text() == toml


def test_a_split_by_hash_needs_no_digest(write_folder: Any) -> None:
    """What the names alone decide is checked by the names; no card is made for it."""
    folder = write_folder(queries=[{"query_id": f"q{number}", "text": "x"} for number in range(9)])
    data = load_data(folder)
    assert check_split(data)[1][0].message == "'q0' has none; run `toolsearch dataset split`"
    write_split(data, plan_split(group_slices(data.queries), {}, "hash"))
    assert check_split(load_data(folder)) == ("hash", [])
    assert not (folder / "dataset.toml").exists()


def places(problems: Any) -> list[tuple[str, int, str]]:
    """File, line and field of each problem."""
    return [(Path(each.path).name, each.line, each.field) for each in problems]


def test_what_speaks_against_a_split_is_told_with_its_place(write_folder: Any) -> None:
    """A group in two splits, a frozen split that was changed, and a split that is neither frozen nor the hash's."""
    rows = [{"query_id": f"q{number}", "text": "x", "split": "dev", "group": "q0"} for number in range(3)]
    rows[2]["split"] = "test"
    folder = write_folder(queries=rows)
    with pytest.raises(DataError) as caught:
        stored_splits(load_data(folder))
    assert places(caught.value.problems) == [("queries.jsonl", 3, "split")]
    assert places(check_split(load_data(folder))[1]) == [("queries.jsonl", 3, "split")]
    one = [{"query_id": "q", "text": "x", "split": "test" if hash_split("q") == "dev" else "dev"}]
    folder = write_folder(queries=one)
    rule, problems = check_split(load_data(folder))
    assert (rule, places(problems)) == ("", [("queries.jsonl", 0, "split")])
    assert problems[0].message.startswith("1 of 1 groups are not where their hash puts them ('q' for one)")
    folder = write_folder(queries=one, about=f'name = "n"\n{DIGEST} = "{split_digest({"q": one[0]["split"]})}"\n')
    assert check_split(load_data(folder)) == ("frozen", [])
    folder = write_folder(queries=[*one, {"query_id": "r", "text": "y z", "split": "dev"}])
    assert places(check_split(load_data(folder))[1]) == [("dataset.toml", 0, DIGEST)]
    assert ("dataset.toml", 0, DIGEST) in places(check_data(load_data(folder))[0])


@pytest.mark.parametrize("name", names())
def test_the_shipped_sets_are_split_by_hash(name: str) -> None:
    """Every group of a shipped set is where the hash of its name puts it."""
    assert check_split(load_data(name)) == ("hash", [])
