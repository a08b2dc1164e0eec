"""The texts of attachments, and the entries that carry them in a history."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolsearch.session.announcements import DELTA, delta_text
from toolsearch.session.prefetch import DISCOVERY, discovery_text
from toolsearch.tools.untrusted import neutralise

SKILLS = "skill_discovery"
"""The type of the attachment that offers skills."""

_REMINDER_TAG = re.compile(r"<(?=\s*/?\s*system-reminder)", re.IGNORECASE)


def entry(attachment: Mapping[str, Any]) -> dict[str, Any]:
    """The history entry of an attachment."""
    return {"type": "attachment", "attachment": dict(attachment)}


def attachment_text(attachment: Mapping[str, Any]) -> str:
    """What the model reads of an attachment; "" for a type that is not ours, which leaves it out.

    The text depends on the attachment alone, so what was sent once is sent as the same bytes for ever.
    """
    match attachment.get("type"):
        case "deferred_tools_delta":
            return delta_text(attachment)
        case "tool_discovery":
            return discovery_text(attachment)
        case "skill_discovery":
            return _skills_text(attachment)
        case _:
            return ""


def _skills_text(attachment: Mapping[str, Any]) -> str:
    """Skills with their text first, then those that are only named."""
    listed = attachment.get("skills")
    rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list | tuple) else []
    loaded = [row for row in rows if row.get("loaded") and row.get("content")]
    named = [row for row in rows if row not in loaded]
    lines: list[str] = []
    for row in loaded:
        lines.append(f"The skill {_one_line(row.get('name'))} fits what is being done. Follow it where it helps:")
        # A skill is the user's own text and keeps its layout; only our wrapper must not be closed by it.
        lines.append(_REMINDER_TAG.sub("&lt;", str(row["content"])))
    if named:
        lines.append("Skills that may fit, too:" if loaded else "Skills that may fit:")
        for row in named:
            where = f" ({_one_line(row['path'])})" if row.get("path") else ""
            lines.append(f"- {_one_line(row.get('name'))}: {_one_line(row.get('description'))}{where}")
    return "\n".join(lines)


def _one_line(value: object) -> str:
    return neutralise(value if isinstance(value, str) else "", limit=300).text


__all__ = ["DELTA", "DISCOVERY", "SKILLS", "attachment_text", "entry"]
