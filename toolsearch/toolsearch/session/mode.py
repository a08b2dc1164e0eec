"""Whether tools are deferred in a session, decided once, with the reason and every warning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.names import shown
from toolsearch.catalog.snapshot import Snapshot
from toolsearch.catalog.tool import Tool
from toolsearch.errors import near_names
from toolsearch.tokens import TokenCounter

ENVIRONMENT_MODE = "ENABLE_SEARCH_EXTRA_TOOLS"
ENVIRONMENT_KILL_SWITCH = "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"

Mode = Literal["tst", "tst-auto", "standard"]
"""`tst`: tools are deferred. `tst-auto`: they are if they cost enough. `standard`: all tools are in the request."""

Reason = Literal[
    "deferred",
    "above_threshold",
    "below_threshold",
    "server_always",
    "switched_off",
    "kill_switch",
    "unavailable",
]
"""Why; `server_always`: below the threshold, but the tools of a server are set to be deferred always."""

REASONS: tuple[Reason, ...] = get_args(Reason)

DEFAULT_PERCENT = 10
"""Of the context window; where `auto` starts to defer."""

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")
_ACCEPTED = "true, false, auto or auto:N with N from 0 to 100"
_AUTO = "auto"
_SEARCH, _EXECUTE = SYNTHETIC_TOOLS[:2]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeDecision:
    """What was decided, and why; frozen for the session.

    Attributes:
        mode: The mode that is in force; `standard` too when search or proxy can't be used.
        reason: Why.
        warnings: What the operator should know: values that are none of the accepted ones, what was disabled.
        threshold_tokens: In `tst-auto`: from how many tokens of deferred definitions on tools are deferred; else None.
        deferred_tokens: In `tst-auto`: how many tokens they have; else None.
    """

    mode: Mode
    reason: Reason
    warnings: tuple[str, ...] = ()
    threshold_tokens: int | None = None
    deferred_tokens: int | None = None

    @property
    def enabled(self) -> bool:
        """Whether tools are deferred and the search is offered."""
        return self.reason in ("deferred", "above_threshold", "server_always")


@dataclass(frozen=True, slots=True)
class Switch:
    """What the two switches of the environment ask for, before anything is counted.

    Attributes:
        mode: The mode they name.
        percent: The threshold of `tst-auto`, 1..99; DEFAULT_PERCENT elsewhere, without a meaning.
        killed: The kill switch decided.
        warnings: Values that are none of the accepted ones.
    """

    mode: Mode
    percent: int = DEFAULT_PERCENT
    killed: bool = False
    warnings: tuple[str, ...] = ()


def read_switch(value: str | None, kill_switch: str | None = None) -> Switch:
    """Read the mode and the kill switch as an operator writes them.

    Args:
        value: What `ENABLE_SEARCH_EXTRA_TOOLS` says. None or blank: the default, `tst`. `1/true/yes/on` and
            `0/false/no/off` count in any letter case, blanks around them forgiven; `auto` and `auto:N` as they stand.
            A number is moved into 0..100, where 0 means always and 100 never. Anything else keeps the default and is
            a warning.
        kill_switch: What `CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS` says; a true value decides, whatever `value` is.

    >>> read_switch("auto:15").percent, read_switch("false").mode, read_switch("true", "1").mode
    (15, 'standard', 'standard')
    >>> read_switch("ture").warnings[0].split(";")[0]
    "ENABLE_SEARCH_EXTRA_TOOLS is 'ture'"
    """
    warnings: list[str] = []
    killed = _is_true(kill_switch)
    if not killed and kill_switch is not None and kill_switch.strip() and not _is_false(kill_switch):
        warnings.append(
            f"{ENVIRONMENT_KILL_SWITCH} is {shown(kill_switch)}; accepted: {', '.join(_TRUE)} to switch off, "
            f"{', '.join(_FALSE)} not to. It is not applied."
        )
    if killed:
        return Switch("standard", killed=True)
    if value is None or not value.strip() or _is_true(value):
        return Switch("tst", warnings=tuple(warnings))
    if _is_false(value):
        return Switch("standard", warnings=tuple(warnings))
    if value == _AUTO:
        return Switch("tst-auto", warnings=tuple(warnings))
    if value.startswith(f"{_AUTO}:"):
        return _automatic(value, warnings)
    warnings.append(
        f"{ENVIRONMENT_MODE} is {shown(value)}; accepted: {_ACCEPTED}.{_meant(value)} The default, true, is used."
    )
    return Switch("tst", warnings=tuple(warnings))


def decide_mode(
    value: str | None = None,
    *,
    kill_switch: str | None = None,
    context_window: int,
    deferred_tokens: Callable[[], int] = lambda: 0,
    unavailable: str = "",
    always_deferred: Iterable[str] = (),
) -> ModeDecision:
    """Decide whether tools are deferred.

    Args:
        value: See `read_switch`.
        kill_switch: See `read_switch`.
        context_window: Tokens that the model can read, above 0.
        deferred_tokens: Counts the deferred definitions; called in `tst-auto` only.
        unavailable: Why search or proxy can't be used; "" when both can. Then both are off and all tools are loaded.
        always_deferred: Servers whose tools are set to be deferred always.

    Returns:
        The decision. Tools are deferred from the threshold on: percent of the window, rounded down, nothing deducted.
    """
    switch = read_switch(value, kill_switch)
    warnings = list(switch.warnings)
    servers = sorted(always_deferred)
    if unavailable and switch.mode != "standard":
        warnings.append(f"{unavailable}, so search and proxy are both off and all tools are loaded.")
        return ModeDecision(mode="standard", reason="unavailable", warnings=tuple(warnings))
    if switch.mode == "standard":
        if servers:
            warnings.append(
                f"tools of {', '.join(map(shown, servers))} are set to be deferred always, but tool search is switched "
                "off: they are loaded."
            )
        reason: Reason = "kill_switch" if switch.killed else "switched_off"
        return ModeDecision(mode="standard", reason=reason, warnings=tuple(warnings))
    if switch.mode == "tst":
        return ModeDecision(mode="tst", reason="deferred", warnings=tuple(warnings))
    threshold = context_window * switch.percent // 100
    tokens = deferred_tokens()
    reason = "above_threshold" if tokens >= threshold else "server_always" if servers else "below_threshold"
    return ModeDecision(
        mode="tst-auto",
        reason=reason,
        warnings=tuple(warnings),
        threshold_tokens=threshold,
        deferred_tokens=tokens,
    )


def is_enabled_optimistic(value: str | None, kill_switch: str | None = None) -> bool:
    """Whether tools may be deferred, nothing counted: what decides if the synthetic tools are registered at all."""
    return read_switch(value, kill_switch).mode != "standard"


def is_enabled(
    value: str | None,
    kill_switch: str | None = None,
    *,
    context_window: int,
    deferred_tokens: Callable[[], int],
    unavailable: str = "",
) -> bool:
    """Whether tools are deferred, all told: what decides how a request is built."""
    decision = decide_mode(
        value,
        kill_switch=kill_switch,
        context_window=context_window,
        deferred_tokens=deferred_tokens,
        unavailable=unavailable,
    )
    return decision.enabled


def unavailable_reason(snapshot: Snapshot, in_scope: Callable[[str], bool]) -> str:
    """Why search or proxy can't be used in a session, or "" when both can; see `unavailable_name`."""
    reasons = (unavailable_name(name, snapshot, in_scope) for name in (_SEARCH, _EXECUTE))
    return " and ".join(filter(None, reasons))


