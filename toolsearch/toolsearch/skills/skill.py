"""A skill, and how its `SKILL.md` is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from toolsearch.catalog.names import name_fault
from toolsearch.errors import Problem

LONGEST_FILE = 1_000_000
"""Characters of a `SKILL.md`; a longer one is no text for a model."""

_FENCE = "---"
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+|$)(.*)")
_TRUE, _FALSE = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})
_TEXTS = {"name": "name", "description": "description", "when_to_use": "when_to_use"}
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill.

    Attributes:
        name: What it is called; the folder's name where the file gives none.
        description: What it does, or "".
        when_to_use: When it helps, or "".
        content: The text for the model: all that follows the front matter.
        path: The file that it was read from, or "".
        searchable: Whether the model may be shown it; false for `disable-model-invocation: true`.
    """

    name: str
    description: str = ""
    when_to_use: str = ""
    content: str = ""
    path: str = ""
    searchable: bool = True


def parse_skill(text: str, *, path: str, folder_name: str) -> tuple[Skill | None, list[Problem]]:
    """Read the text of a `SKILL.md`: front matter between two lines of `---`, then the content.

    Of YAML the front matter may use what such files use: `key: value` lines, quoted values, block texts (`|` and `>`),
    lists and nested objects; the values of keys that mean nothing here are not looked at. Without front matter the
    whole text is the content.

    Args:
        text: The file's text.
        path: For messages.
        folder_name: The name where the front matter gives none.

    Returns:
        The skill, and what is wrong; with a fault there is no skill.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    problems: list[Problem] = []
    if len(text) > LONGEST_FILE:
        return None, [Problem(path, 0, "", f"has {len(text):,} characters; at most {LONGEST_FILE:,} are read")]
    values: dict[str, str] = {}
    content = lines
    if lines and lines[0].rstrip() == _FENCE:
        end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
        if end is None:
            return None, [Problem(path, 1, "", "the front matter is not closed; end it with a line of ---")]
        values = _front_matter(lines[1:end], path, problems)
        content = lines[end + 1 :]
    searchable = values.pop("disable_model_invocation", "false").strip().lower() or "false"
    if searchable not in _TRUE | _FALSE:
        problems.append(
            Problem(path, 0, "disable-model-invocation", f"is {searchable[:40]!r}; it must be true or false")
        )
    name = values.get("name", "").strip() or folder_name
    fault = name_fault(name)
    if fault:
        problems.append(Problem(path, 0, "name", f"{fault}; give the skill a plain name"))
    if problems:
        return None, problems
    skill = Skill(
        name=name,
        description=_one_line(values.get("description", "")),
        when_to_use=_one_line(values.get("when_to_use", "")),
        content="\n".join(content).strip("\n"),
        path=path,
        searchable=searchable in _FALSE,
    )
    return skill, []


def read_skill(path: Path) -> tuple[Skill | None, list[Problem]]:
    """Read one `SKILL.md`; what can't be read is a problem, never an exception."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(str(path), 0, "", f"can't be read: {error}")]
    return parse_skill(text, path=str(path), folder_name=path.parent.name)


def _front_matter(lines: list[str], path: str, problems: list[Problem]) -> dict[str, str]:
    """The values by key, hyphens and capitals of keys evened out; line numbers count the opening fence."""
    values: dict[str, str] = {}
    place = 0
    while place < len(lines):
        line = lines[place]
        number = place + 2
        place += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        inner = line[:1] in " \t" or line.startswith("- ")
        if inner:  # part of a list or an object under a key that came before
            continue
        match = _KEY.fullmatch(line.rstrip())
        if match is None:
            problems.append(Problem(path, number, "", f"{line.strip()[:60]!r} is no `key: value` line"))
            continue
        key = _plain_key(match[1])
        block: list[str] = []
        while place < len(lines) and (not lines[place].strip() or lines[place][:1] in " \t"):
            block.append(lines[place])
            place += 1
        if key in values:
            problems.append(Problem(path, number, match[1], "stands twice; keep one"))
            continue
        if key in _TEXTS.values() or key == "disable_model_invocation":
            values[key] = _value(match[2].strip(), block, Problem(path, number, match[1], ""), problems)
    return values


def _plain_key(key: str) -> str:
    """`when-to-use`, `whenToUse` and `when_to_use` are one key."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).replace("-", "_").lower()


def _value(first: str, block: list[str], place: Problem, problems: list[Problem]) -> str:
    if first[:1] in ("|", ">"):
        kept = [line.strip() if first[0] == ">" else line for line in block]
        indent = min((len(line) - len(line.lstrip()) for line in kept if line.strip()), default=0)
        return ("\n" if first[0] == "|" else " ").join(line[indent:] for line in kept).strip()
    text = " ".join([first, *(line.strip() for line in block if line.strip())]).strip()
    if text[:1] in ("'", '"'):
        closed = _unquoted(text)
        if closed is None:
            problems.append(Problem(place.path, place.line, place.field, "the quote is not closed, or text follows it"))
        return closed or ""
    return re.split(r"[ \t]#", text, maxsplit=1)[0].rstrip()


def _unquoted(text: str) -> str | None:
    """The text inside of quotes; None where they are not closed at the end."""
    if text[0] == "'":
        inner = text[1:-1]
        good = len(text) > 1 and text[-1] == "'" and "'" not in inner.replace("''", "")
        return inner.replace("''", "'") if good else None
    match = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', text)
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), match[1]) if match else None


def _one_line(text: str) -> str:
    return " ".join(text.split())
