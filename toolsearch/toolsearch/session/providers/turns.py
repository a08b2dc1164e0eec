"""The order of a conversation that every provider accepts: each call answered, directly behind it and once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Item:
    """A message, or a part of one, on its way into a request.

    Attributes:
        role: Whose it is; `other` for what the host put in under a role of its own.
        value: The message or part in the provider's form.
        calls: The keys of the calls in it, in order.
        answers: The key of the call that it answers; "" when it is no result.
    """

    role: Literal["user", "assistant", "other"]
    value: Any
    calls: tuple[str, ...] = ()
    answers: str = ""


def in_order(
    items: Iterable[Item], *, missing: Callable[[str], Item], stray: Callable[[Item], Item | None]
) -> list[Item]:
    """The items with each call's result directly behind the calls of its turn, in the order of the calls.

    What stood between calls and results (attachments, texts) comes behind the results.

    Args:
        items: In the order of the history.
        missing: Makes the result of a call that has none before the model speaks again.
        stray: Makes an ordinary item of a result whose call is not in its turn, or was answered before; None drops it.

    Returns:
        The items in order. An item that answers nothing keeps its place among its kind.
    """
    ordered: list[Item] = []
    pending = list(items)
    place = 0
    while place < len(pending):
        start = place
        while place < len(pending) and pending[place].role == "assistant":
            place += 1
        turn = pending[start:place]
        start = place
        while place < len(pending) and pending[place].role != "assistant":
            place += 1
        ordered.extend(turn)
        calls = tuple(dict.fromkeys(call for item in turn for call in item.calls))
        ordered.extend(_behind(calls, pending[start:place], missing, stray))
    return ordered


def _behind(
    calls: tuple[str, ...],
    items: list[Item],
    missing: Callable[[str], Item],
    stray: Callable[[Item], Item | None],
) -> list[Item]:
    results: dict[str, Item] = {}
    rest: list[Item] = []
    for item in items:
        if not item.answers:
            rest.append(item)
        elif item.answers in calls and item.answers not in results:
            results[item.answers] = item
        else:
            made = stray(item)
            if made is not None:
                rest.append(made)
    return [results.get(call) or missing(call) for call in calls] + rest
