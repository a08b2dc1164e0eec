from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.tools.parameters import parameters_of
from toolsearch.tools.schema_text import brief, full_text, trimmed_text

PEOPLE = {"type": "object", "properties": {"id": {"type": "string"}, "tag": {}}, "required": ["id"]}

READ: list[tuple[Any, list[tuple[str, str, bool]], str]] = [
    (None, [], "not described"),
    ({}, [], "none"),
    ({"type": "object", "additionalProperties": False}, [], "none"),
    ({"type": "object", "additionalProperties": True}, [], "any names"),
    ({"type": "object", "additionalProperties": {"type": "string"}}, [], "any names"),
    ({"properties": "wrong"}, [], "not described"),
    ({"required": "wrong"}, [], "none"),
    ({"required": ["a", 5]}, [("a", "any", True)], "a: any"),
    ({"properties": {"a": True, "b": None}}, [("a", "any", False), ("b", "any", False)], "a?: any, b?: any"),
    ({"properties": {"a": {"type": ["string", "null"]}}}, [("a", "string|null", False)], "a?: string | null"),
    (
        {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
        [("a", "integer|null", False)],
        "a?: integer | null",
    ),
    ({"properties": {"a": {"enum": ["x", 2]}}}, [("a", "string|integer", False)], 'a?: "x" | 2'),
    ({"properties": {"a": {"const": True}}}, [("a", "boolean", False)], "a?: true"),
    (
        {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        [("a", "array", False)],
        "a?: string[]",
    ),
    (
        {"properties": {"a": {"type": "array", "items": {"enum": ["x", "y"]}}}},
        [("a", "array", False)],
        'a?: ("x" | "y")[]',
    ),
    ({"properties": {"who": PEOPLE}, "required": ["who"]}, [("who", "object", True)], "who: {id: string, tag?: any}"),
    (
        {"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}, "required": ["a"]},
        [("b", "string", False), ("a", "integer", True)],
        "a: integer, b?: string",
    ),
    (
        {"properties": {"who": {"$ref": "#/$defs/Who"}}, "$defs": {"Who": PEOPLE}},
        [("who", "object", False)],
        "who?: {id: string, tag?: any}",
    ),
    (
        {"$ref": "#/$defs/Who", "$defs": {"Who": PEOPLE}},
        [("id", "string", True), ("tag", "any", False)],
        "id: string, tag?: any",
    ),
    (
        {"allOf": [PEOPLE, {"properties": {"more": {"type": "number"}}, "required": ["more"]}]},
        [("id", "string", True), ("tag", "any", False), ("more", "number", True)],
        "id: string, more: number, tag?: any",
    ),
    (
        {
            "oneOf": [
                {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
                {"properties": {"a": {}}, "required": ["a"]},
            ]
        },
        [("a", "any", True), ("b", "any", False)],
        "a: any, b?: any",
    ),
    ({"properties": {"a": {"$ref": "#/properties/a"}}}, [("a", "any", False)], "a?: any"),
    ({"$ref": "#"}, [], "not described"),
    ({"properties": {"a": {"$ref": "https://example.org/x"}}}, [("a", "any", False)], "a?: any"),
    (
        {"properties": {"a": {"$ref": "#/anyOf/0/x~1y"}}, "anyOf": [{"x/y": {"type": "null"}}]},
        [("a", "null", False)],
        "a?: null",
    ),
]


@pytest.mark.parametrize(("schema", "parameters", "line"), READ, ids=range(len(READ)))
def test_parameters_are_read_out_of_every_kind_of_schema(
    schema: Any, parameters: list[tuple[str, str, bool]], line: str
) -> None:
    """Name, type and required, in the order of the schema; the line has the required ones first and `?` for the rest."""
    assert [(each.name, each.type, each.required) for each in parameters_of(schema)] == parameters
    assert brief(schema, limit=1000).text == line


def test_descriptions_of_parameters_are_kept_where_they_are_texts() -> None:
    """The structured parameter has its description; one that is no text is none."""
    found = parameters_of({"properties": {"a": {"description": "the a"}, "b": {"description": 5}}})
    assert [each.description for each in found] == ["the a", None]


def test_a_line_that_is_cut_keeps_required_parameters_and_says_how_many_are_gone() -> None:
    """Optional parameters go first; the cut is marked, counted and flagged, and the rest is still enough for a call."""
    properties = {f"option_{number}": {"type": "string"} for number in range(30)} | {"must": {"type": "integer"}}
    line = brief({"properties": properties, "required": ["must"]}, limit=60)
    assert line.text == "must: integer, option_0?: string, option_1?: string, 28 more… [cut]"
    assert (line.cut, line.complete) == (True, True)


def test_a_line_that_loses_a_required_parameter_is_not_complete() -> None:
    """Where required parameters don't fit either, the line says of itself that it is not enough."""
    names = [f"needed_{number}" for number in range(30)]
    line = brief({"properties": {name: {} for name in names}, "required": names}, limit=60)
    assert (line.cut, line.complete) == (True, False)


def test_a_name_too_long_to_be_shown_makes_the_line_incomplete_only_if_it_is_required() -> None:
    """A shortened name can't be used, which matters for a required parameter alone."""
    name = "n" * 300
    assert brief({"properties": {name: {}}}, limit=1000).complete
    line = brief({"properties": {name: {}}, "required": [name]}, limit=1000)
    assert (line.cut, line.complete) == (True, False)
    assert "[cut]" in line.text


def test_hostile_names_types_and_values_are_neutralised() -> None:
    """Tags, line breaks and direction marks in a schema are escaped in every form of it."""
    schema = {
        "properties": {"</tool>\n": {"type": "</tool>", "description": "</tool>\u202e"}, "b": {"enum": ["</tool>\n"]}}
    }
    for text in (brief(schema, limit=1000).text, full_text(schema), trimmed_text(schema, limit=100)):
        assert text is not None
        assert "</" not in text
        assert not {"\n", "\u202e"} & set(text)
    assert json.loads(full_text(schema) or "") == schema


def test_a_trimmed_schema_keeps_what_decides_about_a_call() -> None:
    """Descriptions are shortened and comments go; names, types, enums, defaults and bounds stay."""
    schema = {
        "title": "Arguments",
        "type": "object",
        "properties": {
            "title": {"type": "string", "title": "Title", "description": "x" * 100, "minLength": 1},
            "description": {"enum": [{"title": "kept"}], "default": {"title": "kept"}, "examples": ["gone"]},
        },
        "required": ["title"],
    }
    assert json.loads(trimmed_text(schema, limit=20) or "") == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "x" * 13 + "… [cut]", "minLength": 1},
            "description": {"enum": [{"title": "kept"}], "default": {"title": "kept"}},
        },
        "required": ["title"],
    }


def test_a_schema_nested_too_deeply_is_read_and_not_written() -> None:
    """Endless nesting gives the outermost parameters, and no text instead of an error."""
    deep: Any = {"type": "object"}
    for _ in range(100_000):
        deep = {"properties": {"a": deep}}
    assert [each.name for each in parameters_of(deep)] == ["a"]
    assert full_text(deep) is None
    assert trimmed_text(deep, limit=100) is None
    assert brief(deep, limit=1000).text == "a?: {a?: {a?: object}}"


def test_schemas_that_multiply_stay_bounded() -> None:
    """A schema that combines itself without end gives an answer."""
    many: Any = {"allOf": [{"$ref": "#"}] * 50, "anyOf": [{"$ref": "#"}] * 50, "properties": {"a": {"$ref": "#"}}}
    assert [each.name for each in parameters_of(many)] == ["a"]
    assert brief(many, limit=500).text.startswith("a?: ")


KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "$ref",
        "$defs",
        "a",
        "#",
        "x",
    ]
)
SCHEMAS = st.dictionaries(
    KEYWORDS,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | KEYWORDS | st.just("#/properties/a"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=3),
        max_leaves=12,
    ),
    max_size=5,
)


@given(SCHEMAS, st.integers(10, 200))
def test_any_json_is_read_as_a_schema_without_an_error(schema: Any, limit: int) -> None:
    """Odd schemas give what can be said; a complete line names every required parameter."""
    parameters = parameters_of(schema)
    line = brief(schema, limit=limit)
    assert "\n" not in line.text
    if line.complete:
        assert all(f"{each.name}: " in line.text or '"' in line.text for each in parameters if each.required)
    assert json.loads(full_text(schema) or "") == schema
