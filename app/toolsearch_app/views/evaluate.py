"""Compare: two rankings of runs, overall, slice by slice and query by query."""

import datetime

import streamlit as st

from toolsearch.errors import UsageError
from toolsearch_app import controls, loading, text
from toolsearch_app.figures.evaluate import dumbbell_picture, forest_picture
from toolsearch_app.tables.evaluate import (
    ANY_SLICE,
    Moves,
    as_dumbbells,
    chosen_moves,
    means_table,
    moves_table,
    needed_table,
    rankings_table,
    reasons_table,
    recorded_profile,
    slices_table,
)
from toolsearch_app.tables.settings import setting_differences
from toolsearch_eval.compare import Comparison, Moved
from toolsearch_eval.evaluate import evaluate
from toolsearch_eval.rankers import resolve_ranker
from toolsearch_eval.reasons import reasons_for
from toolsearch_eval.report.comparison import headline
from toolsearch_eval.report.numbers import interval_text, p_text
from toolsearch_eval.report.rows import forest_rows
from toolsearch_eval.runs.folder import write_run
from toolsearch_eval.runs.reading import Run
from toolsearch_eval.runs.sides import Named, explain_side

FIRST_RANKERS = ("reference", "default", "bm25f")
MOVES: dict[str, Moves] = {"all that moved": "all", "better in B": "better", "worse in B": "worse"}


def offer_first_run() -> None:
    """Nothing was judged yet: how a run is made, and with --edit a button that makes one."""
    folder = loading.settings().runs / "first"
    rankers = " ".join(f"--ranker {name}" for name in FIRST_RANKERS)
    controls.show_empty(
        "There is no run yet. A run is an evaluation that was kept; this command makes one:",
        f"toolsearch eval --data builtin {rankers} --out {text.line(str(folder))}",
    )
    if not loading.settings().edit:
        controls.show_read_only("Making one from here")
        return
    data_id = controls.choose_data(key="first_data")
    if st.button("Judge " + ", ".join(FIRST_RANKERS)):
        with st.spinner("Ranking every query; this takes some seconds…"), controls.errors_shown():
            judged = evaluate(loading.data(data_id), [resolve_ranker(name) for name in FIRST_RANKERS], progress=False)
            if not judged.queries:
                raise UsageError(f"no query of split {judged.split} of {judged.data.name} can be measured.")
            now = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
            write_run(judged, folder, created=now)
            st.rerun()


def choose_side(side: str, run_ids: list[str], nth: int) -> tuple[Run, str]:
    """One side: a run and one of its rankers."""
    key = side.lower()
    run = loading.run(controls.choose(f"Run of {side}", run_ids, key=f"run_{key}"))
    rankers = list(run.rankings)
    return run, controls.choose(
        f"Ranker of {side}", rankers, key=f"ranker_{key}", default=rankers[min(nth, len(rankers) - 1)]
    )


def show_headline(found: Comparison) -> None:
    """The outcome: the difference with its interval, and how sure it is."""
    overall = found.overall
    controls.show_figures(
        (
            ("B less A", interval_text(overall.difference, signed=True).split(" ")[0]),
            ("p (sign flips)", p_text(overall.p), "How often chance alone gives such a difference."),
            ("Groups better / worse", f"{overall.wins} / {overall.losses}", f"{overall.ties} more are equal."),
            (
                "Smallest detectable",
                "-" if overall.detectable is None else f"{overall.detectable:.3f}",
                "The smallest difference that so many groups would show in four of five cases.",
            ),
        )
    )
    st.markdown(text.plain(headline(found)))


