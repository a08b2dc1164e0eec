"""A server on this machine that plays a scripted model through each provider's own API, and holds requests to its rules."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

TAIL = "<available-deferred-tools>"


@dataclass(frozen=True)
class Step:
    """One answer of the model.

    Attributes:
        text: What it says.
        calls: Name and arguments of what it calls.
        wants: What the request must hold for the answer to make sense.
    """

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    wants: Sequence[str] = ()


@dataclass
class ScriptedModel:
    """Answers one conversation by a script, as the API would; refuses what the API would refuse.

    Attributes:
        voice: Whose API it speaks.
        steps: Its answers in order.
        url: Where it listens.
        bodies: Every request that it got, in the form of the provider's payload.
        complaints: What it refused, and why.
    """

    voice: Any
    steps: Sequence[Step]
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def answer(self, path: str, headers: Any, text: str) -> tuple[int, str, bytes]:
        """Status, type and body for one request."""
        wire = json.loads(text)
        payload = self.payload(path, wire)
        found = self.voice.complaints(payload) + list(self._stable(payload)) + list(self._headers(headers))
        step = self.steps[len(self.bodies)] if len(self.bodies) < len(self.steps) else None
        if step is None:
            found.append("the script has ended")
        else:
            said = json.dumps(payload, ensure_ascii=False)
            found += [f"step {len(self.bodies) + 1} misses {want!r}" for want in step.wants if want not in said]
        self.bodies.append(payload)
        if found or step is None:
            self.complaints += found
            error = {
                "type": "error",
                "error": {"type": "invalid_request_error", "code": 400, "message": "; ".join(found)},
            }
            return 400, "application/json", json.dumps(error).encode()
        number = len(self.bodies)
        calls = [(self._id(number, place), name, arguments) for place, (name, arguments) in enumerate(step.calls)]
        whole = self.voice.answer(step.text, calls)
        if wire.get("stream") or "stream" in path:
            return 200, "text/event-stream", "".join(STREAMS[self.voice.name](whole)).encode()
        return 200, "application/json", json.dumps(whole).encode()

    def payload(self, path: str, wire: dict[str, Any]) -> dict[str, Any]:
        """The request as the keyword arguments that it was made from."""
        if self.voice.name != "gemini":
            return wire
        snake = renamed(wire)
        config = {**snake.get("generation_config", {}), "tools": snake.get("tools", [])}
        if "system_instruction" in snake:
            config["system_instruction"] = "".join(part["text"] for part in snake["system_instruction"]["parts"])
        model = re.search(r"/models/([^:]+):", path)
        return {"model": model[1] if model else "", "contents": snake["contents"], "config": config}

    def _id(self, number: int, place: int) -> str:
        # Gemini gives no ids, so that results have to find their calls by name and order.
        return "" if self.voice.name == "gemini" else f"call_{number}_{place}"

    def _headers(self, headers: Any) -> Iterator[str]:
        if "anthropic-beta" in {key.lower() for key in headers}:
            yield "a beta header"

    def _stable(self, payload: dict[str, Any]) -> Iterator[str]:
        """What a cache would miss: another head, or a conversation that does not begin with the one before."""
        if not self.bodies:
            return
        before = self.bodies[-1]
        for part in (self.voice.tools, lambda body: [body.get("system"), body.get("instructions"), body.get("config")]):
            if json.dumps(part(before)) != json.dumps(part(payload)):
                yield "the tools or the system prompt changed"
        kept = [json.dumps(element) for element in self.voice.flat(before) if TAIL not in json.dumps(element)]
        now = [json.dumps(element) for element in self.voice.flat(payload)]
        if now[: len(kept)] != kept:
            yield "the prefix changed"


def renamed(value: Any, inside: str = "") -> Any:
    """Gemini's names on the wire as those of its client; what tools and models wrote stays."""
    if isinstance(value, list):
        return [renamed(inner, inside) for inner in value]
    if not isinstance(value, dict) or inside in ("args", "response", "parametersJsonSchema"):
        return value
    return {
        re.sub(r"(?<!^)([A-Z])", lambda match: f"_{match[1].lower()}", key): renamed(inner, key)
        for key, inner in value.items()
    }


def event(data: Any, name: str = "") -> str:
    """One event of a stream."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def anthropic_stream(whole: dict[str, Any]) -> Iterator[str]:
    """The events of a message, arguments in two pieces."""
    yield event({"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}, "message_start")
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start: dict[str, Any] = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": block["text"]}]
        else:
            start = {**block, "input": {}}
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in (text[:3], text[3:])]
        yield event({"type": "content_block_start", "index": index, "content_block": start}, "content_block_start")
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def chat_stream(whole: dict[str, Any]) -> Iterator[str]:
    """The chunks of a completion, arguments in two pieces."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    message = whole["choices"][0]["message"]

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": message["content"] or ""})
    for index, call in enumerate(message.get("tool_calls", [])):
        text = call["function"]["arguments"]
        function = {"name": call["function"]["name"], "arguments": text[:3]}
        yield chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": text[3:]}}]})
    yield chunk({}, whole["choices"][0]["finish_reason"])
    yield "data: [DONE]\n\n"


