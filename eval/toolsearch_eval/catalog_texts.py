"""The texts of a tool, one by one: what is invisible, what steers a model, what says nothing, what is alike."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from toolsearch.catalog.tool import Tool

_INVISIBLE = ("Cc", "Cf", "Co")
# Line breaks and tabs are layout; joiners and marks of direction belong to the writing of several languages.
_LAYOUT = frozenset("\n\r\t\u200c\u200d\u200e\u200f")
_INSTRUCTION = re.compile(
    r"(?:ignore|disregard|forget) (?:all |any )?(?:of )?(?:the |your )?(?:previous|prior|above|other|earlier) "
    r"(?:instructions?|prompts?|rules|directions)"
    r"|(?:do not|don't|never) (?:tell|inform|mention (?:this|it|that)? ?to|show (?:this|it) to) the user"
    r"|without (?:telling|informing|asking) the user"
    r"|</?(?:system|important|secret|instructions?)[\s>]|<!--"
    r"|before (?:using|calling|running) any other tools?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
_PLACEHOLDERS = frozenset(
    {
        "todo", "tbd", "fixme", "description", "no description", "no description available", "no description provided",
        "none", "null", "n a", "na", "undefined", "unknown", "placeholder", "test", "testing", "lorem ipsum",
        "add description here", "description here", "your description here", "tool description", "coming soon",
    }
)  # fmt: skip
_EMPTY = frozenset(
    {"a", "an", "the", "this", "that", "it", "is", "tool", "tools", "function", "method", "api", "call", "calls", "for",
     "to", "of", "endpoint", "operation", "which", "used", "use", "uses"}
)  # fmt: skip


def visible(text: str) -> str:
    r"""The text without what nobody sees: control and format characters, private ones, and selectors that carry data.

    >>> visible("Se\u200bnd\x1b it\U000e0041.")
    'Send it.'
    """
    return "".join(sign for sign in text if not is_invisible(sign))


def is_invisible(sign: str) -> bool:
    """Whether a character is one that nobody sees and no writing needs."""
    # The selectors of the last plane follow any sign unseen, and whole messages have been hidden in them.
    selector = "\U000e0100" <= sign <= "\U000e01ef"
    return sign not in _LAYOUT and (selector or unicodedata.category(sign) in _INVISIBLE)


def schema_texts(value: Any) -> Iterator[str]:
    """Every text of a schema, its keys among them, in order.

    >>> list(schema_texts({"properties": {"to": {"description": "Whom"}}}))
    ['properties', 'to', 'description', 'Whom']
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting.extend(part for pair in reversed(list(each.items())) for part in reversed(pair))
        elif isinstance(each, list | tuple):
            waiting.extend(reversed(each))


def made_visible(value: Any) -> Any:
    """A JSON value with every text of it made visible, keys too."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {made_visible(key): made_visible(each) for key, each in value.items()}
    return [made_visible(each) for each in value] if isinstance(value, list | tuple) else value


def cleaned(tool: Tool) -> Tool:
    """The tool without invisible characters in description, hint and schema; itself when there are none.

    A schema that is nested too deeply to be copied stays as it is.
    """
    texts = (tool.description or "", tool.search_hint or "", *schema_texts(tool.input_schema))
    if not any(is_invisible(sign) for text in texts for sign in text):
        return tool
    try:
        schema = None if tool.input_schema is None else made_visible(tool.input_schema)
    except RecursionError:
        schema = tool.input_schema
    return dataclasses.replace(
        tool,
        description=None if tool.description is None else visible(tool.description),
        search_hint=None if tool.search_hint is None else visible(tool.search_hint),
        input_schema=schema,
    )


def instruction_in(text: str) -> str:
    """The first words of a text that are meant for the model and not for who looks for a tool; "" without any."""
    match = _INSTRUCTION.search(visible(text))
    return match[0] if match else ""


def words_of(text: str) -> tuple[str, ...]:
    """The words of a name or sentence, in small letters, in order.

    >>> words_of("sendMail_v2: sends it")
    ('send', 'mail', 'v', '2', 'sends', 'it')
    """
    return tuple(word.casefold() for word in _WORD.findall(text))


def says_nothing(tool: Tool) -> bool:
    """Whether a description is there and holds no word that the tool's name does not: a placeholder, or the name again.

    >>> [says_nothing(Tool(name="get_user", description=text)) for text in ("TODO", "Get user tool.", "Get a person.")]
    [True, True, False]
    """
    words = words_of(visible(tool.description or ""))
    if not visible(tool.description or "").strip():
        return False
    return " ".join(words) in _PLACEHOLDERS or set(words) <= {*words_of(tool.leaf), *_EMPTY}


def findable_words(tool: Tool) -> int:
    """How many different words the tool can be found by: of name, hint, description and parameters."""
    properties = (tool.input_schema or {}).get("properties")
    parameters = properties if isinstance(properties, Mapping) else {}
    texts = [tool.leaf, tool.search_hint or "", tool.description or "", *map(str, parameters)]
    texts += [str(each.get("description", "")) for each in parameters.values() if isinstance(each, Mapping)]
    return len({word for text in texts for word in words_of(visible(text))})


def squeezed(name: str) -> str:
    r"""A name as it is remembered: without case and separators, letters of other scripts that look alike taken for one.

    >>> squeezed("Get-User") == squeezed("get_user") == squeezed("g\u0435t_user")
    True
    """
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_LOOK_ALIKE)
    return "".join(sign for sign in folded if sign.isalnum())


# The letters of Cyrillic and Greek that fonts draw as Latin ones; enough for names, where a mix is never meant.
_LOOK_ALIKE = str.maketrans(
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u0501\u051b\u051d\u03bf\u03b1\u03b9\u03bd",
    "aceopxyijsdqwoaiv",
)
