"""Skills that fit what is being talked about, offered as an attachment: the best with their text, others by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from toolsearch.search.recommended import RecommendedNames
from toolsearch.skills.library import FoundSkill, SkillLibrary

Trigger = Literal["user_input", "assistant_turn"]

CONTENT_LIMIT = 12_000
"""Characters of a skill's text that are attached; the mark of a cut comes on top."""
CUT_MARK = "\n[… cut here: {left:,} more characters stand in {path}]"


_LEAST_OF_BEST = 0.25
"""Of the best skill's score another one has to have this share to be offered beside it: every offer costs context, and
with words that are merely near in meaning a search finds most skills a little."""


class SkillDiscovery:
    """What one conversation has been offered; its set of names is apart from the one for tools."""

    def __init__(
        self,
        library: SkillLibrary,
        working_directory: str | Path,
        *,
        offered: Iterable[str] = (),
        max_skills: int = 5,
        max_loaded: int = 2,
        load_score: float = 0.3,
    ) -> None:
        """Look in one working directory.

        Args:
            library: Where skills come from.
            working_directory: Where the conversation takes place.
            offered: Names that were offered before, oldest first, as `offered` gives them.
            max_skills: Skills offered at once, >= 1.
            max_loaded: Of these, how many come with their text, >= 0.
            load_score: From which score on the text comes along, 0..1; a skill that is named comes with it always.
        """
        self._library = library
        self._directory = working_directory
        self._offered = RecommendedNames(offered)
        self._max_skills = max_skills
        self._max_loaded = max_loaded
        self._load_score = load_score

    @property
    def offered(self) -> tuple[str, ...]:
        """The names offered so far, oldest first; for a state that is saved."""
        return tuple(self._offered)

    def discover(self, text: str, *, trigger: Trigger = "user_input") -> dict[str, Any] | None:
        """An attachment with the skills that fit and were not offered before, or None.

        Args:
            text: What the user wrote, or what was said between turns.
            trigger: Which of the two; it is told with the attachment.

        Returns:
            `{"type": "skill_discovery", "trigger", "query", "skills": […]}`, each skill with name, description, path,
            score, loaded, content and cut; silent where the answer has little confidence. Skills offered before make
            room for the next best ones.
        """
        skills = self._library.skills_of(self._directory)
        found, response = skills.search(text, max_results=min(50, self._max_skills + len(self._offered)))
        if response.low_confidence:
            return None
        best = max((each.score for each in found), default=0.0)
        fitting = [each for each in found if each.named or each.score >= _LEAST_OF_BEST * best]
        fresh = [each for each in fitting if each.skill.name not in self._offered][: self._max_skills]
        if not fresh:
            return None
        rows: list[dict[str, Any]] = []
        loaded = 0
        for each in fresh:
            load = loaded < self._max_loaded and (each.named or each.score >= self._load_score)
            loaded += load
            rows.append(_row(each, load))
        self._offered.add(each.skill.name for each in fresh)
        return {"type": "skill_discovery", "trigger": trigger, "query": text[:200], "skills": rows}


def _row(found: FoundSkill, load: bool) -> dict[str, Any]:
    skill = found.skill
    content, cut = (attached_content(skill.content, skill.path)) if load else ("", False)
    return {
        "name": skill.name,
        "description": skill.description or skill.when_to_use,
        "path": skill.path,
        "score": found.score,
        "loaded": load,
        "content": content,
        "cut": cut,
    }


def attached_content(content: str, path: str) -> tuple[str, bool]:
    """A skill's text as it is attached, and whether it was cut; the cut is visible and says where the rest stands."""
    if len(content) <= CONTENT_LIMIT:
        return content, False
    return content[:CONTENT_LIMIT] + CUT_MARK.format(left=len(content) - CONTENT_LIMIT, path=path), True
