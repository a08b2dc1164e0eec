"""The parameters and the description of a tool as a provider accepts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolsearch.catalog.tool import Tool
from toolsearch.session.providers.names import NameMap, NameRule, map_names
from toolsearch.session.providers.reading import sendable
from toolsearch.session.providers.schema_gemini import supported
from toolsearch.session.providers.schema_repair import Faults, repaired
from toolsearch.session.providers.schema_unions import one_object
from toolsearch.tools.untrusted import CUT_MARK, shown_name

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one provider accepts in the definition of a tool.

    Attributes:
        provider: Its name in warnings.
        names: Which names of tools.
        refused: Keywords that may not stand at the top of a schema.
        parameters: Which names of parameters; None: any.
        gemini: Only the keywords that Gemini supports, without references.
        description: The most characters of a description; 0: any number.
        most: The most tools; 0: any number.
    """

    provider: str
    names: NameRule
    refused: frozenset[str]
    parameters: NameRule | None = None
    gemini: bool = False
    description: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool as it is sent.

    Attributes:
        name: Its name at the provider.
        description: May be "".
        schema: An object schema.
    """

    name: str
    description: str
    schema: dict[str, Any]


def definitions(tools: Sequence[Tool], dialect: Dialect) -> tuple[tuple[Definition, ...], NameMap, tuple[str, ...]]:
    """The tools as a provider accepts them, how they are called there, and a warning for each kind of change.

    A tool that is fit goes unchanged. The order is that of `tools`; names depend on nothing but the names.
    """
    sent = map_names((tool.name for tool in tools), dialect.names)
    made: list[Definition] = []
    parameters: dict[str, Mapping[str, str]] = {}
    found: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for place, tool in enumerate(tools):
        if first.setdefault(tool.name, place) != place:
            found.setdefault("a second tool of the same name is not sent", []).append(shown_name(tool.name))
            continue
        faults = Faults()
        schema, notes = one_object(repaired(tool.input_schema, faults), dialect.refused, faults)
        if dialect.gemini:
            schema = supported(schema, faults)
        schema, renamed = _renamed(schema, dialect.parameters, faults)
        if renamed:
            parameters[tool.name] = renamed
        description = _described(tool.description, notes, dialect.description, faults)
        made.append(Definition(sent[tool.name], description, schema))
        for fault, at in faults:
            found.setdefault(fault, []).append(shown_name(tool.name) + (f" (at {at})" if at else ""))
    warnings = [f"{dialect.provider}: {fault}: {_listed(found[fault])}" for fault in found]
    if dialect.most and len(made) > dialect.most:
        warnings.append(
            f"{dialect.provider}: {len(made)} tools are inlined, and {dialect.most} are accepted; defer some of them"
        )
    return tuple(made), NameMap(sent, parameters), tuple(warnings)


def _listed(tools: Sequence[str]) -> str:
    """The first tools of a warning, and how many more there are."""
    more = len(tools) - _MOST_NAMED
    return ", ".join(tools[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _renamed(schema: dict[str, Any], rule: NameRule | None, faults: Faults) -> tuple[dict[str, Any], dict[str, str]]:
    """The schema with the names of its parameters mapped, and the way back."""
    properties = schema["properties"]
    if rule is None or all(rule.fits(name) for name in properties):
        return schema, {}
    sent = map_names(properties, rule)
    fixed = {**schema, "properties": {sent[name]: value for name, value in properties.items()}}
    for key in ("required", "propertyOrdering"):
        if isinstance(schema.get(key), list):
            fixed[key] = [sent.get(name, name) for name in schema[key]]
    changed = {name: given for given, name in sent.items() if name != given}
    for given in changed.values():
        faults.add(f"the parameter {shown_name(given[:40])} is sent under another name")
    return fixed, changed


def _described(description: str | None, notes: Sequence[str], limit: int, faults: Faults) -> str:
    text = sendable(description or "").strip()
    end = " ".join(notes)
    if limit and len(f"{text} {end}".strip()) > limit:
        faults.add(f"the description was cut to {limit:,} characters")
        end = end if len(end) <= limit // 2 else end[: limit // 2 - len(CUT_MARK)] + CUT_MARK
        if len(f"{text} {end}".strip()) > limit:
            room = limit - len(CUT_MARK) - (len(end) + 1 if end else 0)
            text = text[:room].rstrip() + CUT_MARK
    return f"{text} {end}".strip()
