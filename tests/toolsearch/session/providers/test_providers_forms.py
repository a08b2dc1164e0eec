"""Each provider's own forms: objects of its client, final messages of streams, old histories, marks and options."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolsearch.catalog.synthetic import synthetic_tools
from toolsearch.errors import UsageError
from toolsearch.session.providers import NameMap, ToolCall, ToolOutcome, provider_for
from toolsearch.session.providers.reading import arguments_of, plain

Accepted = Callable[[Any, dict[str, Any]], dict[str, Any]]
NAMES = NameMap()


def request(voice: Any, history: list[Any], tail: str | None = None, **options: Any) -> dict[str, Any]:
    """A request with the synthetic tools."""
    payload: dict[str, Any] = voice.provider.payload(
        model="m",
        system=None,
        tools=voice.provider.tools(synthetic_tools()),
        history=history,
        render=lambda value: str(value.get("text", "")),
        tail=tail,
        options=options,
    )
    return payload


def test_anthropic_marks_the_last_tool_and_the_last_block_before_the_tail(voices: Any, accepted: Accepted) -> None:
    """Two marks, on what is sent and stays; the tail behind them is free to change."""
    voice = voices["anthropic"]
    payload = accepted(voice, request(voice, [voice.provider.user("hi"), voice.provider.user("there")], "the list"))
    assert ["cache_control" in tool for tool in payload["tools"]] == [False, False, True]
    [message] = payload["messages"]
    assert ["cache_control" in block for block in message["content"]] == [False, True, False]


def test_anthropic_marks_no_tool_when_none_is_sent(voices: Any, accepted: Accepted) -> None:
    """Without tools the only mark is that of the history."""
    voice = voices["anthropic"]
    payload = voice.provider.payload(
        model="m", system="s", tools=voice.provider.tools([]), history=[voice.provider.user("hi")], render=str
    )
    assert json.dumps(accepted(voice, payload)).count("cache_control") == 1
    only_tail = voice.provider.payload(
        model="m", system="s", tools=voice.provider.tools([]), history=[], render=str, tail="list"
    )
    assert "cache_control" not in json.dumps(accepted(voice, only_tail))


def test_anthropic_marks_the_request_before_when_a_turn_is_long(voices: Any, accepted: Accepted) -> None:
    """A mark looks back twenty blocks: after twelve calls and results the one before would be out of sight."""
    voice = voices["anthropic"]

    def marks(count: int) -> list[int]:
        answer = voice.answer("", [(f"c{number}", "SearchExtraTools", {}) for number in range(count)])
        calls = voice.provider.calls(answer, NAMES)
        results = voice.provider.results([ToolOutcome(call, "x") for call in calls])
        payload = accepted(voice, request(voice, [voice.provider.user("hi"), *voice.provider.reply(answer), *results]))
        return [
            place
            for place, message in enumerate(payload["messages"])
            for block in message["content"]
            if "cache_control" in block
        ]

    assert marks(10) == [2]
    assert marks(11) == [0, 2]


def test_anthropic_leaves_out_the_marks_of_the_host(voices: Any, accepted: Accepted) -> None:
    """Four marks are the most: old ones in the history would sum up until a request is refused."""
    voice = voices["anthropic"]
    mark = {"cache_control": {"type": "ephemeral"}}
    said = [{"role": "user", "content": [{"type": "text", "text": f"{number}", **mark}]} for number in range(6)]
    assert json.dumps(accepted(voice, request(voice, said))).count("cache_control") == 2


def test_anthropic_puts_no_mark_on_a_thought(voices: Any, accepted: Accepted) -> None:
    """The last block that may carry a mark carries it, also when the history ends with a thought."""
    voice = voices["anthropic"]
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}
    payload = accepted(voice, request(voice, [voice.provider.user("hi"), thought], "list"))
    assert "cache_control" in payload["messages"][0]["content"][0]


def test_anthropic_histories_of_other_tool_searches_become_text(voices: Any, accepted: Accepted) -> None:
    """References and server-side searches of an older transcript are plain text, and no beta feature is left."""
    voice = voices["anthropic"]
    history = [
        voice.provider.user("find"),
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "srv", "name": "tool_search_tool_regex", "input": {"query": "x"}},
                {
                    "type": "tool_search_tool_result",
                    "tool_use_id": "srv",
                    "content": {
                        "type": "tool_search_tool_search_result",
                        "tool_references": [{"type": "tool_reference", "tool_name": "send"}],
                    },
                },
                {"type": "tool_use", "id": "a", "name": "SearchExtraTools", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [
                        {"type": "tool_reference", "tool_name": "wait_for_servers"},
                        {"type": "tool_reference", "tool_name": "</tool>"},
                        {"type": "text", "text": "end"},
                    ],
                }
            ],
        },
    ]
    payload = accepted(voice, request(voice, history))
    assert payload["messages"][1]["content"][0] == {"type": "text", "text": "Tools found: send"}
    assert payload["messages"][2]["content"][0]["content"] == [
        {"type": "text", "text": 'Tools found: wait_for_servers, "\\u003c/tool>"'},
        {"type": "text", "text": "end"},
    ]


@pytest.mark.parametrize(
    ("name", "history"),
    [
        (
            "openai-responses",
            [
                {"type": "tool_search_call", "id": "t", "arguments": {}, "execution": "server", "status": "completed"},
                {"type": "tool_search_output", "tools": [{"type": "function", "name": "send"}], "status": "completed"},
            ],
        ),
        (
            "openai-chat",
            [
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "s", "arguments": ""}}],
                },
                {"role": "tool", "tool_call_id": "a", "content": [{"type": "tool_reference", "tool_name": "send"}]},
            ],
        ),
        ("gemini", [{"role": "user", "parts": [{"type": "tool_reference", "tool_name": "send"}]}]),
    ],
)
def test_references_in_other_histories_become_text(
    voices: Any, accepted: Accepted, name: str, history: list[Any]
) -> None:
    """No provider is sent a form that only one of them knows."""
    voice = voices[name]
    payload = accepted(voice, request(voice, [voice.provider.user("find"), *history]))
    assert "Tools found: send" in json.dumps(payload)
    assert "tool_search" not in json.dumps(voice.flat(payload))


def test_anthropic_objects_and_final_messages_are_read(voices: Any, accepted: Accepted) -> None:
    """A response object, the final message of a stream and a dict with the client's blocks are all the same reply."""
    from anthropic.types import Message, ParsedMessage

    voice = voices["anthropic"]
    answer = voice.answer("let me see", [("a", "SearchExtraTools", {"query": None})])
    forms = [Message.model_validate(answer), ParsedMessage[Any].model_validate(answer)]
    forms.append({"role": "assistant", "content": forms[0].content})  # type: ignore[arg-type]
    for form in (answer, *forms):
        [reply] = voice.provider.reply(form)
        assert reply == {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "let me see"},
                {"type": "tool_use", "id": "a", "name": "SearchExtraTools", "input": {"query": None}},
            ],
        }
        [call] = voice.provider.calls(form, NAMES)
        assert call == ToolCall("a", "SearchExtraTools", {"query": None}, "SearchExtraTools")
        results = voice.provider.results([ToolOutcome(call, "x")])
        payload = accepted(voice, request(voice, [voice.provider.user("hi"), form, *results]))
        assert [block for _, block in voice.flat(payload)][1:3] == reply["content"]


