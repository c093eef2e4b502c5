"""Who changed and who read what, and when."""

from __future__ import annotations

import itertools

from polymnia.engine.ports import Store
from polymnia.models import Seen

from .engines import Engine
from .project import Project, draft

_HOUR = 3_600_000_000


def _told(project: Project, start: int | None = None, end: int | None = None) -> list[tuple[str, str, str]]:
    """What the touches say, with names for ids."""
    names: dict[int, str] = {}

    def look(snapshot: object) -> list[tuple[str, str, str]]:
        for name in ("ann", "bob", "gone", "late"):
            names.update(dict.fromkeys(snapshot.ids_ever(name), name))  # type: ignore[attr-defined]
        return [
            (names.get(one.memory, "?"), one.how, one.who)
            for one in snapshot.touches(start, end)  # type: ignore[attr-defined]
        ]

    return project.see(look)


def test_every_change_of_a_memory_is_told_once_and_in_order(project: Project) -> None:
    project.create(draft("ann", "likes tea", "is tall"), draft("bob"))
    with project.changing(who="bea") as tx:
        tx.add_observations([(tx.ids(["ann"])["ann"], ["hates coffee", "is old"])])
        tx.revise(tx.ids(["ann"])["ann"], {"tags": ("new",)})
    with project.changing(who="cal") as tx:
        tx.remove_observations(tx.ids(["ann"])["ann"], ["is old"])
    assert _told(project) == [
        ("ann", "made", "ann"), ("bob", "made", "ann"), ("ann", "changed", "bea"), ("ann", "changed", "cal"),
    ]  # fmt: skip


def test_a_deleted_memory_is_told_from_its_making_to_its_end_and_back(project: Project) -> None:
    project.create(draft("gone", "a text"))
    project.delete("gone")
    with project.changing(who="bea") as tx:
        tx.undo(None)
    assert _told(project) == [("gone", "made", "ann"), ("gone", "deleted", "ann"), ("gone", "restored", "bea")]


def test_a_relation_is_no_change_of_its_ends(project: Project) -> None:
    project.create(draft("ann"), draft("bob"))
    project.relate("ann", "knows", "bob")
    assert [how for _, how, _ in _told(project)] == ["made", "made"]


def test_touches_of_a_time_leave_out_what_was_before_and_after(engine: Engine) -> None:
    ticks = itertools.count(1_000, 1_000)
    project = Project(engine.open(clock=lambda: next(ticks)), "default")
    for name in ("ann", "bob", "late"):
        project.create(draft(name))
    times = project.see(lambda snapshot: [one.at for one in snapshot.touches()])
    assert [name for name, *_ in _told(project, times[1], times[2])] == ["bob"]
    assert [name for name, *_ in _told(project, times[1])] == ["bob", "late"]
    assert [name for name, *_ in _told(project, None, times[1])] == ["ann"]
    project.store.close()


def test_counts_of_reads_add_up_by_memory_hour_and_reader(project: Project) -> None:
    project.create(draft("ann"), draft("bob"))
    ids = project.see(lambda snapshot: snapshot.ids(["ann", "bob"]))
    with project.changing() as tx:
        tx.count_reads([Seen(ids["ann"], 5 * _HOUR, "bea", 1, 0), Seen(ids["bob"], 7 * _HOUR, "bea", 0, 2)])
    with project.changing() as tx:
        tx.count_reads([Seen(ids["ann"], 5 * _HOUR, "bea", 1, 3), Seen(ids["ann"], 5 * _HOUR, "cal", 1, 0)])
        assert not tx.changed
    assert project.see(lambda snapshot: snapshot.seen()) == [
        Seen(ids["ann"], 5 * _HOUR, "bea", 2, 3),
        Seen(ids["ann"], 5 * _HOUR, "cal", 1, 0),
        Seen(ids["bob"], 7 * _HOUR, "bea", 0, 2),
    ]
    assert project.see(lambda snapshot: [one.memory for one in snapshot.seen(6 * _HOUR)]) == [ids["bob"]]
    assert {one.memory for one in project.see(lambda snapshot: snapshot.seen(None, 6 * _HOUR))} == {ids["ann"]}


def test_counting_reads_is_no_change_of_the_project(project: Project, store: Store) -> None:
    project.create(draft("ann"))
    before, changes = store.stamp("default"), project.see(lambda snapshot: snapshot.changes(10))
    with project.changing() as tx:
        tx.count_reads([Seen(tx.ids(["ann"])["ann"], 0, "bea", 1, 0)])
    assert (store.stamp("default"), project.see(lambda snapshot: snapshot.changes(10))) == (before, changes)


def test_what_is_deleted_for_good_takes_its_counts_along(project: Project) -> None:
    project.create(draft("ann"), draft("bob"))
    ids = project.see(lambda snapshot: snapshot.ids(["ann", "bob"]))
    with project.changing() as tx:
        tx.count_reads([Seen(id, 0, "bea", 1, 0) for id in ids.values()])
    with project.changing() as tx:
        tx.purge([ids["ann"]])
    assert [one.memory for one in project.see(lambda snapshot: snapshot.seen())] == [ids["bob"]]
    assert ids["ann"] not in {one.memory for one in project.see(lambda snapshot: snapshot.touches())}


def test_reads_that_are_noted_after_a_deletion_for_good_leave_nothing(project: Project) -> None:
    project.create(draft("purged"), draft("deleted"), draft("kept"))
    ids = project.see(lambda snapshot: snapshot.ids(["purged", "deleted", "kept"]))
    project.delete("deleted")
    project.purge("purged")
    with project.changing() as tx:
        tx.count_reads([Seen(id, 0, "bea", 1, 0) for id in ids.values()])
    assert {one.memory for one in project.see(lambda snapshot: snapshot.seen())} == {ids["deleted"], ids["kept"]}


def test_projects_do_not_see_each_others_activity(store: Store) -> None:
    one, other = Project(store, "one"), Project(store, "other")
    one.create(draft("ann"))
    other.create(draft("bob"))
    with one.changing() as tx:
        tx.count_reads([Seen(tx.ids(["ann"])["ann"], 0, "bea", 1, 0)])
    assert _told(other) == [("bob", "made", "ann")]
    assert other.see(lambda snapshot: snapshot.seen()) == []
