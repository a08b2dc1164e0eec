"""What every provider of models does for a session, and the values that pass between them.

A provider turns a history and the tools into the arguments of one call of its own client, and what comes back into
calls and history entries. It holds no state. The history stays in the provider's own form, as dicts or as the objects
of its client, mixed as they come; only attachments have a form of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.session.providers.names import NameMap

Render = Callable[[Mapping[str, Any]], str]
"""Gives the text of an attachment's value; an empty text leaves the attachment out."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model made.

    Attributes:
        id: The provider's id of the call; made up (`call-1`, in order) when it gave none.
        name: The tool's own name.
        arguments: The arguments, or the raw string when it is not a JSON object.
        sent_name: The name at the provider; "" means: as `name`.
        has_id: The id is the provider's own, so the result carries it.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    sent_name: str = ""
    has_id: bool = True


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave.

    Attributes:
        call: The call that is answered.
        text: What the model reads; may be empty.
        is_error: The call failed.
        blocks: What is not plain text, as MCP content blocks (`image`, `audio`, `resource`, `resource_link`, `text`) or
            `{"type": "structured", "value": …}`; each goes in the provider's own form, or as a note where it has none.
        answer: The same as a value, for programs: a `SearchAnswer`, an `Execution` or an `OutputAnswer`; None where the
            outcome was made by a host. Nothing of it is sent.
    """

    call: ToolCall
    text: str
    is_error: bool = False
    blocks: tuple[Mapping[str, Any], ...] = ()
    answer: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ProviderTools:
    """The tools of a request in the provider's form.

    Attributes:
        array: What goes into the request, in the order of the tools.
        names: How names and parameters are called there.
        warnings: What had to be left out of a schema or a text, one line each.
    """

    array: list[dict[str, Any]]
    names: NameMap = field(default_factory=NameMap)
    warnings: tuple[str, ...] = ()


class Provider(Protocol):
    """One provider's API.

    Attributes:
        name: As `provider_for` takes it.
    """

    @property
    def name(self) -> str:
        """As `provider_for` takes it."""
        ...

    def tools(self, tools: Sequence[Tool]) -> ProviderTools:
        """The tools in the provider's form; what it refuses in a schema is reduced, with a warning."""
        ...

    def payload(
        self,
        *,
        model: str,
        system: str | None,
        tools: ProviderTools,
        history: Sequence[Any],
        render: Render,
        tail: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The keyword arguments of one call of the provider's client.

        Args:
            model: As the provider calls it.
            system: The system prompt; blank means none.
            tools: From `tools`.
            history: Messages in the provider's own form (dicts or its client's objects, whole responses too) and
                attachments. It is not changed.
            render: Gives the text of an attachment; it goes as user text inside a system reminder.
            tail: Text that ends this one request, behind the last cache mark; it is in no later request.
            options: Further arguments, passed on (tool choices under the provider's names).

        Returns:
            Plain JSON values. Everything before the tail stands at the same place in the next request, as long as the
            history only grows and calls are answered before the model speaks again. A call without a result gets one
            that says so, and a result without its call is told as text, so that any history can be sent.

        Raises:
            UsageError: An entry that can't be read, nothing to send, or an option that is ours to set.
        """
        ...

    def calls(self, response: Any, names: NameMap) -> tuple[ToolCall, ...]:
        """The calls of a response (the client's object, final message of a stream, or a dict), in order."""
        ...

    def reply(self, response: Any) -> list[dict[str, Any]]:
        """The entries that a response adds to the history; none when it holds nothing that can be sent back."""
        ...

    def results(self, outcomes: Sequence[ToolOutcome]) -> list[dict[str, Any]]:
        """The entries that answer the calls of one turn."""
        ...

    def user(self, text: str) -> dict[str, Any]:
        """The entry of a user's text."""
        ...

    def speech(self, entry: Any) -> tuple[Literal["user", "assistant"], str] | None:
        """What a user or the model said in an entry; None for results, attachments, reminders and silence."""
        ...


def tool_call(names: NameMap, sent: Any, arguments: Mapping[str, Any] | str, identity: Any, place: int) -> ToolCall:
    """A call under the tool's own name and parameters.

    Args:
        names: How the tools of the request were called.
        sent: The name that the model gave.
        arguments: As the model gave them.
        identity: The provider's id, if there is one.
        place: The 1-based place among the calls of the response.
    """
    name = names.to_tool(str(sent or ""))
    real = names.arguments(name, arguments)
    return ToolCall(str(identity or f"call-{place}"), name, real, str(sent or ""), bool(identity))


def nothing_to_send() -> UsageError:
    """What is raised for a request without any message."""
    return UsageError("there is nothing to send: the history is empty. Begin it with the provider's `user(text)`.")


def checked_options(
    provider: str, options: Mapping[str, Any] | None, reserved: Sequence[str], names: NameMap
) -> dict[str, Any]:
    """The options of a request, choices of tools under the provider's names.

    Raises:
        UsageError: An option that the session sets itself.
    """
    given = dict(options or {})
    taken = [key for key in reserved if key in given]
    if taken:
        raise UsageError(
            f"{', '.join(taken)} can't be given to a request of {provider!r}: the session makes it from the history, "
            "the system prompt and the catalog. Leave it out; put a system prompt into `system`."
        )
    for key in ("tool_choice", "tool_config", "toolConfig"):
        if key in given:
            given[key] = names.choice(given[key])
    return given
