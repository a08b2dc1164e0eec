"""The forms in which a tool can stand in a text, from the fullest to the shortest.

A form is one block between `<tool …>` and `</tool>`. Everything in it that the tool's owner wrote is neutralised, so
that no block can be left early and no line of ours be forged.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolsearch.catalog.tool import Tool
from toolsearch.tools.found import Detail, Mode
from toolsearch.tools.schema_text import brief, full_text, trimmed_text
from toolsearch.tools.untrusted import neutralise, safe_json

MODES_WITH_SCHEMAS: frozenset[Mode] = frozenset({"select", "discover"})
"""These promise full JSON Schemas; the others parameters in brief."""

# Characters of the description and of the line of parameters.
_BRIEF_SIZES = ((400, 1200), (100, 400))
_LISTING_SIZES = ((160, 600), (60, 300))
_WHOLE_DESCRIPTION = 2000
"""A longer description is cut even where the whole tool was asked for; the cut is marked."""
_SHORTER_DESCRIPTION = 600
_SHORTER_PARAMETER_DESCRIPTION = 160


@dataclass(frozen=True, slots=True)
class Form:
    """One way to show a tool.

    Attributes:
        text: The block.
        detail: What it shows of the parameters.
        cut: It shows less than the mode promises.
    """

    text: str
    detail: Detail
    cut: bool


def forms(tool: Tool, mode: Mode, *, longest: int) -> list[Form]:
    """The ways to show a tool, fullest first.

    Args:
        tool: The tool.
        mode: Decides what is promised.
        longest: A schema with more characters than this is not shown as JSON.

    Returns:
        At least one form. Only the last one may show no parameters, where they are too many even in brief: a form that
        leaves out a required parameter is not offered.
    """
    schema = tool.input_schema
    found: list[Form] = []
    if mode in MODES_WITH_SCHEMAS and schema is not None:
        whole = full_text(schema)
        if whole is not None and len(whole) <= longest:
            found.append(_schema_form(tool, whole, _WHOLE_DESCRIPTION, cut=False))
        trimmed = trimmed_text(schema, limit=_SHORTER_PARAMETER_DESCRIPTION)
        if trimmed is not None and len(trimmed) <= longest:
            found.append(_schema_form(tool, trimmed, _SHORTER_DESCRIPTION, cut=True))
    sizes: tuple[tuple[int, int], ...] = _LISTING_SIZES if mode == "list" else _BRIEF_SIZES
    if mode in MODES_WITH_SCHEMAS and schema is None:
        sizes = ((_WHOLE_DESCRIPTION, 1200), *sizes)
    for description_limit, parameters_limit in sizes:
        parameters = brief(schema, limit=parameters_limit)
        if parameters.complete:
            shown, cut = _description(tool, description_limit)
            less = cut or parameters.cut or (mode in MODES_WITH_SCHEMAS and schema is not None)
            found.append(Form(_block(tool, shown, f"parameters: {parameters.text}"), "brief", less))
    if not found or found[-1].detail != "brief":
        shown, _ = _description(tool, _BRIEF_SIZES[-1][0])
        found.append(Form(_block(tool, shown, "parameters: too many to be shown in brief"), "nothing", True))
    return found


def _schema_form(tool: Tool, schema: str, description_limit: int, *, cut: bool) -> Form:
    shown, description_cut = _description(tool, description_limit, lines=True)
    return Form(_block(tool, shown, f"parameters (JSON Schema): {schema}"), "schema", cut or description_cut)


def _description(tool: Tool, limit: int, *, lines: bool = False) -> tuple[str, bool]:
    shown = neutralise(tool.description or "", limit=limit, lines=lines)
    # Indented, so that no line of it can pass for one of ours.
    return "  " + shown.text.replace("\n", "\n  ") if shown.text else "  (no description)", shown.cut


def _block(tool: Tool, description: str, parameters: str) -> str:
    server = f" server={safe_json(tool.server)}" if tool.server else ""
    return f"<tool name={safe_json(tool.name)}{server}>\n{description}\n{parameters}\n</tool>"
