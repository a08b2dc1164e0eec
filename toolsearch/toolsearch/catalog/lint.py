"""What is legal in a catalog and still likely to hurt: warnings and figures, never errors."""

from __future__ import annotations

import json
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolsearch.catalog.core_tools import is_deferred
from toolsearch.catalog.names import name_fault, shown
from toolsearch.catalog.tool import Tool
from toolsearch.errors import Problem

THIN_DESCRIPTION = 15
"""A description with fewer letters says little more than a name; a Han, kana or Hangul letter is three."""

LONG_DESCRIPTION = 2000
"""A longer description costs some 500 tokens whenever the tool is shown."""

LARGE_SCHEMA = 200_000
"""A larger schema (bytes of JSON) is reported and not checked: the check takes time in step with its size."""

_WIDE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def check_catalog(tools: Iterable[Tool], *, path: str = "<catalog>") -> list[Problem]:
    """Warnings about a catalog, sorted by `field`, which holds tool and part; empty when all is well.

    Reported are names that are quarantined or equal once case and separators are gone (on one server),
    descriptions that are missing, thin, over-long or shared, and schemas that are not valid JSON Schema.
    Nothing is fetched.
    """
    given = list(tools)
    found: list[tuple[str, str]] = []
    for check in (_names, _descriptions, _schemas):
        found += check(given)
    return [Problem(path, 0, field, message) for field, message in sorted(found)]


def catalog_statistics(tools: Iterable[Tool], *, teams: bool = False, pins: Collection[str] = ()) -> dict[str, Any]:
    """Figures of a catalog: counts, and lowest, median, mean, highest and total of sizes (0 without tools).

    Descriptions are counted in characters, schemas in bytes of compact JSON; a tool without one counts as 0.
    """
    given = list(tools)
    usable = [tool for tool in given if not name_fault(tool.name)]
    pinned = frozenset(pins)
    deferred = sum(is_deferred(tool, teams=teams, pins=pinned) for tool in usable)
    by_server = Counter(tool.server for tool in given if tool.server)
    return {
        "tools": len(given),
        "servers": len(by_server),
        "core": len(usable) - deferred,
        "deferred": deferred,
        "quarantined": len(given) - len(usable),
        "without_description": sum(not (tool.description or "").strip() for tool in given),
        "with_search_hint": sum(bool(tool.search_hint) for tool in given),
        "without_schema": sum(tool.input_schema is None for tool in given),
        "description_characters": _spread([len(tool.description or "") for tool in given]),
        "parameters": _spread([_parameter_count(tool) for tool in given]),
        "schema_bytes": _spread([_schema_bytes(tool) for tool in given]),
        "tools_by_server": {server: by_server[server] for server in sorted(by_server)},
    }


def _names(tools: Sequence[Tool]) -> Iterator[tuple[str, str]]:
    alike: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    for tool in tools:
        fault = name_fault(tool.name)
        if fault:
            owner = f"server {shown(tool.server)}" if tool.server else "no server"
            yield (
                shown(tool.name),
                f"the name {fault}; the tool of {owner} is quarantined and can't be found. Rename it",
            )
        else:
            alike[tool.server, _squeezed(tool.leaf)].append(tool.name)
    for (_, squeezed), names in alike.items():
        if squeezed and len(names) > 1:
            yield (
                names[0],
                f"{_listed(names)} differ only in case or separators; a model mixes them up. Rename all but one",
            )


def _squeezed(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in folded if character.isalnum())


def _descriptions(tools: Sequence[Tool]) -> Iterator[tuple[str, str]]:
    owners: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        label = f"{shown(tool.name)}.description"
        text = (tool.description or "").strip()
        if not text:
            yield (
                label,
                "is missing; the tool can be found by its name and parameters alone. Say what it does",
            )
            continue
        owners[" ".join(text.casefold().split())].append(tool.name)
        if len(text) > LONG_DESCRIPTION:
            yield (
                label,
                f"has {len(text)} characters; above {LONG_DESCRIPTION} it is costly to show. Shorten it",
            )
        elif _weight(text) < THIN_DESCRIPTION:
            yield label, f"is thin ({len(text)} characters); say what the tool does and on what"
    for names in owners.values():
        if len(names) > 1:
            yield (
                f"{shown(names[0])}.description",
                f"is the same for {_listed(names)}; nothing tells these tools apart. Say how they differ",
            )


def _weight(text: str) -> int:
    """Letters and digits of a short text; one of an ideographic or syllabic script says as much as three."""
    if len(text) > THIN_DESCRIPTION * 20:
        return len(text)
    return sum(
        3 if unicodedata.name(character, "").startswith(_WIDE) else 1 for character in text if character.isalnum()
    )


def _listed(names: Sequence[str], limit: int = 5) -> str:
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(shown(name) for name in names[:limit]) + rest


def _schemas(tools: Sequence[Tool]) -> Iterator[tuple[str, str]]:
    checked: dict[str, str | None] = {}
    for tool in tools:
        if tool.input_schema is None:
            continue
        label = f"{shown(tool.name)}.input_schema"
        try:
            text = json.dumps(tool.input_schema, default=dict)
        except (TypeError, ValueError, RecursionError) as error:
            yield label, f"is not JSON: {str(error)[:200]}"
            continue
        if len(text) > LARGE_SCHEMA:
            yield label, f"has {len(text)} bytes; above {LARGE_SCHEMA} it is not checked and costly to show"
            continue
        if text not in checked:
            checked[text] = _schema_fault(json.loads(text))
        fault = checked[text]
        if fault:
            yield label, fault


def _schema_fault(schema: dict[str, Any]) -> str | None:
    # Imported here: reading the meta-schemas takes longer than everything else that a small program does.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        place = ".".join(str(step) for step in error.absolute_path) or "the schema itself"
        return f"is not valid JSON Schema at {place[:200]}: {error.message[:200]}"
    except (RecursionError, TypeError, ValueError) as error:
        return f"can't be checked as JSON Schema: {type(error).__name__}: {str(error)[:200]}"
    if schema.get("type", "object") != "object":
        return f"has the type {json.dumps(schema['type'])[:60]}; the parameters of a tool are an object"
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in properties]
    if missing and "properties" in schema:
        return f"requires {_listed(missing)}, which its properties don't describe"
    return None


def _parameter_count(tool: Tool) -> int:
    properties = (tool.input_schema or {}).get("properties")
    return len(properties) if isinstance(properties, Mapping) else 0


def _schema_bytes(tool: Tool) -> int:
    if tool.input_schema is None:
        return 0
    text = json.dumps(tool.input_schema, ensure_ascii=False, separators=(",", ":"), default=dict)
    return len(text.encode("utf-8", errors="replace"))


def _spread(values: Sequence[int]) -> dict[str, float]:
    if not values:
        return {"lowest": 0, "median": 0, "mean": 0, "highest": 0, "total": 0}
    figures: dict[str, Callable[[Sequence[int]], float]] = {
        "lowest": min,
        "median": statistics.median,
        "mean": statistics.fmean,
        "highest": max,
        "total": sum,
    }
    return {name: figure(values) for name, figure in figures.items()}
