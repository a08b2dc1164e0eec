"""What is measured: by hand, and as evaluation and comparison measure it."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math

import pytest

from toolsearch.config import DEFAULT, REFERENCE
from toolsearch.errors import UsageError
from toolsearch_eval.ablation.document import ablation_block, document, tables
from toolsearch_eval.ablation.forms import CSV_COLUMNS, ablation_csv, ablation_json
from toolsearch_eval.ablation.measure import Ablation, Beside, Row, ablate, choose_split
from toolsearch_eval.compare import PRIMARY, compare, holm
from toolsearch_eval.data import DataSet
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.statistics import Difference, Interval

SECOND = 1 / math.log2(3)
"""What the only right tool is worth in the second place."""


@pytest.fixture(scope="module")
def found(shipped_part: DataSet) -> Ablation:
    """The shipped profile's parts on a part of the shipped set."""
    return ablate(DEFAULT, [shipped_part], PRIMARY)


def row(found: Ablation, key: str) -> Row:
    """The line of a part that is left out."""
    return next(each for each in found.left_out if each.variant.part.key == key)


def test_a_part_is_worth_what_the_queries_lose_without_it(by_description: DataSet) -> None:
    """Without descriptions three of four queries find the right tool second, which is worth 1 / log2(3)."""
    measured = ablate(DEFAULT, [by_description], PRIMARY)
    assert measured.whole.overall.mean == 1.0
    without = row(measured, "field-description").overall
    assert without.mean.mean == pytest.approx((1 + 3 * SECOND) / 4)
    assert without.difference.difference.mean == pytest.approx(3 * (SECOND - 1) / 4)
    assert (without.difference.wins, without.difference.ties, without.difference.losses) == (0, 1, 3)
    assert row(measured, "field-server").overall.verdict == "same"


def test_with_several_sets_each_counts_alike(by_description: DataSet, by_name: DataSet) -> None:
    """Where one set loses and the other does not the mean loses half of it, though one has twice as many queries."""
    measured = ablate(DEFAULT, [by_description, by_name], PRIMARY)
    assert [(each.name, each.split, each.queries) for each in measured.sets] == [
        ("by_description", "dev", 4),
        ("by_name", "all", 2),
    ]
    without = row(measured, "field-description")
    lost = 3 * (SECOND - 1) / 4
    assert {name: beside.difference.difference.mean for name, beside in without.sets.items()} == {
        "by_description": pytest.approx(lost),
        "by_name": 0.0,
    }
    assert without.overall.difference.difference.mean == pytest.approx(lost / 2)
    assert without.overall.mean.mean == pytest.approx(1 + lost / 2)


def test_the_figures_are_those_of_evaluate_and_compare(found: Ablation, shipped_part: DataSet) -> None:
    """Ranked by the search itself and compared query by query a variant has the same mean, interval and p."""
    keys = ("field-server", "field-description", "length", "keyword-arm", "saturation")
    rankers = [ProfileRanker("whole", DEFAULT), *(ProfileRanker(key, row(found, key).variant.config) for key in keys)]
    judged = evaluate(shipped_part, rankers, measures=[PRIMARY], split="dev", progress=False)
    lost = 0
    for key in keys:
        expected = compare(judged, "whole", judged, key)
        beside = row(found, key).overall
        assert beside.mean.mean == pytest.approx(expected.mean_b)
        assert found.whole.overall.mean == pytest.approx(expected.mean_a)
        got, wanted = beside.difference, expected.overall
        assert (got.wins, got.ties, got.losses) == (wanted.wins, wanted.ties, wanted.losses)
        assert got.p == pytest.approx(wanted.p)
        for name in ("mean", "low", "high"):
            assert getattr(got.difference, name) == pytest.approx(getattr(wanted.difference, name))
        lost += got.losses
    assert lost > 10  # the variants rank otherwise, or the test shows nothing


def test_p_is_adjusted_over_all_parts_of_a_table(found: Ablation) -> None:
    """Holm's procedure takes the parts that are left out for one family, and those that are added for another."""
    for rows in (found.left_out, found.added):
        adjusted = holm({each.variant.part.key: each.overall.difference.p for each in rows})
        assert {each.variant.part.key: each.overall.adjusted for each in rows} == adjusted
        assert max(adjusted.values()) == 1.0 > min(each.overall.difference.p for each in rows)


def test_any_number_of_jobs_gives_the_same(found: Ablation, shipped_part: DataSet) -> None:
    """Two processes give the same object to the last digit."""
    assert ablation_json(ablate(DEFAULT, [shipped_part], PRIMARY, jobs=2)) == ablation_json(found)


def test_not_worse_are_the_parts_whose_mean_is_as_high_without_them(found: Ablation) -> None:
    """They stand best first; every other part loses something when it is left out."""
    free = [each.overall.difference.difference.mean or 0.0 for each in found.not_worse]
    assert free == sorted(free, reverse=True)
    keys = {each.variant.part.key for each in found.not_worse}
    assert "length-cap" in keys
    for each in found.left_out:
        assert ((each.overall.difference.difference.mean or 0.0) >= 0) == (each.variant.part.key in keys)


