"""The codes of an execution's failures: stable, one for each kind of failure."""

from __future__ import annotations

from typing import Literal, get_args

Code = Literal[
    "unknown_tool",
    "ambiguous_tool",
    "core_tool",
    "synthetic_tool",
    "undiscovered",
    "unavailable",
    "disabled",
    "invalid_params",
    "unreadable_arguments",
    "denied",
    "timeout",
    "cancelled",
    "tool_error",
    "duplicate_tool_name",
]
"""`unknown_tool`: no such tool. `ambiguous_tool`: several servers have it. `core_tool`: loaded already, to be called
directly. `synthetic_tool`: one of the three tools of the search itself. `undiscovered`: its parameters were not shown
yet. `unavailable`: it can't run now. `disabled`: tool search, or the tool's server, is switched off. `invalid_params`:
the arguments don't fit its schema. `unreadable_arguments`: what the tool and its arguments are can't be told. `denied`:
not permitted. `timeout`, `cancelled`: it was stopped. `tool_error`: it failed. `duplicate_tool_name`: two tools of one
server have the name; raised when a catalog is made."""

CODES: tuple[Code, ...] = get_args(Code)
"""Every code, in the order in which an execution comes to them."""
