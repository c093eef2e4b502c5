"""Calls that are done in no time run where they came in; all others on threads beside it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from polymnia.transports.web import workers
from polymnia.transports.web.workers import Workers


class Clock:
    """Time as a call takes it."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.computed = 0.0

    def perf_counter(self) -> float:
        return self.passed

    def thread_time(self) -> float:
        return self.computed


class Work:
    """A call of one kind that takes as long as it is told."""

    label = "read"
    writes = False

    def __init__(self, clock: Clock, seconds: float, computed: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._computed = computed
        self.ran_in = 0
        self.ended = threading.Event()

    def run(self) -> None:
        self.ran_in = threading.get_ident()
        self._clock.passed += self._seconds
        self._clock.computed += self._computed
        self.ended.set()


@pytest.fixture
def runs_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[bool]]]:
    """Run calls that take so many seconds and compute so many of them; answers for each whether it ran right here."""
    clock = Clock()
    monkeypatch.setattr(workers, "time", clock)
    crew = Workers(1)
    crew.home = threading.get_ident()

    def run(*takes: tuple[float, float]) -> list[bool]:
        async def main() -> list[bool]:
            found = []
            for seconds, computed in takes:
                work: Any = Work(clock, seconds, computed)
                crew.run(work)
                assert work.ended.wait(30)
                assert crew.finish(30)
                found.append(work.ran_in == threading.get_ident())
            return found

        return asyncio.run(main())

    yield run
    crew.close()


QUICK, UNLUCKY, LONG = (0.0001, 0.0001), (0.02, 0.0001), (0.02, 0.02)
Runs = Callable[..., list[bool]]


def test_a_kind_of_call_runs_here_once_it_is_known_to_be_quick(runs_here: Runs) -> None:
    found = runs_here(*[QUICK] * 30)
    assert found == [False] * 20 + [True] * 10


def test_one_that_lost_its_core_for_a_while_changes_nothing(runs_here: Runs) -> None:
    runs_here(*[QUICK] * 20)
    assert all(runs_here(*[UNLUCKY, QUICK, QUICK, QUICK] * 10))


def test_what_waits_again_and_again_goes_to_the_threads(runs_here: Runs) -> None:
    runs_here(*[QUICK] * 20)
    assert runs_here(*[UNLUCKY] * 4) == [True, True, False, False]


def test_what_computes_long_now_and_then_goes_to_the_threads(runs_here: Runs) -> None:
    runs_here(*[QUICK] * 20)
    assert runs_here(LONG, QUICK, LONG, QUICK, QUICK) == [True, True, True, False, False]


def test_what_had_to_wait_for_its_turn_on_a_thread_is_none_the_slower_for_it(runs_here: Runs) -> None:
    runs_here(*[UNLUCKY] * 20)
    assert runs_here(QUICK) == [True]
