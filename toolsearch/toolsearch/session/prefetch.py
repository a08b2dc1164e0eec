"""Tools recommended before the model asks: found in what was said, attached to the next request.

A recommendation costs tokens that nobody asked for, so it is made only where the search is sure, it is short, and it
never repeats itself.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolsearch.catalog.tool import Tool
from toolsearch.search.results import Result, SearchResponse
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import TokenCounter
from toolsearch.tools.parameters import parameters_of
from toolsearch.tools.tool_forms import Form, forms
from toolsearch.tools.untrusted import neutralise

DISCOVERY = "tool_discovery"
"""The type of the attachment that recommends tools."""

Trigger = Literal["user_input", "assistant_turn"]
"""What was searched for: a new text of the user, or what was said up to the end of the model's turn."""

LONGEST_TEXT = 500
"""Characters of what one side said that are searched; what follows is mostly pasted material."""

_LONGEST_QUERY = 200
"""Characters of the query that the attachment keeps, for whoever reads it later."""

_LONGEST_DESCRIPTION = 200
_LONGEST_FORM = 2_000
_TELLING_FIELDS = ("name", "server")
_REQUIRED_MARK = re.compile(r"(?<!\S)\++")

_OPENING = (
    "These deferred tools look right for what is being done. If one fits, run it with ExecuteExtraTool (tool_name, "
    "params); its parameters are given here, so no search is needed for it. Otherwise take no notice."
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that a search is sure of.

    Attributes:
        name: The tool's id.
        confidence: 0..1: the confidence of the answer, times the tool's share of the best score.
    """

    name: str
    confidence: float


class Prefetcher:
    """Finds tools for what was said, and makes attachments of them."""

    def __init__(
        self, searcher: Searcher, counter: TokenCounter, *, limit: int, confidence: float, token_budget: int
    ) -> None:
        """Take what is searched.

        Args:
            searcher: The catalog and the profile.
            counter: Counts the tokens of an attachment.
            limit: The most tools of one attachment.
            confidence: How sure the search has to be, 0..1.
            token_budget: The most tokens of an attachment's text.
        """
        self._searcher = searcher
        self._counter = counter
        self._limit = limit
        self._bound = confidence
        self._budget = token_budget

    def candidates(self, texts: Sequence[str], *, depth: int = 0) -> tuple[Candidate, ...]:
        """The tools that the search is sure of, surest first; none for blank texts and small talk.

        Args:
            texts: What was said, in one or several wordings; the surest counts for each tool.
            depth: How many tools may be in the way (recommended already, or not there); the search goes deeper by that.
        """
        queries = [_REQUIRED_MARK.sub("", text) for text in texts if text.strip()]
        if not queries or not self._limit:
            return ()
        best: dict[str, float] = {}
        for answer in self._searcher.search_batch(queries, max_results=self._limit + depth, explain=True):
            for name, confidence in self._confidences(answer):
                if confidence >= self._bound:
                    best[name] = max(confidence, best.get(name, 0.0))
        ordered = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return tuple(Candidate(name, round(confidence, 9)) for name, confidence in ordered)

    def attachment(
        self,
        candidates: Iterable[Candidate],
        selectable: Mapping[str, Tool],
        *,
        skip: Container[str],
        query: str,
        trigger: Trigger,
        limit: int | None = None,
    ) -> dict[str, Any] | None:
        """The attachment that recommends the best of the candidates, or None when none is left.

        Args:
            candidates: From `candidates`.
            selectable: The deferred tools that can be used now, by name.
            skip: Names that were recommended, or that the model knows; the next best take their place.
            query: What was searched for; its beginning is kept.
            trigger: What was searched.
            limit: The most tools, if fewer than usual.

        Returns:
            `{"type": "tool_discovery", "trigger", "query", "tools": […]}`, each tool with name, server, description,
            parameters, confidence and `text`, which is what the model reads.
        """
        most = self._limit if limit is None else min(limit, self._limit)
        chosen = [each for each in candidates if each.name in selectable and each.name not in skip][: max(0, most)]
        rows = self._fitted([(each, selectable[each.name]) for each in chosen])
        if not rows:
            return None
        return {
            "type": DISCOVERY,
            "trigger": trigger,
            "query": neutralise(query, limit=_LONGEST_QUERY).text,
            "tools": rows,
        }

    def _confidences(self, answer: SearchResponse) -> list[tuple[str, float]]:
        """How sure an answer is of each of its tools; where tools are named, of these alone."""
        named = [result.name for result in answer.results if result.reason != "score"]
        if named:
            return [(name, 1.0) for name in named]
        top = max((result.score for result in answer.results), default=0.0)
        if top <= 0 or answer.low_confidence:
            return []
        telling = [result for result in answer.results if _is_telling(result)]
        config = self._searcher.config
        if config.ranking == "reference":
            # It works out no confidence, and ranks make its weakest hit look strong; its cosine is what can be trusted.
            weight = config.weight_tfidf or 1.0
            return [(result.name, result.arms.get("tfidf", 0.0) / weight) for result in telling]
        return [(result.name, answer.confidence * result.score / top) for result in telling]

    def _fitted(self, chosen: Sequence[tuple[Candidate, Tool]]) -> list[dict[str, Any]]:
        """The tools within the budget: each in its shortest form first, then in order the fullest that still fits."""
        left = self._budget - self._cost(_OPENING)
        taken: list[tuple[Candidate, Tool, list[Form]]] = []
        for candidate, tool in chosen:
            # A form that shows no parameters would not make the tool known, so it is no recommendation.
            ways = [form for form in forms(tool, "keyword", longest=_LONGEST_FORM) if form.detail == "brief"]
            if ways and self._cost(ways[-1].text) <= left:
                left -= self._cost(ways[-1].text)
                taken.append((candidate, tool, ways))
        rows = []
        for candidate, tool, ways in taken:
            shortest = self._cost(ways[-1].text)
            form = next(way for way in ways if self._cost(way.text) - shortest <= left)
            left -= self._cost(form.text) - shortest
            rows.append(_row(candidate, tool, form))
        return rows

    def _cost(self, text: str) -> int:
        return self._counter.count(text) + 1


def discovery_text(attachment: Mapping[str, Any]) -> str:
    """The text of a `tool_discovery`; worked out from the attachment alone, so it is the same in every request."""
    texts = [row["text"] for row in _rows(attachment) if isinstance(row.get("text"), str)]
    return "\n".join([_OPENING, *texts]) if texts else ""


def recommended_in(attachment: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that an attachment recommends, in order."""
    return tuple(row["name"] for row in _rows(attachment) if isinstance(row.get("name"), str))


class Job:
    """A search in the background."""

    def __init__(self, work: Callable[[], tuple[Candidate, ...]], query: str, started: float) -> None:
        """Start it at once.

        Args:
            work: The search; what it raises is kept as `error`.
            query: What is searched for.
            started: When, on the session's clock.
        """
        self.query = query
        self.started = started
        self.found: tuple[Candidate, ...] = ()
        self.error = ""
        self._done = threading.Event()
        self._work = work
        # A daemon: a search that hangs must not keep the program from ending.
        threading.Thread(target=self._run, name="toolsearch-prefetch", daemon=True).start()

    def is_done(self, timeout: float | None) -> bool:
        """Wait for the end at most this many seconds, or without limit if None; whether it is there."""
        return self._done.wait(timeout)

    def _run(self) -> None:
        try:
            self.found = self._work()
        except Exception as error:
            self.error = failure(error)
        finally:
            self._done.set()


def failure(error: Exception) -> str:
    """The warning about a search that failed."""
    return f"a search for recommendations failed: {type(error).__name__}: {str(error)[:200]}"


def said(text: str) -> str:
    """What of a text is searched: its beginning, cut at the end of a word."""
    text = text.strip()
    if len(text) <= LONGEST_TEXT:
        return text
    kept = text[:LONGEST_TEXT]
    return kept[: kept.rfind(" ")] if " " in kept[LONGEST_TEXT // 2 :] else kept


def _is_telling(result: Result) -> bool:
    """Whether more than a chance word brought the tool up: "why?" is no wish for the tool that explains a change."""
    parts = [part for part in result.parts if part.value > 0]
    # Counted within each arm: one knows a word as it is written, another its stem.
    terms = Counter(arm for arm, _ in {(part.arm, part.term) for part in parts})
    return max(terms.values(), default=0) > 1 or any(part.field in _TELLING_FIELDS for part in parts)


def _row(candidate: Candidate, tool: Tool, form: Form) -> dict[str, Any]:
    return {
        "name": tool.name,
        "server": tool.server,
        "description": neutralise(tool.description or "", limit=_LONGEST_DESCRIPTION).text,
        "parameters": [
            {"name": parameter.name, "type": parameter.type, "required": parameter.required}
            for parameter in parameters_of(tool.input_schema)
        ],
        "confidence": candidate.confidence,
        "text": form.text,
    }


def _rows(attachment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tools = attachment.get("tools")
    return [row for row in tools if isinstance(row, Mapping)] if isinstance(tools, list | tuple) else []
