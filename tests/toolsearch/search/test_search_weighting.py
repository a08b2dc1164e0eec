from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FIELDS, FieldValues
from toolsearch.search.arms import inverse_document_frequency
from toolsearch.search.fields import field_texts, parameter_texts
from toolsearch.search.searcher import Searcher

ZERO = FieldValues(name=0, server=0, hint=0, description=0, parameter_names=0, parameter_descriptions=0)


def tool_with(field: str, word: str) -> Tool:
    """A tool that has a word in one field only."""
    properties = {word if field == "parameter_names" else "q": {"type": "string"}}
    if field == "parameter_descriptions":
        properties["q"]["description"] = word
    return Tool(
        name=f"in_{field}_{word}" if field == "name" else f"in_{field}",
        leaf=word if field == "name" else "leaf",
        server=word if field == "server" else None,
        search_hint=word if field == "hint" else None,
        description=word if field == "description" else None,
        input_schema={"type": "object", "properties": properties},
    )


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_counts_by_its_own_weight(field: str) -> None:
    """A word in one field gives a score with that field's weight alone, and none with all other weights."""
    only = dataclasses.replace(ZERO, **{field: 1.0})
    others = FieldValues(**{name: float(name != field) for name in FIELDS})
    catalog = [tool_with(field, "zebra"), Tool(name="filler", description="giraffe")]
    counted = Searcher(catalog, DEFAULT.replace(field_weights=only, keyword_points=only)).search("zebra the")
    ignored = Searcher(catalog, DEFAULT.replace(field_weights=others, keyword_points=others)).search("zebra the")
    assert counted.results[0].score > 0
    assert ignored.results[0].score == 0


@pytest.mark.parametrize("field", FIELDS)
def test_a_heavier_field_gives_a_higher_score(field: str) -> None:
    """Raising a field's weight raises the score of what stands in it."""
    catalog = [tool_with(field, "zebra"), Tool(name="filler")]
    scores = [
        Searcher(
            catalog,
            DEFAULT.replace(weight_keyword=0, field_weights=dataclasses.replace(ZERO, **{field: weight})),
        )
        .search("zebra the")
        .results[0]
        .score
        for weight in (0.5, 1.0, 4.0)
    ]
    assert scores == sorted(set(scores))


def test_the_texts_of_a_tool_are_read_by_field() -> None:
    """Name with aliases, server, hint, description, parameter names, and parameter descriptions with enum values."""
    schema = {
        "type": "object",
        "description": "the whole, which is no parameter",
        "properties": {
            "unit": {"type": "string", "description": "how to measure", "enum": ["metre", "mile", 3]},
            "place": {"type": "object", "properties": {"city": {"description": "where"}}},
            "tags": {"type": "array", "items": {"anyOf": [{"description": "a tag"}, {"$ref": "#/$defs/tag"}]}},
            "pair": {"items": [{"description": "first"}, {"description": "second"}]},
        },
        "$defs": {"tag": {"properties": {"label": {"description": "its label"}}}},
    }
    tool = Tool(
        name="mcp__maps__find_way",
        server="maps",
        aliases=("route",),
        search_hint="navigate",
        description="Finds a way.",
        input_schema=schema,
    )
    assert field_texts(tool) == (
        "find_way route",
        "maps",
        "navigate",
        "Finds a way.",
        "unit place tags pair city label",
        "how to measure metre mile where a tag first second its label",
    )


@pytest.mark.parametrize("schema", [None, {}, {"properties": None}, {"properties": {"a": True}}, {"items": 3}, [], "x"])
def test_a_schema_of_another_form_has_no_texts(schema: object) -> None:
    """What isn't JSON Schema is passed over."""
    names, descriptions = parameter_texts(schema)  # type: ignore[arg-type]
    assert (names, descriptions) in (([], []), (["a"], []))


def test_a_catalog_of_one_tool_works() -> None:
    """A term that the only tool has still counts, and the tool is found with confidence by its name."""
    response = Searcher([Tool(name="send_message", description="Sends.")]).search("message")
    assert response.results[0].score > 0.3
    assert not response.low_confidence


def test_a_term_that_every_tool_has_counts_a_little() -> None:
    """The rarity of a term is above 0 even where all tools have it, and falls as more tools have it."""
    rarity = inverse_document_frequency(np.array([0, 1, 5, 10]), 10)
    # ln(1 + (10 - df + 0.5) / (df + 0.5)) by hand: ln 22, ln(22/3), ln 2, ln(22/21).
    assert rarity == pytest.approx([3.0910424534, 1.9924301647, 0.6931471806, 0.0465200156])
    catalog = [Tool(name=f"tool_{number}", description="word") for number in range(10)]
    assert all(result.score > 0 for result in Searcher(catalog).search("word the").results)


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """Of two tools with one query word each, the one with the rarer word comes first."""
    catalog = [Tool(name=f"filler_{number}", description="common") for number in range(9)]
    catalog += [Tool(name="a_common", description="x common"), Tool(name="b_rare", description="x rare")]
    assert Searcher(catalog).search("common rare").results[0].name == "b_rare"


def test_repeating_a_word_stops_to_count() -> None:
    """A thousand occurrences are worth little more than ten, and never more than all of a term."""
    once, ten, thousand = (
        Searcher([Tool(name="tool", description="zebra " * count), Tool(name="filler", description="words " * count)])
        .search("zebra the")
        .results[0]
        .score
        for count in (1, 10, 1000)
    )
    assert once <= ten <= thousand <= 1.0
    assert thousand - ten < 0.15


def test_a_very_long_description_does_not_drown_a_short_exact_tool() -> None:
    """A tool that is just what was asked for stands before one whose endless text also has the words."""
    text = "send a message to a user or channel, list files, create issues and do anything else " * 3000
    catalog = [Tool(name="everything", description=text), Tool(name="send_message", description="Sends a message.")]
    for query in ("send a message", "message send", "how do I send messages"):
        assert Searcher(catalog).search(query).results[0].name == "send_message"


def test_a_very_long_description_does_not_hide_its_own_tool() -> None:
    """The tool with the endless text is found for what only it has, before tools that have half of it."""
    text = "words about many things and others " * 3000 + " convert currency"
    catalog = [Tool(name=f"filler_{number}", description="convert words") for number in range(30)]
    catalog.append(Tool(name="money", description=text))
    results = Searcher(catalog).search("convert currency").results
    assert "money" in {result.name for result in results}
    assert Searcher(catalog).search("currency").results[0].name == "money"


def test_parameters_are_found() -> None:
    """A tool is found by the name, the description and the enum values of its parameters, nested ones too."""
    schema = {
        "type": "object",
        "properties": {"outer": {"properties": {"recipientAddress": {"description": "postal", "enum": ["express"]}}}},
    }
    catalog = [Tool(name="parcel", input_schema=schema), Tool(name="filler", description="other words")]
    for query in ("recipient", "address", "recipient_address", "postal", "express"):
        assert [result.name for result in Searcher(catalog).search(query).results] == ["parcel"]


@pytest.mark.parametrize("fillers", [0, 3, 50])
@pytest.mark.parametrize("repeats", [1, 30, 1000, 30_000])
def test_the_length_of_another_text_does_not_decide(fillers: int, repeats: int) -> None:
    """However long the other text is, and however small the catalog, the tool named so comes first."""
    catalog = [Tool(name=f"filler_{number}", description=f"does thing {number} with care") for number in range(fillers)]
    catalog += [
        Tool(name="everything", description="send a message, list a file " * repeats),
        Tool(name="send_message", description="Sends a message."),
    ]
    assert Searcher(catalog).search("message send now").results[0].name == "send_message"
