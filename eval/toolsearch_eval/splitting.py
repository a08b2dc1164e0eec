"""Dev and test by group, for good: what a group was given once it keeps, and the same groups always get the same.

Two rules give a group that has no split yet its own:

- `hash`: dev where the first byte of the SHA-256 of the group's name is even, else test. It hangs on the name alone.
- `balanced`: slice by slice, in the order of that hash, each group goes where its slice has fewer groups, and where the
  two are level to where the hash says. Halves are equal to one group a slice; which one it is hangs on the groups that
  were there, so the result is frozen: a digest of it stands in `dataset.toml` as `split_digest`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from toolsearch.catalog.names import shown
from toolsearch.errors import DataError, Problem, UsageError
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.data_files import read_rows, read_text

Split = Literal["dev", "test"]
Rule = Literal["hash", "balanced"]
DIGEST: Final = "split_digest"
"""The key of `dataset.toml` that holds the digest of a frozen split."""

_DIGEST_LINE = re.compile(rf"^{DIGEST}\s*=.*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan:
    """Which group belongs where.

    Attributes:
        rule: The rule by which new groups were given theirs.
        splits: The split of every group.
        kept: Groups that had theirs.
        new: Groups that were given theirs now, sorted.
    """

    rule: Rule
    splits: Mapping[str, Split]
    kept: int
    new: tuple[str, ...]


def hash_split(group: str) -> Split:
    """The split that the rule `hash` gives a group.

    >>> hash_split("github-issue"), hash_split("q1")
    ('dev', 'test')
    """
    return "test" if _hash(group)[0] % 2 else "dev"


def _hash(group: str) -> bytes:
    return hashlib.sha256(group.encode("utf-8", "surrogatepass")).digest()


def plan_split(slices: Mapping[str, str], stored: Mapping[str, Split], rule: Rule | None = None) -> SplitPlan:
    """A split for every group.

    Args:
        slices: The slice of every group.
        stored: The groups that have a split; they keep it.
        rule: For the others; None goes on with `hash` where all that are stored follow it, and there are any, else
            takes `balanced`.
    """
    chosen: Rule = rule or ("hash" if stored and follows_hash(stored) else "balanced")
    splits: dict[str, Split] = {group: stored[group] for group in slices if group in stored}
    counts = Counter((slices[group], split) for group, split in splits.items())
    new = [group for group in slices if group not in stored]
    for group in sorted(new, key=lambda name: (slices[name], _hash(name), name)):
        part = slices[group]
        more = counts[part, "dev"] - counts[part, "test"]
        split = hash_split(group) if chosen == "hash" or not more else "test" if more > 0 else "dev"
        splits[group] = split
        counts[part, split] += 1
    return SplitPlan(rule=chosen, splits=splits, kept=len(slices) - len(new), new=tuple(sorted(new)))


def follows_hash(splits: Mapping[str, str]) -> bool:
    """Whether every group is where the rule `hash` puts it; true of none."""
    return all(hash_split(group) == split for group, split in splits.items())


def split_digest(splits: Mapping[str, str]) -> str:
    """SHA-256 (hexadecimal) over the groups and their splits, in the order of the names."""
    lines = json.dumps(sorted(splits.items()))
    return hashlib.sha256(lines.encode("ascii")).hexdigest()


def group_splits(queries: Iterable[Query]) -> dict[str, Split]:
    """The split of each group as its first query has it."""
    splits: dict[str, Split] = {}
    for query in queries:
        splits.setdefault(query.group, "dev" if query.split == "dev" else "test")
    return splits


def group_slices(queries: Iterable[Query]) -> dict[str, str]:
    """The slice of each group: the one that most of its queries have, of several the first by name."""
    counts: dict[str, Counter[str]] = {}
    for query in queries:
        counts.setdefault(query.group, Counter())[query.slice] += 1
    return {group: min(found, key=lambda name: (-found[name], name)) for group, found in counts.items()}


def stored_splits(data: DataSet) -> dict[str, Split]:
    """The groups that have a split in the file: rows without one are read as test, and have none here.

    Raises:
        DataError: A group has rows in both splits; every such row is told.
    """
    path = Path(data.path) / "queries.jsonl"
    given = {row["query_id"] for _, row in read_rows(path, []) if row.get("split") is not None}
    stored: dict[str, Split] = {}
    problems: list[Problem] = []
    for query in data.queries:
        if query.query_id in given:
            split: Split = "dev" if query.split == "dev" else "test"
            if stored.setdefault(query.group, split) != split:
                message = f"{shown(query.group)} is in {split} here and in {stored[query.group]} before; give it one"
                problems.append(Problem(str(path), query.line, "split", message))
    if problems:
        raise DataError(problems)
    return stored


def frozen_fault(data: DataSet, stored: Mapping[str, Split]) -> Problem | None:
    """What speaks against a frozen split: a digest that the groups with their splits don't have; else None."""
    if data.about.get(DIGEST, split_digest(stored)) == split_digest(stored):
        return None
    message = (
        "does not fit the groups and splits in queries.jsonl: some were changed or added by hand; put them back, or "
        "remove this line and run `toolsearch dataset split`"
    )
    return Problem(str(Path(data.path) / "dataset.toml"), 0, DIGEST, message)


