"""The dashboard as a server: `main.py`, and each page's own address. Streamlit finds `app` here and serves it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route
from streamlit.file_util import get_static_dir

from toolsearch_app.page_names import PAGES

# Opened at the address of a page, the browser's side can't know whether that page's name is a part of the server's
# address or comes behind it. It asks at both, and the wrong guess is a failed request in the console. Told here.
_TOLD: Final = '<script>window.__streamlit = { BACKEND_BASE_URL: window.location.origin + "/" }</script>'


def told_document(document: str) -> str:
    """The browser's document with the server's address in it; as it is where it has no head.

    >>> told_document("<html><head><title>x</title>").count("window.location.origin")
    1
    """
    return document.replace("<head>", f"<head>{_TOLD}", 1)


async def page_document(request: Request) -> HTMLResponse:
    """The document of a page that is opened at its own address."""
    document = (Path(get_static_dir()) / "index.html").read_text(encoding="utf-8")
    return HTMLResponse(told_document(document), headers={"Cache-Control": "no-cache"})


async def first_page(request: Request) -> RedirectResponse:
    """The first page, which is at the root, for whoever asks for it by its name; the choices in the address stay."""
    return RedirectResponse(f"/?{request.url.query}" if request.url.query else "/")


ROUTES: Final = (
    Route(f"/{PAGES[0][0]}", first_page, methods=["GET"]),
    *(Route(f"/{name}", page_document, methods=["GET"]) for name, _ in PAGES[1:]),
)
"""The address of every page."""

app = st.App(Path(__file__).with_name("main.py"), routes=ROUTES)
