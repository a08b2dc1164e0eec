"""Tuning: studies while they run and after, and a short one started from here."""

from __future__ import annotations

import streamlit as st

from toolsearch_app import controls, loading, text, tuning_data
from toolsearch_app.figures import tuning as figures
from toolsearch_app.tables import tuning as tables
from toolsearch_eval.tuning.follow import Outcome, Study

_REFRESH_SECONDS = 2


def _started() -> None:
    """What the tuning that was started here says, and the way to stop it."""
    last = tuning_data.started()
    if last is None:
        return
    if last.running:
        st.info("A tuning runs. It goes on when this page is closed, and ends with the dashboard.")
        if st.button("Stop it", key="stop", help="Finished trials are kept; the same options go on from there."):
            tuning_data.stop()
            st.rerun()
    elif last.process.returncode:
        st.warning(f"The tuning ended with exit code {last.process.returncode}. It said:")
        st.code(text.block(last.last_words()), language=None, wrap_lines=True)
    else:
        st.success("The tuning is done.")


def _outcome(outcome: Outcome) -> None:
    """What came out of a finished study."""
    (st.success if outcome.accepted else st.info)(text.plain(outcome.verdict))
    for warning in outcome.warnings:
        st.caption(f"Warning: {text.plain(warning)}")
    st.header("What it is worth", anchor=False)
    gains = tables.gain_table(outcome)
    if len(gains):
        controls.show_picture(figures.gain_picture(gains), gains)
    st.caption("The gain on dev is too good to be true: the profile was chosen there.")
    if outcome.optimism is not None:
        st.metric("Optimism", f"{outcome.optimism:+.4f}", help="How much of a gain in the folds did not hold outside.")
    seen = "stayed closed" if outcome.openings is None else f"has been seen by {outcome.openings} configurations"
    st.caption(f"The test split {seen}.")
    st.header("Chosen against shipped", anchor=False)
    controls.show_table(tables.changed_table(outcome), "Chosen against shipped")
    if outcome.profile is not None:
        kind = "the chosen profile" if outcome.accepted else "the shipped profile, as nothing better was shown"
        st.download_button(f"Export TOML ({kind})", outcome.profile, "tuned.toml", "application/toml", key="export")
    else:
        st.caption("The profile was written to another place, so it can't be exported here.")
    with st.expander("Slices before and after"):
        controls.show_table(tables.slice_table(outcome), "Slices before and after")


def _trials(study: Study) -> None:
    """The trials of a study, finished or not."""
    st.header("History", anchor=False)
    if not study.history:
        st.info(f"No trial is finished yet; {study.running} run.")
        return
    history = tables.history_table(study)
    controls.show_picture(figures.history_picture(history), history)
    st.caption("The line is the best so far, the dashed one the profile as it ships.")
    if study.front and len(study.front) > 1:
        st.header("Pareto front", anchor=False)
        front = tables.front_table(study)
        controls.show_picture(figures.front_picture(front), front)
    st.header("Importance", anchor=False)
    if study.importances:
        importance = tables.importance_table(study)
        controls.show_picture(figures.importance_picture(importance), importance)
    else:
        st.caption("Too few trials, or no difference between them, to say what matters.")
    st.header("Parallel coordinates", anchor=False)
    parallel = tables.parallel_table(study)
    controls.show_picture(figures.parallel_picture(parallel), parallel)
    with st.expander("Bounds"):
        controls.show_table(tables.bounds_table(study), "Bounds")


def _study(study_id: str) -> None:
    """One study, read anew at each refresh."""
    with controls.errors_shown():
        study = tuning_data.study(study_id)
        done = f"{len(study.history)} trials are finished"
        if study.outcome is None:
            st.caption(f"{done}, {study.running} have begun. Without a report: it runs, estimates, or was stopped.")
        else:
            st.caption(f"{done}.")
            _outcome(study.outcome)
        _trials(study)


def _follow() -> None:
    """The list and the chosen study; the whole page once what was started here has ended."""
    _started()
    listing = tuning_data.studies()
    if listing.problems:
        st.warning("Some journals can't be read:")
        st.code(text.block("\n".join(map(str, listing.problems))), language=None, wrap_lines=True)
    if not listing.studies:
        controls.show_empty(
            "There is no study yet below the folder of studies.",
            text.block(f"toolsearch tune --folder {loading.studies_root()}/tune"),
        )
        return
    ids = [each.study_id for each in listing.studies]
    unfinished = [each.study_id for each in listing.studies if each.report is None]
    _study(controls.choose("Study", ids, key="study", default=(unfinished or ids)[-1]))


controls.show_title("Tuning", "Studies of the tuner: how they go, what matters, and what their outcome is worth.")
if loading.settings().edit:
    with st.expander("Start a short tune"), st.form("start", border=False):
        data_id = st.selectbox("Data set", list(loading.data_folders()), key="tune_data")
        profile_id = st.selectbox("Profile to begin with", list(loading.profile_sources()), key="tune_profile")
        trials = st.number_input("Trials", 1, tuning_data.MOST_TRIALS, 40, key="tune_trials")
        seed = st.number_input("Seed", 0, value=0, key="tune_seed")
        st.caption("With two folds; the test split stays closed.")
        if st.form_submit_button("Start", type="primary"):
            with controls.errors_shown():
                tuning_data.start(data_id, profile_id, int(trials), int(seed))
                st.rerun()
else:
    controls.show_read_only("Starting a tune")
last = tuning_data.started()
live = last is not None and last.running
if not live and tuning_data.studies().studies:
    live = st.toggle("Refresh by itself", key="live", bind="query-params", help=f"Every {_REFRESH_SECONDS} seconds.")
st.fragment(_follow, run_every=_REFRESH_SECONDS if live else None)()
