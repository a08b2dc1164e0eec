"""The skills of a working directory, read once and searched with the project's own search."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FieldValues, SearchConfig
from toolsearch.errors import Problem
from toolsearch.search.index import STORE, IndexStore
from toolsearch.search.results import SearchResponse
from toolsearch.search.searcher import Searcher
from toolsearch.skills.skill import Skill, read_skill

PLACES = (".agents/skills", ".claude/skills")
"""Where skills are looked for under a working directory; each skill is a folder with a `SKILL.md`."""
FILE_NAMES = ("SKILL.md", "skill.md")
_OWNER = "skills"

SKILLS: SearchConfig = replace(
    DEFAULT,
    name="skills",
    field_weights=FieldValues(
        name=3.0, server=0.0, hint=2.0, description=1.0, parameter_names=0.0, parameter_descriptions=0.0
    ),
    keyword_points=replace(DEFAULT.keyword_points, server=0.0, parameter_names=0.0, parameter_descriptions=0.0),
)
"""The profile for skills: name 3.0, when to use 2.0, description 1.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkill:
    """One skill of an answer.

    Attributes:
        skill: The skill.
        rank: 1-based.
        score: 0..1.
        named: The query names it.
    """

    skill: Skill
    rank: int
    score: float
    named: bool


class SkillSet:
    """Some skills, searchable; immutable."""

    def __init__(
        self,
        skills: Iterable[Skill],
        *,
        problems: Sequence[Problem] = (),
        config: SearchConfig = SKILLS,
        store: IndexStore = STORE,
    ) -> None:
        """Take the skills; of two with one name the first is kept, and a warning says so."""
        kept: dict[str, Skill] = {}
        warnings = [str(problem) for problem in problems]
        for skill in skills:
            first = kept.setdefault(skill.name, skill)
            if first is not skill:
                warnings.append(f"skill {skill.name!r} of {skill.path} is hidden by the one of {first.path}.")
        self.skills: tuple[Skill, ...] = tuple(kept.values())
        self.warnings: tuple[str, ...] = tuple(warnings)
        # An owner, so that a skill may have the name of a core tool and is searched all the same.
        registry = ToolRegistry(
            Tool(
                name=skill.name,
                leaf=skill.name,
                server=_OWNER,
                search_hint=skill.when_to_use or None,
                description=skill.description or None,
            )
            for skill in self.skills
            if skill.searchable
        )
        snapshot = registry.snapshot()
        self._by_name = {tool.name: kept[tool.leaf] for tool in snapshot.tools}
        self._searcher = Searcher(snapshot, config, store=store)

    def search(self, query: str, *, max_results: int = 5) -> tuple[tuple[FoundSkill, ...], SearchResponse]:
        """The best skills for a text, best first, and the response that they came from.

        Args:
            query: What is wanted.
            max_results: 1..50, as for tools.
        """
        response = self._searcher.search(query, max_results=max_results)
        found = tuple(
            FoundSkill(
                skill=self._by_name[result.name],
                rank=result.rank,
                score=result.score,
                named=result.reason in ("exact_name", "leaf_name", "named"),
            )
            for result in response.results
        )
        return found, response

    def get(self, name: str) -> Skill | None:
        """The skill of this name, also one that is not searched; None when there is none."""
        return next((skill for skill in self.skills if skill.name == name), None)


class SkillLibrary:
    """Skill sets by working directory: read anew when a file changes, and only then built anew."""

    def __init__(
        self, places: Sequence[str | Path] = PLACES, *, config: SearchConfig = SKILLS, store: IndexStore = STORE
    ) -> None:
        """Say where skills stand.

        Args:
            places: Folders of skill folders, the most particular first; relative ones are under the working directory.
            config: The profile.
            store: Where indexes are shared.
        """
        self._places = tuple(places)
        self._config = config
        self._store = store
        self._sets: dict[str, tuple[str, SkillSet]] = {}
        self._lock = threading.Lock()

    def skills_of(self, working_directory: str | Path) -> SkillSet:
        """The skills that hold in a working directory; the same object until a file of them changes."""
        directory = Path(working_directory).resolve()
        files = [path for place in self._places for path in _skill_files(directory / place)]
        digest = hashlib.sha256()
        for path in files:
            digest.update(f"{path}\n{_content_digest(path)}\n".encode("utf-8", "surrogateescape"))
        with self._lock:
            known = self._sets.get(str(directory))
            if known is not None and known[0] == digest.hexdigest():
                return known[1]
            skills: list[Skill] = []
            problems: list[Problem] = []
            for path in files:
                skill, faults = read_skill(path)
                problems += faults
                if skill is not None:
                    skills.append(skill)
            fresh = SkillSet(skills, problems=problems, config=self._config, store=self._store)
            self._sets[str(directory)] = (digest.hexdigest(), fresh)
            return fresh


def _skill_files(place: Path) -> list[Path]:
    """The skill files under a place, in the order of their folders' names; none where there is no such folder."""
    try:
        folders = sorted(entry for entry in place.iterdir() if entry.is_dir())
    except OSError:
        return []
    found = []
    for folder in folders:
        path = next((folder / name for name in FILE_NAMES if (folder / name).is_file()), None)
        if path is not None:
            found.append(path)
    return found


def _content_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.errno}"
