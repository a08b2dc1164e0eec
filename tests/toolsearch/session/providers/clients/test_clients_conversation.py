"""The providers' real clients carry whole conversations: search, execute, answer, several calls in a turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.session.providers import ProviderTools, ToolCall, ToolOutcome, provider_for


@dataclass
class Host:
    """A host without a session: the provider and two tools of its own."""

    name: str

    def __post_init__(self) -> None:
        """Make the tools once, as a session does."""
        self.provider = provider_for(self.name)
        self.tools: ProviderTools = self.provider.tools(synthetic_tools())

    def request(self, history: list[Any]) -> dict[str, Any]:
        """A request whose tail changes each time."""
        return self.provider.payload(
            model="m",
            system="Be brief.",
            tools=self.tools,
            history=history,
            render=lambda value: str(value["text"]),
            tail=f"<available-deferred-tools>\nafter {len(history)} entries\n</available-deferred-tools>",
        )

    def handle(self, call: ToolCall) -> ToolOutcome:
        """What each call gives."""
        if call.name == "SearchExtraTools" and not isinstance(call.arguments, str):
            return ToolOutcome(call, f"Found the tool for {call.arguments['query']}.")
        if call.name == "ExecuteExtraTool" and not isinstance(call.arguments, str):
            return ToolOutcome(call, f"{call.arguments['tool_name']} ran with {json.dumps(call.arguments['params'])}.")
        return ToolOutcome(call, f"can't read {call.arguments!r}", is_error=True)


def conversation(step: Any) -> list[Any]:
    """Two searches in one turn, two executions in one turn, an answer; then a call that fails, and the end."""
    forecast = {"tool_name": "forecast", "params": {"city": "Zürich", "days": 2}}
    post = {"tool_name": "post", "params": {"text": "rain", "tags": None}}
    return [
        step("Let me look.", [("SearchExtraTools", {"query": "weather"}), ("SearchExtraTools", {"query": "chat"})]),
        step(
            "",
            [("ExecuteExtraTool", forecast), ("ExecuteExtraTool", post)],
            wants=["Found the tool for weather.", "Found the tool for chat."],
        ),
        step("It rains, and I said so.", wants=["forecast ran with", "post ran with", "tools changed"]),
        step("", [("Unknown", {"x": 1})], wants=["It rains, and I said so.", "thanks"]),
        step("Done.", wants=["can't read"]),
    ]


def turns(host: Host) -> Generator[list[Any], Any, None]:
    """The history before each request; the caller sends the response back."""
    history = [host.provider.user("How is the weather? Tell the chat.")]
    for words in ("thanks", None):
        while True:
            response = yield history
            history.extend(host.provider.reply(response))
            calls = host.provider.calls(response, host.tools.names)
            if not calls:
                break
            # An attachment comes while the tools run, so it stands between the calls and their results.
            if not any("attachment" in entry for entry in history):
                history.append({"type": "attachment", "attachment": {"text": "tools changed"}})
            history.extend(host.provider.results([host.handle(call) for call in calls]))
        if words:
            history.append(host.provider.user(words))
    yield history


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_conversation_by_the_real_client(voice: Any, scripted: Any, step: Any, client: Any, stream: bool) -> None:
    """Every request is accepted, begins with the one before, has the same tools, and pairs calls with results."""
    host = Host(voice.name)
    with scripted(voice, conversation(step)) as model, client(voice.name, model.url, stream) as ask:
        run = turns(host)
        history = next(run)
        for _ in model.steps:
            history = run.send(ask(host.request(history)))
    assert model.complaints == []
    assert len(model.bodies) == len(model.steps)
    assert host.provider.speech(history[-1]) == ("assistant", "Done.")
    json.dumps(history)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_conversation_by_the_real_asynchronous_client(
    voice: Any, scripted: Any, step: Any, async_client: Any, stream: bool
) -> None:
    """The asynchronous client has the same conversation."""
    host = Host(voice.name)

    async def converse(url: str, count: int) -> list[Any]:
        async with async_client(voice.name, url, stream) as ask:
            run = turns(host)
            history = next(run)
            for _ in range(count):
                history = run.send(await ask(host.request(history)))
        return history

    with scripted(voice, conversation(step)) as model:
        history = asyncio.run(converse(model.url, len(model.steps)))
    assert model.complaints == []
    assert len(model.bodies) == len(model.steps)
    assert host.provider.speech(history[-1]) == ("assistant", "Done.")


def test_the_script_refuses_what_the_api_refuses(voice: Any, scripted: Any, step: Any, client: Any) -> None:
    """The server is no yes-man: other tools, a changed prefix and a lost result are errors of the client."""
    host = Host(voice.name)
    script = [step("", [("SearchExtraTools", {"query": "x"})]), *[step("ok")] * 3]
    with scripted(voice, script) as model, client(voice.name, model.url, False) as ask:
        history = [host.provider.user("hi")]
        history.extend(host.provider.reply(ask(host.request(history))))
        cut = host.request(history)
        for key in ("messages", "input", "contents"):
            if key in cut:
                # The result that the provider puts in for a lost one stands before the tail, at Anthropic in one message with it.
                del cut[key][-1 if voice.name == "anthropic" else -2]
        with pytest.raises(Exception, match=r"answered by|without results|not the user's"):
            ask(cut)
        with pytest.raises(Exception, match="the prefix changed"):
            ask(host.request([host.provider.user("ho"), *history[1:]]))
        host.tools = host.provider.tools(synthetic_tools()[:2])
        with pytest.raises(Exception, match="the tools or the system prompt changed"):
            ask(host.request(history))
