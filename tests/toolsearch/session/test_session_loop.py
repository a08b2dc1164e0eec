"""A whole conversation: the loop that a host writes, and a model that follows a script."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.functions import tool_from_function
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.session.announcements import rebuild
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings

POSTED: list[tuple[str, str]] = []


def post_message(channel: str, text: str) -> str:
    """Post a message to a channel of the team's chat."""
    POSTED.append((channel, text))
    return f"posted to {channel}"


def converse(session: Session, create: Any, text: str) -> list[Any]:
    """The loop around a session: one user's text, and turns until the model has nothing more to call."""
    history = [session.user(text)]
    while True:
        request = session.request(history, model="any", system=session.usage_guidance())
        response = create(**request.payload)
        history = request.history + session.reply(response)
        calls = session.calls(response)
        if not calls:
            return history
        history += session.results([session.handle(call) for call in calls])


async def converse_async(session: Session, create: Any, text: str) -> list[Any]:
    """The same loop, the calls of a turn at once."""
    history = [session.user(text)]
    while True:
        request = session.request(history, model="any", system=session.usage_guidance())
        response = create(**request.payload)
        history = request.history + session.reply(response)
        calls = session.calls(response)
        if not calls:
            return history
        history += session.results(await asyncio.gather(*map(session.handle_async, calls)))


SCRIPT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("I will look for a tool.", "SearchExtraTools", {"query": "select:post_message"}),
    (
        "Found it.",
        "ExecuteExtraTool",
        {"tool_name": "post_message", "params": {"channel": "#team", "text": "Lunch at noon."}},
    ),
    ("Done: your message is in #team.", "", {}),
)


def _anthropic(number: int, text: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if name:
        blocks.append({"type": "tool_use", "id": f"call_{number}", "name": name, "input": arguments})
    return {"type": "message", "role": "assistant", "content": blocks}


def _openai_chat(number: int, text: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if name:
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {"choices": [{"index": 0, "message": message}]}


def _openai_responses(number: int, text: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    said = [{"type": "output_text", "text": text}]
    output: list[dict[str, Any]] = [{"type": "message", "role": "assistant", "content": said}]
    if name:
        call = {"call_id": f"call_{number}", "name": name, "arguments": json.dumps(arguments)}
        output.append({"type": "function_call", **call})
    return {"output": output}


def _gemini(number: int, text: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}]
    if name:
        parts.append({"function_call": {"id": f"call_{number}", "name": name, "args": arguments}})
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


FORMS: dict[str, Any] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
}


class Model:
    """Answers by the script, and keeps what it was sent."""

    def __init__(self, provider: str) -> None:
        """Take the form of the answers."""
        self.payloads: list[dict[str, Any]] = []
        self._turns: Iterator[Any] = (FORMS[provider](number, *turn) for number, turn in enumerate(SCRIPT))

    def __call__(self, **payload: Any) -> dict[str, Any]:
        """The next answer."""
        self.payloads.append(json.loads(json.dumps(payload)))
        response: dict[str, Any] = next(self._turns)
        return response


def _session(provider: str, announcements: Any) -> Session:
    registry = ToolRegistry([*builtin_catalog(), tool_from_function(post_message)])
    return Session(registry, provider=provider, settings=SessionSettings(announcements=announcements))


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("announcements", ["header", "delta"])
@pytest.mark.parametrize("provider", FORMS)
def test_a_model_finds_a_tool_and_runs_it(provider: str, announcements: str, asynchronous: bool) -> None:
    """From a user's text to the target's call in three turns, for each provider, with the same tools in each request."""
    POSTED.clear()
    session, model = _session(provider, announcements), Model(provider)
    text = "Tell the team that lunch is at noon."
    run = (lambda *given: asyncio.run(converse_async(*given))) if asynchronous else converse
    history = run(session, model, text)
    assert POSTED == [("#team", "Lunch at noon.")]
    assert "post_message" in session.discovered
    assert len(model.payloads) == 3
    arrays = [payload["config"]["tools"] if provider == "gemini" else payload["tools"] for payload in model.payloads]
    assert arrays[0] == arrays[1] == arrays[2]
    last = json.dumps(model.payloads[-1], ensure_ascii=False)
    assert "posted to #team" in last
    assert ("<available-deferred-tools>" in last) is (announcements == "header")
    assert bool(rebuild(history).owners) is (announcements == "delta")


@pytest.mark.parametrize("provider", FORMS)
def test_each_request_continues_the_one_before(provider: str) -> None:
    """With changes in the history, each request begins with all messages of the one before, cache marks aside."""
    session, model = _session(provider, "delta"), Model(provider)
    converse(session, model, "Tell the team that lunch is at noon.")
    key = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "gemini": "contents"}[
        provider
    ]
    sent = []
    for payload in model.payloads:
        text = json.dumps(payload[key]).replace(', "cache_control": {"type": "ephemeral"}', "")
        sent.append(json.loads(text))
    for earlier, later in itertools.pairwise(sent):
        assert later[: len(earlier)] == earlier
