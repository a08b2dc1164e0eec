"""Results of tools in each provider's form: texts, errors, images, audio, files and structured values."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.session.providers import PROVIDERS, ProviderTools, ToolCall, ToolOutcome, provider_for
from toolsearch.session.providers.media import MAX_BYTES, note, read_block

Accepted = Callable[[Any, dict[str, Any]], dict[str, Any]]

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
JPEG = base64.b64encode(b"\xff\xd8\xffrest").decode()
PDF = base64.b64encode(b"%PDF-1.7 rest").decode()
WAV = base64.b64encode(b"RIFF0000WAVEfmt ").decode()
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}
FILE = {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": PDF}}


def answered(voice: Any, accepted: Accepted, *outcomes: tuple[str, bool, tuple[Any, ...]]) -> list[Any]:
    """What a request holds behind the calls, for one turn with these results."""
    provider = voice.provider
    answer = voice.answer("", [(f"id{place}", "SearchExtraTools", {}) for place in range(len(outcomes))])
    calls = provider.calls(answer, ProviderTools([]).names)
    results = provider.results(
        [
            ToolOutcome(call, text, is_error, blocks)
            for call, (text, is_error, blocks) in zip(calls, outcomes, strict=True)
        ]
    )
    assert all(provider.speech(entry) is None for entry in results)
    history = [provider.user("hi"), *provider.reply(answer)]

    def flat(entries: list[Any]) -> list[Any]:
        payload = provider.payload(
            model="m", system=None, tools=provider.tools(synthetic_tools()), history=entries, render=lambda value: ""
        )
        flattened: list[Any] = voice.flat(accepted(voice, payload))
        return flattened

    before = len(flat(history)) - len(outcomes)
    return flat([*history, *results])[before:]


TEXTS = {
    "anthropic": [("user", {"type": "tool_result", "tool_use_id": "id0", "content": "found"})],
    "openai-chat": [{"role": "tool", "tool_call_id": "id0", "content": "found"}],
    "openai-responses": [{"type": "function_call_output", "call_id": "id0", "output": "found"}],
    "gemini": [
        ("user", {"function_response": {"name": "SearchExtraTools", "response": {"output": "found"}, "id": "id0"}})
    ],
}
ERRORS = {
    "anthropic": [("user", {"type": "tool_result", "tool_use_id": "id0", "content": "no such file", "is_error": True})],
    "openai-chat": [{"role": "tool", "tool_call_id": "id0", "content": "Error: no such file"}],
    "openai-responses": [{"type": "function_call_output", "call_id": "id0", "output": "Error: no such file"}],
    "gemini": [
        (
            "user",
            {"function_response": {"name": "SearchExtraTools", "response": {"error": "no such file"}, "id": "id0"}},
        )
    ],
}


def test_a_text_is_a_mere_text(voice: Any, accepted: Accepted) -> None:
    """The simplest result has the simplest form."""
    assert answered(voice, accepted, ("found", False, ())) == TEXTS[voice.name]


def test_an_error_is_flagged_or_said(voice: Any, accepted: Accepted) -> None:
    """Where a provider has a field for failure it is set; elsewhere the text begins with the word."""
    assert answered(voice, accepted, ("no such file", True, ())) == ERRORS[voice.name]


@pytest.mark.parametrize("text", ["", "  \n"])
@pytest.mark.parametrize("is_error", [False, True])
def test_an_empty_result_says_that_it_is_empty(voice: Any, accepted: Accepted, text: str, is_error: bool) -> None:
    """Providers refuse an empty text; the model reads that there was no output."""
    assert "(no output)" in json.dumps(answered(voice, accepted, (text, is_error, ())))


def test_an_image_goes_as_an_image(voice: Any, accepted: Accepted) -> None:
    """Each provider shows the picture to the model in its own form, behind the result that it belongs to."""
    shown = answered(voice, accepted, ("a plot", False, (IMAGE,)))
    expected = {
        "anthropic": [
            (
                "user",
                {
                    "type": "tool_result",
                    "tool_use_id": "id0",
                    "content": [
                        {"type": "text", "text": "a plot"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    ],
                },
            )
        ],
        "openai-responses": [
            {
                "type": "function_call_output",
                "call_id": "id0",
                "output": [
                    {"type": "input_text", "text": "a plot"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
                ],
            }
        ],
    }
    if voice.name in expected:
        assert shown == expected[voice.name]
    elif voice.name == "openai-chat":
        result, picture = shown
        assert result["content"] == "a plot\n[image, image/png, 12 bytes] (it follows the results)"
        assert picture["content"][1] == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        assert "call id0" in picture["content"][0]["text"]
    else:
        (_, result), (_, label), (_, picture) = shown
        assert "it follows the results" in result["function_response"]["response"]["output"]
        assert "call id0" in label["text"]
        assert picture == {"inline_data": {"mime_type": "image/png", "data": PNG}}


def test_images_of_several_results_stand_behind_all_of_them(voice: Any, accepted: Accepted) -> None:
    """Two pictures of two calls part no result from its call, and each is labelled with its own."""
    shown = json.dumps(answered(voice, accepted, ("one", False, (IMAGE,)), ("two", False, (IMAGE,))))
    assert shown.count(PNG) == 2
    if voice.name in ("openai-chat", "gemini"):
        assert shown.index("two") < shown.index("call id0:") < shown.index(PNG) < shown.index("call id1:")


def test_a_wrong_image_type_is_set_right(voice: Any, accepted: Accepted) -> None:
    """Providers compare the stated type with the data and refuse the request when they differ."""
    shown = json.dumps(answered(voice, accepted, ("", False, ({**IMAGE, "data": JPEG},))))
    assert "image/jpeg" in shown
    assert "image/png" not in shown


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"type": "image", "data": "not base64!", "mimeType": "image/png"}, "not base64"),
        ({"type": "image", "data": "", "mimeType": "image/png"}, "not base64"),
        ({"type": "image", "data": base64.b64encode(b"<svg/>").decode(), "mimeType": "image/svg+xml"}, "no PNG"),
        ({"type": "image", "data": None}, "unknown type"),
        ({"type": "audio", "data": "%%%", "mimeType": "audio/wav"}, "audio/wav: not shown"),
        (
            {"type": "resource", "resource": {"uri": "a", "mimeType": "application/pdf", "blob": PNG}},
            "no PDF",
        ),
    ],
)
def test_broken_data_is_a_note_and_never_sent(voice: Any, accepted: Accepted, block: Any, said: str) -> None:
    """A broken picture in the history would refuse every later request; the model reads what was left out."""
    assert said in json.dumps(answered(voice, accepted, ("", False, (block,))))


def test_data_beyond_the_limit_is_a_note() -> None:
    """A picture larger than the lowest limit of the providers is not sent."""
    large = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(MAX_BYTES)).decode()
    media = read_block({**IMAGE, "data": large})
    assert media.data == ""
    assert "larger than 5,000,000 bytes" in media.text


def test_audio_goes_where_it_can(voice: Any, accepted: Accepted) -> None:
    """Gemini hears it; the others read what they can't hear."""
    shown = json.dumps(answered(voice, accepted, ("spoken", False, (AUDIO,))))
    assert (WAV in shown) == (voice.name == "gemini")
    assert ("not shown, this provider takes no such data" in shown) == (voice.name != "gemini")


