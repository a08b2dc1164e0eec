from __future__ import annotations

import pytest

from toolsearch_eval.data import load_data
from toolsearch_eval.figures.outputs import CommandFailed
from toolsearch_eval.figures.tuned import measure_tuned


def test_a_profile_is_tuned_on_dev_alone_and_shown_beside_itself() -> None:
    """The line holds the mean of the profile as it ships, what the same queries gain, and what unseen groups gain."""
    block = measure_tuned("builtin", today="2026-01-02", studies={"reference": 4})
    (line,) = block.tables[0].lines
    assert (line["profile"], line["trials"]) == ("reference", 4)
    shipped, tuned = line["nDCG@10 as it ships"], line["tuned, same queries"]
    assert isinstance(shipped, float) and isinstance(tuned, float) and 0.4 < shipped <= tuned < 0.8
    gain = line["gain on unseen groups"]
    assert isinstance(gain, dict) and gain["low"] <= gain["difference"] <= gain["high"]
    assert block.fingerprints["builtin"] == load_data("builtin").fingerprint


def test_a_set_that_the_tuner_refuses_is_told_with_its_words() -> None:
    """Where the tuner gives up, its exit code and its reason are passed on."""
    with pytest.raises(CommandFailed, match=r"gave 2: .*groups"):
        measure_tuned("tiny", today="2026-01-02", studies={"reference": 4})
