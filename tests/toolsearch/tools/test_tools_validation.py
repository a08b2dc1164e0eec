"""Arguments held against schemas of strangers: the library's verdicts, within bounds, without a network."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from toolsearch.tools.faults import Fault
from toolsearch.tools.validation import LIMITS, Limits, validate_params

DRAFTS = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
]
NAMES = st.sampled_from(["a", "b", "ab"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, -3, "", "a", "ab", "1"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2), max_leaves=5
)
TYPES = st.sampled_from(["string", "integer", "number", "object", "array", "null", "boolean"])


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    named = st.dictionaries(NAMES, inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES,
            "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=repr),
            "properties": named,
            "required": st.lists(NAMES, min_size=1, unique=True, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
            "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
            "maxLength": st.just(1),
            "multipleOf": st.sampled_from([2, 0.5]),
            "uniqueItems": st.just(True),
            "maxItems": st.just(1),
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "$ref": st.just("#/definitions/d"),
        },
    )


SCHEMAS = st.recursive(_keywords(st.just({})), _keywords, max_leaves=6)
NEWER = st.fixed_dictionaries(
    {},
    optional={
        "const": VALUES,
        "contains": SCHEMAS | st.booleans(),
        "propertyNames": SCHEMAS | st.booleans(),
        "items": SCHEMAS | st.booleans(),
        "if": SCHEMAS,
        "then": SCHEMAS,
        "else": SCHEMAS,
        "additionalProperties": SCHEMAS | st.booleans(),
    },
)
LATEST = st.fixed_dictionaries(
    {},
    optional={
        "unevaluatedProperties": SCHEMAS | st.booleans(),
        "dependentSchemas": st.dictionaries(NAMES, SCHEMAS, max_size=1),
        "dependentRequired": st.just({"a": ["b"]}),
        "prefixItems": st.lists(SCHEMAS, min_size=1, max_size=2),
    },
)


@settings(max_examples=150, deadline=None)
@given(draft=st.sampled_from(DRAFTS), plain=SCHEMAS, newer=NEWER, latest=LATEST, params=st.dictionaries(NAMES, VALUES))
def test_the_verdict_is_the_librarys(
    draft: str, plain: dict[str, Any], newer: dict[str, Any], latest: dict[str, Any], params: dict[str, Any]
) -> None:
    """For any schema and arguments within the bounds the plain library, and only it, decides whether they fit."""
    schema = {**plain, "$schema": draft, "definitions": {"d": {"type": "object", "properties": {"a": newer}}}}
    if draft == DRAFTS[0]:
        schema |= {**newer, **latest}
    elif "draft-04" not in draft:
        schema |= newer
    else:
        schema["definitions"] = {"d": plain}
        schema.pop("$ref", None)
        schema["definitions"]["d"] = {"type": "object"}
    other = validator_for(schema)
    other.check_schema(schema)
    checked = validate_params(schema, params)
    assert checked.notes == ()
    assert checked.valid == other(schema).is_valid(params)
    assert all(str(fault) for fault in checked.faults)


@pytest.mark.parametrize(
    ("schema", "params", "told"),
    [
        ({"properties": {"n": {"type": "integer"}}}, {"n": "x"}, 'n: must be an integer; given: "x"'),
        ({"properties": {"n": {"type": ["integer", "null"]}}}, {"n": 1.5}, "n: must be an integer or null; given: 1.5"),
        ({"properties": {"n": {"enum": ["a", "b"]}}}, {"n": "c"}, 'n: must be one of "a", "b"; given: "c"'),
        ({"required": ["to"]}, {}, "to: is required and missing"),
        ({"properties": {"n": {"minimum": 3}}}, {"n": 1}, "n: must be at least 3; given: 1"),
        ({"properties": {"n": {"minItems": 2}}}, {"n": [1]}, "n: must have at least 2 items; given: [1]"),
        ({"properties": {"n": {"uniqueItems": True}}}, {"n": [1, 1.0]}, "n: must hold no item twice; given: [1, 1.0]"),
        ({"properties": {"n": {"pattern": "^a"}}}, {"n": "b"}, 'n: must match the pattern ^a; given: "b"'),
        ({"properties": {"n": False}}, {"n": 1}, "n: nothing is accepted here; given: 1"),
        (
            {"properties": {"list": {"items": {"properties": {"id": {"type": "string"}}}}}},
            {"list": [{}, {"id": 5}]},
            "list[1].id: must be a string; given: 5",
        ),
        (
            {"properties": {"title": {}}, "additionalProperties": False},
            {"titel": 1},
            "titel: is not accepted; accepted names: title. Did you mean title?; given: 1",
        ),
        (
            {"properties": {"n": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
            {"n": 1},
            "n: must be a string or null; given: 1",
        ),
        (
            {"properties": {"n": {"oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["x"]},
                {"properties": {"kind": {"const": "b"}}}]}}},
            {"n": {"kind": "a"}},
            "n.x: is required and missing",
        ),
    ],
)  # fmt: skip
def test_a_fault_says_place_value_and_what_is_accepted(schema: Any, params: Any, told: str) -> None:
    """Each fault is one line that a model can act on."""
    assert [str(fault) for fault in validate_params(schema, params).faults] == [told]


def test_words_of_strangers_in_a_fault_are_neutralised() -> None:
    """Names, values and choices that hold tags or are very long can't break out of a fault."""
    bad = "</tool>" * 200
    schema: dict[str, Any] = {
        "properties": {bad: {"enum": [bad]}},
        "required": [bad + "x"],
        "additionalProperties": False,
    }
    for params in ({bad: bad}, {bad + "y": 1}):
        text = "\n".join(map(str, validate_params(schema, params).faults))
        assert "</tool>" not in text
        assert len(text) < 3_000


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/d0", "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}},
        {"$ref": "#/$defs/d0", "unevaluatedProperties": False,
         "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}},
        {"anyOf": [False] * 300_000},
        {"patternProperties": {f"a{{{4000 + n}}}": {} for n in range(900)}},
    ],
)  # fmt: skip
def test_a_schema_without_an_end_is_refused(schema: Any) -> None:
    """Going over a bound is a fault that says so, and the check comes back."""
    [fault] = validate_params(schema, {"b": 1}).faults
    assert "can't be checked" in str(fault)


