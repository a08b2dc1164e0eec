"""One call of a tool, read whether it comes from `calls` or straight out of a provider's client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolsearch.errors import UsageError
from toolsearch.session.providers import NameMap, Provider, ToolCall
from toolsearch.session.providers.reading import plain

# A single call is no response, so it is put where the provider's responses hold theirs.
_AS_RESPONSE: dict[str, Callable[[Any], Any]] = {
    "anthropic": lambda call: {"role": "assistant", "content": [call]},
    "openai-chat": lambda call: {"role": "assistant", "tool_calls": [call]},
    "openai-responses": lambda call: [call],
    "gemini": lambda call: {"parts": [call if _holds_a_call(call) else {"function_call": call}]},
}


def read_call(provider: Provider, names: NameMap, value: Any) -> ToolCall:
    """A call as a value of ours.

    Args:
        provider: Whose form it has.
        names: How tools are called there.
        value: A `ToolCall`, or a tool call as the provider's client gives it (an object or a dict).

    Raises:
        UsageError: It is neither.
    """
    if isinstance(value, ToolCall):
        return value
    wrap = _AS_RESPONSE.get(provider.name, lambda call: call)
    found: tuple[ToolCall, ...] = ()
    try:
        # Gemini's client has its own names for fields; the servers' names of the others are those of their clients.
        found = provider.calls(wrap(plain(value, by_alias=provider.name != "gemini")), names)
    except UsageError:
        found = ()
    if len(found) != 1 or not found[0].name:
        raise UsageError(
            f"a {type(value).__name__} is no tool call of {provider.name!r}; accepted: an item of "
            "`session.calls(response)`, or one tool call as the provider's client gives it."
        )
    return found[0]


def _holds_a_call(value: Any) -> bool:
    return isinstance(value, dict) and bool({"function_call", "functionCall"} & value.keys())
