"""What an operator sets for a session, and what of it the environment says."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.session.mode import ENVIRONMENT_KILL_SWITCH, ENVIRONMENT_MODE, read_switch
from toolsearch.tools.render import SMALLEST_BUDGET
from toolsearch.tools.search_tool import DEFAULT_TOKEN_BUDGET

Announcements = Literal["header", "delta"]
"""How the model learns which deferred tools there are: a list at the end of each request, or changes in the history."""

ENVIRONMENT_USER_TYPE = "USER_TYPE"
ENVIRONMENT_DELTA_FLAG = "tengu_glacier_2xr"
_DELTA_USER_TYPE = "ant"
_TRUE = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Everything about a session that is not its catalog, its provider or its search profile.

    Attributes:
        mode: As `ENABLE_SEARCH_EXTRA_TOOLS` is written: true, false, auto, auto:N; None is the default, true.
        kill_switch: As `CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS` is written; a true value switches tool search off.
        announcements: `header` or `delta`.
        context_window: Tokens that the model can read, above 0; the threshold of `auto` is a share of it.
        announcement_tokens: The most tokens of names that a list of announced tools takes, above 0; servers whose tools
            don't fit are named with their counts.
        answer_tokens: The most tokens of a search answer, at least 1000.
        prefetch: Recommend tools before the model asks.
        prefetch_limit: The most tools that one request recommends, 0..10.
        prefetch_confidence: How sure a recommendation has to be, 0..1. The default is the lowest step of 0.05 at which,
            for what users write in the development data of `builtin`, about half of the recommended tools are right.
        prefetch_deadline: Seconds that a request waits for a search in the background, at least 0; what comes later
            goes to the next turn.
        prefetch_tokens: The most tokens of a recommendation, at least 50.
        require_discovery: A tool runs only after its parameters were shown.
        default_permission: What happens where a tool leaves the permission to the host: `allow`, `deny` or `ask`.
        call_timeout: Seconds that one tool may take, above 0; None is no limit.
        output_schema: What `SyntheticOutput` must hand over; None is any JSON object.
    """

    mode: str | None = None
    kill_switch: str | None = None
    announcements: Announcements = "header"
    context_window: int = 200_000
    announcement_tokens: int = 4_000
    answer_tokens: int = DEFAULT_TOKEN_BUDGET
    prefetch: bool = True
    prefetch_limit: int = 3
    prefetch_confidence: float = 0.45
    prefetch_deadline: float = 0.5
    prefetch_tokens: int = 350
    require_discovery: bool = False
    default_permission: Literal["allow", "deny", "ask"] = "allow"
    call_timeout: float | None = None
    output_schema: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check every setting; all problems at once."""
        problems = [
            f"{name} is {getattr(self, name)!r}; it must be {accepted}"
            for name, accepted, good in _CHECKS
            if not good(getattr(self, name))
        ]
        if problems:
            raise UsageError("settings of the session are not valid:\n" + "\n".join(problems))

    def replace(self, **changes: Any) -> SessionSettings:
        """A copy with some settings changed; checked as a new one is.

        Raises:
            UsageError: A setting that does not exist, or a value that is not accepted.
        """
        known = [field.name for field in dataclasses.fields(self)]
        unknown = sorted(set(changes) - set(known))
        if unknown:
            raise UnknownNameError("setting", unknown[0], known)
        return dataclasses.replace(self, **changes)


def settings_from_env(
    environ: Mapping[str, str], base: SessionSettings | None = None
) -> tuple[SessionSettings, tuple[str, ...]]:
    """Apply what the environment says to a session's settings.

    Args:
        environ: The environment, usually `os.environ`; never read at import.
        base: The settings that stand where the environment says nothing; the defaults if None.

    Returns:
        The settings, and the warnings about values that are none of the accepted ones. `USER_TYPE=ant` or a true
        `tengu_glacier_2xr` (any letter case) switches announcements to `delta`.

    >>> settings_from_env({"ENABLE_SEARCH_EXTRA_TOOLS": "auto:15", "USER_TYPE": "ant"})[0].announcements
    'delta'
    """
    settings = base or SessionSettings()
    changes: dict[str, Any] = {}
    if ENVIRONMENT_MODE in environ:
        changes["mode"] = environ[ENVIRONMENT_MODE]
    if ENVIRONMENT_KILL_SWITCH in environ:
        changes["kill_switch"] = environ[ENVIRONMENT_KILL_SWITCH]
    flags = [value for name, value in environ.items() if name.casefold() == ENVIRONMENT_DELTA_FLAG and value.strip()]
    if environ.get(ENVIRONMENT_USER_TYPE) == _DELTA_USER_TYPE or any(flag.strip().lower() in _TRUE for flag in flags):
        changes["announcements"] = "delta"
    settings = settings.replace(**changes) if changes else settings
    return settings, read_switch(settings.mode, settings.kill_switch).warnings


def _whole(low: int, high: float = math.inf) -> Any:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _number(low: float, high: float = math.inf, *, above: bool = False) -> Any:
    def good(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return (low < value if above else low <= value) and value <= high

    return good


def _either(*accepted: type | None) -> Any:
    kinds = tuple(each for each in accepted if each is not None)
    return lambda value: (value is None and None in accepted) or isinstance(value, kinds)


_CHECKS: tuple[tuple[str, str, Any], ...] = (
    ("mode", "a text or None", _either(str, None)),
    ("kill_switch", "a text or None", _either(str, None)),
    ("announcements", "'header' or 'delta'", lambda value: value in ("header", "delta")),
    ("context_window", "a whole number above 0", _whole(1)),
    ("announcement_tokens", "a whole number above 0", _whole(1)),
    ("answer_tokens", f"a whole number of at least {SMALLEST_BUDGET}", _whole(SMALLEST_BUDGET)),
    ("prefetch", "True or False", _either(bool)),
    ("prefetch_limit", "a whole number, 0 to 10", _whole(0, 10)),
    ("prefetch_confidence", "a number, 0 to 1", _number(0.0, 1.0)),
    ("prefetch_deadline", "a number of seconds, at least 0", _number(0.0)),
    ("prefetch_tokens", "a whole number of at least 50", _whole(50)),
    ("require_discovery", "True or False", _either(bool)),
    ("default_permission", "'allow', 'deny' or 'ask'", lambda value: value in ("allow", "deny", "ask")),
    (
        "call_timeout",
        "a number of seconds above 0, or None",
        lambda value: value is None or _number(0.0, above=True)(value),
    ),
    ("output_schema", "a JSON Schema (a mapping) or None", _either(Mapping, None)),
)