def unavailable_name(name: str, snapshot: Snapshot, in_scope: Callable[[str], bool]) -> str:
    """Why a synthetic tool can't be used in a session, or "" when it can.

    Args:
        name: The synthetic tool.
        snapshot: The catalog; a synthetic tool that it doesn't hold is fine, one that it denies or that says that it
            is not enabled can't be used.
        in_scope: Whether an agent's tool list holds a name.
    """
    tool = snapshot.get(name)
    if name in snapshot.denied_synthetic:
        return f"{name} is denied"
    if not in_scope(name):
        return f"{name} is not in the agent's tool list"
    return f"{name} is disabled" if tool is not None and _says_disabled(tool) else ""


def definition_tokens(tools: Iterable[Tool], counter: TokenCounter) -> int:
    """What the definitions of tools cost in a request, each as compact JSON."""
    return sum(counter.count(definition_text(tool)) for tool in tools)


def definition_text(tool: Tool) -> str:
    """A tool's definition as compact JSON."""
    definition = {
        "name": tool.name,
        "description": tool.description or "",
        "input_schema": tool.input_schema if tool.input_schema is not None else {"type": "object"},
    }
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))


def _automatic(value: str, warnings: list[str]) -> Switch:
    written = value[len(_AUTO) + 1 :]
    number = re.match(r"\s*([+-]?)([0-9]+)", written)
    if number is None:
        warnings.append(
            f"{ENVIRONMENT_MODE} is {shown(value)}; accepted: {_ACCEPTED}. {DEFAULT_PERCENT} percent is used."
        )
        return Switch("tst-auto", warnings=tuple(warnings))
    digits = number[2].lstrip("0") or "0"
    # Beyond four digits it is far above 100, and Python refuses to read thousands of digits.
    size = int(digits) if len(digits) <= 4 else 1000
    percent = min(100, max(0, -size if number[1] == "-" else size))
    if written.strip().removeprefix("+") != str(percent):
        warnings.append(
            f"{ENVIRONMENT_MODE} is {shown(value)}; accepted: {_ACCEPTED}. It is read as {percent} percent."
        )
    if percent == 0:
        return Switch("tst", warnings=tuple(warnings))
    if percent == 100:
        return Switch("standard", warnings=tuple(warnings))
    return Switch("tst-auto", percent, warnings=tuple(warnings))


def _meant(value: str) -> str:
    folded = value.strip().casefold()
    if folded == "standard":
        return " To switch tool search off, write false."
    if folded == "tst":
        return " To switch tool search on, write true."
    if folded.startswith(_AUTO) or folded == "tst-auto":
        return " For a threshold, write auto or auto:N, in small letters and without blanks."
    near = near_names(folded, (*_TRUE, *_FALSE, _AUTO))
    return f" Did you mean {near[0]}?" if near else ""


def _is_true(value: str | None) -> bool:
    return value is not None and value.strip().lower() in _TRUE


def _is_false(value: str | None) -> bool:
    return value is not None and value.strip().lower() in _FALSE


def _says_disabled(tool: Tool) -> bool:
    if tool.is_enabled is None:
        return False
    try:
        said: object = tool.is_enabled()
    except Exception:
        # A check that fails can't vouch for the tool.
        return True
    # A tool may say why not beside its answer.
    return (said[0] if isinstance(said, tuple) and said else said) is not True