def test_chat_objects_and_final_completions_are_read(voices: Any, accepted: Accepted) -> None:
    """A completion, what a stream ends with, its message and dicts are the same reply."""
    from openai.types.chat import ChatCompletion, ParsedChatCompletion

    voice = voices["openai-chat"]
    answer = voice.answer("", [("a", "SearchExtraTools", {"query": "x"})])
    whole = ChatCompletion.model_validate(answer)
    parsed = ParsedChatCompletion[None].model_validate(answer)
    parsed.choices[0].message.tool_calls[0].function.parsed_arguments = {"query": "x"}  # type: ignore[index]
    for form in (answer, whole, parsed, whole.choices[0].message, answer["choices"][0]["message"]):
        [reply] = voice.provider.reply(form)
        function = {"name": "SearchExtraTools", "arguments": '{"query": "x"}'}
        assert reply == {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        }
        [call] = voice.provider.calls(form, NAMES)
        results = voice.provider.results([ToolOutcome(call, "x")])
        accepted(voice, request(voice, [voice.provider.user("hi"), form, *results]))


def test_responses_objects_and_final_responses_are_read(voices: Any, accepted: Accepted) -> None:
    """A response, what a stream ends with, its output and single items are the same reply, reasoning included."""
    from openai.types.responses import ParsedResponse, Response

    voice = voices["openai-responses"]
    answer = voice.answer("let me see", [("a", "SearchExtraTools", {"query": "x"}), ("b", "SearchExtraTools", {})])
    whole = Response.model_validate(answer)
    parsed = ParsedResponse[None].model_validate(answer)
    parsed.output[2].parsed_arguments = {"query": "x"}  # type: ignore[union-attr]
    for form in (answer, whole, parsed, whole.output, answer["output"]):
        assert voice.provider.reply(form) == answer["output"]
        calls = voice.provider.calls(form, NAMES)
        results = voice.provider.results([ToolOutcome(call, "x") for call in calls])
        entries = form if isinstance(form, list) else [form]
        payload = accepted(voice, request(voice, [voice.provider.user("hi"), *entries, *results]))
        assert payload["input"][1:5] == answer["output"]


