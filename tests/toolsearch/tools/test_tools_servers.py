from __future__ import annotations

import typing

from toolsearch.tools.servers import SERVER_STATES, ServerState, ServerStatus, servers_in


def test_the_list_of_states_is_the_type() -> None:
    """The states that can be iterated over are exactly those of the type."""
    assert set(typing.get_args(ServerState)) == set(SERVER_STATES)


def test_servers_are_picked_by_state_and_sorted() -> None:
    """Names come sorted, whatever the order of the mapping; no server in the state gives nothing."""
    servers = {"z": ServerStatus("failed", "no route"), "b": ServerStatus("connected"), "a": ServerStatus("failed")}
    assert servers_in(servers, "failed") == ("a", "z")
    assert servers_in(servers, "failed", "connected") == ("a", "b", "z")
    assert servers_in(servers, "pending") == ()
