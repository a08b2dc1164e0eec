"""Schemas as providers accept them: what is refused is rewritten or told, and every change is warned of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.tool import Tool
from toolsearch.session.providers import PROVIDERS, provider_for
from toolsearch.session.providers.schema_repair import MAX_DEPTH, Faults, repaired, resolve


def made(voice: Any, schema: Any, description: str | None = "Does it.") -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Description, schema and warnings of one tool, after everything that the server and the client's types check."""
    tools = voice.provider.tools([Tool(name="t", description=description, input_schema=schema)])
    payload = voice.provider.payload(
        model="m", system=None, tools=tools, history=[voice.provider.user("hi")], render=lambda value: ""
    )
    voice.typed(payload)
    assert voice.complaints(payload) == []
    [(_, told, sent)] = voice.tools(payload)
    return told, sent, tools.warnings


PLAIN = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "description": "Who.", "minLength": 1},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "more": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    },
    "required": ["to"],
    "additionalProperties": False,
}


def test_a_plain_schema_goes_unchanged(voice: Any) -> None:
    """What every provider accepts is sent as it is, in its order, without a warning."""
    told, sent, warnings = made(voice, PLAIN)
    assert (json.dumps(sent), told, warnings) == (json.dumps(PLAIN), "Does it.", ())


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_is_an_object_without_properties(voice: Any, schema: Any) -> None:
    """An absent or empty schema is no fault."""
    _, sent, warnings = made(voice, schema)
    assert sent.get("properties", {}) == {}
    assert warnings == ()


def test_branches_of_a_union_become_one_set_of_parameters(voice: Any) -> None:
    """All parameters are there, what all branches require is required, and the description says what else is."""
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "oneOf": [
            {"properties": {"path": {"type": "string"}, "mode": {"type": "string"}}, "required": ["path", "mode"]},
            {"properties": {"url": {"type": "string"}, "mode": {"type": "string"}}, "required": ["url", "mode"]},
        ],
    }
    told, sent, warnings = made(voice, schema)
    assert set(sent["properties"]) == {"id", "path", "url", "mode"}
    assert sent["required"] == ["id", "mode"]
    assert told == "Does it. Required besides: exactly one of: path or url."
    assert len(warnings) == 1
    assert "top-level oneOf is refused" in warnings[0]
    assert warnings[0].endswith(": t")


def test_all_of_joins_what_every_branch_requires(voice: Any) -> None:
    """Branches that all hold are one object that requires all of theirs, references followed."""
    schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"type": "object", "properties": {"y": {}}, "required": ["y"]}],
        "$defs": {"a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}},
    }
    told, sent, _ = made(voice, schema)
    assert sent["properties"] == {"x": {"type": "string"}, "y": {}}
    assert sent["required"] == ["x", "y"]
    assert told == "Does it."


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "gemini"])
def test_other_keywords_at_the_top_go_into_the_description(voices: Any, name: str) -> None:
    """`not` and its like are refused by OpenAI at the top; the model still reads them."""
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}}
    told, sent, warnings = made(voices[name], schema)
    assert "not" not in sent
    assert told == 'Does it. Not: {"required": ["a", "b"]}.'
    assert any("top-level not is refused" in warning for warning in warnings)


def test_a_reference_at_the_top_is_followed(voice: Any) -> None:
    """Generators write the whole schema as a reference to a definition."""
    schema = {
        "$ref": "#/definitions/In",
        "definitions": {"In": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    _, sent, _ = made(voice, schema)
    assert sent["properties"] == {"a": {"type": "string"}}


@pytest.mark.parametrize(
    ("given_", "sent"),
    [
        ({"type": "array", "items": [{"type": "string"}]}, {"type": "array", "prefixItems": [{"type": "string"}]}),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, {"type": "integer", "minimum": 1}),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": False}, {"type": "integer", "maximum": 9}),
        ({"type": "integer", "exclusiveMaximum": True}, {"type": "integer"}),
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "any"}, {}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"enum": []}, {}),
        ({"type": "string", "minLength": "3"}, {"type": "string"}),
        ("string", {}),
        ({"$ref": "https://example.test/x.json"}, {}),
        ({"$ref": "#/$defs/none"}, {}),
    ],
)
def test_older_drafts_and_mistakes_are_made_valid(voices: Any, given_: Any, sent: Any) -> None:
    """What has a meaning today is rewritten, what has none is left out: one broken schema would refuse every request."""
    _, schema, warnings = made(voices["gemini"], {"type": "object", "properties": {"a": given_}})
    assert schema["properties"]["a"] == sent
    assert bool(warnings) == (given_ != {"type": "array"})
    for name in PROVIDERS:
        made(voices[name], {"type": "object", "properties": {"a": given_}})