def test_gemini_objects_and_chunks_are_read(voices: Any, accepted: Accepted) -> None:
    """A response, its content, the chunks of a stream and dicts in either spelling are the same reply, signatures included."""
    from google.genai import types

    voice = voices["gemini"]
    answer = voice.answer("let me see", [("", "SearchExtraTools", {"query": None}), ("", "SearchExtraTools", {})])
    whole = types.GenerateContentResponse.model_validate(answer)
    chunks = [
        voice.answer("let me "),
        voice.answer("see"),
        voice.answer("", [("", "SearchExtraTools", {"query": None})]),
    ]
    chunks += [
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"functionCall": {"name": "SearchExtraTools", "args": {}}}]}}
            ]
        }
    ]
    objects = [types.GenerateContentResponse.model_validate(chunk) for chunk in chunks]
    content = whole.candidates[0].content  # type: ignore[index]
    for form in (answer, whole, content, chunks, objects):
        [reply] = voice.provider.reply(form)
        assert reply == {
            "role": "model",
            "parts": [
                {"text": "let me see"},
                {"function_call": {"name": "SearchExtraTools", "args": {"query": None}}, "thought_signature": "c2ln"},
                {"function_call": {"name": "SearchExtraTools", "args": {}}},
            ],
        }
        calls = voice.provider.calls(form, NAMES)
        assert [(call.id, call.has_id, call.arguments) for call in calls] == [
            ("call-1", False, {"query": None}),
            ("call-2", False, {}),
        ]
        entries = reply if isinstance(form, list) else form
        results = voice.provider.results([ToolOutcome(call, call.id) for call in calls])
        payload = accepted(voice, request(voice, [voice.provider.user("hi"), entries, *results]))
        types.Content.model_validate(payload["contents"][1])
        assert [part["function_response"]["response"]["output"] for _, part in voice.flat(payload)[4:]] == [
            "call-1",
            "call-2",
        ]


def test_gemini_bytes_survive_the_history(voices: Any, accepted: Accepted) -> None:
    """Signatures are base64 in the history and the same bytes again in the client's types."""
    from google.genai import types

    voice = voices["gemini"]
    part = types.Part(text="", thought_signature=bytes(range(256)))
    [reply] = voice.provider.reply(types.Content(role="model", parts=[part]))
    json.dumps(reply)
    payload = accepted(voice, request(voice, [voice.provider.user("hi"), reply, voice.provider.user("go on")]))
    sent = types.Content.model_validate(payload["contents"][1])
    assert sent.parts[0].thought_signature == bytes(range(256))  # type: ignore[index]


