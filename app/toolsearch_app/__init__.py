"""Showing: the dashboard, over the functions that the command line uses too.

What a page is (`views/<name>.py`; `page_names` names all seven, and one whose file is missing is not listed):

1. A script that runs from top to bottom at every change: it takes choices, calls functions, and shows what they give.
   It works nothing out: what a chart or a table holds is made in `tables/<name>.py` (rows as a DataFrame) and
   `figures/<name>.py` (a `Picture`: chart and text alternative), which are pure and import no streamlit.
2. What it needs comes from `loading` by id (`data`, `run`, `profile`, `searcher`, `studies_root`, `baselines_root`),
   never by a path, and is kept there by the state of the files, so that a change of view loads and ranks nothing again.
3. A choice is made by `controls.choose(...)` or with `key=` and `bind="query-params"`: it stands in the URL, as an id.
4. A chart is shown by `controls.show_picture(picture, table)`: with its text, and with its numbers below it.
5. Text from data goes to the screen by `text.plain` (Markdown and labels), `text.line` (tables, options, charts) or
   `text.block` (literal text). A `ToolSearchError` may be left to `main`, which shows it as text, or to
   `controls.errors_shown`, after which the page goes on; what is not there yet is `controls.show_empty`.
6. Whatever writes is offered only where `loading.settings().edit` is true, and writes only below the start's roots.
7. Each page first says what it is for (`controls.show_title`), and works at 400 pixels, in light and dark, by keyboard.
"""