def check_split(data: DataSet) -> tuple[str, list[Problem]]:
    """By what the stored split holds (`hash`, `frozen` or "") and everything that speaks against it.

    It holds where every row has a split, no group has two, and either all groups are where the rule `hash` puts them
    or they are those of the digest in `dataset.toml`.
    """
    path = Path(data.path) / "queries.jsonl"
    try:
        stored = stored_splits(data)
    except DataError as error:
        return "", list(error.problems)
    problems = [
        Problem(str(path), query.line, "split", f"{shown(query.group)} has none; run `toolsearch dataset split`")
        for query in data.queries
        if query.group not in stored
    ]
    if problems:
        return "", problems
    if DIGEST in data.about:
        thawed = frozen_fault(data, stored)
        return ("", [thawed]) if thawed else ("frozen", [])
    moved = [group for group, split in stored.items() if hash_split(group) != split]
    if not moved:
        return "hash", []
    message = (
        f"{len(moved)} of {len(stored)} groups are not where their hash puts them ({shown(min(moved))} for one), and "
        f"dataset.toml has no {DIGEST}; `toolsearch dataset split` freezes what is stored"
    )
    return "", [Problem(str(path), 0, "split", message)]


def write_split(data: DataSet, plan: SplitPlan) -> None:
    """Write the splits into `queries.jsonl`, and the digest into `dataset.toml` where the hash alone does not say it.

    Lines whose query has its split stay byte for byte but for their ends.

    Raises:
        UsageError: The folder can't be written.
    """
    folder = Path(data.path)
    queries = folder / "queries.jsonl"
    lines = (read_text(queries, []) or "").split("\n")
    groups = {query.query_id: query.group for query in data.queries}
    for number, row in read_rows(queries, []):
        split = plan.splits[groups[row["query_id"]]]
        if row.get("split") != split:
            lines[number - 1] = json.dumps(_with_split(row, split), ensure_ascii=False)
    try:
        queries.write_bytes("\n".join(lines).encode())
        if plan.rule == "balanced" or DIGEST in data.about or not follows_hash(plan.splits):
            _write_digest(folder / "dataset.toml", data.name, split_digest(plan.splits))
    except OSError as error:
        raise UsageError(f"the split can't be written to {folder}: {error}.") from error


def _with_split(row: Mapping[str, Any], split: Split) -> dict[str, Any]:
    """The row with the split where the layout has it: before the group, else behind all."""
    rest = {key: value for key, value in row.items() if key != "split"}
    if "group" not in rest:
        return {**rest, "split": split}
    items = list(rest.items())
    place = list(rest).index("group")
    return dict([*items[:place], ("split", split), *items[place:]])


def _write_digest(path: Path, name: str, digest: str) -> None:
    """Put the line at the very beginning, where it is in no table; what else the file says stays."""
    text = (read_text(path, []) or "") if path.exists() else f"name = {json.dumps(name)}\n"
    path.write_bytes((f'{DIGEST} = "{digest}"\n' + _DIGEST_LINE.sub("", text)).encode())
