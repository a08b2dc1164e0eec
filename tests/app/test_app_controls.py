"""That every control of every page is exercised by a test, and controls that no page's own tests come by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toolsearch_app
from toolsearch_app import tuning_data
from toolsearch_app.tables.words import FIELDS
from toolsearch_app.weights import FACTORS, KEYWORD_ARM
from toolsearch_eval.data import load_data
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.runs.folder import write_run

HOUSE = Path(toolsearch_app.__file__).parent
TESTS = Path(__file__).parent
CONTROLS = {
    *("button", "checkbox", "download_button", "file_uploader", "form_submit_button", "multiselect", "number_input"),
    *("radio", "segmented_control", "selectbox", "slider", "text_area", "text_input", "toggle", "choose"),
}
# A key that is put together stands in no test as it stands in the page; the pattern says how it does.
BUILT = {
    "run_{key}": r"run_a\b.*run_b\b",
    "ranker_{key}": r"ranker_a\b.*ranker_b\b",
    "grade-{query_id}-{number}-{each.tool}": r"app\.radio\[0\]\.set_value",
    "keys[name]": r"x_name.*price_anthropic_",
    "key": r"key=\"data\"",
}


def _calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CONTROLS:
            yield node


def _key(call: ast.Call) -> str:
    """What names a control in a test: its key, or for a button without one the beginning of its label."""
    given = {word.arg: word.value for word in call.keywords}
    node = given.get("key", call.args[0])
    if isinstance(node, ast.BinOp):
        node = node.left
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node).removeprefix("f'").removesuffix("'")


def controls() -> list[tuple[str, str, str]]:
    """Every control of every page: the file, what kind it is, what names it."""
    files = [*sorted((HOUSE / "views").glob("*.py")), HOUSE / "controls.py"]
    return [(path.name, call.func.attr, _key(call)) for path in files for call in _calls(path)]  # type: ignore[attr-defined]


def test_every_control_is_exercised_by_a_test() -> None:
    """Each is set or pressed by its key or its label somewhere in these tests; one that none names has to get one."""
    said = "\n".join(path.read_text("utf-8") for path in sorted(TESTS.glob("test_*.py")))
    found = controls()
    assert len(found) > 40
    unnamed = []
    for file, kind, key in found:
        whole = "" if kind.endswith("button") else '"'  # a button's label may go on with a name
        pattern = BUILT.get(key) or rf'(\bkey ?==? ?|\blabel == |labelled\(app, )"{re.escape(key)}{whole}'
        if not re.search(pattern, said, re.DOTALL):
            unnamed.append((file, kind, key))
    assert unnamed == []


def labelled(app: Any, label: str) -> Any:
    """The button whose label begins so."""
    return next(button for button in app.button if button.label.startswith(label))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good runs on one data set, each with two rankers of its own."""
    root = tmp_path_factory.mktemp("two")
    for name, rankers in (("first", ("reference", "bm25f")), ("second", ("default", "reference"))):
        judged = evaluate(load_data("tiny"), [resolve_ranker(each) for each in rankers], split="all", progress=False)
        write_run(judged, root / name, created=f"2026-01-0{len(name)}T00:00:00+00:00")
    return root


def test_two_runs_are_compared_each_side_with_a_ranker_of_its_own(start_app: Any, runs: Path) -> None:
    """Both runs are chosen, each offers its own rankers; swapped, the difference is the same the other way."""
    app = start_app("evaluate", runs=str(runs))
    app.selectbox(key="run_a").set_value("first")
    app.selectbox(key="run_b").set_value("second").run()
    assert app.selectbox(key="ranker_a").options == ["reference", "bm25f"]
    assert app.selectbox(key="ranker_b").options == ["default", "reference"]
    app.selectbox(key="ranker_a").set_value("bm25f")
    app.selectbox(key="ranker_b").set_value("default").run()
    assert not app.exception and not app.error
    assert any("default less bm25f in nDCG@10" in _unescaped(each.value) for each in app.markdown)
    assert set(app.dataframe[0].value["side"]) == {"A: bm25f", "B: default"}
    there = float(app.metric[0].value.replace("−", "-"))
    assert there != 0.0
    app.selectbox(key="run_a").set_value("second").run()
    app.selectbox(key="run_b").set_value("first").run()
    app.selectbox(key="ranker_a").set_value("default")
    app.selectbox(key="ranker_b").set_value("bm25f").run()
    assert not app.exception and not app.error
    assert float(app.metric[0].value.replace("−", "-")) == -there
    address = {"run_a": "second", "ranker_a": "default", "run_b": "first", "ranker_b": "bm25f"}
    again = start_app("evaluate", address, runs=str(runs))
    assert float(again.metric[0].value.replace("−", "-")) == -there


def test_a_ranker_that_only_the_other_run_has_is_let_go(start_app: Any, runs: Path) -> None:
    """Another run may lack the chosen ranker: the page chooses one that it has and does not fail."""
    app = start_app("evaluate", {"run_a": "first", "ranker_a": "bm25f", "run_b": "second"}, runs=str(runs))
    assert app.selectbox(key="ranker_a").value == "bm25f"
    app.selectbox(key="run_a").set_value("second").run()
    assert not app.exception and not app.error
    assert app.selectbox(key="ranker_a").value in ("default", "reference")


def test_every_weight_has_a_slider_that_moves_it(start_app: Any) -> None:
    """One after the other, each changes the profile's settings, and the button puts all of them back."""
    app = start_app("explore", {"data": "tiny", "q": "create an issue"})
    for name in FACTORS:
        app.slider(key=f"x_{name}").set_value(2.0)
    app.run()
    assert not app.exception
    moved = set(app.dataframe[0].value["setting"])
    fields = {name for name in FIELDS if name}
    assert moved == {
        "weight_keyword",
        *(f"{part}.{name}" for part in ("field_weights", "keyword_points") for name in fields),
    }
    labelled(app, "Back to the profile").click().run()
    assert {app.slider(key=f"x_{name}").value for name in FACTORS} == {1.0}
    assert KEYWORD_ARM in FACTORS


def test_moved_controls_stand_open_when_their_address_is_opened(start_app: Any) -> None:
    """Whoever opens an address with a moved weight sees which it is; without one the sliders stay folded."""
    for query, is_open in (({}, False), ({"x_name": "2"}, True)):
        app = start_app("explore", {"data": "tiny", "q": "create an issue", **query})
        [folded] = [each for each in app.expander if each.label == "Move the weights of B"]
        assert folded.proto.expanded is is_open
        assert app.slider(key="x_name").value == (2.0 if is_open else 1.0)


def test_doubt_stands_beside_the_name_of_the_side(start_app: Any) -> None:
    """Where a profile says that the catalog may have no tool, its heading does so too; the other's does not."""
    app = start_app("explore", {"data": "builtin", "q": "airport tickets"})
    assert [head.value for head in app.header[:2]] == ["A: reference", "B: default :orange-badge[low confidence]"]


def test_the_start_of_a_tune_takes_what_the_form_holds(
    start_app: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Data set, profile, trials and seed are handed over as they stand there."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tuning_data, "start", lambda *given: asked.append(given))
    app = start_app("tuning", studies=str(tmp_path), edit=True)
    app.selectbox(key="tune_data").set_value("tiny")
    app.selectbox(key="tune_profile").set_value("reference")
    app.number_input(key="tune_trials").set_value(7)
    app.number_input(key="tune_seed").set_value(3)
    labelled(app, "Start").click().run()
    assert not app.exception and not app.error
    assert asked == [("tiny", "reference", 7, 3)]


def _unescaped(markdown: str) -> str:
    return markdown.replace("\\", "")
