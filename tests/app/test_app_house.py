from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path

import pytest
from starlette.requests import Request
from streamlit.file_util import get_static_dir

import toolsearch_app
from toolsearch.errors import UsageError
from toolsearch_app import server
from toolsearch_app.page_names import PAGES
from toolsearch_app.settings import VARIABLE, Settings, settings_from
from toolsearch_eval.cli import app_command

HOUSE = Path(toolsearch_app.__file__).parent


def test_command_and_dashboard_name_one_variable() -> None:
    """The dashboard reads its options where the command puts them."""
    assert app_command.VARIABLE == VARIABLE


def test_options_come_through() -> None:
    """Each option of the start is what the dashboard works with; what is not given keeps its default."""
    given = {"data": ["a", "b"], "runs": "r", "edit": True}
    found = settings_from({VARIABLE: json.dumps(given)})
    assert found == Settings(data=(Path("a"), Path("b")), runs=Path("r"), edit=True)
    assert settings_from({}) == Settings()


@pytest.mark.parametrize("text", ["{", "[]", '{"run": "x"}', '{"runs": 5}', '"edit"'])
def test_broken_options_are_a_users_mistake(text: str) -> None:
    """Options that nobody can read are said to be that, with the way to start the dashboard."""
    with pytest.raises(UsageError, match="toolsearch app"):
        settings_from({VARIABLE: text})


def test_shipped_settings_keep_the_dashboard_at_home() -> None:
    """Whoever starts the server without the command is still on this machine alone, and sends no statistics."""
    shipped = tomllib.loads((HOUSE / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert shipped["server"]["address"] == "127.0.0.1"
    assert shipped["browser"]["gatherUsageStats"] is False
    assert shipped["client"]["showErrorDetails"] == "none"
    assert {"light", "dark"} <= set(shipped["theme"])


def test_command_keeps_the_dashboard_at_home() -> None:
    """The command itself names the loopback address and no statistics, which no file elsewhere can undo."""
    command = app_command.server_command(HOUSE / "server.py", 8600, headless=True)
    assert {"--server.address=127.0.0.1", "--server.port=8600", "--server.headless=true"} <= set(command)
    assert "--browser.gatherUsageStats=false" in command


def test_each_page_has_its_address_and_is_told_where_the_server_is() -> None:
    """Every page is served under its name, as Streamlit's own document with the server's address in it."""
    assert [route.path for route in server.ROUTES] == [f"/{name}" for name, _ in PAGES]
    asked = Request({"type": "http", "method": "GET", "path": "/evaluate", "headers": []})
    answer = bytes(asyncio.run(server.page_document(asked)).body).decode()
    own = (Path(get_static_dir()) / "index.html").read_text("utf-8")
    told = '<script>window.__streamlit = { BACKEND_BASE_URL: window.location.origin + "/" }</script>'
    assert answer.replace(told, "") == own
    assert answer.index(told) < answer.index("<script type=")


@pytest.mark.parametrize(("query", "target"), [(b"", "/"), (b"q=a%20b&data=tiny", "/?q=a%20b&data=tiny")])
def test_the_first_page_is_found_by_its_name(query: bytes, target: str) -> None:
    """Whoever asks for it by its name is led to the root, with the choices that stand in the address."""
    asked = Request({"type": "http", "method": "GET", "path": "/explore", "query_string": query, "headers": []})
    assert asyncio.run(server.first_page(asked)).headers["location"] == target


def test_every_named_page_is_there() -> None:
    """Each page has its file and no file lacks one; in a folder `pages` Streamlit would run them without the frame."""
    assert {f"{name}.py" for name, _ in PAGES} == {path.name for path in (HOUSE / "views").glob("*.py")}
    assert not (HOUSE / "pages").exists()
