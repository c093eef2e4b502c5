"""Many writers at once, on threads and in processes: nothing is lost, nothing is done twice."""

from __future__ import annotations

import threading
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

import pytest

from polymnia.engine.ports import Store
from polymnia.errors import Busy

from .engines import Engine
from .project import Project, draft

_EACH = 25
_DEADLINE = 60.0


def _count_up(project: Project, who: str, times: int) -> None:
    """Read a number, add one and write it back; and leave a mark that tells who did."""
    for step in range(times):
        with project.changing("count", who=who) as tx:
            (counter,) = tx.load(list(tx.ids(["counter"]).values()))
            assert len(counter.observations) == int(counter.kind)
            texts = (*counter.observations, f"{who} {step}")
            tx.replace_record(counter.id, draft("counter", *texts, kind=str(int(counter.kind) + 1)))


def _in_a_process(engine: Engine, who: str, start: Barrier) -> None:
    store = engine.open()
    start.wait(_DEADLINE)
    _count_up(Project(store, "default"), who, _EACH)
    store.close()


def _check(project: Project, writers: int, times: int) -> None:
    counter = project.get("counter")
    assert int(counter.kind) == writers * times
    assert sorted(counter.observations) == sorted(f"{who} {step}" for who in range(writers) for step in range(times))
    for who in range(writers):
        mine = [text for text in counter.observations if text.startswith(f"{who} ")]
        assert mine == [f"{who} {step}" for step in range(times)]
    changes = project.see(lambda snapshot: snapshot.changes(10_000))
    assert len(changes) == writers * times + 1
    assert [change.at for change in changes] == sorted({change.at for change in changes}, reverse=True)
    assert counter.version == writers * times + 1


def _run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_DEADLINE)
        assert not thread.is_alive()


@pytest.mark.long
def test_threads_of_one_store_lose_no_update(project: Project) -> None:
    project.create(draft("counter", kind="0"))
    _run([threading.Thread(target=_count_up, args=(project, f"{who}", _EACH)) for who in range(4)])
    _check(project, writers=4, times=_EACH)


def test_stores_on_one_place_lose_no_update(engine: Engine) -> None:
    stores = [engine.open() for _ in range(3)]
    first = Project(stores[0], "default")
    first.create(draft("counter", kind="0"))
    _run(
        [
            threading.Thread(target=_count_up, args=(Project(store, "default"), f"{who}", _EACH))
            for who, store in enumerate(stores)
        ]
    )
    _check(first, writers=3, times=_EACH)
    for store in stores:
        store.close()


def test_processes_lose_no_update(engine: Engine, project: Project) -> None:
    project.create(draft("counter", kind="0"))
    stamp = project.store.stamp(project.name)
    context = get_context("spawn")
    start = context.Barrier(3)
    processes = [context.Process(target=_in_a_process, args=(engine, f"{who}", start)) for who in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(_DEADLINE)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    _check(project, writers=3, times=_EACH)
    assert project.store.stamp(project.name) != stamp


def test_of_two_who_want_the_same_name_one_gets_it(project: Project) -> None:
    """The check and the making are one unit: nobody can slip in between."""
    ready = threading.Barrier(4)
    made: list[int] = []

    def claim(who: int) -> None:
        for number in range(15):
            ready.wait(_DEADLINE)
            with project.changing() as tx:
                if not tx.ids([f"name {number}"]):
                    tx.add_records([draft(f"name {number}", f"{who}")])
                    made.append(number)

    _run([threading.Thread(target=claim, args=(who,)) for who in range(4)])
    assert sorted(made) == list(range(15))
    assert len(project.names()) == 15


def test_writers_of_different_projects_do_not_mix(store: Store) -> None:
    projects = [Project(store, f"project {number}") for number in range(3)]
    for project in projects:
        project.create(draft("counter", kind="0"))
    _run([threading.Thread(target=_count_up, args=(project, "0", _EACH)) for project in projects])
    for project in projects:
        _check(project, writers=1, times=_EACH)


def test_a_writer_who_waits_too_long_is_told_and_has_changed_nothing(engine: Engine) -> None:
    patient, hasty = Project(engine.open(), "default"), Project(engine.open(busy_timeout=0.05), "default")
    patient.create(draft("a"))
    with patient.changing() as tx:
        with pytest.raises(Busy):
            hasty.create(draft("b"))
        tx.add_records([draft("c")])
    assert hasty.names() == ["a", "c"]
    hasty.create(draft("b"))
    assert patient.names() == ["a", "c", "b"]
    patient.store.close()
    hasty.store.close()


def test_a_writer_waits_for_its_turn_and_then_sees_what_came_before(engine: Engine) -> None:
    mine, other = Project(engine.open(), "default"), Project(engine.open(), "default")
    mine.create(draft("counter", kind="0"))
    begun = threading.Event()

    def count() -> None:
        begun.set()
        _count_up(other, "late", 1)

    with mine.changing() as tx:
        late = threading.Thread(target=count)
        late.start()
        begun.wait(_DEADLINE)
        tx.replace_record(tx.ids(["counter"])["counter"], draft("counter", "early", kind="1"))
    late.join(_DEADLINE)
    assert mine.get("counter").observations == ("early", "late 0")
    mine.store.close()
    other.store.close()
