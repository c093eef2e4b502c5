"""Closing and opening: everything is there again, for whoever opens the place next."""

from __future__ import annotations

import threading

import pytest

from polymnia.engine.ports import Store

from .engines import Engine
from .project import Project, draft
from .reads import everything


def _filled(project: Project) -> None:
    project.create(draft("ann", "likes tea", kind="person", extra={"key": [1]}), draft("bob", "hates tea"))
    project.relate("ann", "knows", "bob", since=2020)
    project.create(*(draft(f"{number}", f"text {number}") for number in range(600)))
    project.delete("7")
    with project.changing() as tx:
        tx.note("place", "here")


@pytest.mark.long
def test_a_store_opened_again_holds_everything_it_held(engine: Engine) -> None:
    first = Project(engine.open(), "default")
    _filled(first)
    before, stamp = first.see(everything), first.store.stamp("default")
    first.store.close()
    second = Project(engine.open(), "default")
    assert second.see(everything) == before
    assert second.store.stamp("default") == stamp
    second.undo()
    assert "7" in second.names()
    second.create(draft("after"))
    assert second.finds("after") == ["after"]
    second.store.close()


def test_closing_twice_is_fine(store: Store) -> None:
    Project(store, "default").create(draft("a"))
    store.close()
    store.close()


def test_a_store_that_was_never_used_can_be_closed(engine: Engine) -> None:
    engine.open().close()


def test_closing_one_store_leaves_the_others_on_the_place_in_use(engine: Engine) -> None:
    mine, other = Project(engine.open(), "default"), Project(engine.open(), "default")
    mine.create(draft("a"))
    other.create(draft("b"))
    other.store.close()
    mine.create(draft("c"))
    assert mine.names() == ["a", "b", "c"]
    mine.store.close()


def test_a_change_still_open_when_its_maker_ends_is_not_kept(engine: Engine) -> None:
    """What a process does not live to commit never happened; others are not kept waiting."""
    dying, other = engine.open(), Project(engine.open(busy_timeout=5), "default")
    other.create(draft("kept"))
    writing = dying.write("default", "ann", "create")
    writing.__enter__().add_records([draft("lost")])
    assert other.names() == ["kept"]
    writing.__exit__(GeneratorExit, GeneratorExit(), None)
    dying.close()
    other.create(draft("after"))
    assert other.names() == ["kept", "after"]
    other.store.close()


def test_one_store_serves_many_threads_from_its_first_use_on(engine: Engine) -> None:
    store = engine.open()
    ready = threading.Barrier(8)
    failed: list[BaseException] = []

    def use(number: int) -> None:
        project = Project(store, f"project {number % 3}")
        try:
            ready.wait()
            for step in range(5):
                project.create(draft(f"{number} {step}", "text"))
                assert f"{number} {step}" in project.names()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sum(len(Project(store, f"project {number}").names()) for number in range(3)) == 40
    store.close()


def test_several_stores_may_make_the_place_at_once(engine: Engine) -> None:
    ready = threading.Barrier(4)
    failed: list[BaseException] = []

    def use(number: int) -> None:
        store = engine.open()
        try:
            ready.wait()
            Project(store, "default").create(draft(f"{number}"))
        except BaseException as e:
            failed.append(e)
        finally:
            store.close()

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    store = engine.open()
    assert sorted(Project(store, "default").names()) == ["0", "1", "2", "3"]
    store.close()
