"""What is kept of each session over HTTP, and until when."""

from __future__ import annotations

from toolsearch.mcp.clients import Client
from toolsearch.mcp.http_clients import ClientTable
from toolsearch.mcp.hub import Hub
from toolsearch.session.settings import SessionSettings


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _table(clock: _Clock) -> ClientTable:
    hub = Hub({})
    return ClientTable(lambda: Client(hub, SessionSettings()), forget=10, clock=clock)


def test_a_session_has_one_client_and_no_session_has_none() -> None:
    """The same session gets the same client, another gets another, and a request without one leaves nothing behind."""
    table = _table(_Clock())
    first = table.of("a")
    assert table.of("a") is first
    assert table.of("b") is not first
    assert table.of("") is not table.of("")
    assert len(table) == 2
    assert table.known("a") is first
    assert table.known("c") is None


def test_a_session_that_has_ended_is_forgotten() -> None:
    """After its end the same name would begin anew; an unknown one is fine."""
    table = _table(_Clock())
    first = table.of("a")
    table.drop("a")
    table.drop("a")
    assert list(table) == []
    assert table.of("a") is not first


def test_a_silent_session_is_forgotten_but_not_while_it_listens() -> None:
    """The time runs from the end of the last request: an open stream of news holds a session however long it is silent."""
    clock = _Clock()
    table = _table(clock)
    listening, silent = table.of("listening"), table.of("silent")
    with table.attending("listening"), table.attending("listening"):
        clock.now = 11
        table.of("new")
        assert table.known("silent") is not silent
        assert table.known("listening") is listening
    clock.now = 21
    table.of("newer")
    assert table.known("listening") is listening
    clock.now = 22
    table.of("newest")
    assert table.known("listening") is None
