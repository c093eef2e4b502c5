"""The lane: writes in their order, reads after the writes before them and beside everything else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from polymnia.transports.lane import Lane

_DEADLINE = 30.0
_MOMENT = 0.05  # how long something that must not happen is given to happen


class Work:
    """A call as the lane sees it. It begins, waits until it may go on, and ends."""

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
def lane() -> Any:
    # What is given to it is not quite a call; it has all that a lane may use of one.
    return Lane()


Make = Callable[..., Work]


@pytest.fixture
def write(log: list[str]) -> Make:
    return lambda name, held=False: Work(log, name, writes=True, held=held)


@pytest.fixture
def read(log: list[str]) -> Make:
    return lambda name, held=False: Work(log, name, writes=False, held=held)


def test_writes_run_one_after_another_in_the_order_they_came(lane: Any, write: Make, log: list[str]) -> None:
    writes = [write(f"{number}", held=number == 0) for number in range(20)]
    for work in writes:
        lane.submit(work)
    assert writes[0].begun.wait(_DEADLINE)
    assert not writes[1].begun.wait(_MOMENT)
    writes[0].may_end.set()
    lane.finish()
    assert log == [f"{number} {what}" for number in range(20) for what in ("begins", "ends")]


def test_a_read_waits_for_the_writes_before_it(lane: Any, write: Make, read: Make, log: list[str]) -> None:
    first, second, reading = write("first", held=True), write("second"), read("read")
    for work in (first, second, reading):
        lane.submit(work)
    assert first.begun.wait(_DEADLINE)
    assert not reading.begun.wait(_MOMENT)
    first.may_end.set()
    lane.finish()
    assert log.index("second ends") < log.index("read begins")


def test_a_read_does_not_wait_for_the_writes_after_it(lane: Any, write: Make, read: Make) -> None:
    first, reading, second = write("first", held=True), read("read", held=True), write("second", held=True)
    lane.submit(first)
    lane.submit(reading)
    lane.submit(second)
    first.may_end.set()
    assert reading.begun.wait(_DEADLINE)
    assert second.begun.wait(_DEADLINE)  # while the read still runs: a write waits for no read either
    second.may_end.set()
    reading.may_end.set()
    lane.finish()


def test_reads_run_beside_each_other(lane: Any, read: Make) -> None:
    reads = [read(f"{number}", held=True) for number in range(4)]
    for work in reads:
        lane.submit(work)
    for work in reads:
        assert work.begun.wait(_DEADLINE)
    for work in reads:
        work.may_end.set()
    lane.finish()


def test_more_reads_than_run_at_once_all_come_to_their_end(lane: Any, read: Make, log: list[str]) -> None:
    reads = [read(f"{number}", held=True) for number in range(30)]
    for work in reads:
        lane.submit(work)
    for work in reads:
        work.may_end.set()
    lane.finish()
    assert sorted(log) == sorted(f"{number} {what}" for number in range(30) for what in ("begins", "ends"))


def test_what_runs_on_the_reading_thread_counts_too(lane: Any, write: Make, read: Make, log: list[str]) -> None:
    here, reading, after = write("here", held=True), read("read"), write("after")
    thread = threading.Thread(target=lane.run_here, args=(here,))
    thread.start()
    assert here.begun.wait(_DEADLINE)
    assert not lane.free
    lane.submit(reading)
    lane.submit(after)
    assert not reading.begun.wait(_MOMENT)
    assert not after.begun.is_set()
    here.may_end.set()
    thread.join(_DEADLINE)
    lane.finish()
    assert log[:2] == ["here begins", "here ends"]
    assert {"read ends", "after ends"} <= set(log)


def test_the_lane_is_free_when_nothing_runs_or_waits(lane: Any, write: Make, read: Make) -> None:
    assert lane.free
    held = read("read", held=True)
    lane.submit(held)
    assert not lane.free
    held.may_end.set()
    lane.finish()
    assert lane.free
    lane.run_here(write("here"))
    assert lane.free


def test_finishing_waits_for_everything_that_was_taken(lane: Any, write: Make, read: Make) -> None:
    held = [write("write", held=True), read("read", held=True)]
    for work in held:
        lane.submit(work)
    finished = threading.Event()

    def finish() -> None:
        lane.finish()
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


def test_a_long_mix_keeps_every_promise_of_order(lane: Any, write: Make, read: Make, log: list[str]) -> None:
    kinds = [(number % 3 == 0, f"{number}") for number in range(200)]
    for writes, name in kinds:
        lane.submit((write if writes else read)(name))
    lane.finish()
    at = {line: index for index, line in enumerate(log)}
    last_write = None
    for writes, name in kinds:
        if last_write is not None:
            assert at[f"{last_write} ends"] < at[f"{name} begins"]
        if writes:
            last_write = name