@pytest.mark.parametrize(
    ("mean", "wins", "losses", "adjusted", "expected"),
    [
        (-0.1, 1, 9, 0.049, "worse"),
        (0.1, 9, 1, 0.049, "better"),
        (-0.1, 1, 9, 0.05, "unsure"),
        (0.0, 0, 0, 1.0, "same"),
        (0.0, 1, 1, 1.0, "unsure"),
    ],
)
def test_a_verdict_needs_an_adjusted_p_below_the_bound(
    mean: float, wins: int, losses: int, adjusted: float, expected: str
) -> None:
    """Better and worse are said from p < .05 on, the same only where not one group differs."""
    difference = Difference(
        difference=Interval(mean, None, None, 10),
        p=adjusted,
        wins=wins,
        ties=0,
        losses=losses,
        detectable=None,
        effect_size=None,
    )
    assert Beside(mean=Interval(0.5, None, None, 10), difference=difference, adjusted=adjusted).verdict == expected


def test_the_json_form_is_whole_and_valid(found: Ablation) -> None:
    """It holds every part with its settings before and after, the sets with fingerprints, and no NaN."""
    form = json.loads(json.dumps(ablation_json(found), allow_nan=False))
    assert (form["schema_version"], form["profile"], form["measure"]) == (1, "default", "nDCG@10")
    assert form["data"][0]["fingerprint"] == "part"
    spelling = next(each for each in form["left_out"] if each["part"] == "spelling")
    assert spelling["settings"] == {"spelling_weight": {"from": 0.5, "to": 0.0}}
    assert set(spelling["sets"]["part"]) == {
        "mean", "difference", "low", "high", "groups", "p", "wins", "ties", "losses", "effect_size", "detectable",
        "p_holm", "verdict",
    }  # fmt: skip
    assert form["bare"]["settings"]["weight_keyword"] == {"from": DEFAULT.weight_keyword, "to": 0.0}


def test_csv_has_a_line_for_each_part_table_and_set(by_description: DataSet, by_name: DataSet) -> None:
    """Read back, its numbers are those of the JSON form, for each set and for all."""
    measured = ablate(REFERENCE, [by_description, by_name], PRIMARY)
    lines = list(csv.DictReader(io.StringIO(ablation_csv(measured))))
    assert tuple(lines[0]) == CSV_COLUMNS
    assert len(lines) == 3 * (len(measured.left_out) + len(measured.added))
    line = next(each for each in lines if (each["part"], each["set"]) == ("field-description", "(all sets)"))
    assert float(line["difference"]) == row(measured, "field-description").overall.difference.difference.mean
    assert [each["set"] for each in lines[:3]] == ["by_description", "by_name", "(all sets)"]


def test_the_tables_say_what_a_part_does(by_description: DataSet, by_name: DataSet) -> None:
    """One set has a table for each kind; several have one by set too; a part that is left out and lowers the mean helps."""
    one, two = ablate(DEFAULT, [by_description], PRIMARY), ablate(DEFAULT, [by_description, by_name], PRIMARY)
    assert [table.title for table in tables(one)] == [
        "nDCG@10 with 95% interval",
        "default without each part: nDCG@10, by_description, dev",
        "the bare profile with one part: nDCG@10, by_description, dev",
        "not worse without",
    ]
    assert len(tables(two)) == 6
    lines = {str(line["part"]): line for line in tables(two)[1].lines}
    assert str(lines["field: description"]["difference"]).startswith("-0.1384 (")
    assert lines["field: description"]["better / worse groups"] == "0 / 3"
    assert lines["field: server"]["the part"] == "changes nothing"
    by_set = {str(line["part"]): line for line in tables(two)[2].lines}
    assert str(by_set["field: description"]["by_name"]).startswith("0.0000")


def test_a_part_that_surely_lowers_the_mean_is_said_to_help(fourteen: DataSet) -> None:
    """Fourteen of fourteen queries lose without descriptions: worse for sure, which reads as `helps`."""
    measured = ablate(DEFAULT, [fourteen], PRIMARY)
    assert row(measured, "field-description").overall.verdict == "worse"
    line = next(each for each in tables(measured)[1].lines if each["part"] == "field: description")
    assert (line["the part"], line["better / worse groups"]) == ("helps", "0 / 14")
    assert row(measured, "field-description") not in measured.not_worse


def test_the_document_names_its_commands_and_escapes_what_comes_from_data(by_description: DataSet) -> None:
    """A set's name can't break out of its line or cell."""
    hostile = dataclasses.replace(by_description, name="<b>|`x`")
    measured = ablate(DEFAULT, [hostile], PRIMARY)
    text = document([ablation_block(measured, command="toolsearch ablate", today="2026-01-02")], commands=["one two"])
    assert "```console\none two\n```" in text
    assert "<b>" not in text
    assert "| &lt;b&gt;\\|\\`x\\` |" in text
    assert "Measured 2026-01-02 by `toolsearch ablate`." in text


def test_few_groups_and_an_open_test_split_are_said(by_description: DataSet, by_name: DataSet) -> None:
    """Warnings name each set that is too small, and that what test has chosen it can't test."""
    assert ablate(DEFAULT, [by_description], PRIMARY).warnings == ("'by_description' has 4 groups: too few to tell",)
    [few, opened] = ablate(DEFAULT, [by_name], PRIMARY, split="test").warnings
    assert few == "'by_name' has 2 groups: too few to tell"
    assert "can't be tested by it" in opened


def test_dev_is_taken_where_there_is_one(by_description: DataSet, by_name: DataSet) -> None:
    """A set without dev gives all of its queries; a split that is asked for is the one."""
    assert choose_split(by_description, None) == "dev"
    assert choose_split(by_name, None) == "all"
    assert choose_split(by_description, "test") == "test"


def test_a_set_given_twice_is_refused(by_description: DataSet) -> None:
    """It would count twice in the mean."""
    with pytest.raises(UsageError, match="given several times: by_description"):
        ablate(DEFAULT, [by_description, by_description], PRIMARY)
