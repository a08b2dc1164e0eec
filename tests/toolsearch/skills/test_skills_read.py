from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.skills.skill import LONGEST_FILE, Skill, parse_skill, read_skill


def skill_of(text: str) -> Skill:
    """The skill of a text without a fault."""
    skill, problems = parse_skill(text, path="a/SKILL.md", folder_name="a")
    assert problems == []
    assert skill is not None
    return skill


def faults_of(text: str) -> list[str]:
    """The faults of a text that gives no skill."""
    skill, problems = parse_skill(text, path="a/SKILL.md", folder_name="a")
    assert skill is None
    return [str(problem) for problem in problems]


def test_front_matter_gives_the_fields_and_the_rest_is_the_content() -> None:
    """Name, description and when to use come from the front matter; the text after it is kept to the letter."""
    text = (
        '---\nname: review\ndescription: "Finds \\"bugs\\""\nwhen-to-use: after a change\n---\n# Steps\n\n- one: two\n'
    )
    assert skill_of(text) == Skill(
        name="review",
        description='Finds "bugs"',
        when_to_use="after a change",
        content="# Steps\n\n- one: two",
        path="a/SKILL.md",
    )


def test_without_front_matter_the_folder_names_the_skill() -> None:
    """A bare text is the content of a skill that is called as its folder."""
    assert skill_of("Just do it.") == Skill(name="a", content="Just do it.", path="a/SKILL.md")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("description: plain # a remark", "plain"),
        ("description: 'it''s'", "it's"),
        ("description: >\n  two\n  lines", "two lines"),
        ("description: |\n  two\n  lines", "two lines"),
        ("description: one\n  more", "one more"),
        ("description:", ""),
        ("description: C#", "C#"),
        ("description: a: b", "a: b"),
    ],
)
def test_values_are_read_as_such_files_write_them(lines: str, expected: str) -> None:
    """Quotes, remarks, block texts and continued lines; the description is one line."""
    assert skill_of(f"---\n{lines}\n---\n").description == expected


def test_other_keys_lists_and_objects_are_left_alone() -> None:
    """What means nothing here is no fault."""
    text = "---\nallowed-tools:\n  - Read\n- Grep\nmetadata:\n  a: [b\n# remark\n\nwhenToUse: now\n---\nx"
    assert skill_of(text).when_to_use == "now"


@pytest.mark.parametrize(("value", "searchable"), [("true", False), ("Yes", False), ("false", True), ("", True)])
def test_a_skill_may_keep_itself_from_the_model(value: str, searchable: bool) -> None:
    """`disable-model-invocation` decides whether it is searched."""
    assert skill_of(f"---\ndisable-model-invocation: {value}\n---\n").searchable is searchable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: a\n", "a/SKILL.md:1: the front matter is not closed; end it with a line of ---"),
        ("---\nname: a\nnonsense\n---\n", "a/SKILL.md:3: 'nonsense' is no `key: value` line"),
        ("---\nname: a\nname: b\n---\n", "a/SKILL.md:3: name: stands twice; keep one"),
        ('---\nname: "a\n---\n', "a/SKILL.md:2: name: the quote is not closed, or text follows it"),
        ("---\nname: 'a' b\n---\n", "a/SKILL.md:2: name: the quote is not closed, or text follows it"),
        (
            "---\ndisable-model-invocation: perhaps\n---\n",
            "a/SKILL.md:0: disable-model-invocation: is 'perhaps'; it must be true or false",
        ),
        (
            '---\nname: "a\\nb"\n---\n',
            "a/SKILL.md:0: name: holds a control character or line break (U+000A); give the skill a plain name",
        ),
        (
            "x" * (LONGEST_FILE + 1),
            "a/SKILL.md:0: has 1,000,001 characters; at most 1,000,000 are read",
        ),
    ],
)
def test_a_fault_says_place_and_remedy(text: str, expected: str) -> None:
    """A file with a fault gives no skill and a line that says why."""
    assert faults_of(text)[0] == expected


def test_a_file_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, and a file that is gone, are told and don't raise."""
    path = tmp_path / "SKILL.md"
    path.write_bytes(b"\xff\xfe\x00")
    assert "can't be read" in str(read_skill(path)[1][0])
    assert "can't be read" in str(read_skill(tmp_path / "gone")[1][0])


@given(st.text())
def test_any_text_gives_a_skill_or_a_problem(text: str) -> None:
    """Whatever a file holds, reading it ends with one of the two."""
    for whole in (text, f"---\n{text}\n---\n{text}"):
        skill, problems = parse_skill(whole, path="p", folder_name="a")
        assert (skill is None) == bool(problems)