def test_required_of_a_single_property_becomes_a_list(voice: Any) -> None:
    """Draft 3 said it in the property."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "required": True}, "b": {"required": False}}}
    _, sent, _ = made(voice, schema)
    assert sent["required"] == ["a"]
    assert sent["properties"] == {"a": {"type": "string"}, "b": {}}


def test_gemini_gets_references_written_out_and_recursion_cut(voices: Any) -> None:
    """A reference has no neighbours there, so its target stands in its place, with the neighbours' words."""
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node", "description": "The root."}},
        "$defs": {
            "Node": {
                "type": "object",
                "description": "A node.",
                "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}},
                "required": ["name"],
            }
        },
    }
    _, sent, warnings = made(voices["gemini"], schema)
    assert sent == {
        "type": "object",
        "properties": {
            "tree": {
                "type": "object",
                "description": "The root.",
                "properties": {
                    "name": {"type": "string"},
                    "next": {"description": "The same form again, nested.", "type": "object"},
                },
                "required": ["name"],
            }
        },
    }
    assert any("recursion was cut" in warning for warning in warnings)
    for name in ("anthropic", "openai-chat", "openai-responses"):
        assert made(voices[name], schema)[1] == schema


def test_gemini_reads_unsupported_keywords_in_the_description(voices: Any) -> None:
    """A constraint that has no place is told in the property's own description, and warned of."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 5, "description": "Steps."},
            "c": {"const": "yes"},
            "u": {"type": "string", "format": "uri"},
            "o": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            "e": {"enum": [True, "x"]},
        },
        "patternProperties": {"^x": {"type": "string"}},
    }
    _, sent, warnings = made(voices["gemini"], schema)
    assert sent["properties"] == {
        "n": {"type": "integer", "description": 'Steps. Also holds: {"multipleOf": 5}', "minimum": 1},
        "c": {"enum": ["yes"]},
        "u": {"type": "string", "description": 'Also holds: {"format": "uri"}'},
        "o": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "e": {"description": 'Also holds: {"enum": [true, "x"]}'},
    }
    assert "patternProperties" in sent["description"]
    assert {
        word for word in ("multipleOf", "format", "enum", "patternProperties") if any(word in one for one in warnings)
    } == {
        "multipleOf",
        "format",
        "enum",
        "patternProperties",
    }


def test_gemini_gets_no_schema_that_is_a_mere_word(voices: Any) -> None:
    """A property that allows nothing is left out, also of what is required; one that allows anything is an empty schema."""
    schema = {"type": "object", "properties": {"no": False, "any": True}, "required": ["no", "any"]}
    _, sent, _ = made(voices["gemini"], schema)
    assert sent == {"type": "object", "properties": {"any": {}}, "required": ["any"]}


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
def test_a_refused_parameter_name_is_mapped_and_comes_back(voices: Any, name: str) -> None:
    """`filter[id]` is sent under another name, required under it too, and is itself again in the call."""
    voice = voices[name]
    tool = Tool(name="t", input_schema={"type": "object", "properties": {"filter[id]": {}}, "required": ["filter[id]"]})
    tools = voice.provider.tools([tool])
    payload = voice.provider.payload(
        model="m", system=None, tools=tools, history=[voice.provider.user("hi")], render=lambda value: ""
    )
    assert voice.complaints(payload) == []
    [(_, _, schema)] = voice.tools(payload)
    [sent] = schema["properties"]
    assert schema["required"] == [sent] != ["filter[id]"]
    [call] = voice.provider.calls(voice.answer("", [("a", "t", {sent: 7})]), tools.names)
    assert call.arguments == {"filter[id]": 7}
    assert any("sent under another name" in warning for warning in tools.warnings)


def test_a_long_description_is_cut_where_it_must_be(voices: Any) -> None:
    """Chat Completions refuses more than 1,024 characters; the cut is visible and warned of; others get it whole."""
    text = "word " * 400
    for name in PROVIDERS:
        told, _, warnings = made(voices[name], None, text)
        if name == "openai-chat":
            assert len(told) <= 1024
            assert told.endswith("… [cut]")
            assert any("cut to 1,024" in warning for warning in warnings)
        else:
            assert (told, warnings) == (text.strip(), ())


@pytest.mark.parametrize(("length", "sent"), [(1024, 1024), (1025, 1024)])
def test_a_description_of_just_the_limit_stays_whole(voices: Any, length: int, sent: int) -> None:
    """1,024 characters are accepted as they are; one more makes a cut, also with sentences of ours behind it."""
    told, _, warnings = made(voices["openai-chat"], None, "x" * length)
    assert (len(told), bool(warnings)) == (sent, length > 1024)
    union = {"type": "object", "oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]}
    told, _, _ = made(voices["openai-chat"], union, "x" * length)
    assert len(told) == 1024
    assert told.endswith("… [cut] Required besides: exactly one of: a or none of these.")


def test_long_sentences_of_ours_leave_a_short_description_whole(voices: Any) -> None:
    """What is cut is what is too long: the sentences, to half of the room."""
    long: dict[str, Any] = {f"{letter}{'x' * 40}": {} for letter in "abcdefghijklmnopqrstuvwxyz"}
    branches = [{"properties": {name: {}}, "required": [name]} for name in long]
    told, _, warnings = made(voices["openai-chat"], {"type": "object", "oneOf": branches})
    assert told.startswith("Does it. Required besides: exactly one of: a")
    assert told.endswith("… [cut]")
    assert len(told) == len("Does it. ") + 512
    assert any("cut to 1,024" in warning for warning in warnings)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_too_many_tools_are_warned_of(name: str) -> None:
    """OpenAI takes 128 tools; the warning says so before the request fails."""
    tools = [Tool(name=f"t{number}") for number in range(129)]
    assert any("128 are accepted" in warning for warning in provider_for(name).tools(tools).warnings)
    assert provider_for(name).tools(tools[:128]).warnings == ()


def test_a_second_tool_of_one_name_is_left_out(voice: Any) -> None:
    """Two tools of one name would refuse the request; the first is sent, and the other warned of."""
    tools = voice.provider.tools([Tool(name="t", description="first"), Tool(name="t", description="second")])
    text = json.dumps(tools.array)
    assert "first" in text
    assert "second" not in text
    assert any("a second tool of the same name" in warning for warning in tools.warnings)


def test_one_warning_names_all_tools_of_a_kind() -> None:
    """Fifty tools with one fault make one line."""
    tools = [Tool(name=f"t{number}", input_schema={"type": "object", "oneOf": [{}]}) for number in range(12)]
    [warning] = provider_for("anthropic").tools(tools).warnings
    assert "t0, t1" in warning
    assert warning.endswith("and 4 more")


def test_a_schema_without_end_is_cut(voices: Any) -> None:
    """Depth without end and references that double each other cost neither memory nor a request."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(3 * MAX_DEPTH):
        deep = {"type": "object", "properties": {"a": deep}}
    doubling: dict[str, Any] = {
        f"d{level}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/d{level + 1}"} for side in "lr"}}
        for level in range(30)
    }
    doubling["d30"] = {"type": "string"}
    bomb = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubling}
    for name in PROVIDERS:
        for schema in (deep, bomb):
            _, sent, warnings = made(voices[name], schema)
            assert len(json.dumps(sent)) < 1_000_000
            assert warnings or (schema is bomb and name != "gemini")