def test_gemini_matches_results_without_ids_by_name_and_order(voices: Any, accepted: Accepted) -> None:
    """Two calls of one tool and one of another are answered by their own results, also when these come in another order."""
    voice = voices["gemini"]
    answer = voice.answer("", [("", "a", {}), ("", "b", {}), ("", "a", {})])
    first, other, second = voice.provider.calls(answer, NAMES)
    results = voice.provider.results([ToolOutcome(other, "B"), ToolOutcome(first, "A1"), ToolOutcome(second, "A2")])
    payload = accepted(voice, request(voice, [voice.provider.user("hi"), *voice.provider.reply(answer), *results]))
    assert [part["function_response"]["response"]["output"] for _, part in voice.flat(payload)[4:]] == ["A1", "B", "A2"]


def test_empty_replies_add_nothing(voices: Any) -> None:
    """A refusal without a word, a filtered answer and a blocked prompt leave the history as it is."""
    assert voices["anthropic"].provider.reply(voices["anthropic"].answer("")) == []
    assert voices["openai-chat"].provider.reply(voices["openai-chat"].answer("")) == []
    assert voices["openai-chat"].provider.reply({"choices": []}) == []
    assert voices["gemini"].provider.reply({"prompt_feedback": {"block_reason": "SAFETY"}}) == []
    assert voices["gemini"].provider.reply({"candidates": [{"finish_reason": "MALFORMED_FUNCTION_CALL"}]}) == []
    assert voices["openai-responses"].provider.reply({"output": []}) == []


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"query": "x"}', {"query": "x"}),
        ("", {}),
        (" ", {}),
        (None, {}),
        ('{"query": "x', '{"query": "x'),
        ('{"text": "a\\q"}', '{"text": "a\\q"}'),
        ('"query"', '"query"'),
        ("[1]", "[1]"),
        ("null", "null"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[" * 100_000, "[" * 100_000),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_arguments_that_are_no_object_stay_the_raw_string(voices: Any, text: Any, arguments: Any) -> None:
    """What the model wrote is handed on as it is, never emptied; a blank text is a call without arguments."""
    assert arguments_of(text) == arguments
    chat = {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "t", "arguments": text}}],
    }
    item = {"type": "function_call", "call_id": "a", "name": "t", "arguments": text}
    assert [call.arguments for call in voices["openai-chat"].provider.calls(chat, NAMES)] == [arguments]
    assert [call.arguments for call in voices["openai-responses"].provider.calls([item], NAMES)] == [arguments]


def test_anthropic_input_that_is_a_raw_string_can_be_sent_back(voices: Any, accepted: Accepted) -> None:
    """A stream that broke off leaves text where the API wants an object."""
    voice = voices["anthropic"]
    answer = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "SearchExtraTools", "input": '{"q'}],
    }
    [call] = voice.provider.calls(answer, NAMES)
    assert call.arguments == '{"q'
    results = voice.provider.results([ToolOutcome(call, "unreadable", is_error=True)])
    accepted(voice, request(voice, [voice.provider.user("hi"), answer, *results]))


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_free_form_calls_give_their_input(voices: Any, accepted: Accepted, name: str) -> None:
    """A custom tool's input is a raw string, and its result is matched to it."""
    voice = voices[name]
    entry = {
        "openai-chat": {
            "role": "assistant",
            "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "t", "input": "ls"}}],
        },
        "openai-responses": {"type": "custom_tool_call", "call_id": "a", "name": "t", "input": "ls"},
    }[name]
    [call] = voice.provider.calls([entry] if name == "openai-responses" else entry, NAMES)
    assert (call.id, call.name, call.arguments) == ("a", "t", "ls")
    payload = request(voice, [voice.provider.user("hi"), entry])
    assert "no result" in json.dumps(voice.flat(payload)[-1])
    assert payload.get("input", [{}])[-1].get("type") in (None, "custom_tool_call_output")
    voice.typed(payload)


def test_chat_servers_without_ids_get_paired_calls(voices: Any, accepted: Accepted) -> None:
    """Some compatible servers give no id; the call and its result then carry one of ours."""
    voice = voices["openai-chat"]
    call = {"type": "function", "function": {"name": "SearchExtraTools", "arguments": "{}"}}
    answer = {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [call, call]}}]}
    calls = voice.provider.calls(answer, NAMES)
    assert [call.id for call in calls] == ["call-1", "call-2"]
    results = voice.provider.results([ToolOutcome(call, "x") for call in calls])
    accepted(voice, request(voice, [voice.provider.user("hi"), *voice.provider.reply(answer), *results]))


