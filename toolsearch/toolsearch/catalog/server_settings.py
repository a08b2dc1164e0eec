"""What an operator writes about servers, as in `{"github": {"defer": false}}`, read and every slip reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.names import shown
from toolsearch.catalog.snapshot import DEFER_CHOICES
from toolsearch.errors import near_names

SETTINGS = ("defer",)
"""What can be set for a server."""


def read_server_settings(servers: Mapping[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The `defer` setting by server, as `ToolRegistry` takes it.

    Args:
        servers: Settings by server. `defer` may be true (always), false (never), `always`, `never` or `by-mode`.

    Returns:
        The settings that are good, and a warning for each that is not: an unknown name (with near ones) or value. What
        is reported has no effect.

    >>> read_server_settings({"kit": {"defer": False}, "hub": {"deffer": True}})
    ({'kit': 'never'}, ("server 'hub' has no setting 'deffer'; accepted: defer. Did you mean defer?",))
    """
    chosen: dict[str, str] = {}
    warnings: list[str] = []
    for server in sorted(servers):
        settings = servers[server]
        if not isinstance(settings, Mapping):
            warnings.append(f"the settings of server {shown(server)} are no object; accepted: {', '.join(SETTINGS)}.")
            continue
        for name, value in settings.items():
            if name not in SETTINGS:
                near = near_names(str(name), SETTINGS)
                hint = f" Did you mean {near[0]}?" if near else ""
                warnings.append(
                    f"server {shown(server)} has no setting {shown(str(name))}; accepted: {', '.join(SETTINGS)}.{hint}"
                )
            elif isinstance(value, bool):
                chosen[server] = "always" if value else "never"
            elif value in DEFER_CHOICES:
                chosen[server] = value
            else:
                warnings.append(
                    f"defer of server {shown(server)} is {shown(str(value))}; accepted: true, false, "
                    f"{', '.join(DEFER_CHOICES)}."
                )
    return chosen, tuple(warnings)
