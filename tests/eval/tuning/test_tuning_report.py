"""The report on a study: the data of its pictures, the pictures, and the page."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from toolsearch_eval.data import DataSet
from toolsearch_eval.statistics import paired_difference
from toolsearch_eval.tuning.document import FILES, report_pieces, write_report
from toolsearch_eval.tuning.form import tuned_json
from toolsearch_eval.tuning.gauges import Demands
from toolsearch_eval.tuning.outcome import Settings, Tuned
from toolsearch_eval.tuning.pictures import pictures_of
from toolsearch_eval.tuning.tune import label_all
from toolsearch_eval.tuning.views import views_of

BASE = Settings(trials=24, batch=8, folds=2, fold_trials=8, open_test=False)
HOSTILE = "<script>alert(1)</script> $x^2$ | *a* \x1b[31m"


class _Tags(HTMLParser):
    """The tags of a page, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def tuned(tune_small: Callable[..., Tuned]) -> Tuned:
    """A finished study."""
    return tune_small(BASE)


def test_the_history_holds_every_trial_and_the_best_so_far(tuned: Tuned) -> None:
    """The best so far never falls and ends at the best trial's score."""
    history = views_of(tuned).history
    assert [point.trial for point in history] == [trial.number for trial in tuned.trials]
    best = [point.best for point in history]
    assert best == sorted(best, key=lambda value: value or 0.0)
    assert tuned.choice is not None
    assert best[-1] == tuned.trial(tuned.choice.best).scores[0]


def test_importances_add_up_to_one(tuned: Tuned) -> None:
    """Each parameter has a share, largest first; too few trials give none."""
    shares = views_of(tuned).importances
    assert {each.parameter for each in shares} == {each.name for each in tuned.space.parameters}
    assert sum(each.share for each in shares) == pytest.approx(1.0)
    assert [each.share for each in shares] == sorted((each.share for each in shares), reverse=True)
    assert views_of(dataclasses.replace(tuned, trials=tuned.trials[:9], choice=None)).importances == ()


def test_neighbours_are_the_chosen_profile_with_one_number_moved_by_a_tenth(tuned: Tuned) -> None:
    """Each neighbour's difference is what ranking under it gives, and it stays within the bounds."""
    found = views_of(tuned).neighbours
    chosen = dict(tuned.chosen.values)
    [labelled] = tuned.sets
    bounds = {each.name: (each.low, each.high) for each in tuned.space.parameters}
    assert {(each.parameter, each.higher) for each in found} == {
        (name, way) for name in chosen for way in (True, False)
    }
    for each in found:
        low, high = bounds[each.parameter]
        tenth = chosen[each.parameter] * (1.1 if each.higher else 0.9)
        assert each.value == pytest.approx(min(max(tenth, low), high))
        values = labelled.values(tuned.space.config({**chosen, each.parameter: each.value}))
        expected = labelled.group_values(values).mean() - tuned.chosen.groups[0].mean()
        assert each.difference == pytest.approx(expected)


def test_slices_are_compared_before_and_after(tuned: Tuned) -> None:
    """The whole set comes first, then each slice with the interval of its paired difference."""
    found = views_of(tuned).slices
    [labelled] = tuned.sets
    assert [each.name for each in found] == ["", *sorted({query.slice for query in labelled.queries})]
    before = labelled.values(tuned.space.profile).tolist()
    after = labelled.values(tuned.space.config(tuned.chosen.values)).tolist()
    for each in found:
        places = [place for place, query in enumerate(labelled.queries) if each.name in ("", query.slice)]
        expected = paired_difference(
            [before[place] for place in places],
            [after[place] for place in places],
            [labelled.queries[place].group for place in places],
        ).difference
        assert each.queries == len(places)
        assert (each.low, each.high, each.few) == (expected.low, expected.high, expected.n < 10)
        assert each.after - each.before == pytest.approx(expected.mean)


def test_the_same_data_give_the_same_pictures(tuned: Tuned) -> None:
    """Each picture is one SVG element with a title and a description, equal byte by byte when drawn again."""
    views = views_of(tuned)
    first = pictures_of(views)
    assert list(first) == ["history", "importances", "parallel", "neighbourhood", "slices"]
    assert first == pictures_of(views)
    for svg in first.values():
        root = ElementTree.fromstring(svg)
        assert root.tag.endswith("svg")
        assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]


def test_two_objectives_are_drawn_as_a_front(tune_small: Callable[..., Tuned]) -> None:
    """The front's trials stand in the data, the picture and the report."""
    tuned = tune_small(dataclasses.replace(BASE, folds=0, demands=Demands(second="tokens")))
    views = views_of(tuned)
    assert [number for number, _, _ in views.front] == list(tuned.front)
    assert "front" in pictures_of(views)
    assert any(getattr(piece, "text", "") == "Pareto front" for piece in report_pieces(tuned, views, {}))


def test_the_report_is_written_with_its_data(tuned: Tuned, tmp_path: Path) -> None:
    """Markdown, a page that loads nothing, and the data of the pictures stand in the folder."""
    page = write_report(tuned, tuned_json(tuned, "tuned.toml"), tmp_path / "report")
    assert sorted(path.name for path in page.parent.iterdir()) == sorted(FILES)
    markdown = (page.parent / "report.md").read_text("utf-8")
    for heading in ("The chosen profile", "History", "Importance", "Neighbourhood", "Slices before and after"):
        assert f"## {heading}" in markdown
    assert "of it is optimism" in markdown
    assert tuned.study in markdown
    tags = _Tags()
    tags.feed(page.read_text("utf-8"))
    assert tags.opened.count("svg") == 5
    assert not {"script", "img", "link", "iframe"} & set(tags.opened)
    form = json.loads((page.parent / "study.json").read_text("utf-8"))
    assert len(form["views"]["history"]) == form["trials"] == 24


def test_texts_from_data_stay_texts(tune_small: Callable[..., Tuned], small: DataSet, tmp_path: Path) -> None:
    """A slice and a data set named to break out are shown as they are written, in the page, its pictures and Markdown."""
    queries = tuple(dataclasses.replace(query, slice=HOSTILE) for query in small.queries)
    hostile = dataclasses.replace(small, name=HOSTILE, queries=queries)
    tuned = tune_small(dataclasses.replace(BASE, trials=10, folds=0), sets=label_all([hostile], [], BASE))
    page = write_report(tuned, tuned_json(tuned, "tuned.toml"), tmp_path / "report")
    text = page.read_text("utf-8")
    tags = _Tags()
    tags.feed(text)
    assert "script" not in tags.opened
    assert any("<script>alert(1)</script> $x^2$" in each for each in tags.texts)
    assert "\x1b" not in text
    assert "<script>" not in (page.parent / "report.md").read_text("utf-8")