def test_chat_servers_with_one_id_for_all_get_paired_calls(voices: Any, accepted: Accepted) -> None:
    """Two calls of one id become two, so that each has its own result; arguments that are an object become text."""
    voice = voices["openai-chat"]
    call = {"id": "a", "function": {"name": "SearchExtraTools", "arguments": {"query": "x"}}}
    answer = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call, call]}}]}
    calls = voice.provider.calls(answer, NAMES)
    assert [(call.id, call.arguments) for call in calls] == [("a", {"query": "x"}), ("a-2", {"query": "x"})]
    results = voice.provider.results([ToolOutcome(call, f"for {call.id}") for call in calls])
    payload = accepted(voice, request(voice, [voice.provider.user("hi"), answer, *results]))
    assert [message.get("content") for message in payload["messages"][2:]] == ["for a", "for a-2"]


def test_chat_calls_in_two_messages_are_answered_together(voices: Any, accepted: Accepted) -> None:
    """A host that keeps each call in a message of its own still sends results straight after the calls."""
    voice = voices["openai-chat"]
    answers = [voice.answer(f"say {name}", [(name, "SearchExtraTools", {})]) for name in "ab"]
    calls = [call for answer in answers for call in voice.provider.calls(answer, NAMES)]
    results = voice.provider.results([ToolOutcome(call, "x") for call in calls])
    replies = [entry for answer in answers for entry in voice.provider.reply(answer)]
    payload = accepted(voice, request(voice, [voice.provider.user("hi"), *replies, *results]))
    assert [part["text"] for part in payload["messages"][1]["content"]] == ["say a", "say b"]


def test_chat_audio_answers_go_back_as_their_id(voices: Any, accepted: Accepted) -> None:
    """The provider keeps the sound; only its id may be sent."""
    voice = voices["openai-chat"]
    answer = {
        "role": "assistant",
        "content": None,
        "audio": {"id": "au", "data": "x", "transcript": "hi", "expires_at": 1},
    }
    [reply] = voice.provider.reply(answer)
    assert reply == {"role": "assistant", "content": None, "audio": {"id": "au"}}


def test_roles_of_the_hosts_own_stay_in_place(voices: Any) -> None:
    """A developer message that the host put into the history is sent where it stands."""
    voice = voices["openai-chat"]
    history = [voice.provider.user("hi"), {"role": "developer", "content": "Be brief."}, voice.provider.user("go")]
    assert [message["role"] for message in request(voice, history)["messages"]] == ["user", "developer", "user"]


def test_a_role_of_the_hosts_own_parts_no_result_from_its_call(voices: Any, accepted: Accepted) -> None:
    """A developer message between calls and results comes behind the results, like a user's."""
    for name in ("openai-chat", "openai-responses"):
        voice = voices[name]
        answer = voice.answer("", [("a", "SearchExtraTools", {}), ("b", "SearchExtraTools", {})])
        results = voice.provider.results([ToolOutcome(call, "x") for call in voice.provider.calls(answer, NAMES)])
        own = {"role": "developer", "content": "Be brief."}
        history = [voice.provider.user("hi"), *voice.provider.reply(answer), results[0], own, results[1]]
        flat = voice.flat(accepted(voice, request(voice, history)))
        assert flat[-1] == own
        assert "no result" not in json.dumps(flat)


def test_anthropic_system_messages_stand_once_where_they_are(voices: Any) -> None:
    """The API has a role for system messages within the history; such a message is sent as it is."""
    voice = voices["anthropic"]
    own = {"role": "system", "content": "Be brief."}
    payload = request(voice, [voice.provider.user("hi"), own, voice.provider.user("go")])
    assert [message["role"] for message in payload["messages"]] == ["user", "system", "user"]
    assert payload["messages"][1] == own
    voice.typed(payload)