@pytest.mark.parametrize(
    "inner",
    [
        {"pattern": "^(a+)+$"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "allOf": [{"pattern": "^(a+)+$"}]},
    ],
)
def test_a_hostile_pattern_is_decided(inner: Any) -> None:
    """Nested repetitions are matched in full, also in a part of the schema that names a draft of its own."""
    schema = {"properties": {"a": inner}}
    assert validate_params(schema, {"a": "a" * 5_000}).valid
    assert not validate_params(schema, {"a": "a" * 5_000 + "!"}).valid


def test_a_large_value_costs_no_more_for_many_choices() -> None:
    """Trying many choices on a megabyte ends with the one fault that matters."""
    checked = validate_params({"anyOf": [{"type": "string"}] * 500}, {"a": ["x" * 50] * 20_000})
    assert [fault.accepted for fault in checked.faults] == ["must be a string"]


def test_long_plain_texts_and_lists_are_checked() -> None:
    """A pattern over a megabyte and a list of ten thousand rows are usual, and within the bounds."""
    row = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    schema = {"properties": {"data": {"pattern": "^[A-Za-z0-9+/=]*$"}, "rows": {"items": row, "type": "array"}}}
    good = {"data": "Qk" * 500_000, "rows": [{"id": number} for number in range(10_000)]}
    assert validate_params(schema, good).valid
    good["rows"][9_999] = {}  # type: ignore[index]
    assert [fault.path for fault in validate_params(schema, good).faults] == ["rows[9999].id"]


def _nested(levels: int, innermost: Any) -> Any:
    return {"k": [_nested(levels - 1, innermost)]} if levels else innermost


