"""What a conversation has to remember: one value, written as JSON and read back without loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from toolsearch.catalog.tool import Tool
from toolsearch.errors import DataError, Problem
from toolsearch.session.discovered import SOURCES, Discovery
from toolsearch.session.mode import REASONS, Mode, ModeDecision

SCHEMA_VERSION = 1
"""Of the JSON form; a state of another version is refused, not guessed at."""

_SOURCE = "<session state>"
_MODES = get_args(Mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Everything that a conversation needs to go on elsewhere, beside its history.

    How servers stand is not a part of it: that is true of a process, not of a conversation.

    Attributes:
        decision: What was decided about the mode; None before the first request.
        tools: The definitions that the tools array was frozen with, in their order; None before the first request and
            in a session that defers nothing.
        discovered: The tools that the model was shown, oldest first.
        announced: The names that were announced last, sorted, each with its server: "" for none, None if not known.
        prefetched: The tools that were recommended, oldest first.
        scope: The lists of names and patterns that an agent is limited to, each within the one before; none: no limit.
        last_input: Marks the user's text for which tools were recommended last; "" before the first.
    """

    decision: ModeDecision | None = None
    tools: tuple[Tool, ...] | None = None
    discovered: tuple[Discovery, ...] = ()
    announced: tuple[tuple[str, str | None], ...] = ()
    prefetched: tuple[str, ...] = ()
    scope: tuple[tuple[str, ...], ...] = ()
    last_input: str = ""

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON; `from_json` gives an equal state back."""
        decision = self.decision
        return {
            "schema_version": SCHEMA_VERSION,
            "decision": None
            if decision is None
            else {
                "mode": decision.mode,
                "reason": decision.reason,
                "warnings": list(decision.warnings),
                "threshold_tokens": decision.threshold_tokens,
                "deferred_tokens": decision.deferred_tokens,
            },
            "tools": None if self.tools is None else [_tool_json(tool) for tool in self.tools],
            "discovered": [
                {"name": each.name, "source": each.source, "in_context": each.in_context} for each in self.discovered
            ],
            "announced": [{"name": name, "server": server} for name, server in self.announced],
            "prefetched": list(self.prefetched),
            "scope": [list(level) for level in self.scope],
            "last_input": self.last_input,
        }

    @classmethod
    def from_json(cls, value: object, *, source: str = _SOURCE) -> SessionState:
        """Read a state back.

        Args:
            value: What `to_json` gave.
            source: Where it comes from, for messages.

        Raises:
            DataError: It is none, or of another version; every fault at once.
        """
        reader = _Reader(source)
        state = _read(reader, value)
        if reader.problems:
            raise DataError(reader.problems)
        return state


def _tool_json(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "server": tool.server,
        "leaf": tool.leaf,
    }


class _Reader:
    """Reads values and collects every fault."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.problems: list[Problem] = []

    def fault(self, field: str, message: str) -> None:
        self.problems.append(Problem(self._source, 0, field, message))

    def typed(self, field: str, value: object, kinds: type | tuple[type, ...], accepted: str) -> bool:
        good = isinstance(value, kinds) and not (isinstance(value, bool) and kinds in (int, (int, type(None))))
        if not good:
            self.fault(field, f"is {_brief(value)}; it must be {accepted}.")
        return good

    def items(self, field: str, value: object, accepted: str) -> list[Any]:
        return list(value) if self.typed(field, value, list, accepted) and isinstance(value, list) else []

    def texts(self, field: str, value: object) -> tuple[str, ...]:
        items = self.items(field, value, "a list of texts")
        return tuple(each for each in items if self.typed(field, each, str, "a list of texts"))

    def mapping(self, field: str, value: object, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
        if not isinstance(value, Mapping):
            self.fault(field, f"is {_brief(value)}; it must be an object with {', '.join(keys)}.")
            return None
        missing = [key for key in keys if key not in value]
        if missing:
            self.fault(field, f"has no {', '.join(missing)}; it must be an object with {', '.join(keys)}.")
            return None
        return value


def _read(reader: _Reader, value: object) -> SessionState:
    if not isinstance(value, Mapping):
        reader.fault("", f"a session's state is an object, not {_brief(value)}.")
        return SessionState()
    version = value.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        reader.fault("schema_version", f"is {_brief(version)}; this version of the library reads {SCHEMA_VERSION}.")
        return SessionState()
    known = ("schema_version", "decision", "tools", "discovered", "announced", "prefetched", "scope", "last_input")
    found = reader.mapping("", value, known)
    for key in value:
        if key not in known:
            reader.fault(str(key)[:80], "is not known; nothing may be added to a state.")
    if found is None:
        return SessionState()
    decision = _decision(reader, found["decision"])
    tools = None if found["tools"] is None else _tools(reader, found["tools"])
    if not reader.problems and (tools is not None) != (decision is not None and decision.enabled):
        reader.fault("tools", "must be there exactly where the decision defers tools.")
    levels = reader.items("scope", found["scope"], "a list of lists of texts")
    last_input = found["last_input"]
    if not reader.typed("last_input", last_input, str, "a text"):
        last_input = ""
    return SessionState(
        decision=decision,
        tools=tools,
        discovered=_discovered(reader, found["discovered"]),
        announced=_announced(reader, found["announced"]),
        prefetched=reader.texts("prefetched", found["prefetched"]),
        scope=tuple(reader.texts("scope", level) for level in levels),
        last_input=last_input,
    )


def _decision(reader: _Reader, value: object) -> ModeDecision | None:
    if value is None:
        return None
    keys = ("mode", "reason", "warnings", "threshold_tokens", "deferred_tokens")
    found = reader.mapping("decision", value, keys)
    if found is None:
        return None
    good = True
    for key, accepted in (("mode", _MODES), ("reason", REASONS)):
        if found[key] not in accepted:
            reader.fault(f"decision.{key}", f"is {_brief(found[key])}; accepted: {', '.join(accepted)}.")
            good = False
    for key in ("threshold_tokens", "deferred_tokens"):
        whole = "a whole number or null"
        good = reader.typed(f"decision.{key}", found[key], (int, type(None)), whole) and good
    warnings = reader.texts("decision.warnings", found["warnings"])
    if not good:
        return None
    return ModeDecision(
        mode=found["mode"],
        reason=found["reason"],
        warnings=warnings,
        threshold_tokens=found["threshold_tokens"],
        deferred_tokens=found["deferred_tokens"],
    )


def _tools(reader: _Reader, value: object) -> tuple[Tool, ...]:
    tools = []
    for item in reader.items("tools", value, "a list of definitions or null"):
        found = reader.mapping("tools", item, ("name", "description", "input_schema", "server", "leaf"))
        if found is None:
            continue
        text, optional = "a text", "a text or null"
        good = [
            reader.typed("tools.name", found["name"], str, text),
            reader.typed("tools.leaf", found["leaf"], str, text),
            reader.typed("tools.description", found["description"], (str, type(None)), optional),
            reader.typed("tools.server", found["server"], (str, type(None)), optional),
            reader.typed("tools.input_schema", found["input_schema"], (dict, type(None)), "an object or null"),
        ]
        if all(good):
            tools.append(
                Tool(
                    name=found["name"],
                    description=found["description"],
                    input_schema=found["input_schema"],
                    server=found["server"],
                    leaf=found["leaf"],
                )
            )
    return tuple(tools)


def _discovered(reader: _Reader, value: object) -> tuple[Discovery, ...]:
    discovered = []
    for item in reader.items("discovered", value, "a list of discoveries"):
        found = reader.mapping("discovered", item, ("name", "source", "in_context"))
        if found is None:
            continue
        good = reader.typed("discovered.name", found["name"], str, "a text")
        good = reader.typed("discovered.in_context", found["in_context"], bool, "true or false") and good
        if found["source"] not in SOURCES:
            reader.fault("discovered.source", f"is {_brief(found['source'])}; accepted: {', '.join(SOURCES)}.")
        elif good:
            discovered.append(Discovery(found["name"], found["source"], found["in_context"]))
    return tuple(discovered)


def _announced(reader: _Reader, value: object) -> tuple[tuple[str, str | None], ...]:
    announced = []
    for item in reader.items("announced", value, "a list of announced names"):
        found = reader.mapping("announced", item, ("name", "server"))
        if (
            found is not None
            and reader.typed("announced.name", found["name"], str, "a text")
            and reader.typed("announced.server", found["server"], (str, type(None)), "a text or null")
        ):
            announced.append((found["name"], found["server"]))
    return tuple(announced)


def _brief(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return "missing" if value is None else repr(value)[:60]
