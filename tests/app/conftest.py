"""Starts the dashboard's pages as the server does, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import toolsearch_app
from toolsearch_app.settings import VARIABLE

MAIN = Path(toolsearch_app.__file__).parent / "main.py"

StartApp = Callable[..., AppTest]


@pytest.fixture
def start_app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StartApp:
    """Start the dashboard at a page with options as `toolsearch app` hands them over; folders not named are empty."""

    def start(page: str | None = None, query: dict[str, str] | None = None, **options: Any) -> AppTest:
        nothing = {name: str(tmp_path / f"no-{name}") for name in ("runs", "profiles", "studies", "baselines")}
        monkeypatch.setenv(VARIABLE, json.dumps({**nothing, **options}, default=str))
        st.cache_resource.clear()
        app = AppTest.from_file(str(MAIN), default_timeout=60)
        for key, value in (query or {}).items():
            app.query_params[key] = value
        if page is not None:
            app.switch_page(f"views/{page}.py")
        return app.run()

    return start
