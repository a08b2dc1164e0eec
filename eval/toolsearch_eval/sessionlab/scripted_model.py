"""The model of a replay: it says and calls what the script holds, after the searches that it takes to get there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.session.attachments import DELTA, DISCOVERY, attachment_text
from toolsearch.session.providers.texts import reminder, sent_text
from toolsearch_eval.conversations import AssistantEvent, Call
from toolsearch_eval.sessionlab.agent import Agent
from toolsearch_eval.sessionlab.blocks import Block, Known, blocks_of, call_text
from toolsearch_eval.sessionlab.happenings import Happening
from toolsearch_eval.sessionlab.replayed import Pace, Sent
from toolsearch_eval.sessionlab.replies import ScriptedCall, response

SYSTEM_PROMPT = "You are an agent that works for the user with the tools that you have."
"""Said to the model in every request, before the guidance about deferred tools where there are some."""

_SEARCH, _EXECUTE = SYNTHETIC_TOOLS[:2]
_MODEL = "lab"


class ScriptedModel:
    """Builds the requests of all agents of a replay and answers them.

    Attributes:
        requests: Those that were sent, in order.
        warnings: What the sessions warned about.
    """

    def __init__(self, api: str, pace: Pace) -> None:
        """Take the form of the requests and how much time passes."""
        self.requests: list[Sent] = []
        self.warnings: list[str] = []
        self._api, self._pace = api, pace
        self._now = 0.0
        self._calls = 0
        self._known_blocks: dict[Block, Block] = {}

    def wait(self) -> None:
        """Time passes before a user speaks again."""
        self._now += self._pace.between_turns

    def answer(self, event: AssistantEvent, agent: Agent) -> None:
        """Answer as the script says.

        A tool that stands in the array is called by its name; a deferred one that it knows is run by the proxy; for
        one that it does not know it searches first with the query of the script, and if the answer does not show the
        tool, it selects it by name.
        """
        text = event.text
        asked = _Asked((), (), ())
        for tries in (_by_query, _by_name):
            asked = self._request(agent)
            unknown = {call.tool: call for call in event.calls if not agent.can_call(call.tool)}
            if not unknown:
                break
            searches = [self._call(agent, _SEARCH, {"query": tries(call)}) for call in unknown.values()]
            agent.searches.update(call.id for call in searches)
            self._reply(agent, text, searches, asked, searches=len(searches))
            text = ""
        else:
            asked = self._request(agent)
        calls = [self._scripted(agent, call) for call in event.calls]
        self._reply(agent, text, calls, asked)
        agent.last_words = event.text or agent.last_words
        agent.spoke_last = not calls

    def _request(self, agent: Agent) -> _Asked:
        # Asked for before: what this request recommends can change the array of the next one only.
        happened = agent.since_last_request()
        guidance = agent.session.usage_guidance()
        system = f"{SYSTEM_PROMPT}\n\n{guidance}" if guidance else SYSTEM_PROMPT
        made = agent.session.request(agent.history, model=_MODEL, system=system, wait=True)
        agent.history = made.history
        self.warnings += made.warnings
        recommended: list[str] = []
        for entry in made.attachments:
            attachment = entry["attachment"]
            agent.texts[reminder(sent_text(attachment_text(attachment)))] = (
                "announcements" if attachment["type"] == DELTA else "recommendations"
            )
            if attachment["type"] == DISCOVERY:
                recommended += [row["name"] for row in attachment["tools"]]
        agent.recommended += recommended
        known = Known(
            groups=agent.session.array_groups(),
            texts=agent.texts,
            searches=frozenset(agent.searches),
            tail=reminder(sent_text(made.header)) if made.header else "",
        )
        blocks = blocks_of(self._api, made.payload, known)
        # The same piece in another request is the same object, which makes comparing them quick.
        shared = tuple(self._known_blocks.setdefault(block, block) for block in blocks)
        return _Asked(shared, tuple(recommended), happened)

    def _reply(
        self, agent: Agent, text: str, calls: Sequence[ScriptedCall], asked: _Asked, *, searches: int = 0
    ) -> None:
        answer = response(self._api, text, calls)
        agent.history += agent.session.reply(answer)
        outcomes = [agent.session.handle(call) for call in agent.session.calls(answer)]
        agent.history += agent.session.results(outcomes)
        self.requests.append(
            Sent(
                agent=agent.name,
                turn=agent.turn,
                seconds=self._now,
                blocks=asked.blocks,
                reply=(*([text] if text else []), *(call_text(call.name, dict(call.arguments)) for call in calls)),
                searches=searches,
                failed=sum(outcome.is_error for outcome in outcomes),
                recommended=asked.recommended,
                happened=asked.happened,
            )
        )
        self._now += self._pace.between_requests

    def _scripted(self, agent: Agent, call: Call) -> ScriptedCall:
        session = agent.session
        if call.tool in session.array_names() or not session.decision.enabled:
            return self._call(agent, call.tool, call.params)
        return self._call(agent, _EXECUTE, {"tool_name": call.tool, "params": dict(call.params)})

    def _call(self, agent: Agent, name: str, arguments: Mapping[str, Any]) -> ScriptedCall:
        self._calls += 1
        return ScriptedCall(f"call-{self._calls}", agent.session.sent_name(name), arguments)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that waits for its answer."""

    blocks: tuple[Block, ...]
    recommended: tuple[str, ...]
    happened: tuple[Happening, ...]


def _by_query(call: Call) -> str:
    return call.query or f"select:{call.tool}"


def _by_name(call: Call) -> str:
    return f"select:{call.tool}"
