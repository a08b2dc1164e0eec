"""What the page on the gate's history reads, kept until a file changes."""

from __future__ import annotations

import streamlit as st

from toolsearch_app import loading
from toolsearch_eval.gate.history import GateHistory, gate_history, history_files


def history() -> GateHistory:
    """Baselines and logs of the folder that was named at the start."""
    root = loading.baselines_root()
    return _history(str(root), loading.stamp(history_files(root)))


@st.cache_resource(max_entries=2, show_spinner="Reading the baselines…")
def _history(root: str, state: loading.Stamp) -> GateHistory:
    return gate_history(root)
