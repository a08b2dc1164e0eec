from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch.search.index import IndexStore
from toolsearch.search.recommended import RecommendedNames
from toolsearch.skills.discovery import CONTENT_LIMIT, SkillDiscovery
from toolsearch.skills.library import SKILLS, SkillLibrary, SkillSet
from toolsearch.skills.skill import Skill

REVIEW = Skill(
    name="code-review",
    description="Review a change set and point out defects.",
    when_to_use="When the user asks for a review of a diff or pull request",
    content="Read the diff first.",
)
NOTES = Skill(name="release_notes", description="Write release notes from merged commits.", content="Sort by kind.")
CLEANER = Skill(name="refactor-cleaner", description="清理和重构代码流程，删除冗余代码。", content="小步走")
TRIAGE = Skill(
    name="log-triage", description="Group error logs and find the root cause.", when_to_use="incident, outage"
)
READER = Skill(name="Read", description="Read aloud what is on the page.")
HIDDEN = Skill(name="hidden-skill", description="Review secrets.", searchable=False)
ALL = (REVIEW, NOTES, CLEANER, TRIAGE, READER, HIDDEN)


def names(skills: SkillSet, query: str) -> list[str]:
    """The names that a query finds, best first."""
    return [found.skill.name for found in skills.search(query)[0]]


def write(root: Path, folder: str, text: str, file: str = "SKILL.md") -> Path:
    """Write a skill under a working directory."""
    path = root / ".claude" / "skills" / folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("code review", "code-review"),
        ("codeReview", "code-review"),
        ("please review my pull request", "code-review"),
        ("release notes for the new version", "release_notes"),
        ("重构", "refactor-cleaner"),
        ("error logs", "log-triage"),
        ("outage", "log-triage"),
        ("Read", "Read"),
    ],
)
def test_skills_are_found_by_name_use_and_description(query: str, first: str) -> None:
    """The search for tools finds skills too, one with the name of a core tool included."""
    assert names(SkillSet(ALL, store=IndexStore()), query)[0] == first


def test_a_skill_that_keeps_itself_from_the_model_is_never_found() -> None:
    """It is in the set for the user, and in no answer."""
    skills = SkillSet(ALL, store=IndexStore())
    assert "hidden-skill" not in [*names(skills, "hidden-skill"), *names(skills, "review secrets")]
    assert skills.get("hidden-skill") is HIDDEN
    assert skills.get("nothing") is None


def test_the_profile_weighs_name_use_and_description() -> None:
    """3.0, 2.0 and 1.0; what skills don't have counts nothing."""
    assert SKILLS.field_weights.values() == (3.0, 0.0, 2.0, 1.0, 0.0, 0.0)


def test_of_two_skills_with_one_name_the_nearer_one_counts(tmp_path: Path) -> None:
    """The first place hides the later one and a warning says which."""
    first, second = tmp_path / "own", tmp_path / "shared"
    for place, word in ((first, "one"), (second, "two")):
        (place / "a").mkdir(parents=True)
        (place / "a" / "SKILL.md").write_text(f"---\nname: greet\ndescription: {word}\n---\n", encoding="utf-8")
    found = SkillLibrary([first, second], store=IndexStore()).skills_of(tmp_path)
    assert [skill.description for skill in found.skills] == ["one"]
    assert found.warnings == (
        f"skill 'greet' of {second / 'a' / 'SKILL.md'} is hidden by the one of {first / 'a' / 'SKILL.md'}.",
    )


def test_a_working_directory_is_read_once_until_a_file_changes(tmp_path: Path) -> None:
    """The same set comes back, after other directories too; a changed, new or removed file gives a fresh one."""
    library = SkillLibrary(store=IndexStore())
    here, there = tmp_path / "here", tmp_path / "there"
    path = write(here, "greet", "---\ndescription: Say hello\n---\n")
    write(there, "leave", "---\ndescription: Say goodbye\n---\n")
    first = library.skills_of(here)
    assert names(library.skills_of(there), "goodbye") == ["leave"]
    assert library.skills_of(here) is first
    path.write_text("---\ndescription: Wave a hand\n---\n", encoding="utf-8")
    assert names(library.skills_of(here), "wave") == ["greet"]
    write(here, "sing", "A song", "skill.md")
    assert [skill.name for skill in library.skills_of(here).skills] == ["greet", "sing"]
    path.unlink()
    assert [skill.name for skill in library.skills_of(here).skills] == ["sing"]