def test_gemini_joins_only_neighbouring_pieces_of_a_text(voices: Any) -> None:
    """Pieces of one text become one; a text behind a call, and a thought, stay apart."""
    call = {"function_call": {"name": "t", "args": {}}}
    pieces = [{"text": "a"}, {"text": "b"}, call, {"text": "c"}, {"text": "d"}, {"text": "e", "thought": True}]
    [reply] = voices["gemini"].provider.reply({"role": "model", "parts": pieces})
    assert reply["parts"] == [{"text": "ab"}, call, {"text": "cd"}, {"text": "e", "thought": True}]


def test_responses_without_a_store_leave_out_what_the_server_lost(voices: Any, accepted: Accepted) -> None:
    """With `store` off, reasoning without its encrypted content can't be found again, and a call's id points to it."""
    voice = voices["openai-responses"]
    answer = voice.answer("", [("a", "SearchExtraTools", {})])
    calls = voice.provider.calls(answer, NAMES)
    results = voice.provider.results([ToolOutcome(call, "x") for call in calls])
    kept = accepted(voice, request(voice, [voice.provider.user("hi"), answer, *results], store=False))
    assert kept["input"][1:3] == answer["output"]
    del answer["output"][0]["encrypted_content"]
    lost = accepted(voice, request(voice, [voice.provider.user("hi"), answer, *results], store=False))
    assert [item.get("type") for item in lost["input"]] == [None, "function_call", "function_call_output"]
    assert "id" not in lost["input"][1]
    stored = accepted(voice, request(voice, [voice.provider.user("hi"), answer, *results]))
    assert stored["input"][1]["type"] == "reasoning"


def test_options_are_passed_on(voices: Any, accepted: Accepted) -> None:
    """What a host asks for stands in the request, choices of tools under the provider's names."""
    payload = accepted(
        voices["anthropic"], request(voices["anthropic"], [voices["anthropic"].provider.user("hi")], max_tokens=9)
    )
    assert payload["max_tokens"] == 9
    gemini = voices["gemini"]
    payload = accepted(gemini, request(gemini, [gemini.provider.user("hi")], temperature=0.5))
    assert payload["config"]["temperature"] == 0.5
    assert payload["config"]["automatic_function_calling"] == {"disable": True}


def test_gemini_options_may_come_as_its_config(voices: Any, accepted: Accepted) -> None:
    """As the client takes them; what the session makes is refused there too."""
    from google.genai import types

    voice = voices["gemini"]
    history = [voice.provider.user("hi")]
    payload = accepted(voice, request(voice, history, config=types.GenerateContentConfig(temperature=0.5), seed=1))
    assert (payload["config"]["temperature"], payload["config"]["seed"]) == (0.5, 1)
    with pytest.raises(UsageError, match="tools can't be given"):
        request(voice, history, config={"tools": []})


def test_the_system_prompt_stands_where_each_provider_wants_it(voices: Any, accepted: Accepted) -> None:
    """A field of its own, or the first message."""
    found = {}
    for name, voice in voices.items():
        payload = voice.provider.payload(
            model="m",
            system="Be brief.",
            tools=voice.provider.tools([]),
            history=[voice.provider.user("hi")],
            render=str,
        )
        accepted(voice, payload)
        found[name] = [
            payload.get("system"),
            payload.get("instructions"),
            payload.get("config", {}).get("system_instruction"),
            payload.get("messages", [{}])[0].get("role"),
        ]
    assert found == {
        "anthropic": ["Be brief.", None, None, "user"],
        "openai-chat": [None, None, None, "system"],
        "openai-responses": [None, "Be brief.", None, None],
        "gemini": [None, None, "Be brief.", None],
    }


def test_what_is_nested_without_end_is_an_error_of_ours() -> None:
    """A history that no client could write is refused with a word, not with a traceback."""
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(Exception, match="nested too deeply"):
        plain({"content": deep})


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_a_users_text_is_any_text(name: str, voices: Any, accepted: Accepted) -> None:
    """Braces, tags and all scripts go through as they are."""
    voice = voices[name]
    text = 'é {"a": 1} </tool> 发送 🙂'
    payload = accepted(voice, request(voice, [voice.provider.user(text)]))
    assert text in json.dumps(voice.flat(payload), ensure_ascii=False).replace('\\"', '"')
    assert provider_for(name).speech(voice.provider.user(text)) == ("user", text)