def show_moves(found: Comparison) -> tuple[Moved, ...]:
    """The queries that moved, as far as they were asked for."""
    st.header("Query by query", anchor=False)
    if not found.moved:
        st.info("No query moved: both sides have the same value everywhere.")
        return ()
    way_column, slice_column, count_column = st.columns((2, 2, 1))
    with way_column:
        way = controls.choose("Queries", list(MOVES), key="moves")
    with slice_column:
        parts = [ANY_SLICE, *(part.name for part in found.slices)]
        part = controls.choose("Slice", parts, key="slice")
    with count_column:
        count = st.number_input("At most", 5, 60, 15, 5, key="most", bind="query-params")
    chosen = chosen_moves(found, MOVES[way], part)
    st.caption(f"{len(chosen)} of {len(found.moved)} queries that moved; {found.queries} were judged.")
    if not chosen:
        st.info("No query of this slice moved this way.")
        return ()
    picture = dumbbell_picture(as_dumbbells(chosen, count), str(found.measure))
    controls.show_picture(picture, moves_table(chosen, count))
    return chosen


def show_query(chosen: tuple[Moved, ...], a: Named, b: Named) -> None:
    """One query: what was asked, what it needs, both rankings, and on request the reasons."""
    st.header("One query", anchor=False)
    by_id = {each.query.query_id: each for each in chosen}
    moved = by_id[controls.choose("Query", list(by_id), key="query")]
    st.markdown(f"**Asked:** {text.plain(moved.query.text)}")
    controls.show_table(needed_table(moved), "What it needs")
    controls.show_table(rankings_table(moved), "Both rankings")
    if not st.toggle(
        "Say why", key="why", bind="query-params", help="Asks both rankers again, about this query alone."
    ):
        return
    with st.spinner("Asking both rankers…"):
        asks = [explain_side(side, side.run) for side in (a, b) if side.run is not None]
        reasons = reasons_for(moved, asks[0], asks[1])
    # Whole sentences: in a table they would be cut, the more so on a telephone.
    for row in reasons_table(reasons).to_dict("records"):
        grade = row["grade"] if row["grade"] == "unlabelled" else f"grade {row['grade']}"
        st.markdown(f"**{text.plain(row['tool'])}** ({grade})")
        st.markdown(f"- A: {text.plain(row['A'])}\n- B: {text.plain(row['B'])}")


controls.show_title(
    "Compare", "Two rankings that were judged on the same queries: which is better, where, and for which query."
)
entries = loading.runs()
readable = [entry.run_id for entry in entries if not entry.problem]
for entry in entries:
    if entry.problem:
        st.warning(f"Run {text.plain(entry.run_id)} can't be read: {text.plain(entry.problem)}")
if not readable:
    offer_first_run()
    st.stop()
a_column, b_column, measure_column = st.columns((2, 2, 1))
with a_column:
    run_a, ranker_a = choose_side("A", readable, 0)
with b_column:
    run_b, ranker_b = choose_side("B", readable, 1)
with measure_column:
    names = {str(measure): measure for measure in run_a.measures}
    measure = names[controls.choose("Measure", list(names), key="measure")]
st.caption(
    f"Data {text.plain(run_a.data.name)}, split {run_a.split}, {len(run_a.queries)} queries, "
    f"{run_a.depth} results each."
)
comparison = loading.comparison(run_a.run_id, ranker_a, run_b.run_id, ranker_b, str(measure))
show_headline(comparison)
sides = ((f"A: {ranker_a}", run_a, ranker_a), (f"B: {ranker_b}", run_b, ranker_b))
controls.show_table(means_table(sides, run_a.measures), "Means with their 95% intervals")
st.header("By slice", anchor=False)
rows = forest_rows(comparison)
slices = slices_table(rows)
controls.show_picture(forest_picture(rows, slices, str(measure)), slices.drop(columns="few"))
st.header("Settings that differ", anchor=False)
profiles = [recorded_profile(run, ranker) for _, run, ranker in sides]
if profiles[0] is None or profiles[1] is None:
    st.caption("Only profiles have settings; at least one of these rankers is none.")
else:
    differing = setting_differences(profiles[0], profiles[1])
    if differing.empty:
        st.caption("Both sides have the same settings.")
    else:
        controls.show_table(differing, "Settings that differ")
moves = show_moves(comparison)
if moves:
    show_query(
        moves,
        Named(text=ranker_a, ranker=ranker_a, run=run_a),
        Named(text=ranker_b, ranker=ranker_b, run=run_b),
    )
