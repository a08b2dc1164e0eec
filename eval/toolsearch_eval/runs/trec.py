"""Rankings and grades as the files of TREC's evaluation programs, which read no more than they need.

Three traps are met here. Those programs order by score and not by rank, break ties by name, and hold scores in 32 bits;
so the score written is 1 / rank, and the ranker's own scores stand in `rankings.jsonl`. They split lines at white
space; so white space and `%` in ids and names are written as in an address (`%20`), in runs and in grades alike. And a
query without results has no line; with the grades beside it such a query counts as a miss, as it does here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

_UNFIT = re.compile(r"[%\s]")


def trec_field(text: str) -> str:
    """An id or name as it stands in the files.

    >>> trec_field("q 1"), trec_field("50%")
    ('q%201', '50%25')
    """
    return _UNFIT.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8")), text)


def plain_field(field: str) -> str:
    """What `trec_field` was given.

    >>> plain_field(trec_field("a　b% c"))
    'a\u3000b% c'
    """
    return unquote(field)


def trec_run(query_ids: Sequence[str], rankings: Sequence[Sequence[str]], tag: str) -> str:
    """A run: a line for each result, `query Q0 tool rank score tag`.

    Args:
        query_ids: The queries.
        rankings: Their names, best first.
        tag: The ranker's name.
    """
    lines = [
        f"{trec_field(query_id)} Q0 {trec_field(name)} {rank} {1 / rank:.9g} {trec_field(tag)}\n"
        for query_id, names in zip(query_ids, rankings, strict=True)
        for rank, name in enumerate(names, 1)
    ]
    return "".join(lines)


def trec_qrels(query_ids: Iterable[str], judgements: Mapping[str, Mapping[str, int]]) -> str:
    """The grades of these queries: `query 0 tool grade`."""
    lines = [
        f"{trec_field(query_id)} 0 {trec_field(name)} {grade}\n"
        for query_id in query_ids
        for name, grade in judgements.get(query_id, {}).items()
    ]
    return "".join(lines)
