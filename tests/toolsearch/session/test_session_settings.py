"""The settings of a session, by argument and by environment."""

from typing import Any

import pytest

from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.session.settings import SessionSettings, settings_from_env


def test_an_empty_environment_changes_nothing() -> None:
    """Without variables the settings are the defaults, without warnings."""
    assert settings_from_env({}) == (SessionSettings(), ())


@pytest.mark.parametrize(
    ("environ", "announcements"),
    [
        ({"USER_TYPE": "ant"}, "delta"),
        ({"USER_TYPE": "ANT"}, "header"),
        ({"USER_TYPE": "external"}, "header"),
        ({"tengu_glacier_2xr": "1"}, "delta"),
        ({"TENGU_GLACIER_2XR": "true"}, "delta"),
        ({"tengu_glacier_2xr": "0"}, "header"),
        ({"tengu_glacier_2xr": ""}, "header"),
        ({"USER_TYPE": "external", "tengu_glacier_2xr": "on"}, "delta"),
    ],
)
def test_the_guides_switches_turn_delta_on(environ: dict[str, str], announcements: str) -> None:
    """The user type or the feature flag switches to delta announcements; nothing else does."""
    assert settings_from_env(environ)[0].announcements == announcements


def test_the_environment_gives_mode_and_kill_switch_with_warnings() -> None:
    """Both switches are taken over as written, and values that are none of the accepted ones are warned about."""
    environ = {"ENABLE_SEARCH_EXTRA_TOOLS": "ture", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "maybe"}
    settings, warnings = settings_from_env(environ)
    assert (settings.mode, settings.kill_switch) == ("ture", "maybe")
    assert len(warnings) == 2


def test_the_environment_keeps_what_the_base_says() -> None:
    """Settings that the environment does not name stay as the caller gave them."""
    base = SessionSettings(announcements="delta", context_window=1_000, mode="auto")
    assert settings_from_env({"USER_TYPE": "other"}, base)[0] == base


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("mode", 1),
        ("kill_switch", True),
        ("announcements", "both"),
        ("context_window", 0),
        ("context_window", True),
        ("announcement_tokens", 0),
        ("answer_tokens", 999),
        ("prefetch", "yes"),
        ("prefetch_limit", -1),
        ("prefetch_limit", 11),
        ("prefetch_confidence", 1.5),
        ("prefetch_confidence", float("nan")),
        ("prefetch_deadline", -1),
        ("prefetch_tokens", 10),
        ("require_discovery", 1),
        ("default_permission", "maybe"),
        ("call_timeout", 0),
        ("call_timeout", float("inf")),
        ("output_schema", "object"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(setting: str, value: Any) -> None:
    """A value that is not accepted is an error that names setting, value and what is accepted."""
    with pytest.raises(UsageError, match=f"{setting} is .*must be"):
        SessionSettings(**{setting: value})


def test_all_bad_settings_are_reported_at_once() -> None:
    """Several bad values make one error with a line each."""
    with pytest.raises(UsageError) as caught:
        SessionSettings(context_window=0, prefetch_limit=99)
    assert "context_window" in str(caught.value)
    assert "prefetch_limit" in str(caught.value)


def test_an_unknown_setting_is_refused_with_near_names() -> None:
    """A setting that does not exist names the near one."""
    with pytest.raises(UnknownNameError, match="prefetch_limit"):
        SessionSettings().replace(prefetch_limits=2)
