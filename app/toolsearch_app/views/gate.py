"""Gate history: what was blessed, and what the gate said since."""

from __future__ import annotations

import streamlit as st

from toolsearch_app import controls, gate_data, loading, text
from toolsearch_app.figures import gate as figures
from toolsearch_app.tables import gate as tables
from toolsearch_eval.gate.history import baseline_name

controls.show_title("Gate history", "What was blessed as good, when and why, and what the gate has said since.")
history = gate_data.history()
if history.problems:
    st.warning(f"{len(history.problems)} files or lines can't be read and are left out:")
    st.code(text.block("\n".join(map(str, history.problems[:50]))), language=None, wrap_lines=True)
names = tables.names(history)
if not names:
    folder = loading.baselines_root()
    controls.show_empty(
        "There is no baseline yet. One is blessed on purpose, and the gate then holds every change against it.",
        text.block(
            f"toolsearch bless --baseline {folder}/default.json --must-pass best "
            f'--log {folder}/gate-log.jsonl --reason "…"'
        ),
    )
    st.stop()
name = controls.choose("Baseline", names, key="baseline")
file = next((each for each in history.baselines if each.name == name), None)
records = tuple(each for each in history.records if baseline_name(each.baseline) == name)
measure = text.line(str(file.baseline.measure) if file else records[-1].measure)

if file is not None:
    blessing = file.baseline.blessing
    controls.show_figures(
        (
            (f"Blessed {measure}", "none" if blessing.mean is None else f"{blessing.mean:.3f}"),
            ("Blessed on", blessing.date),
            ("Queries", f"{blessing.queries:,}"),
            ("Must pass", f"{blessing.must_pass:,}"),
        )
    )
    st.caption(
        text.plain(f"{blessing.ranker} on {blessing.data} ({blessing.split}): {blessing.reason or 'no reason given'}")
    )
else:
    st.caption("The logs name this baseline, and its file is not in the folder.")

over_time = tables.history_table(file, records)
st.header("Over time", anchor=False)
if len(over_time):
    controls.show_picture(figures.history_picture(over_time, measure), over_time)
    st.caption("Bars are 95% intervals: of the mean at a blessing, of the difference to what was blessed at a verdict.")
if file is not None:
    with st.expander(f"Blessings ({len(file.blessings)})", expanded=not records):
        controls.show_table(tables.blessing_table(file), "Blessings")

st.header("Verdicts", anchor=False)
verdicts = tuple(each for each in records if each.outcome != "blessed")
if not verdicts:
    controls.show_empty(
        "No verdict was written down. The gate adds a line for each with --log.",
        text.block(
            f"toolsearch gate --baseline {loading.baselines_root()}/{name}.json --log "
            f"{loading.baselines_root()}/gate-log.jsonl"
        ),
    )
    st.stop()
controls.show_table(tables.record_table(verdicts), "Verdicts")
labels = {
    f"{len(verdicts) - place}": f"{tables.moment(each.date)}: {each.outcome}"
    for place, each in enumerate(reversed(verdicts))
}
chosen = st.selectbox(
    "Verdict", list(labels), format_func=lambda number: labels[number], key="verdict", bind="query-params"
)
record = verdicts[int(chosen) - 1]
for reason in record.reasons:
    st.markdown(f"- {text.plain(reason)}")
if not record.reasons:
    st.success("No guard fired." if record.outcome == "pass" else "No guard fired, but a fall can't be ruled out.")
if record.fallen:
    st.caption(f"{record.fallen_count} queries did worse; those that fell most:")
    controls.show_table(tables.fallen_table(record), "Queries that fell")
if record.budgets:
    controls.show_table(tables.budget_table(record), "Budgets")
