"""What pages are put together from: titles, choices that stand in the URL, charts with their numbers, empty states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pandas
import streamlit as st

from toolsearch.errors import DataError, ToolSearchError
from toolsearch_app import loading, text, uploads
from toolsearch_app.figures.picture import Picture
from toolsearch_eval.data import DataSet

_FIGURE_PIXELS = 150
"""So wide is a figure of ten letters; on a telephone two stand beside each other."""


def show_title(title: str, purpose: str) -> None:
    """A page's title and, in a sentence, what it is for; both are our own words."""
    st.title(title, anchor=False)
    st.caption(purpose)


def choose(label: str, options: Sequence[str], *, key: str, default: str | None = None, note: str | None = None) -> str:
    """A choice of one id among some, kept in the URL under its key; what the URL names and is not there is ignored.

    Args:
        label: What is chosen, in our own words.
        options: The ids, at least one.
        key: The name in the URL.
        default: What is chosen at first; the first option where it is none of them.
        note: What to know about it.
    """
    index = options.index(default) if default in options else 0
    if st.session_state.get(key) not in (None, *options):  # it went away while the page was open
        del st.session_state[key]
    return st.selectbox(label, options, index=index, key=key, bind="query-params", help=note)


def choose_data(*, key: str = "data") -> str:
    """The choice of a data set, the same on all pages that have one."""
    return choose("Data set", loading.data_ids(), key=key, default="builtin")


def choose_data_with_conversations() -> DataSet:
    """The chosen data set; where it has no conversations the page says so and ends here."""
    held = loading.data(choose_data())
    if not held.conversations:
        show_empty(
            "This data set has no conversations. They are files in its folder conversations, a line for each event; "
            "the shipped data set builtin has some.",
            "toolsearch simulate --data builtin",
        )
        st.stop()
    return held


def upload_data() -> None:
    """Files of a data set of one's own, for this session alone; faults are shown as the command line shows them."""
    with st.expander("Your own data"):
        st.caption(
            "A catalog alone (.json, .jsonl), or the files of a data set: catalog.jsonl with queries.jsonl and "
            "qrels.tsv or judgements.jsonl. They are read, never run, and seen by this session alone."
        )
        files = st.file_uploader("Data files", uploads.SUFFIXES, accept_multiple_files=True, key="upload")
        given = {file.name: file.getvalue() for file in files}
        state = tuple((name, hash(content)) for name, content in given.items())
        if state != st.session_state.get("upload_state", ()):
            st.session_state["upload_state"] = state
            st.session_state.pop(loading.UPLOADED, None)
            st.session_state.pop("upload_error", None)
            try:
                if given:
                    st.session_state[loading.UPLOADED] = uploads.read_upload(given)
            except ToolSearchError as error:
                st.session_state["upload_error"] = error
        if "upload_error" in st.session_state:
            show_error(st.session_state["upload_error"])
        if loading.UPLOADED in st.session_state:
            found = st.session_state[loading.UPLOADED]
            st.success(f"{len(found.tools):,} tools, {len(found.queries):,} queries: data set “{loading.UPLOADED}”.")


def are_moved(defaults: Mapping[str, float]) -> bool:
    """Whether any of some controls stands elsewhere than at first, by hand or by the address that was opened.

    Args:
        defaults: By key of the control, what it has at first.
    """
    return any(st.session_state.get(key, value) != value for key, value in defaults.items()) or any(
        key in st.query_params for key in defaults if key not in st.session_state
    )


def show_picture(picture: Picture, table: pandas.DataFrame, *, numbers: str = "The numbers") -> None:
    """A chart with its text alternative, and its numbers below it in a table that opens.

    Args:
        picture: The chart and its text.
        table: What it shows.
        numbers: The name of the table, in our own words.
    """
    st.altair_chart(picture.chart, width="stretch", alt=picture.text)
    with st.expander(numbers):
        show_table(table, numbers)


def show_table(table: pandas.DataFrame, name: str, **options: Any) -> None:
    """A table with its name for readers of the screen; numbers with three decimals, each row at one glance.

    Args:
        table: Its texts must be safe already (`text.line`).
        name: What it is, in our own words.
        **options: More for `st.dataframe`.
    """
    columns = {
        str(column): st.column_config.NumberColumn(format="%.3f")
        for column in table.columns
        if pandas.api.types.is_float_dtype(table[column])
    }
    options.setdefault("column_config", columns)
    options.setdefault("hide_index", True)
    st.dataframe(table, alt=name, width="stretch", **options)


def show_figures(figures: Iterable[Sequence[str]]) -> None:
    """Some figures beside each other, four in a row or as many as there is room for.

    Args:
        figures: For each its label and its text, of ten letters at most, and where it needs one a note.
    """
    with st.grid(4, min_column_width=_FIGURE_PIXELS):
        for label, value, *note in figures:
            st.metric(label, value, help=note[0] if note else None)


def show_empty(what: str, command: str | None = None) -> None:
    """What is missing, and the command that makes it."""
    st.info(what)
    if command is not None:
        st.code(command, language=None, wrap_lines=True)


def show_error(error: ToolSearchError) -> None:
    """An error as the command line would say it, as literal text."""
    many = isinstance(error, DataError)
    st.error("The data hold faults:" if many else "This can't be shown:")
    st.code(text.block(str(error)), language=None, wrap_lines=True)


@contextmanager
def errors_shown() -> Iterator[None]:
    """What is inside may fail for a user's mistake: that is shown in its place, and the rest of the page goes on."""
    try:
        yield
    except ToolSearchError as error:
        show_error(error)


def show_read_only(what: str) -> None:
    """That something can't be done here, and how it could."""
    st.caption(f"{what} needs the dashboard to be started with `toolsearch app --edit`.")
