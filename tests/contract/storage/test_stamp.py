"""The stamp: a number that moves with every change of a project, and only then."""

from __future__ import annotations

import pytest

from polymnia.engine.ports import Store

from .engines import Engine
from .project import Project, draft


def test_a_new_project_has_a_stamp_that_its_first_change_moves(store: Store) -> None:
    before = store.stamp("new")
    assert store.stamp("new") == before
    Project(store, "new").create(draft("a"))
    assert store.stamp("new") != before


def test_the_stamp_moves_with_every_kind_of_change(project: Project) -> None:
    seen = [project.store.stamp(project.name)]
    for change in (
        lambda: project.create(draft("a", "x"), draft("b")),
        lambda: project.observe("a", "y"),
        lambda: project.unobserve("a", "x"),
        lambda: project.replace("a", "z"),
        lambda: project.mark("a", key=1),
        lambda: project.relate("a", "knows", "b"),
        lambda: project.unrelate("a", "knows", "b"),
        lambda: project.delete("b"),
        lambda: project.undo(),
        lambda: project.purge("a"),
    ):
        change()
        seen.append(project.store.stamp(project.name))
    assert len(set(seen)) == len(seen)


def test_the_stamp_stands_still_while_nothing_changes(project: Project) -> None:
    project.create(draft("a", "x"))
    stamp = project.store.stamp(project.name)
    project.state()
    with pytest.raises(ValueError, match="stop"), project.changing() as tx:
        tx.add_records([draft("b")])
        raise ValueError("stop")
    with project.changing() as tx:
        tx.remove_observations(tx.ids(["a"])["a"], ["not there"])
    with project.changing() as tx:
        tx.note("key", "value")
    Project(project.store, "other").create(draft("a"))
    assert project.store.stamp(project.name) == stamp


def test_every_store_on_the_same_place_tells_the_same_stamp(engine: Engine) -> None:
    mine, other = Project(engine.open(), "default"), Project(engine.open(), "default")
    seen = {mine.store.stamp("default")}
    for number in range(6):
        (mine, other)[number % 2].create(draft(f"{number}"))
        assert mine.store.stamp("default") == other.store.stamp("default")
        seen.add(mine.store.stamp("default"))
    assert len(seen) == 7
    mine.store.close()
    other.store.close()
    again = engine.open()
    assert again.stamp("default") in seen
    again.close()


def test_the_stamp_moves_even_if_the_clock_stands_still_or_runs_backwards(engine: Engine) -> None:
    time = 5_000_000
    store = engine.open(clock=lambda: time)
    project = Project(store, "default")
    seen = set()
    for number in range(6):
        project.create(draft(f"{number}"))
        seen.add(store.stamp("default"))
        time -= 1000 * (number % 2)
    assert len(seen) == 6
    store.close()