def test_a_pdf_goes_where_it_can(voice: Any, accepted: Accepted) -> None:
    """All but Chat Completions take it as a file."""
    shown = json.dumps(answered(voice, accepted, ("a paper", False, (FILE,))))
    assert (PDF in shown) == (voice.name != "openai-chat")
    assert ("application/pdf, 13 bytes: not shown" in shown) == (voice.name == "openai-chat")


def test_a_failed_result_with_an_image_is_accepted(voice: Any, accepted: Accepted) -> None:
    """Anthropic takes text alone in an error; the picture becomes a note there."""
    shown = json.dumps(answered(voice, accepted, ("broke", True, (IMAGE,))))
    assert (PNG in shown) == (voice.name != "anthropic")


def test_a_structured_value_is_told_once(voice: Any, accepted: Accepted) -> None:
    """Beside the text that says the same it is not repeated; alone it is its JSON, for Gemini the value itself."""
    value = {"city": "Bern", "days": [1, 2]}
    text = json.dumps(value)
    twice = answered(voice, accepted, (text, False, ({"type": "structured", "value": value},)))
    alone = answered(voice, accepted, ("", False, ({"type": "structured", "value": value},)))
    assert twice == alone
    assert json.dumps(alone).count("Bern") == 1
    if voice.name == "gemini":
        assert alone[0][1]["function_response"]["response"] == {"output": value}


def test_a_structured_value_beside_another_text_is_told_too(voice: Any, accepted: Accepted) -> None:
    """Both the words and the value reach the model."""
    shown = json.dumps(answered(voice, accepted, ("Sunny.", False, ({"type": "structured", "value": {"t": 21}},))))
    assert "Sunny." in shown
    assert "21" in shown


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "more"}, "more"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}, "[resource: file:///a]\ninside"),
        ({"type": "resource", "resource": {"uri": "file:///</tool>"}}, "[resource: file:///&lt;/tool>]"),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, "[resource: a file:///a]"),
        ({"type": "new", "x": 1}, '{"type": "new", "x": 1}'),
    ],
)
def test_other_blocks_are_text(block: Any, text: str) -> None:
    """What is text, or of a form that nobody knows, is read by the model as text."""
    assert read_block(block).text == text
    for name in PROVIDERS:
        outcome = ToolOutcome(ToolCall("a", "t", {}), "first", blocks=(block,))
        assert json.dumps(text)[1:-1] in json.dumps(provider_for(name).results([outcome]))


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "image", "data": PNG.replace("+", "-").replace("/", "_"), "mime_type": "IMAGE/PNG; q=1"},
        {"type": "resource", "resource": {"uri": "a", "mimeType": "image/png", "blob": PNG}},
    ],
)
def test_images_are_known_in_every_form(block: Any) -> None:
    """The forms of MCP and of the providers, and both alphabets of base64, are the same picture."""
    media = read_block(block)
    assert (media.kind, media.mime, media.data) == ("image", "image/png", PNG)


def test_objects_of_an_mcp_client_are_read() -> None:
    """Blocks may be the objects that an MCP client returns."""
    from mcp.types import ImageContent

    block: Any = ImageContent(data=PNG, mime_type="image/png")
    outcome = ToolOutcome(ToolCall("a", "t", {}), "", blocks=(block,))
    assert PNG in json.dumps(provider_for("anthropic").results([outcome]))


def test_a_note_says_what_and_why() -> None:
    """Type and size of what is not shown, and the reason."""
    assert note(read_block(AUDIO), "no ears") == "[audio, audio/wav, 16 bytes: not shown, no ears]"


def test_no_outcomes_make_no_entries(voice: Any) -> None:
    """A turn without calls adds nothing to the history."""
    assert voice.provider.results([]) == []


def test_lone_surrogates_never_reach_a_request(voice: Any, accepted: Accepted) -> None:
    """A text that no UTF-8 can hold would fail inside of the client."""
    shown = answered(voice, accepted, ("a\ud800b", False, ({"type": "text", "text": "c\udfff"},)))
    json.dumps(shown, ensure_ascii=False).encode("utf-8")
