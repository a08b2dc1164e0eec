"""Explore: a query, and what two profiles find for it."""

import datetime

import streamlit as st

from toolsearch.catalog.snapshot import Snapshot
from toolsearch.config import SearchConfig
from toolsearch.search.results import SearchResponse
from toolsearch.search.searcher import Searcher
from toolsearch.tokens import token_counter
from toolsearch_app import controls, editing, loading, text, weights
from toolsearch_app.figures.explore import score_picture
from toolsearch_app.tables.explore import (
    By,
    explanation_table,
    matched_terms,
    part_names,
    parts_table,
    places_table,
    ranking_table,
)
from toolsearch_app.tables.settings import setting_differences
from toolsearch_app.tables.words import FIELDS
from toolsearch_eval.data import DataSet, Query
from toolsearch_eval.data_write import write_data
from toolsearch_eval.token_costs import definition_text

FIRST_QUERY = "reply to a message in the team chat"
STACKS: dict[str, By] = {"by field": "field", "by word": "word", "by arm": "arm"}


def choices() -> tuple[str, str, SearchConfig, SearchConfig, int]:
    """The query, the data set, both profiles and the number of results."""
    query = st.text_input(
        "Query", FIRST_QUERY, key="q", bind="query-params", max_chars=2000, placeholder="what should the tool do?"
    )
    data_column, a_column, b_column, count_column = st.columns((2, 2, 2, 1))
    with data_column:
        data_id = controls.choose_data()
    profiles = list(loading.profile_sources())
    with a_column:
        a = controls.choose("Profile A", profiles, key="a", default="reference")
    with b_column:
        b = controls.choose("Profile B", profiles, key="b", default="default")
    with count_column:
        count = st.number_input("Results", 1, 50, 5, key="n", bind="query-params")
    first, second = loading.profile(a), loading.profile(b)
    return query, data_id, first, moved_by_sliders(second), count


def moved_by_sliders(config: SearchConfig) -> SearchConfig:
    """Profile B with its weights as the sliders have them."""
    names = weights.movable(config)
    keys = {name: f"x_{name}" for name in names}
    touched = controls.are_moved(dict.fromkeys(keys.values(), 1.0))
    with st.expander("Move the weights of B", expanded=touched):
        st.caption("Each slider multiplies a weight of profile B, in both arms; 1 is the profile's own.")
        grid = st.grid(4, min_column_width=150)
        factors = {}
        for name in names:
            label = "keyword arm" if name == weights.KEYWORD_ARM else FIELDS[name]
            with grid.cell():
                factors[name] = st.slider(
                    label, 0.0, weights.LARGEST, 1.0, 0.25, key=keys[name], bind="query-params", format="× %.2f"
                )
        changed = weights.moved(config, factors)
        st.button("Back to the profile", on_click=reset, args=(tuple(keys.values()),), disabled=changed is config)
        if changed is not config:
            controls.show_table(setting_differences(config, changed), "Moved settings: before (A) and now (B)")
    return changed


def reset(keys: tuple[str, ...]) -> None:
    """Put the sliders back."""
    for key in keys:
        st.session_state[key] = 1.0


def show_side(
    side: str,
    config: SearchConfig,
    response: SearchResponse,
    by: By,
    names: tuple[str, ...],
    tokens: dict[str, int],
    grades: dict[str, int] | None,
) -> None:
    """One ranking: its flags, its bars, its numbers."""
    # Beside the name and not below it, so that the charts of both sides begin at one height.
    doubt = " :orange-badge[low confidence]" if response.low_confidence else ""
    note = "The catalog may have no tool for this." if response.low_confidence else None
    st.header(f"{side}: {text.plain(config.name)}{doubt}", anchor=False, help=note)
    if not response.results:
        st.info(f"{side} finds nothing: no tool of this catalog shares a word with the query.")
        return
    shown = f"{len(response.results)} of {response.total_matches} tools that match"
    cost = sum(tokens[result.name] for result in response.results)
    st.caption(f"{shown}; their definitions take {cost:,} tokens.")
    parts = parts_table(response, by, names)
    picture = score_picture(parts, names, side=f"ranking {side}")
    numbers = ranking_table(response, tokens, grades, parts=parts)
    controls.show_picture(picture, numbers, numbers=f"The numbers of {side}")


