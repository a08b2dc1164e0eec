"""Which parts there are, and what a profile without one of them is."""

from __future__ import annotations

import math

import pytest

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT, FIELDS, PROFILES, REFERENCE, FieldValues, SearchConfig
from toolsearch.errors import UsageError
from toolsearch.search.searcher import Searcher
from toolsearch_eval.ablation.parts import NO_PARTS, PARTS, Variant, added, bare, left_out
from toolsearch_eval.tuning.parameters import parameter_names, parameter_value, with_parameters


def by_key(variants: tuple[Variant, ...]) -> dict[str, Variant]:
    """The variants by the key of their part."""
    return {variant.part.key: variant for variant in variants}


def scores(config: SearchConfig, query: str, **descriptions: str) -> dict[str, float]:
    """What a query gives to some tools."""
    tools = [Tool(name=name, description=text) for name, text in descriptions.items()]
    return {result.name: result.score for result in Searcher(ToolRegistry(tools), config).search(query).results}


def test_every_number_of_a_profile_is_of_a_part_or_said_to_be_of_none() -> None:
    """A setting that is new has to find its part, or the reason why it has none."""
    known = {name for part in PARTS for name in part.without(DEFAULT)}
    assert [name for name in parameter_names(DEFAULT) if name not in known and name not in NO_PARTS] == []
    assert {name for name in NO_PARTS if name not in parameter_names(DEFAULT)} == set()


def test_keys_are_unique_and_what_a_line_unites_exists() -> None:
    """A part has one line in each table, and a line over several parts names parts that have one."""
    keys = [part.key for part in PARTS]
    assert len(set(keys)) == len(keys)
    assert {key for part in PARTS for key in part.unites} <= set(keys)


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_variant_differs_in_its_settings_and_in_nothing_else(profile: str) -> None:
    """Each profile without a part is the whole one but for what the variant says, and the other way round."""
    config = PROFILES[profile]
    stripped = bare(config)
    for base, variants in ((config, left_out(config)), (stripped, added(config))):
        for variant in variants:
            changes = {name: after for name, (_, after) in variant.settings.items()}
            assert with_parameters(base, changes) == variant.config != base
            assert all(parameter_value(base, name) == before for name, (before, _) in variant.settings.items())


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_part_alone_has_the_profiles_own_numbers(profile: str) -> None:
    """What is put into the bare profile is as it is in the whole one."""
    config = PROFILES[profile]
    for variant in added(config):
        assert all(after == parameter_value(config, name) for name, (_, after) in variant.settings.items())


def test_a_part_that_is_off_is_not_left_out() -> None:
    """Without spelling there is nothing to leave out, alone or with others; all else stays."""
    whole, off = by_key(left_out(DEFAULT)), by_key(left_out(DEFAULT.replace(spelling_weight=0.0)))
    assert set(whole) - set(off) == {"spelling"}
    assert "spelling" not in by_key(added(DEFAULT.replace(spelling_weight=0.0)))


def test_the_only_arm_is_not_left_out() -> None:
    """A profile of one arm would rank nothing without it."""
    assert {"keyword-arm", "tfidf-arm"} <= set(by_key(left_out(DEFAULT)))
    for off in ("weight_keyword", "weight_tfidf"):
        assert not {"keyword-arm", "tfidf-arm"} & set(by_key(left_out(DEFAULT.replace(**{off: 0.0}))))


def test_the_parts_of_reference_are_those_that_it_reads() -> None:
    """Its own points for a piece of a name and its least cosine can be left out; what it ignores does not occur."""
    keys = set(by_key(left_out(REFERENCE)))
    assert {"substring-points", "cosine-bound", "field-name", "field-hint", "field-description"} <= keys
    assert not {"field-server", "saturation", "spelling", "length"} & keys


def test_the_bare_profile_counts_words_of_names_and_descriptions() -> None:
    """Its scores are counts times the square of rarity: no saturation, length, cap, arm or expansion moves them."""
    found = scores(
        bare(DEFAULT),
        "mail file",
        one="mail mail mail " + "and some more words of no use here " * 20,
        two="a file",
        three="nothing",
    )
    # Both words stand in one of three tools, so they are equally rare: three occurrences against one.
    assert found["one"] == pytest.approx(3 * found["two"], rel=1e-3)
    assert set(found) == {"one", "two"}


def test_without_saturation_three_occurrences_count_three_times_one() -> None:
    """With it they count less than twice as much, where the TF-IDF arm is alone and lengths don't matter."""
    plain = {f"length_normalisation.{name}": 0.0 for name in FIELDS}
    config = with_parameters(DEFAULT, {"weight_keyword": 0.0, **plain})
    texts = {"one": "mail mail mail", "two": "file", "three": "nothing"}
    whole = scores(config, "mail file", **texts)
    without = scores(by_key(left_out(config))["saturation"].config, "mail file", **texts)
    # f / (1.2 + f) by hand.
    assert whole["one"] / whole["two"] == pytest.approx((3 / 4.2) / (1 / 2.2))
    assert without["one"] / without["two"] == pytest.approx(3, rel=1e-3)


def test_a_field_that_is_left_out_gives_no_score() -> None:
    """A word of the description alone is worth nothing without descriptions, one of the name still is."""
    config = by_key(left_out(DEFAULT))["field-description"].config
    found = scores(config, "mail", send_mail="A letter.", post="Mail to a person.")
    assert found["send_mail"] > 0
    assert found.get("post", 0.0) == 0.0


def test_fields_alike_keep_what_they_count_together() -> None:
    """The fields that count get their mean: 2.5, 2, 2, 1, 0.5 and 0.5 make 8.5 sixths each."""
    alike = by_key(left_out(DEFAULT))["field-weighting"].config.field_weights
    assert set(alike.values()) == {8.5 / 6}
    assert math.fsum(alike.values()) == pytest.approx(math.fsum(DEFAULT.field_weights.values()))


def test_a_profile_that_reads_neither_names_nor_descriptions_has_no_bare_one() -> None:
    """The error says which fields a bare profile ranks by."""
    weights = FieldValues(
        name=0.0, server=1.0, hint=0.0, description=0.0, parameter_names=0.0, parameter_descriptions=0.0
    )
    with pytest.raises(UsageError, match="neither name nor description"):
        bare(DEFAULT.replace(field_weights=weights))
