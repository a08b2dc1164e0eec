"""A session and the providers' real clients: the whole pipeline against a scripted model that checks every request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Which city."}, "days": {"type": "integer"}},
    "required": ["city"],
}
POST = {
    "type": "object",
    "properties": {"channel": {"type": "string"}, "text": {"type": "string"}},
    "required": ["channel", "text"],
}
ACTIONS = ("book", "cancel", "rename", "archive", "share", "print")
OBJECTS = ("invoice", "parcel", "recipe", "contract", "playlist", "ticket")


def registry(
    ran: list[Any], wrap: Callable[[Callable[[Mapping[str, Any]], Any]], Any] = lambda call: call
) -> ToolRegistry:
    """The built-in tools, two of servers that run, one that is pinned under a name that no provider takes, and others."""

    def noted(name: str, answer: Callable[[Mapping[str, Any]], Any]) -> Any:
        def call(params: Mapping[str, Any]) -> Any:
            ran.append((name, dict(params)))
            return answer(params)

        return wrap(call)

    tools = [
        Tool(
            name="mcp__weather.io__get/forecast",
            server="weather.io",
            description="Weather forecast for a city.",
            input_schema=CITY,
            call=noted("forecast", lambda params: {"city": params["city"], "sky": "rain", "degrees": 21}),
        ),
        Tool(
            name="mcp__chat__post",
            server="chat",
            description="Post a message to a channel of the team.",
            input_schema=POST,
            call=noted("post", lambda params: f"posted to {params['channel']}"),
        ),
        Tool(
            name="clock.now",
            description="The time.",
            input_schema={"type": "object", "properties": {"time zone": {"type": "string"}}},
            call=noted("clock", lambda params: f"noon in {params.get('time zone')}"),
        ),
        *(
            Tool(name=f"{action}_{thing}", description=f"{action.capitalize()} a {thing}.", input_schema=CITY)
            for action in ACTIONS
            for thing in OBJECTS
        ),
    ]
    return ToolRegistry([*builtin_catalog(), *tools], pins=["clock.now"])


def script(step: Any, clock: str, zone: str) -> list[Any]:
    """Search twice in a turn, execute twice in a turn, answer; then a pinned tool, a wrong call and a final value."""
    forecast = {"tool_name": "mcp__weather.io__get/forecast", "params": {"city": "Zürich", "days": 2}}
    post = {"tool_name": "mcp__chat__post", "params": {"channel": "team", "text": "Rain! </tool>"}}
    return [
        step(
            "I need two tools.",
            [
                ("SearchExtraTools", {"query": "weather forecast"}),
                ("SearchExtraTools", {"query": "select:mcp__chat__post", "max_results": 3}),
            ],
            wants=["Give me a weather forecast"],
        ),
        step(
            "",
            [("ExecuteExtraTool", forecast), ("ExecuteExtraTool", post)],
            wants=["get/forecast", "city: string, days?: integer", "channel"],
        ),
        step("It rains, and the team knows.", wants=["rain", "21", "posted to team"]),
        step(
            "",
            [(clock, {zone: "CET"}), ("ExecuteExtraTool", {"tool_name": "mcp__chat__post", "params": {"channel": 5}})],
            wants=["And what time is it?", "mcp__late__translate"],
        ),
        step(
            "", [("SyntheticOutput", {"rain": True, "time": "noon"})], wants=["noon in CET", "invalid_params", "text"]
        ),
        step("Done.", wants=["thank"]),
    ]


def late() -> Tool:
    """A tool of a server that connects in the middle of the conversation."""
    return Tool(name="mcp__late__translate", server="late", description="Translate a text.", input_schema=CITY)


def sent_names(voice: Any, session: Session) -> tuple[str, str]:
    """How the pinned tool and its parameter are called at the provider."""
    tools = voice.tools({"tools": session.tools_array(), "config": {"tools": session.tools_array()}})
    [(name, schema)] = [(name, schema) for name, _, schema in tools if name.startswith("clock")]
    [zone] = schema["properties"]
    return name, zone


def check(model: Any, session: Session, ran: list[Any], history: list[Any]) -> None:
    """What holds at the end, whichever client carried the conversation."""
    assert model.complaints == []
    assert len(model.bodies) == len(model.steps)
    assert ran == [
        ("forecast", {"city": "Zürich", "days": 2}),
        ("post", {"channel": "team", "text": "Rain! </tool>"}),
        ("clock", {"time zone": "CET"}),
    ]
    assert {"mcp__weather.io__get/forecast", "mcp__chat__post"} <= set(session.discovered)
    assert session.output == {"rain": True, "time": "noon"}
    attached = {entry["attachment"]["type"] for entry in history if isinstance(entry, dict) and "attachment" in entry}
    delta = {"deferred_tools_delta"} if session.settings.announcements == "delta" else set()
    assert attached == {"tool_discovery"} | delta
    json.dumps(history)


WORDS = ("Give me a weather forecast for a city.", "And what time is it?", "thank you")
"""Each is said after the model has answered without a call."""

SETTINGS = pytest.mark.parametrize("announcements", ["header", "delta"])
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@SETTINGS
@STREAMS
def test_a_session_by_the_real_client(
    voice: Any, scripted: Any, step: Any, client: Any, stream: bool, announcements: Any
) -> None:
    """The pipeline works end to end, and the prefix and the tools stay, although tools are found and a server connects."""
    ran: list[Any] = []
    tools = registry(ran)
    settings = SessionSettings(announcements=announcements, prefetch_deadline=5.0)
    session = Session(tools, provider=voice.name, settings=settings)
    with (
        scripted(voice, script(step, *sent_names(voice, session))) as model,
        client(voice.name, model.url, stream) as ask,
    ):
        history: list[Any] = []
        words = list(WORDS)
        while len(model.bodies) < len(model.steps):
            history.append(session.user(words.pop(0)))
            while True:
                request = session.request(history, model="m", system="Be brief.", wait=True)
                history = request.history
                response = ask(request.payload)
                history += session.reply(response)
                calls = session.calls(response)
                if not calls:
                    break
                history += session.results([session.handle(call) for call in calls])
                if session.output is not None:
                    break
            if len(words) == 2:
                tools.add(late())
                session.set_server("late", "connected")
    check(model, session, ran, history)


@SETTINGS
@STREAMS
def test_a_session_by_the_real_asynchronous_client(
    voice: Any, scripted: Any, step: Any, async_client: Any, stream: bool, announcements: Any
) -> None:
    """The same conversation with the asynchronous client and tools that are awaited, the calls of a turn at once."""
    ran: list[Any] = []

    def awaited(call: Callable[[Mapping[str, Any]], Any]) -> Any:
        async def later(params: Mapping[str, Any]) -> Any:
            result = call(params)
            await asyncio.sleep(0)
            return result

        return later

    tools = registry(ran, awaited)
    settings = SessionSettings(announcements=announcements, prefetch_deadline=5.0)
    session = Session(tools, provider=voice.name, settings=settings)

    async def converse(model: Any) -> list[Any]:
        history: list[Any] = []
        words = list(WORDS)
        async with async_client(voice.name, model.url, stream) as ask:
            while len(model.bodies) < len(model.steps):
                history.append(session.user(words.pop(0)))
                while True:
                    request = session.request(history, model="m", system="Be brief.", wait=True)
                    history = request.history
                    response = await ask(request.payload)
                    history += session.reply(response)
                    calls = session.calls(response)
                    if not calls:
                        break
                    outcomes = await asyncio.gather(*(session.handle_async(call) for call in calls))
                    history += session.results(outcomes)
                    if session.output is not None:
                        break
                if len(words) == 2:
                    tools.add(late())
                    session.set_server("late", "connected")
        return history

    with scripted(voice, script(step, *sent_names(voice, session))) as model:
        history = asyncio.run(converse(model))
    check(model, session, ran, history)


@SETTINGS
def test_a_saved_session_goes_on_with_the_same_prefix(
    voice: Any, scripted: Any, step: Any, client: Any, announcements: Any
) -> None:
    """Session and history through JSON and back in the middle of a conversation change nothing that was sent."""
    ran: list[Any] = []
    tools = registry(ran)
    settings = SessionSettings(announcements=announcements, prefetch_deadline=5.0)
    session = Session(tools, provider=voice.name, settings=settings)
    steps = script(step, *sent_names(voice, session))[:3]
    with scripted(voice, steps) as model, client(voice.name, model.url, False) as ask:
        history: list[Any] = [session.user(WORDS[0])]
        while True:
            request = session.request(history, model="m", system="Be brief.", wait=True)
            response = ask(request.payload)
            history = [*request.history, *session.reply(response)]
            calls = session.calls(response)
            if not calls:
                break
            history += session.results([session.handle(call) for call in calls])
            history = json.loads(json.dumps(history))
            saved = json.loads(json.dumps(session.save().to_json()))
            session = Session.restore(tools, saved, provider=voice.name, settings=settings)
    assert model.complaints == []
    assert [name for name, _ in ran] == ["forecast", "post"]
