"""Whether a tool may run: its own check, the host's default, and the question to whoever may decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Behaviour = Literal["allow", "deny", "ask", "passthrough"]
"""`passthrough`: the tool has no opinion; the host's default decides."""

BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a permission check says.

    Attributes:
        behaviour: See `Behaviour`.
        message: Why, in the tool's words (untrusted text), or "".
        updated_input: The arguments that may run instead of those that were asked for; None for the same.
    """

    behaviour: Behaviour
    message: str = ""
    updated_input: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What the host is asked.

    Attributes:
        tool_name: The real tool, never the proxy.
        server: Its owner, or None.
        params: The arguments that would run.
        message: Why the tool asks, or "".
    """

    tool_name: str
    server: str | None
    params: Mapping[str, Any]
    message: str = ""


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """What the host answers.

    Attributes:
        allowed: Whether the tool may run.
        message: Why not, for the model; "" for a plain no.
        updated_input: The arguments that may run instead; None for the same.
    """

    allowed: bool
    message: str = ""
    updated_input: Mapping[str, Any] | None = None


def read_decision(value: Any) -> Decision:
    """What a tool's own check says, in any of the forms that such checks have.

    Args:
        value: True or False; None for no opinion; one of the behaviours as a text; or an object or mapping with
            `behavior` (or `behaviour`), and where it wants `message` and `updated_input` (or `updatedInput`).

    Returns:
        The decision. What can't be read is a no: a check that is not understood has not allowed anything.

    >>> read_decision({"behavior": "allow", "updatedInput": {"path": "/safe"}})
    Decision(behaviour='allow', message='', updated_input={'path': '/safe'})
    >>> read_decision("perhaps").behaviour
    'deny'
    """
    if value is None:
        return Decision("passthrough")
    if isinstance(value, Decision):
        return value
    if isinstance(value, bool):
        return Decision("allow" if value else "deny")
    if isinstance(value, str):
        return Decision(value) if value in BEHAVIOURS else _unread(value)
    behaviour = _field(value, "behavior", "behaviour")
    if behaviour not in BEHAVIOURS:
        return _unread(behaviour if behaviour is not _NOTHING else value)
    message = _field(value, "message")
    updated = _field(value, "updated_input", "updatedInput")
    if updated is _NOTHING or updated is None:
        updated = None
    elif not isinstance(updated, Mapping):
        return Decision("deny", "the tool's permission check gave a rewritten input that is no object.")
    return Decision(behaviour, message if isinstance(message, str) else "", updated)


def read_answer(value: Any) -> PermissionAnswer:
    """What the host's callback answers: a `PermissionAnswer`, true or false, or any form of a tool's own check.

    Only a clear yes allows: `ask` and `passthrough` are none.
    """
    if isinstance(value, PermissionAnswer):
        return value
    decision = read_decision(value)
    return PermissionAnswer(decision.behaviour == "allow", decision.message, decision.updated_input)


def _field(value: Any, *names: str) -> Any:
    for name in names:
        found = value.get(name, _NOTHING) if isinstance(value, Mapping) else getattr(value, name, _NOTHING)
        if found is not _NOTHING:
            return found
    return _NOTHING


def _unread(value: Any) -> Decision:
    return Decision("deny", f"the tool's permission check gave {str(value)[:60]!r}, which is no decision.")
