"""Calls of one client: writes in their order, reads after the writes before them and beside everything else.

Calls of a network server: those that are done in no time run where they came in, all others on threads beside it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from polymnia.transports import scheduler
from polymnia.transports.scheduler import CallQueue, CallScheduler

_DEADLINE = 30.0
_MOMENT = 0.05  # how long something that must not happen is given to happen


class Work:
    """A call as the queue sees it. It begins, waits until it may go on, and ends."""

    def __init__(self, log: list[str], name: str, *, writes: bool, held: bool = False) -> None:
        self.name = name
        self.writes = writes
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self._log = log
        if not held:
            self.may_end.set()

    def run(self) -> None:
        self._log.append(f"{self.name} begins")
        self.begun.set()
        assert self.may_end.wait(_DEADLINE)
        self._log.append(f"{self.name} ends")


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def queue() -> Any:
    # What is given to it is not quite a call; it has all that a queue may use of one.
    return CallQueue(CallScheduler(5))


Make = Callable[..., Work]


@pytest.fixture
def write(log: list[str]) -> Make:
    return lambda name, held=False: Work(log, name, writes=True, held=held)


@pytest.fixture
def read(log: list[str]) -> Make:
    return lambda name, held=False: Work(log, name, writes=False, held=held)


def test_writes_run_one_after_another_in_the_order_they_came(queue: Any, write: Make, log: list[str]) -> None:
    writes = [write(f"{number}", held=number == 0) for number in range(20)]
    for work in writes:
        queue.submit(work)
    assert writes[0].begun.wait(_DEADLINE)
    assert not writes[1].begun.wait(_MOMENT)
    writes[0].may_end.set()
    queue.finish()
    assert log == [f"{number} {what}" for number in range(20) for what in ("begins", "ends")]


def test_a_read_waits_for_the_writes_before_it(queue: Any, write: Make, read: Make, log: list[str]) -> None:
    first, second, reading = write("first", held=True), write("second"), read("read")
    for work in (first, second, reading):
        queue.submit(work)
    assert first.begun.wait(_DEADLINE)
    assert not reading.begun.wait(_MOMENT)
    first.may_end.set()
    queue.finish()
    assert log.index("second ends") < log.index("read begins")


def test_a_read_does_not_wait_for_the_writes_after_it(queue: Any, write: Make, read: Make) -> None:
    first, reading, second = write("first", held=True), read("read", held=True), write("second", held=True)
    queue.submit(first)
    queue.submit(reading)
    queue.submit(second)
    first.may_end.set()
    assert reading.begun.wait(_DEADLINE)
    assert second.begun.wait(_DEADLINE)  # while the read still runs: a write waits for no read either
    second.may_end.set()
    reading.may_end.set()
    queue.finish()


def test_reads_run_beside_each_other(queue: Any, read: Make) -> None:
    reads = [read(f"{number}", held=True) for number in range(4)]
    for work in reads:
        queue.submit(work)
    for work in reads:
        assert work.begun.wait(_DEADLINE)
    for work in reads:
        work.may_end.set()
    queue.finish()


def test_more_reads_than_run_at_once_all_come_to_their_end(queue: Any, read: Make, log: list[str]) -> None:
    reads = [read(f"{number}", held=True) for number in range(30)]
    for work in reads:
        queue.submit(work)
    for work in reads:
        work.may_end.set()
    queue.finish()
    assert sorted(log) == sorted(f"{number} {what}" for number in range(30) for what in ("begins", "ends"))


def test_what_runs_on_the_reading_thread_counts_too(queue: Any, write: Make, read: Make, log: list[str]) -> None:
    here, reading, after = write("here", held=True), read("read"), write("after")
    thread = threading.Thread(target=queue.run_here, args=(here,))
    thread.start()
    assert here.begun.wait(_DEADLINE)
    assert not queue.is_idle
    queue.submit(reading)
    queue.submit(after)
    assert not reading.begun.wait(_MOMENT)
    assert not after.begun.is_set()
    here.may_end.set()
    thread.join(_DEADLINE)
    queue.finish()
    assert log[:2] == ["here begins", "here ends"]
    assert {"read ends", "after ends"} <= set(log)


def test_the_queue_is_idle_when_nothing_runs_or_waits(queue: Any, write: Make, read: Make) -> None:
    assert queue.is_idle
    held = read("read", held=True)
    queue.submit(held)
    assert not queue.is_idle
    held.may_end.set()
    queue.finish()
    assert queue.is_idle
    queue.run_here(write("here"))
    assert queue.is_idle


def test_finishing_waits_for_everything_that_was_taken(queue: Any, write: Make, read: Make) -> None:
    held = [write("write", held=True), read("read", held=True)]
    for work in held:
        queue.submit(work)
    finished = threading.Event()

    def finish() -> None:
        queue.finish()
        finished.set()

    thread = threading.Thread(target=finish)
    thread.start()
    assert not finished.wait(_MOMENT)
    held[0].may_end.set()
    assert held[1].begun.wait(_DEADLINE)
    assert not finished.is_set()
    held[1].may_end.set()
    assert finished.wait(_DEADLINE)
    thread.join(_DEADLINE)


def test_a_long_mix_keeps_every_promise_of_order(queue: Any, write: Make, read: Make, log: list[str]) -> None:
    kinds = [(number % 3 == 0, f"{number}") for number in range(200)]
    for writes, name in kinds:
        queue.submit((write if writes else read)(name))
    queue.finish()
    at = {line: index for index, line in enumerate(log)}
    last_write = None
    for writes, name in kinds:
        if last_write is not None:
            assert at[f"{last_write} ends"] < at[f"{name} begins"]
        if writes:
            last_write = name


# ── calls that wait for their client ────────────────────────────────────────────────────────────────────────


class Client:
    """The connection of a paused call, as the scheduler sees it."""

    def __init__(self) -> None:
        self.hung_up = False

    def hang_up(self) -> None:
        self.hung_up = True


def test_a_paused_write_is_overtaken_and_counts_once(queue: Any, write: Make, read: Make, log: list[str]) -> None:
    paused, second, reading = write("paused", held=True), write("second"), read("read")
    queue.submit(paused)
    assert paused.begun.wait(_DEADLINE)
    assert queue.pause(paused)
    queue.submit(second)
    queue.submit(reading)
    assert reading.begun.wait(_DEADLINE)
    queue.resume(paused)
    third, fourth = write("third", held=True), write("fourth")
    queue.submit(third)
    assert queue.pause(paused)  # a second question
    queue.resume(paused)
    paused.may_end.set()
    queue.submit(fourth)
    assert third.begun.wait(_DEADLINE)
    assert not fourth.begun.wait(_MOMENT)
    third.may_end.set()
    queue.finish()
    assert log.index("second ends") < log.index("paused ends")
    assert queue.is_idle


def test_paused_calls_take_no_thread_from_others_and_no_room(queue: Any, write: Make, read: Make) -> None:
    before = threading.active_count()
    paused = [write(f"paused {number}", held=True) for number in range(60)]
    for work in paused:
        queue.submit(work)
        assert work.begun.wait(_DEADLINE)
        assert queue.pause(work)
    reads = [read(f"{number}", held=True) for number in range(5)]
    for work in reads:
        queue.submit(work)
    for work in reads:
        assert work.begun.wait(_DEADLINE)
    assert not queue.is_crowded
    for work in paused:
        queue.resume(work)
    for work in paused + reads:
        work.may_end.set()
    queue.finish()
    end = time.monotonic() + _DEADLINE
    while threading.active_count() > before + 5:  # all others end
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def test_only_so_many_calls_may_wait_and_none_when_the_server_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "_MOST_PAUSED", 2)
    crew = CallScheduler(1)
    calls: list[Any] = [type("Call", (), {"connection": Client()})() for _ in range(4)]
    assert [crew.pause(call) for call in calls[:3]] == [True, True, False]
    crew.resume(calls[0])
    assert crew.pause(calls[2])
    crew.stop_waiting()
    assert [call.connection.hung_up for call in calls] == [False, True, True, False]
    crew.resume(calls[1])
    assert not crew.pause(calls[3])


# ── where calls of a kind run ───────────────────────────────────────────────────────────────────────────────


class Clock:
    """Time as a call takes it."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.computed = 0.0

    def perf_counter(self) -> float:
        return self.passed

    def thread_time(self) -> float:
        return self.computed


class Quick:
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
def runs_here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[bool]]:
    """Run calls that take so many seconds and compute so many of them; answers for each whether it ran right here."""
    clock = Clock()
    monkeypatch.setattr(scheduler, "time", clock)
    crew = CallScheduler(1)
    crew.home = threading.get_ident()

    def run(*takes: tuple[float, float]) -> list[bool]:
        async def main() -> list[bool]:
            found = []
            for seconds, computed in takes:
                work: Any = Quick(clock, seconds, computed)
                crew.run(work)
                assert work.ended.wait(30)
                assert crew.finish(30)
                found.append(work.ran_in == threading.get_ident())
            return found

        return asyncio.run(main())

    return run


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