def test_recursive_schemas_work_at_any_place_of_the_stack() -> None:
    """A tree of thirty levels is checked to its leaf, also by a caller with hardly any stack left."""
    node = {"type": "object", "properties": {"k": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
    schema = {"$defs": {"node": node}, "$ref": "#/$defs/node"}

    def deep(levels: int) -> bool:
        return deep(levels - 1) if levels else validate_params(schema, _nested(30, {"k": 3})).valid

    assert validate_params(schema, _nested(30, {})).valid
    assert not deep(700)


@pytest.mark.parametrize(
    ("params", "limits", "said"),
    [
        (_nested(40, 1), LIMITS, "nested too deeply"),
        ({"a": "x" * 100}, Limits(size=50), "too long"),
        ({"a": float("inf")}, LIMITS, "not JSON"),
        ({"a": {1: 2}}, LIMITS, "not JSON"),
        ({"a": object()}, LIMITS, "not JSON"),
    ],
)
def test_arguments_beyond_a_bound_or_no_json_are_refused(params: Any, limits: Limits, said: str) -> None:
    """Whatever the schema, also without one, such arguments don't fit."""
    schemas: list[dict[str, Any] | None] = [None, {}]
    for schema in schemas:
        [fault] = validate_params(schema, params, limits=limits).faults
        assert said in str(fault)


def test_arguments_that_share_parts_are_measured_as_written_out() -> None:
    """A value that would be astronomically long as JSON is refused for its length."""
    shared: Any = [1]
    for _ in range(60):
        shared = [shared, shared]
    assert "too long" in str(validate_params({}, {"a": shared}).faults[0])


def test_no_reference_is_fetched() -> None:
    """A reference out of the schema is a note that names it; what else there is, is checked."""
    schema = {"properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}, "b": {"type": "string"}}}
    checked = validate_params(schema, {"a": 1, "b": 2})
    assert [fault.path for fault in checked.faults] == ["b"]
    assert "http://127.0.0.1:9/x.json" in checked.notes[0]


@pytest.mark.parametrize(
    "broken",
    [{"type": "any"}, {"required": True}, {"minLength": "1"}, {"enum": 5}, {"properties": []}, {"items": 3}],
)
def test_what_is_no_schema_is_left_out_and_told(broken: Any) -> None:
    """A keyword that is not valid keeps no call from running, and the rest of the schema still counts."""
    schema = {"properties": {"a": broken, "b": {"type": "string"}}}
    good, bad = validate_params(schema, {"a": 1, "b": "x"}), validate_params(schema, {"a": 1, "b": 2})
    assert good.valid
    assert [fault.path for fault in bad.faults] == ["b"]
    assert next(iter(broken)) in good.notes[0]


def test_an_unknown_keyword_or_draft_says_nothing() -> None:
    """Keywords and drafts that nobody knows don't block a call; the latest draft is taken."""
    schema: dict[str, Any] = {
        "$schema": "https://example.test/mine",
        "x-ui": {"pattern": 5},
        "properties": {"a": {"prefixItems": [{"const": 1}]}},
    }
    assert validate_params(schema, {"a": [1]}).valid
    assert not validate_params(schema, {"a": [2]}).valid


def test_a_schemas_own_draft_is_respected() -> None:
    """`items` as a list belongs to the old drafts, in any of the ways in which those are written."""
    inner = {"properties": {"a": {"items": [{"type": "string"}]}}}
    for name in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"):
        checked = validate_params({"$schema": name, **inner}, {"a": [1]})
        assert [fault.path for fault in checked.faults] == ["a[0]"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "(?=x)"}}},
        {"properties": {"a": {"not": {"pattern": "(?=x)"}}}},
        {"properties": {"a": {"oneOf": [{"pattern": "(?=x)"}, {"pattern": "(?!x)"}]}}},
        {"properties": {"a": {"if": {"pattern": "(?=x)"}, "then": False}}},
        {"properties": {"a": {"type": "string"}}, "patternProperties": {"^(?!a)": {"type": "integer"}}},
        {"patternProperties": {"^(?=a)": {}}, "additionalProperties": False},
        {"patternProperties": {"^(?=a)": {}}, "unevaluatedProperties": False},
    ],
)
def test_a_pattern_that_cannot_be_matched_makes_no_fault(schema: Any) -> None:
    """It is told as unchecked, wherever in the schema it stands."""
    checked = validate_params(schema, {"a": "y"})
    assert checked.valid
    assert "was not checked" in checked.notes[0]


def test_a_number_too_large_for_a_rule_does_not_pass() -> None:
    """Where the library gives up on a number, the rule counts as broken and the others still hold."""
    schema = {"properties": {"n": {"multipleOf": 0.01}, "b": {"type": "string"}}}
    assert [fault.path for fault in validate_params(schema, {"n": 10**400, "b": 1}).faults] == ["b", "n"]


def test_without_a_schema_anything_is_accepted() -> None:
    """None accepts any JSON object."""
    assert validate_params(None, {"a": [1, {"b": None}]}).valid


def test_the_number_of_faults_told_is_bounded() -> None:
    """The ones nearest to the root come first, at most as many as wanted."""
    schema = {"properties": {"z": {"items": {"type": "string"}}, "a": {"type": "string"}}}
    faults = validate_params(schema, {"z": [1] * 50, "a": 1}, limits=Limits(faults=3)).faults
    assert faults == (
        Fault("a", "1", "must be a string"),
        Fault("z[0]", "1", "must be a string"),
        Fault("z[1]", "1", "must be a string"),
    )


def test_jsonschema_is_imported_when_something_is_checked() -> None:
    """Importing the library and the proxy costs nothing of it."""
    code = "import sys, toolsearch, toolsearch.tools.execute_tool; print('jsonschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
