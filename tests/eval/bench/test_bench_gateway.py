from __future__ import annotations

import json

import pytest

from toolsearch_eval.cli.main import main


def test_the_gateway_is_measured_beside_direct_calls(capsys: pytest.CaptureFixture[str]) -> None:
    """Every line is there, calls stand beside direct ones, and each figure was really measured."""
    assert main(["bench", "--gateway", "2:6", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert [(case["case"], case["other"]) for case in measured["cases"]] == [
        ("gateway start, 2 servers", "connect and list, one by one"),
        ("call by the gateway, p50", "direct"),
        ("call by the gateway, p95", "direct"),
        ("call by the gateway, p50", "a bare relay"),
        ("call by the gateway, p95", "a bare relay"),
        ("processor time of a call, p50", "direct"),
        ("processor time of a call, p50", "a bare relay"),
        ("search, p50", None),
        ("search, p95", None),
    ]
    assert all(case["ours_ms"] > 0 for case in measured["cases"])
    assert measured["megabytes"] > 0


@pytest.mark.parametrize("given", ["20", "a:b", "0:5", "5:2", "1:2:3", ""])
def test_wrong_counts_are_said(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts that are none end with 2 and an example."""
    assert main(["bench", "--gateway", given]) == 2
    assert "20:1000" in capsys.readouterr().err
