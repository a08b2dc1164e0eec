"""From findings to the answer: the text that the model reads, within its token budget, and the values beside it.

Room is given in two rounds: first every tool in its shortest form, in order, then in order each tool in the fullest
form that still fits. So a tool with a huge schema never hides the tools after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsearch.tokens import TokenCounter
from toolsearch.tools.findings import Findings, Hit
from toolsearch.tools.found import FoundTool, SearchAnswer
from toolsearch.tools.parameters import parameters_of
from toolsearch.tools.servers import servers_in
from toolsearch.tools.tool_forms import MODES_WITH_SCHEMAS, Form, forms
from toolsearch.tools.untrusted import CUT_MARK
from toolsearch.tools.wording import Wording

SMALLEST_BUDGET = 1000
"""Tokens of the smallest text in which every kind of line and at least one tool in brief have room."""

_LONGEST_TOKEN = 12
"""Characters of JSON that one token holds at the very most; a schema longer than this allows is not even counted."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A tool with the form that was chosen for it.

    Attributes:
        hit: The tool.
        form: The chosen form; None where there was no room.
        fuller: A fuller form would have had room if the tool had been asked for alone.
    """

    hit: Hit
    form: Form | None
    fuller: bool


class Renderer:
    """Makes answers out of findings."""

    def __init__(self, counter: TokenCounter, *, token_budget: int) -> None:
        """Take the counter and the most tokens of a text, at least `SMALLEST_BUDGET`."""
        self._counter = counter
        self._budget = token_budget
        # Of what a text may hold: lines of ours, lines about what did not fit, and the rest for the tools.
        self._for_lines = token_budget * 2 // 5
        self._for_cuts = token_budget // 5
        self._for_list = token_budget // 20

    def answer(self, findings: Findings) -> SearchAnswer:
        """The complete answer."""
        request = findings.request
        write = Wording(self._counter, list_tokens=self._for_list)
        before, after, lines_cut = self._lines(findings, write)
        room = self._budget - self._count([*before, *after]) - self._for_cuts
        shown = self._choose(findings, room, write)
        text, shown, after_cut = self._assembled(findings, shown, before, after, write)
        cursor = findings.next_cursor
        if request.mode == "list" and len(shown) < len(findings.hits):
            cursor = shown[-1].hit.tool.name
        results = tuple(_found_tool(each, with_schema=request.mode in MODES_WITH_SCHEMAS) for each in shown)
        return SearchAnswer(
            query=request.query,
            mode=request.mode,
            results=results,
            total_matches=findings.total,
            total_deferred=findings.total_deferred,
            truncated=cursor is not None or (request.mode != "list" and findings.total > len(results)),
            clamped=request.clamped,
            low_confidence=findings.low_confidence,
            missing=findings.missing,
            already_loaded=findings.already_loaded,
            pending_servers=servers_in(findings.servers, "pending"),
            failed_servers=servers_in(findings.servers, "failed", "disconnected"),
            disabled_servers=servers_in(findings.servers, "disabled"),
            next_cursor=cursor,
            text=text,
            text_cut=lines_cut or after_cut or write.cut or any(tool.cut for tool in results),
            is_error=findings.fault is not None,
            warnings=(*request.notes, *findings.notes),
        )

    def _lines(self, findings: Findings, write: Wording) -> tuple[list[str], list[str], bool]:
        """The lines before and after the tools, as many as have room, and whether any was left out."""
        notes = [f"Note: {note}" for note in (*findings.request.notes, *findings.notes)]
        loaded = [write.loaded(findings.already_loaded)] if findings.already_loaded else []
        before: list[str] = []
        after: list[str] = []
        if findings.fault:
            before, after = write.fault(findings), notes
        elif loaded and not findings.hits and not findings.missing:
            before = loaded
        else:
            if findings.hits:
                before = [*loaded, *write.head(findings, len(findings.hits))]
            else:
                before = loaded if findings.missing else write.nothing(findings)
            after += [write.missing(missing) for missing in findings.missing]
            after += write.more(findings)
            after += write.sizes(findings) if findings.sizes else []
            if not findings.hits or findings.missing or findings.low_confidence:
                after += write.servers(findings)
            after += notes
        left = self._for_lines - self._count(before)
        for kept, line in enumerate(after):
            left -= self._count([line])
            if left < 0:
                return before, [*after[:kept], f"{len(after) - kept} lines were left out{CUT_MARK}"], True
        return before, after, False

    def _choose(self, findings: Findings, room: int, write: Wording) -> list[_Shown]:
        """The form of each tool; a listing ends where the room ends, so that its next page passes nobody over."""
        alone = self._budget - self._for_cuts - self._count(write.head(findings, 1)) if findings.hits else 0
        ways = [forms(hit.tool, findings.request.mode, longest=_LONGEST_TOKEN * self._budget) for hit in findings.hits]
        costs = [[self._count([form.text]) for form in each] for each in ways]
        chosen: list[int | None] = []
        for cost in costs:
            fits = cost[-1] <= room
            room -= cost[-1] if fits else 0
            if not fits and findings.request.mode == "list" and chosen:
                break
            chosen.append(len(cost) - 1 if fits else None)
        for place, shortest in enumerate(chosen):
            if shortest is None:
                continue
            spent = costs[place][shortest]
            for number in range(shortest):
                if costs[place][number] - spent <= room:
                    room -= costs[place][number] - spent
                    chosen[place] = number
                    break
        shown = []
        for hit, way, cost, choice in zip(findings.hits, ways, costs, chosen, strict=False):
            better = cost if choice is None else cost[:choice]
            form = None if choice is None else way[choice]
            shown.append(_Shown(hit, form, fuller=any(each <= alone for each in better)))
        return shown

    def _assembled(
        self,
        findings: Findings,
        shown: list[_Shown],
        before: Sequence[str],
        after: Sequence[str],
        write: Wording,
    ) -> tuple[str, list[_Shown], bool]:
        """The text, with as many tools as the budget truly holds; the tools; and whether a line had to go."""
        listing = findings.request.mode == "list"
        lines, dropped = list(after), False
        while True:
            head = list(before)
            if listing and shown:
                old, new = write.head(findings, len(findings.hits)), write.head(findings, len(shown))
                head = head[: len(head) - len(old)] + new
            blocks = [each.form.text for each in shown if each.form is not None]
            text = "\n".join([*head, *blocks, *lines, *_about_cuts(findings, shown, write)])
            if self._counter.count(text) <= self._budget:
                return text, shown, dropped
            # Tokens of joined lines can be a few more than of the lines apart, so this is rare.
            if blocks:
                last = max(place for place, each in enumerate(shown) if each.form is not None)
                lost = _Shown(shown[last].hit, None, fuller=True)
                shown = shown[:last] if listing and last else [*shown[:last], lost, *shown[last + 1 :]]
            elif lines:
                lines, dropped = lines[:-1], True
            else:
                return text[: self._budget // 2] + CUT_MARK, shown, True

    def _count(self, lines: Sequence[str]) -> int:
        # One for each line break, which the lines apart do not hold.
        return sum(self._counter.count(line) + 1 for line in lines)


def _about_cuts(findings: Findings, shown: Sequence[_Shown], write: Wording) -> list[str]:
    """What did not fit, and how to get it."""
    mode = findings.request.mode
    lines = []
    gone = [each.hit.tool.name for each in shown if each.form is None]
    if gone:
        lines.append(write.not_shown(gone))
    if mode in MODES_WITH_SCHEMAS:
        less = [each for each in shown if each.form is not None and each.form.cut]
        shortened = [each.hit.tool.name for each in less if each.fuller]
        too_large = [
            each.hit.tool.name for each in less if not each.fuller and each.form and each.form.detail != "schema"
        ]
        lines += [write.in_brief(shortened)] if shortened else []
        lines += [write.too_large(too_large)] if too_large else []
    cursor = shown[-1].hit.tool.name if shown and len(shown) < len(findings.hits) else findings.next_cursor
    if mode == "list" and cursor is not None:
        lines.append(write.next_page(findings.hits[0].tool.server or "", cursor))
    return lines


def _found_tool(shown: _Shown, *, with_schema: bool) -> FoundTool:
    hit = shown.hit
    return FoundTool(
        name=hit.tool.name,
        rank=hit.rank,
        score=hit.score,
        reason=hit.reason,
        server=hit.tool.server,
        description=hit.tool.description,
        parameters=parameters_of(hit.tool.input_schema),
        input_schema=hit.tool.input_schema if with_schema else None,
        arms=hit.arms,
        detail=shown.form.detail if shown.form else "nothing",
        cut=shown.form.cut if shown.form else True,
    )
