"""When tools are recommended in a conversation: to a new text of the user at once, between turns in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.search.recommended import RecommendedNames
from toolsearch.session.announcements import attachments_of
from toolsearch.session.memory import Memory, mark_of
from toolsearch.session.prefetch import DISCOVERY, Candidate, Job, Prefetcher, failure, recommended_in, said

_MOST_JOBS = 2
"""Searches that may still be running; when one more is started, the oldest is forgotten."""


class Recommendations:
    """The recommendations of one conversation."""

    def __init__(
        self, prefetcher: Prefetcher, memory: Memory, *, limit: int, deadline: float, clock: Callable[[], float]
    ) -> None:
        """Take the search and the memory.

        Args:
            prefetcher: Finds tools.
            memory: What was recommended and discovered; written to.
            limit: The most tools that one request recommends.
            deadline: Seconds on `clock` from a background search's start until a request waits for it no longer.
            clock: Gives seconds, only ever compared with each other.
        """
        self._prefetcher = prefetcher
        self._memory = memory
        self._limit = limit
        self._deadline = deadline
        self._clock = clock
        self._jobs: list[Job] = []

    def start(self, user_text: str, model_text: str, away: int = 0) -> None:
        """Search in the background for what the model said, alone and together with what the user said.

        Nothing is started when the model said nothing: what the user said was searched when it came.
        """
        asked, told = said(user_text), said(model_text)
        if not told or not self._limit:
            return
        depth = self._depth() + away
        texts = [told, f"{asked} {told}"] if asked else [told]
        job = Job(lambda: self._prefetcher.candidates(texts, depth=depth), told, self._clock())
        self._jobs = [*self._jobs, job][-_MOST_JOBS:]

    def next(
        self, history: Iterable[Any], user_text: str, selectable: Mapping[str, Tool], away: int, *, wait: bool = False
    ) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
        """The attachments for the next request, and warnings about searches that failed.

        Args:
            history: The entries so far; what they recommend counts as recommended, and nothing else does.
            user_text: The newest text of the user; "" if there is none.
            selectable: The deferred tools that can be used now, by name.
            away: How many deferred tools can't.
            wait: Wait for the background however long it takes, so that a replay gives the same every time.
        """
        past = attachments_of(history, DISCOVERY)
        self._memory.prefetched = RecommendedNames(name for attachment in past for name in recommended_in(attachment))
        self._memory.discovered.add(self._memory.prefetched, "prefetch")
        jobs, warnings = self._finished(wait)
        attachments = []
        try:
            first = self._for_user(user_text, past, selectable, away)
        except Exception as error:
            # A request without a recommendation is better than none.
            first, warnings = None, (*warnings, failure(error))
        if first is not None:
            attachments.append(first)
        # What the user wants now comes first; what the turn before brought up takes the room that is left.
        left = self._limit - sum(len(attachment["tools"]) for attachment in attachments)
        found: dict[str, Candidate] = {}
        for job in reversed(jobs):
            for candidate in job.found:
                found.setdefault(candidate.name, candidate)
        if found and left > 0:
            second = self._prefetcher.attachment(
                found.values(),
                selectable,
                skip=self._known(),
                query=jobs[-1].query,
                trigger="assistant_turn",
                limit=left,
            )
            if second is not None:
                self.took(second)
                attachments.append(second)
        return attachments, warnings

    def now(self, text: str, selectable: Mapping[str, Tool], away: int) -> dict[str, Any] | None:
        """The attachment for a text of the user, searched at once; None where there is nothing to recommend.

        `next` does not search the same text again.
        """
        wanted = said(text)
        attachment = self._prefetcher.attachment(
            self._prefetcher.candidates([wanted], depth=self._depth() + away),
            selectable,
            skip=self._known(),
            query=wanted,
            trigger="user_input",
        )
        self._memory.last_input = mark_of(text)
        self._memory.last_attachment = attachment
        if attachment is not None:
            self.took(attachment)
        return attachment

    def compacted(self, kept: Iterable[Any]) -> None:
        """Take in that only these entries are left of the history."""
        still = [name for attachment in attachments_of(kept, DISCOVERY) for name in recommended_in(attachment)]
        self._memory.discovered.compacted(still)
        self._memory.prefetched = RecommendedNames(still)
        self._memory.last_attachment = None

    def took(self, attachment: Mapping[str, Any]) -> None:
        """Remember what an attachment recommends: it is recommended once, and counts as discovered."""
        names = recommended_in(attachment)
        self._memory.prefetched.add(names)
        self._memory.discovered.add(names, "prefetch")

    def _for_user(
        self, text: str, past: list[Mapping[str, Any]], selectable: Mapping[str, Tool], away: int
    ) -> dict[str, Any] | None:
        if not text.strip():
            return None
        if mark_of(text) == self._memory.last_input:
            # A request that is made anew from the history before: its recommendation got lost with it.
            lost = self._memory.last_attachment
            if lost is None or lost in past or any(name not in selectable for name in recommended_in(lost)):
                return None
            self.took(lost)
            return lost
        return self.now(text, selectable, away)

    def _finished(self, wait: bool) -> tuple[list[Job], tuple[str, ...]]:
        """The jobs that are done; a job that is late stays for the next turn."""
        done: list[Job] = []
        late: list[Job] = []
        for job in self._jobs:
            left = max(0.0, job.started + self._deadline - self._clock())
            (done if job.is_done(None if wait else left) else late).append(job)
        self._jobs = late
        return [job for job in done if not job.error], tuple(job.error for job in done if job.error)

    def _known(self) -> set[str]:
        """What needs no recommendation: it was recommended, or its parameters are in sight."""
        return {*self._memory.prefetched, *(each.name for each in self._memory.discovered if each.in_context)}

    def _depth(self) -> int:
        return len(self._known())
