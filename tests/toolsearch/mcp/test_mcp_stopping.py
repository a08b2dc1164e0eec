"""Signals that tell a serving program to end."""

from __future__ import annotations

import signal

import anyio
import pytest

from toolsearch.mcp.stopping import told_to_end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_told_and_does_nothing_else(number: signal.Signals) -> None:
    """The signal is seen, also a second time, and what is under way goes on; afterwards it acts as before."""

    async def main() -> None:
        async with told_to_end() as told:
            assert not told.is_set()
            for _ in range(2):
                signal.raise_signal(number)
                with anyio.fail_after(20):
                    await told.wait()
                await anyio.sleep(0)

    before = signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
    try:
        anyio.run(main)
        assert signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)
    finally:
        signal.signal(number, before)


def test_an_ignored_signal_stays_ignored() -> None:
    """A program that was started to outlive its terminal does."""

    async def main() -> bool:
        async with told_to_end() as told:
            signal.raise_signal(signal.SIGHUP)
            await anyio.sleep(0.01)
            return told.is_set()

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert not anyio.run(main)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
