"""Data health: what a data set lacks, and grades for what nobody has judged."""

from __future__ import annotations

import streamlit as st

from toolsearch_app import controls, health_data, loading, text
from toolsearch_app.figures import health as figures
from toolsearch_app.tables import health as tables

_GRADES = {None: "not judged", 2: "2: does the job", 1: "1: a part", 0: "0: does not"}

controls.show_title(
    "Data health", "What a labelled data set covers, what is doubtful in it, and what nobody has judged."
)
data_id = controls.choose_data()
data = loading.data(data_id)
runs, faults = health_data.runs_of(data.name)
health = health_data.health(data, runs)
errors, warnings, leaks, repeats = health_data.checks(data)

controls.show_figures(
    (
        ("Queries", f"{len(data.queries):,}"),
        ("Errors", f"{len(errors):,}"),
        ("Warnings", f"{len(warnings):,}"),
        ("Unjudged pairs", f"{len(health.pool.candidates):,}" if health.rankings else "no run"),
    )
)

st.header("Coverage", anchor=False)
if data.queries:
    covered = tables.coverage_table(health.coverage)
    controls.show_picture(figures.coverage_picture(covered), covered)
else:
    controls.show_empty("This is a catalog alone: it has no queries, so nothing can be covered or judged.")

st.header("What the check says", anchor=False)
if errors or warnings:
    controls.show_table(tables.problem_table(errors, warnings), "Errors and warnings")
else:
    st.success("No error and no warning.")
for title, found, table in (
    ("Leaks", leaks, tables.leak_table(leaks)),
    ("Queries that come twice", repeats, tables.repeat_table(repeats)),
    ("Tools that share a description", health.twins, tables.twin_table(health.twins)),
):
    with st.expander(f"{title} ({len(found)})"):
        if found:
            controls.show_table(table, title)
        else:
            st.caption("None.")

st.header("As the runs tell it", anchor=False)
if faults:
    st.warning("Some runs can't be read:")
    st.code(text.block("\n".join(faults)), language=None, wrap_lines=True)
for misfit in health.misfits:
    st.caption(text.plain(f"Run {misfit.run} is left out: it {misfit.why}."))
if not health.rankings:
    controls.show_empty(
        "No finished run tells anything of this data set as it is. A run says what nobody has judged, which queries "
        "are hard and which tools are never found.",
        text.block(f"toolsearch eval --data {data_id} --split all --out {loading.settings().runs}/health"),
    )
    st.stop()
judged = tables.judged_table(health.judged)
if len(judged):
    controls.show_picture(figures.judged_picture(judged), judged)
hard_tab, never_tab, unjudged_tab = st.tabs(["Hardest queries", "Tools never found", "Unjudged"])
with hard_tab:
    if health.hard:
        st.caption("By the best value that any ranker of any run reaches; those that one answers fully are left out.")
        controls.show_table(tables.hard_table(health.hard), "Hardest queries")
    else:
        st.success("Some ranker answers every query fully.")
with never_tab:
    if health.never_found:
        st.caption("No ranker of any run brought them for any query; those that a query needs come first.")
        controls.show_table(tables.never_table(health.never_found), "Tools never found")
    else:
        st.success("Every tool was brought for some query.")
with unjudged_tab:
    if health.pool.candidates:
        st.caption("The first 5 results (dev) or 10 (test) of every ranker of every run that have no label.")
        controls.show_table(tables.unjudged_table(health.pool.candidates), "Unjudged")
    else:
        st.success("Everything that the runs bring is judged.")

st.header("Judge", anchor=False)
if message := st.session_state.pop("judged_message", None):
    st.success(text.plain(message))
if not health.pool.candidates:
    st.caption("There is nothing to judge.")
    st.stop()
waiting = list(dict.fromkeys(each.query_id for each in health.pool.candidates))
query_id = controls.choose(f"Query ({len(waiting)} have something to judge)", waiting, key="query")
candidates = [each for each in health.pool.candidates if each.query_id == query_id]
st.markdown(f"**Asked:** {text.plain(candidates[0].text)}")
writable = loading.is_writable(data_id)
if not loading.settings().edit:
    controls.show_read_only("Judging")
elif not writable:
    st.caption("Shipped and uploaded data are never changed here; copy the folder and name it with `--data` to judge.")
with st.form("judge", border=True):
    grades: dict[str, int | None] = {}
    for number, each in enumerate(candidates):
        st.markdown(f"**{text.plain(each.tool)}**")
        st.markdown(text.plain(each.description, 600) or "No description.")
        if each.parameters:
            st.caption(f"Parameters: {text.plain(', '.join(each.parameters), 400)}")
        grades[each.tool] = st.radio(
            f"Grade of {text.plain(each.tool, 80)}",
            list(_GRADES),
            format_func=_GRADES.__getitem__,
            horizontal=True,
            label_visibility="collapsed",
            key=f"grade-{query_id}-{number}-{each.tool}",
            disabled=not writable,
        )
    judge = st.text_input("Judge", max_chars=80, key="judge", disabled=not writable)
    turn = st.number_input("Pass", min_value=1, value=1, step=1, key="turn", disabled=not writable)
    saved = st.form_submit_button("Save grades", type="primary", disabled=not writable)
if saved and writable:
    with controls.errors_shown():
        merge = health_data.save_grades(data_id, query_id, grades, judge=judge, turn=int(turn))
        if merge.labels:
            st.session_state["judged_message"] = f"{len(merge.labels)} grades of {query_id} are in judgements.jsonl."
            st.rerun()
        st.info("No grade was given, so nothing was written.")
