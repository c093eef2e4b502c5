"""The limits of several processes, where what they share cannot be reached."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from polymnia.errors import Busy
from polymnia.transports.log import Log
from polymnia.transports.web.shared_rates import SharedRateLimiter


class Silent:
    """A shared state that fails, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def take(self, *_: object) -> NoReturn:
        """Fails."""
        self.asked += 1
        raise Busy("not now")


@pytest.mark.promise("network.workers.rates")
def test_a_shared_state_that_fails_is_not_asked_again_for_every_client(monkeypatch: pytest.MonkeyPatch) -> None:
    silent: Any = Silent()
    rates = SharedRateLimiter(1000, 100, 10, 100, silent, lambda: 2, Log("emergency", "text"))
    times = [1000.0]
    monkeypatch.setattr(rates, "_clock", lambda: times[0])
    for number in range(20):
        rates.take(f"session {number}", heavy=False, caller=None)
    assert silent.asked == 1
    times[0] += 6
    rates.take("another", heavy=False, caller=None)
    assert silent.asked == 2
