"""Limits a minute, by a clock of the test's own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from polymnia.transports.errors import RATE_LIMITED, RpcError
from polymnia.transports.web.state import Key, RateLimiter


class Clock:
    """A clock that goes when it is told to."""

    now = 1000.0

    def __call__(self) -> float:
        """What time it is."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


def passed(
    rates: RateLimiter, times: int, session: str = "s", *, heavy: bool = False, caller: str | None = None
) -> int:
    """How many of so many calls pass."""
    count = 0
    for _ in range(times):
        try:
            rates.take(session, heavy=heavy, caller=caller)
        except RpcError as e:
            assert e.code == RATE_LIMITED
        else:
            count += 1
    return count


def nearest(rates: RateLimiter, session: str, keys: Sequence[Key] = ()) -> tuple[str, int]:
    """The limit that the headers report, and how many calls it leaves."""
    found = dict(rates.headers(session, keys))
    return found[b"x-ratelimit-type"].decode(), int(found[b"x-ratelimit-remaining"])


def test_exactly_as_many_pass_as_the_limit_says(clock: Clock) -> None:
    rates = RateLimiter(1000, 100, 10, clock=clock)
    assert passed(rates, 130) == 100
    assert passed(rates, 130, "other") == 100


def test_after_a_minute_there_is_room_again_and_not_before(clock: Clock) -> None:
    rates = RateLimiter(1000, 100, 10, clock=clock)
    passed(rates, 130)
    clock.now += 59.9
    assert passed(rates, 1) == 0
    clock.now += 0.2
    assert passed(rates, 130) == 100


def test_refused_calls_count_for_nothing(clock: Clock) -> None:
    rates = RateLimiter(50, 100, 10, clock=clock)
    assert passed(rates, 60, "a") == 50
    assert passed(rates, 1, "b") == 0
    clock.now += 61
    assert passed(rates, 60, "b") == 50


def test_heavy_calls_are_counted_for_the_caller(clock: Clock) -> None:
    rates = RateLimiter(1000, 100, 10, clock=clock)
    assert sum(passed(rates, 3, f"session {at}", heavy=True, caller="key x") for at in range(10)) == 10
    assert passed(rates, 3, "session 0", heavy=True, caller="key y") == 3
    assert passed(rates, 3, "session 0") == 3


def test_a_refusal_names_the_option_that_raises_the_limit(clock: Clock) -> None:
    for limits, option in (
        ((1, 9, 9), "--rate-limit"),
        ((9, 1, 9), "--rate-limit-session"),
        ((9, 9, 1), "--rate-limit-heavy"),
    ):
        rates = RateLimiter(*limits, clock=clock)
        rates.take("s", heavy=True)
        with pytest.raises(RpcError) as refused:
            rates.take("s", heavy=True)
        assert isinstance(refused.value.data, dict)
        assert f"polymnia serve {option} 10" in refused.value.data["suggestions"][-1]


def test_a_refusal_says_how_long_to_wait(clock: Clock) -> None:
    rates = RateLimiter(1000, 1, 10, clock=clock)
    rates.take("s")
    clock.now += 17.5
    with pytest.raises(RpcError) as refused:
        rates.take("s")
    assert refused.value.data["retry_after"] == 43
    assert refused.value.data["details"]["retry_after"] == 43


def test_where_a_session_stands_is_told_by_the_nearest_limit(clock: Clock) -> None:
    rates = RateLimiter(1000, 100, 10, clock=clock)
    rates.take("s")
    assert nearest(rates, "s") == ("session", 99)
    for at in range(950):
        rates.take(f"other {at}")
    assert nearest(rates, "s") == ("global", 49)


def test_who_was_refused_is_told_by_which_limit_once(clock: Clock) -> None:
    rates = RateLimiter(1000, 100, 1, clock=clock)
    assert passed(rates, 2, "s", heavy=True, caller="c") == 1
    assert nearest(rates, "s", rates.counted())[0] == "heavy"
    assert nearest(rates, "s", rates.counted())[0] == "session"


@pytest.mark.long
def test_a_million_sessions_fit_into_little_memory(clock: Clock) -> None:
    rates = RateLimiter(10**9, 100, 10, clock=clock)
    for at in range(1_000_000):
        rates.take(f"s{at}")
        assert len(rates) <= 50_000
    assert passed(rates, 5, "s999999") == 5
    assert passed(rates, 200, "s999999") == 94


@pytest.mark.long
def test_a_million_refused_sessions_leave_nothing_behind(clock: Clock) -> None:
    rates = RateLimiter(1000, 100, 10, clock=clock)
    assert sum(passed(rates, 1, f"s{at}") for at in range(1_000_000)) == 1000
    assert len(rates) == 1000
    clock.now += 61
    rates.take("s")
    assert len(rates) == 1


def test_the_limit_of_all_holds_however_many_sessions_there_are(clock: Clock) -> None:
    rates = RateLimiter(60_000, 100, 10, clock=clock)
    assert sum(passed(rates, 1, f"s{at}") for at in range(70_000)) == 60_000


def test_talk_is_counted_apart_and_told_apart(clock: Clock) -> None:
    rates = RateLimiter(5, 3, 10, clock=clock)
    for left in (2, 1, 0):
        rates.talk("a")
        assert nearest(rates, "a", rates.counted())[1] == left, "of what was counted just now"
        assert nearest(rates, "a", rates.counted())[1] == 3, "and then of calls"
    with pytest.raises(RpcError, match="3 requests a minute that call nothing"):
        rates.talk("a")
    assert passed(rates, 5, "a") == 3
    rates.talk("b")
    rates.talk("b")
    with pytest.raises(RpcError, match="for all callers together"):
        rates.talk("c")
    assert passed(rates, 5, "c") == 2


def test_sessions_that_begin_are_counted_for_their_caller(clock: Clock) -> None:
    rates = RateLimiter(1000, 2, 10, clock=clock)
    rates.begin("key x")
    rates.begin("key x")
    with pytest.raises(RpcError, match="2 sessions a minute that one caller begins"):
        rates.begin("key x")
    assert nearest(rates, "key x", rates.counted())[1] == 0
    rates.begin("key y")
