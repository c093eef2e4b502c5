"""What several server processes share: every engine keeps the promises of ``ports.shared``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Thread

import pytest

from polymnia.engine.ports.shared import ALIVE_SECONDS, Holder, Portion, SharedState
from polymnia.errors import Fault
from polymnia.storage.postgres.shared import PostgresSharedState
from polymnia.storage.sqlite.shared import SqliteSharedState

from .engines import PostgresEngine, empty_shared_tables

IDLE = 100.0


class Clock:
    """A time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.meanwhile: Callable[[], object] | None = None  # done once, right after the time was read

    def __call__(self) -> float:
        read, meanwhile, self.meanwhile = self.now, self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return read


@pytest.fixture
def clock() -> Clock:
    """The time of the shared state."""
    return Clock()


class Place:
    """Where a shared state is: called, it opens it as another process would; ``lose`` empties it."""

    def __init__(self, open: Callable[[], SharedState], lose: Callable[[], object]) -> None:
        self._open = open
        self.lose = lose

    def __call__(self) -> SharedState:
        return self._open()


@pytest.fixture(params=["sqlite", "postgres"])
def process(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Place]:
    """Opens the state of one place for another process each time."""
    if request.param == "sqlite":
        yield Place(
            lambda: SqliteSharedState(str(tmp_path / "shared.db"), idle=IDLE, clock=clock),
            lambda: [path.unlink() for path in tmp_path.iterdir()],
        )
        return
    with closing(PostgresEngine(tmp_path)) as engine, ExitStack() as opened:
        yield Place(
            lambda: opened.enter_context(closing(PostgresSharedState(engine.address, idle=IDLE, clock=clock))),
            lambda: empty_shared_tables(engine.address.partition("?")[0]),
        )


@pytest.fixture
def first(process: Place) -> SharedState:
    """The first process."""
    opened = process()
    opened.join("address of the first")
    return opened


@pytest.fixture
def second(process: Place, first: SharedState) -> SharedState:
    """The second one."""
    opened = process()
    opened.join("address of the second")
    return opened


@pytest.mark.promise("store.shared.processes")
def test_every_process_has_a_number_of_its_own_and_one_secret(process: Place) -> None:
    states = [process() for _ in range(3)]
    assert len({state.join("x") for state in states}) == 3
    assert len({state.secret for state in states}) == 1
    assert len(states[0].secret) >= 32


@pytest.mark.promise("store.shared.processes")
def test_who_is_alive_is_counted_and_shows_its_figures(first: SharedState, second: SharedState, clock: Clock) -> None:
    assert (first.beat(b"one"), second.beat(b"two")) == (2, 2)
    assert [figures for _, figures in first.figures()] == [b"one", b"two"]
    clock.now += ALIVE_SECONDS - 1
    assert second.beat(b"three") == 2
    clock.now += 2
    assert second.beat(b"four") == 1
    assert [figures for _, figures in second.figures()] == [b"four"]


@pytest.mark.promise("store.shared.processes")
def test_a_process_that_was_gone_has_to_join_again(first: SharedState, second: SharedState, clock: Clock) -> None:
    clock.now += ALIVE_SECONDS + 1
    assert first.beat(b"") is None
    assert first.beat(b"") is None
    first.join("address of the first")
    assert first.beat(b"") == 1
    first.leave()
    assert first.beat(b"") is None


@pytest.mark.promise("store.shared.sessions")
def test_a_session_is_held_by_one_process_which_describes_it(first: SharedState, second: SharedState) -> None:
    assert first.holder("s") is None
    assert first.hold("s", b"begun")
    assert first.hold("s", b"subscribed")
    assert not second.hold("s", b"mine")
    number = first.figures()[0][0]
    assert second.holder("s") == Holder(number, "address of the first", b"subscribed")
    second.release(["s"])
    assert second.holder("s") is not None
    first.release(["s", "never held"])
    assert second.holder("s") is None


@pytest.mark.promise("store.shared.sessions")
def test_the_session_of_a_process_that_left_or_is_gone_is_taken_over_once(
    first: SharedState, second: SharedState, process: Place, clock: Clock
) -> None:
    third = process()
    third.join("address of the third")
    number = first.figures()[0][0]
    first.hold("s", b"about")
    first.leave()
    assert second.holder("s") == Holder(number, None, b"about")
    assert [second.take_over("s", number), third.take_over("s", number)] == [True, False]
    found = third.holder("s")
    assert found is not None
    assert (found.address, found.about) == ("address of the second", b"about")
    assert not first.hold("s", b"mine again")
    clock.now += ALIVE_SECONDS + 1
    found = third.holder("s")
    assert found is not None
    assert found.address is None
    assert third.hold("s", b"of one that is gone")


@pytest.mark.promise("store.shared.sessions")
def test_sessions_of_a_process_that_is_gone_are_kept_as_long_as_one_may_be_idle(
    first: SharedState, second: SharedState, clock: Clock
) -> None:
    first.hold("s", b"about")
    while clock.now < 1000 + IDLE - 5:
        clock.now += 5
        second.beat(b"")
    assert second.holder("s") is not None
    clock.now += 10
    second.beat(b"")
    assert second.holder("s") is None


@pytest.mark.promise("store.shared.rates")
def test_of_a_limit_no_more_is_taken_than_there_is(first: SharedState, second: SharedState, clock: Clock) -> None:
    assert first.take("key", 4, 10, 60) == Portion(4, 6, 60)
    clock.now += 20
    assert second.take("key", 4, 10, 60) == Portion(4, 2, 40)
    assert first.take("key", 4, 10, 60) == Portion(2, 0, 40)
    assert second.take("key", 1, 10, 60) == Portion(0, 0, 40)
    assert second.take("another key", 1, 10, 60) == Portion(1, 9, 60)
    clock.now += 40
    assert second.take("key", 1, 10, 60) == Portion(1, 9, 60)


@pytest.mark.promise("store.shared.rates")
def test_many_processes_at_once_take_exactly_the_limit(process: Place) -> None:
    taken: list[int] = []

    def take() -> None:
        state = process()
        state.join("x")
        taken.extend(state.take("key", 3, 100, 60).granted for _ in range(50))
        state.close()

    threads = [Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 200
    assert sum(taken) == 100


@pytest.mark.promise("store.shared.rates")
def test_a_window_begun_by_another_process_at_the_same_moment_counts(
    first: SharedState, second: SharedState, clock: Clock
) -> None:
    granted = []

    def take_a_moment_later() -> None:
        clock.now += 1
        with suppress(Fault):  # the first has its turn
            granted.append(second.take("key", 10, 10, 60).granted)

    clock.meanwhile = take_a_moment_later
    granted.append(first.take("key", 10, 10, 60).granted)
    assert sum(granted) == 10


@pytest.mark.promise("store.shared.lost")
def test_a_state_that_was_lost_is_made_again(process: Place, first: SharedState, second: SharedState) -> None:
    first.hold("s", b"about")
    secret = first.secret
    assert second.secret == secret
    process.lose()
    assert first.beat(b"") is None
    first.join("address of the first")
    assert first.hold("s", b"about")
    assert second.beat(b"") is None
    second.join("address of the second")
    found = second.holder("s")
    assert found is not None
    assert found.address == "address of the first"
    assert second.secret == secret