def show_tools(snapshot: Snapshot, a: SearchResponse, b: SearchResponse, tokens: dict[str, int]) -> None:
    """Every tool that was found, with its text and the matched words marked."""
    st.header("What was found", anchor=False)
    controls.show_table(places_table(a.results, b.results, tokens), "Ranks on both sides")
    terms = matched_terms(*a.results, *b.results)
    found = sorted((*a.results, *b.results), key=lambda result: (result.rank, result.name))
    items = []
    for name in dict.fromkeys(result.name for result in found):
        tool = snapshot.get(name)
        if tool is not None:
            words = terms[name]
            items.append(
                f"<li><strong>{text.marked(tool.name, words, 200)}</strong> ({tokens[name]:,} tokens)<br>"
                f"{text.marked(tool.description or '', words)}</li>"
            )
    with st.expander("Their texts, with the matched words marked", expanded=True):
        st.html(f"<ul>{''.join(items)}</ul>")


def show_why(searchers: dict[str, Searcher], query: str, names: list[str], count: int) -> None:
    """One tool on both sides: its rank and parts, or why it is not there."""
    st.header("Why not this tool?", anchor=False)
    tool = st.selectbox(
        "Tool", names, index=None, key="tool", bind="query-params", placeholder="choose any tool of the catalog"
    )
    if tool is None:
        st.caption("Choose a tool to see its rank on both sides, or what keeps it away.")
        return
    for column, (side, searcher) in zip(st.columns(2), searchers.items(), strict=True):
        with column, controls.errors_shown():
            found = searcher.explain(query, tool, max_results=count)
            st.markdown(f"**{side}**: {text.plain(found.why)}")
            if found.parts:
                controls.show_table(explanation_table(found), f"What its score in {side} is made of")


def show_save(data_id: str, data: DataSet, query: str, names: list[str], found: list[str]) -> None:
    """Keep the query with its labels, where that is allowed."""
    st.header("Save as a labelled query", anchor=False)
    if not loading.settings().edit:
        controls.show_read_only("Saving a query")
        return
    if not loading.is_writable(data_id):
        st.caption("Shipped and uploaded data are not written to; name a folder of yours with `toolsearch app --data`.")
        return
    with st.form("save"):
        full = st.multiselect("Tools that do the job (grade 2)", names, default=found[:1], key="save_full")
        part = st.multiselect("Tools that do a part of it (grade 1)", names, key="save_part")
        nothing = st.checkbox("No tool of this catalog does it", key="save_nothing")
        query_id = st.text_input("Query id", editing.next_query_id(data), key="save_id")
        kind = st.text_input("Slice", key="save_slice")
        split = st.selectbox("Split", ("dev", "test"), key="save_split")
        sent = st.form_submit_button("Save")
    if sent:
        grades = {} if nothing else {**dict.fromkeys(part, 1), **dict.fromkeys(full, 2)}
        new = Query(query_id=query_id, text=query, slice=kind, split=split, expect="none" if nothing else "answer")
        with controls.errors_shown():
            written = editing.with_query(data, new, grades, date=datetime.date.today().isoformat())
            folder = write_data(written, data.path)
            st.success(f"Query {text.plain(query_id)} is in {text.plain(str(folder / 'queries.jsonl'))}.")


controls.show_title("Explore", "Ask as a model would, and see what two rankings find, and why.")
asked, chosen, profile_a, profile_b, most = choices()
if not asked.strip(" +\t\n"):
    controls.show_empty("Type what the tool should do, such as “send a message”.")
    st.stop()
held = loading.data(chosen)
catalog = loading.snapshot(chosen)
sides = {side: loading.searcher(chosen, config) for side, config in zip("AB", (profile_a, profile_b), strict=True)}
answers = {side: each.search(asked, max_results=most, explain=True) for side, each in sides.items()}
counter = token_counter()
costs = {
    name: counter.count(definition_text(tool))
    for name in {result.name for answer in answers.values() for result in answer.results}
    if (tool := catalog.get(name)) is not None
}
labelled = next((known for known in held.queries if known.text == asked), None)
labels = dict(held.judgements.get(labelled.query_id, {})) if labelled is not None else None
stack = st.segmented_control(
    "Bars show the score", list(STACKS), default="by field", key="by", bind="query-params", required=True
)
cut = STACKS[stack or "by field"]
cut_names = part_names(tuple(answers.values()), cut)
for place, (name, answer) in zip(st.columns(2), answers.items(), strict=True):
    with place:
        show_side(name, sides[name].config, answer, cut, cut_names, costs, labels)
show_tools(catalog, answers["A"], answers["B"], costs)
searchable = sorted(tool.name for tool in catalog.tools)
show_why(sides, asked, searchable, most)
show_save(chosen, held, asked, searchable, [result.name for result in answers["B"].results])