keywords = st.sampled_from(
    ["type", "properties", "items", "anyOf", "oneOf", "allOf", "not", "$ref", "enum", "const", "required", "$defs"]
    + ["additionalProperties", "minimum", "exclusiveMinimum", "format", "description", "prefixItems", "default", "x-y"]
)
names = st.sampled_from(
    ["a", "b", "filter[id]", "#/$defs/a", "#", "string", "object", "array", "null", "date", "\ud800"]
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), names),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(names, inner, max_size=3),
        st.dictionaries(keywords, inner, max_size=4),
    ),
    max_leaves=12,
)


@given(schema=st.dictionaries(keywords, values, max_size=5))
@settings(max_examples=120)
def test_no_schema_makes_a_request_invalid(schema: dict[str, Any], voices: Any) -> None:
    """Whatever a server calls a schema, every provider accepts what is sent for it."""
    for name in PROVIDERS:
        made(voices[name], schema)


@given(schema=st.dictionaries(keywords, values, max_size=5))
@settings(max_examples=100)
def test_repairing_twice_changes_nothing_more(schema: dict[str, Any]) -> None:
    """A repaired schema is valid, so that nothing is left to repair."""
    once = repaired(schema, Faults())
    faults = Faults()
    assert repaired(once, faults) == once
    assert list(faults) == []


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", {"a": [{"b": {}}, True]}),
        ("#/a/0", {"b": {}}),
        ("#/a/1", True),
        ("#/a/2", None),
        ("#/a", None),
        ("x", None),
    ],
)
def test_local_references_are_resolved(reference: str, target: Any) -> None:
    """A pointer leads through objects and lists to a schema, or nowhere."""
    assert resolve({"a": [{"b": {}}, True]}, reference) == target
