"""Counts of a team's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch.errors import DataError
from toolsearch_eval.sessionlab.usage_file import Counted, read_usage

KNOWN = ("send", "list")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("u.csv", "\ufefftool,count,sessions\r\nsend,5,2\r\n\r\nlist,1,"),
        ("u.csv", 'sessions,note,count,tool\n2,"a, b",5,send\n,,1,list\n'),
        ("u.jsonl", '{"tool":"send","count":5,"sessions":2}\n{"tool":"list","count":1}\n'),
        ("u.txt", '{"tool":"send","count":5,"sessions":2}\n{"tool":"list","count":1,"sessions":null}'),
    ],
)
def test_both_forms_are_read(name: str, text: str, tmp_path: Path) -> None:
    """CSV in any order of columns, JSON lines by ending or by content."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    found = read_usage(path, KNOWN, sessions=10)
    assert found == {"send": Counted(calls=5, sessions=2), "list": Counted(calls=1)}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["u.csv:0: holds no counts"]),
        ("tool,uses\nsend,1\n", ["u.csv:1: the header has no column count"]),
        ("tool,count,count\nsend,1,1\n", ["u.csv:1: the header has count twice"]),
        ("tool,count\nsend\n", ["u.csv:2: has 1 cells, and the header has 2"]),
        ('tool,count\n"send,1\n', ["is not valid CSV"]),
        (
            "tool,count,sessions\nsned,-1,\nlist,3,5\nlist,3,11\nsend,1.5,x\n,1,\nsend,2,0\n",
            [
                "u.csv:2: tool: 'sned' is no tool of the catalog; did you mean 'send'?",
                "u.csv:2: count: is '-1'; it must be a whole number",
                "u.csv:3: sessions: is 5 with 3 calls",
                "u.csv:4: sessions: is 11, and there were 10 in all",
                "u.csv:4: tool: 'list' stands on line 3 already",
                "u.csv:5: count: is '1.5'",
                "u.csv:5: sessions: is 'x'",
                "u.csv:6: tool: is empty",
                "u.csv:7: sessions: is 0 with 2 calls",
                "u.csv:7: tool: 'send' stands on line 5 already",
            ],
        ),
        ('{"tool":"send","count":1}\n', ["u.csv:1: is not valid CSV"]),
    ],
)
def test_every_fault_is_told_at_once(text: str, lines: list[str], tmp_path: Path) -> None:
    """Each with its line and what is accepted."""
    path = tmp_path / "u.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_usage(path, KNOWN, sessions=10)
    told = str(caught.value).replace(str(tmp_path) + "/", "")
    assert [line for line in lines if line not in told] == []
    assert len(caught.value.problems) == len(lines)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """As bad data, with its path."""
    with pytest.raises(DataError, match=r"none\.csv:0: is missing"):
        read_usage(tmp_path / "none.csv", KNOWN, sessions=1)