def test_one_bad_file_is_told_and_the_rest_is_there(tmp_path: Path) -> None:
    """A skill that can't be read is a warning with its place."""
    bad = write(tmp_path, "bad", "---\nname: x\n")
    write(tmp_path, "good", "text")
    found = SkillLibrary(store=IndexStore()).skills_of(tmp_path)
    assert [skill.name for skill in found.skills] == ["good"]
    assert found.warnings == (f"{bad}:1: the front matter is not closed; end it with a line of ---",)


def test_a_directory_without_skills_gives_an_empty_set(tmp_path: Path) -> None:
    """Nothing there is no fault, and nothing is offered."""
    library = SkillLibrary(store=IndexStore())
    assert library.skills_of(tmp_path).skills == ()
    assert SkillDiscovery(library, tmp_path).discover("review my pull request") is None


def discovery(tmp_path: Path, **options: int) -> SkillDiscovery:
    """A conversation in a working directory with three skills."""
    for skill in (REVIEW, NOTES, TRIAGE):
        use = f"when_to_use: {skill.when_to_use}\n" if skill.when_to_use else ""
        write(tmp_path, skill.name, f"---\ndescription: {skill.description}\n{use}---\n{skill.content}")
    return SkillDiscovery(SkillLibrary(store=IndexStore()), tmp_path, **options)  # type: ignore[arg-type]


def test_the_best_skill_comes_with_its_text(tmp_path: Path) -> None:
    """The attachment names what was found, why it was looked for, and holds the text."""
    attachment = discovery(tmp_path).discover("code review")
    assert attachment is not None
    assert attachment["type"] == "skill_discovery"
    assert attachment["trigger"] == "user_input"
    assert attachment["query"] == "code review"
    [row] = attachment["skills"]
    assert (row["name"], row["loaded"], row["content"], row["cut"]) == (
        "code-review",
        True,
        "Read the diff first.",
        False,
    )


def test_what_was_offered_is_not_offered_again(tmp_path: Path) -> None:
    """A second time there is nothing, also for one that goes on with the names of the first."""
    found = discovery(tmp_path)
    assert found.discover("code review") is not None
    assert found.discover("code review") is None
    later = SkillDiscovery(SkillLibrary(store=IndexStore()), tmp_path, offered=found.offered)
    assert later.discover("code review") is None


def test_small_talk_offers_nothing(tmp_path: Path) -> None:
    """A text that no skill fits stays without an attachment."""
    assert discovery(tmp_path).discover("thanks, that was nice of you") is None


def test_only_so_many_come_with_their_text(tmp_path: Path) -> None:
    """Beyond the bound a skill is offered by name and description alone."""
    attachment = discovery(tmp_path, max_loaded=1).discover("code-review release_notes")
    assert attachment is not None
    assert {row["name"] for row in attachment["skills"]} == {"code-review", "release_notes"}
    assert [(row["loaded"], bool(row["content"])) for row in attachment["skills"]] == [(True, True), (False, False)]


def test_a_long_text_is_cut_visibly(tmp_path: Path) -> None:
    """The cut says how much is left and where."""
    path = write(tmp_path, "essay", "---\ndescription: Write an essay\n---\n" + "x" * (CONTENT_LIMIT + 1500))
    attachment = SkillDiscovery(SkillLibrary(store=IndexStore()), tmp_path).discover("essay")
    assert attachment is not None
    [row] = attachment["skills"]
    assert row["cut"] is True
    assert row["content"] == "x" * CONTENT_LIMIT + f"\n[… cut here: 1,500 more characters stand in {path}]"


def test_the_set_of_names_is_bounded_and_forgets_the_oldest() -> None:
    """Past 500 names the oldest go until 400 are left; a name said again keeps its age."""
    names_set = RecommendedNames(map(str, range(500)))
    assert len(names_set) == 500
    names_set.add(["0", "500"])
    assert (len(names_set), "0" in names_set, "100" in names_set, "101" in names_set) == (400, False, False, True)


def test_bounds_that_contradict_are_refused() -> None:
    """Keeping more than the limit is no setting."""
    with pytest.raises(ValueError, match="keep is 3 and limit 2"):
        RecommendedNames(limit=2, keep=3)
