"""The dashboard's frame: all pages, and what is done about one that fails. Streamlit runs this at each change."""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st

from toolsearch.errors import ToolSearchError
from toolsearch_app import controls, loading
from toolsearch_app.page_names import PAGES

st.set_page_config(
    page_title="toolsearch", page_icon=str(Path(__file__).parent / "icon.png"), layout="wide", menu_items={}
)
# Not in a folder "pages": Streamlit would run what it finds there by itself when such a page is opened first.
folder = Path(__file__).parent / "views"
listed = [
    st.Page(folder / f"{name}.py", title=title, url_path=None if name == PAGES[0][0] else name)
    for name, title in PAGES
    if (folder / f"{name}.py").is_file()
]
page = st.navigation(listed)
with st.sidebar:
    controls.upload_data()
    st.caption("Changes are allowed." if loading.settings().edit else "Read-only.")
try:
    page.run()
except ToolSearchError as error:
    controls.show_error(error)
except Exception:
    logging.getLogger("toolsearch_app").exception("the page %s failed", page.title)
    st.error("This page failed, which is a fault of the dashboard. The terminal that it was started in says where.")