def responses_stream(whole: dict[str, Any]) -> Iterator[str]:
    """The events of a response, item by item."""
    number = 0

    def numbered(kind: str, /, **values: Any) -> str:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number, **values}, kind)

    yield numbered("response.created", response={**whole, "output": [], "status": "in_progress"})
    for index, item in enumerate(whole["output"]):
        empty = {**item, "arguments": ""} if item["type"] == "function_call" else item
        yield numbered("response.output_item.added", output_index=index, item=empty)
        if item["type"] == "function_call":
            place = {"output_index": index, "item_id": item["id"]}
            yield numbered("response.function_call_arguments.delta", delta=item["arguments"], **place)
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield numbered("response.function_call_arguments.done", **done, **place)
        yield numbered("response.output_item.done", output_index=index, item=item)
    yield numbered("response.completed", response=whole)


def gemini_stream(whole: dict[str, Any]) -> Iterator[str]:
    """The chunks of a response, a part each."""
    for part in whole["candidates"][0]["content"]["parts"]:
        yield event({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], "modelVersion": "m"})


STREAMS = {
    "anthropic": anthropic_stream,
    "openai-chat": chat_stream,
    "openai-responses": responses_stream,
    "gemini": gemini_stream,
}


@contextmanager
def listening(model: ScriptedModel) -> Iterator[ScriptedModel]:
    """The model on a free port of this machine, as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name is http.server's
            """Answer by the script."""
            text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
            try:
                status, kind, body = model.answer(self.path, self.headers, text)
            except Exception as error:
                model.complaints.append(repr(error))
                status, kind, body = 400, "application/json", json.dumps({"error": {"message": repr(error)}}).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


Ask = Callable[[dict[str, Any]], Any]
AskLater = Callable[[dict[str, Any]], Awaitable[Any]]


@contextmanager
def client_of(name: str, url: str, stream: bool) -> Iterator[Ask]:
    """A provider's client at a url, as a function from a payload to a response or to the final message of a stream."""
    if name == "anthropic":
        import anthropic

        with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:

            def ask(payload: dict[str, Any]) -> Any:
                if not stream:
                    return client.messages.create(**payload)
                with client.messages.stream(**payload) as events:
                    return events.get_final_message()

            yield ask
    elif name == "gemini":
        from google import genai
        from google.genai import types

        with genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url)) as gemini:
            models = gemini.models
            yield (
                lambda payload: (
                    list(models.generate_content_stream(**payload)) if stream else models.generate_content(**payload)
                )
            )
    else:
        import openai

        with openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as openai_client:
            chat = name == "openai-chat"
            api: Any = openai_client.chat.completions if chat else openai_client.responses

            def ask_openai(payload: dict[str, Any]) -> Any:
                if not stream:
                    return api.create(**payload)
                with api.stream(**payload) as events:
                    return events.get_final_completion() if chat else events.get_final_response()

            yield ask_openai


@asynccontextmanager
async def async_client_of(name: str, url: str, stream: bool) -> AsyncIterator[AskLater]:
    """As `client_of`, with the provider's asynchronous client."""
    if name == "anthropic":
        import anthropic

        async with anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:

            async def ask(payload: dict[str, Any]) -> Any:
                if not stream:
                    return await client.messages.create(**payload)
                async with client.messages.stream(**payload) as events:
                    return await events.get_final_message()

            yield ask
    elif name == "gemini":
        from google import genai
        from google.genai import types

        async with genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url)).aio as gemini:

            async def ask_gemini(payload: dict[str, Any]) -> Any:
                if not stream:
                    return await gemini.models.generate_content(**payload)
                return [chunk async for chunk in await gemini.models.generate_content_stream(**payload)]

            yield ask_gemini
    else:
        import openai

        async with openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as openai_client:
            chat = name == "openai-chat"
            api: Any = openai_client.chat.completions if chat else openai_client.responses

            async def ask_openai(payload: dict[str, Any]) -> Any:
                if not stream:
                    return await api.create(**payload)
                async with api.stream(**payload) as events:
                    return await (events.get_final_completion() if chat else events.get_final_response())

            yield ask_openai


@pytest.fixture
def client() -> Any:
    """Opens a provider's client for the block of a `with`."""
    return client_of


@pytest.fixture
def async_client() -> Any:
    """Opens a provider's asynchronous client for the block of an `async with`."""
    return async_client_of


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clients reach this machine directly, wherever the tests run."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def scripted() -> Any:
    """What starts a scripted model for the block of a `with`: an API and the steps of the script."""

    def start(voice: Any, steps: Sequence[Step]) -> Any:
        return listening(ScriptedModel(voice, steps))

    return start


@pytest.fixture
def step() -> type[Step]:
    """One answer of a scripted model."""
    return Step
