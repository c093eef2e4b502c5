"""The journal: what was done, by whom and when; and how things were at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from polymnia.models import Event

from .engines import ENGINES, Engine
from .project import Project, State, draft
from .wandering import Walk


@pytest.fixture(scope="module", params=list(ENGINES))
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """A long walk, made once; the tests only look back at it."""
    with closing(ENGINES[request.param](tmp_path_factory.mktemp("walk"))) as engine:
        walk = Walk(Project(engine.open(), "default"), "journal")
        walk.run(400)
        yield walk
        walk.project.store.close()


# ── the past ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_the_walk_met_every_kind_of_change(walk: Walk) -> None:
    actions = Counter(change.action for change in walk.changes)
    assert all(count >= 5 for count in actions.values()), actions
    assert len(actions) == 12
    assert walk.conflicts >= 5


def test_the_project_can_be_read_as_it_was_after_every_change(walk: Walk) -> None:
    with walk.project.store.read("default") as snapshot:
        for change, state in zip(walk.changes, walk.states, strict=True):
            records, relations = snapshot.as_of(change.at)
            assert (tuple(records), tuple(relations)) == (state.records, state.relations), change


def test_one_name_can_be_read_as_it_was_after_every_change(walk: Walk) -> None:
    with walk.project.store.read("default") as snapshot:
        for change, state in list(zip(walk.changes, walk.states, strict=True))[::7]:
            for name in "abch":
                records, relations = snapshot.as_of(change.at, name)
                assert records == [record for record in state.records if record.name == name]
                assert relations == [r for r in state.relations if name in (r.source, r.target)]


def test_the_changes_before_any_change_come_newest_first(walk: Walk) -> None:
    newest = [change.id for change in reversed(walk.changes)]
    with walk.project.store.read("default") as snapshot:
        assert [change.id for change in snapshot.changes(1000)] == newest
        for at in range(0, len(newest), 37):
            assert [change.id for change in snapshot.changes(9, newest[at])] == newest[at + 1 : at + 10]


def test_a_change_knows_its_number_before_it_is_made(project: Project) -> None:
    with project.store.write(project.name, "somebody", "create") as tx:
        tx.add_records([draft("a", "text")])
        number = tx.number()
    assert project.last().id == number


def test_between_two_changes_it_is_as_it_was_after_the_first(project: Project) -> None:
    project.create(draft("a", "text"))
    first, state = project.last(), project.state()
    project.delete("a")
    second = project.last()
    assert project.see(lambda snapshot: snapshot.as_of(second.at - 1)) == (list(state.records), [])
    assert project.see(lambda snapshot: snapshot.as_of(second.at)) == ([], [])
    assert project.see(lambda snapshot: snapshot.as_of(first.at - 1)) == ([], [])
    assert project.see(lambda snapshot: snapshot.as_of(0)) == ([], [])


def test_times_never_run_backwards_even_if_the_clock_does(engine: Engine) -> None:
    times = iter([5000, 5000, 4000, 1, 4999, 9000, 8000])
    project = Project(engine.open(clock=lambda: next(times)), "default")
    for number in range(7):
        project.create(draft(f"name {number}"))
    changes = project.see(lambda snapshot: snapshot.changes(10))
    at = [change.at for change in reversed(changes)]
    assert at == sorted(set(at))
    assert at[0] == 5000
    assert at[5] == 9000
    for number, time in enumerate(at):
        assert len(project.see(lambda snapshot, time=time: snapshot.as_of(time)[0])) == number + 1
    project.store.close()


def test_a_change_that_a_wrong_clock_dated_far_ahead_dates_no_later_one(engine: Engine) -> None:
    now, year = 1_800_000_000_000_000, 365 * 86_400_000_000
    times = iter([now, now + 10 * year, now + 60_000_000, now + 61_000_000])
    project = Project(engine.open(clock=lambda: next(times, now + 62_000_000)), "default")
    stamps = []
    for number in range(4):
        project.create(draft(f"name {number}"))
        stamps.append(project.store.stamp("default"))
    changes = project.see(lambda snapshot: snapshot.changes(10))
    assert [change.at - now for change in reversed(changes)] == [0, 10 * year, 60_000_000, 61_000_000]
    assert [change.id for change in changes] == [4, 3, 2, 1]
    assert len(set(stamps)) == 4
    # The order is that of the numbers: the past holds what was made before, whatever its date.
    assert len(project.see(lambda snapshot: snapshot.as_of(now + 60_000_000)[0])) == 3
    assert len(project.see(lambda snapshot: snapshot.as_of(now)[0])) == 1
    project.undo()
    assert project.names() == ["name 0", "name 1", "name 2"]
    project.store.close()


def test_the_size_is_about_the_number_of_texts(walk: Walk) -> None:
    texts = sum(1 + len(record.observations) for record in walk.now.records)
    assert 0.8 * texts <= walk.project.see(lambda snapshot: snapshot.size()) <= 1.2 * texts


# ── what happened ───────────────────────────────────────────────────────────────────────────────────────────


def test_every_change_is_listed_newest_first_with_its_maker(project: Project) -> None:
    with project.changing("create_entities", who="ann") as tx:
        tx.add_records([draft("a")])
    with project.changing("delete_entities", who="bob 봅") as tx:
        tx.remove_records([tx.ids(["a"])["a"]])
    project.undo()
    third, second, first = project.see(lambda snapshot: snapshot.changes(10))
    assert (first.who, first.action, first.undoes, first.undone_by) == ("ann", "create_entities", None, None)
    assert (second.who, second.action, second.undone_by) == ("bob 봅", "delete_entities", third.id)
    assert (third.undoes, third.undone_by) == (second.id, None)
    assert first.id < second.id < third.id
    assert first.at < second.at < third.at
    assert project.see(lambda snapshot: snapshot.changes(2)) == [third, second]
    assert project.see(lambda snapshot: snapshot.change(second.id)) == second
    assert project.see(lambda snapshot: snapshot.change(third.id + 1)) is None


def _signed(more: tuple[str, ...], less: tuple[str, ...]) -> dict[str, int]:
    balance = Counter(more)
    balance.subtract(less)
    return {text: count for text, count in balance.items() if count}


def _texts(state: State, name: str) -> tuple[str, ...]:
    return tuple(text for record in state.records if record.name == name for text in record.observations)


def _arrows(state: State, name: str) -> tuple[str, ...]:
    return tuple(f"{r.source} -{r.type}-> {r.target}" for r in state.relations if name in (r.source, r.target))


@pytest.mark.parametrize("name", list("abcdefgh"))
def test_a_history_tells_exactly_what_each_change_did_to_a_name(walk: Walk, name: str) -> None:
    events: dict[int, Event] = {e.change.id: e for e in walk.project.see(lambda snapshot: snapshot.history(name))}
    assert list(events) == sorted(events)
    for index, change in enumerate(walk.changes):
        before, after = walk.before(index), walk.states[index]
        event = events.pop(change.id, None)
        touched = [[r for r in state.records if r.name == name] for state in (before, after)]
        if touched[0] == touched[1] and _arrows(before, name) == _arrows(after, name):
            assert event is None or change.action == "several", event
            continue
        assert event is not None, change
        assert _signed(event.added, event.removed) == _signed(_texts(after, name), _texts(before, name))
        assert _signed(event.related, event.unrelated) == _signed(_arrows(after, name), _arrows(before, name))
        if change.action != "several":
            ids = [{record.id for record in records} for records in touched]
            assert event.created == bool(ids[1] - ids[0])
            assert event.deleted == bool(ids[0] - ids[1])
        if touched[1] and touched[0] != touched[1]:
            assert event.version == touched[1][0].version
        if (
            touched[0]
            and touched[1]
            and touched[0][0].id == touched[1][0].id
            and touched[0][0].kind != touched[1][0].kind
        ):
            assert event.changed["kind"] == touched[0][0].kind
    assert not events


def test_a_history_carries_the_changes_as_they_are_listed(walk: Walk) -> None:
    listed = {change.id: change for change in walk.project.see(lambda snapshot: snapshot.changes(1000))}
    assert list(listed) == [change.id for change in reversed(walk.changes)]
    for event in walk.project.see(lambda snapshot: snapshot.history("a")):
        assert event.change == listed[event.change.id]


def test_a_history_goes_on_over_deletions_and_a_new_beginning(project: Project) -> None:
    project.create(draft("a", "first life"))
    project.delete("a")
    project.create(draft("a", "second life"))
    created, deleted, again = project.see(lambda snapshot: snapshot.history("a"))
    assert (created.created, created.added, created.version) == (True, ("first life",), 1)
    assert (deleted.deleted, deleted.removed) == (True, ("first life",))
    assert (again.created, again.added, again.version) == (True, ("second life",), 1)


def test_a_name_that_never_was_has_no_history(project: Project) -> None:
    project.create(draft("a"))
    assert project.see(lambda snapshot: snapshot.history("b")) == []


def test_a_relation_is_in_the_history_of_both_its_ends(project: Project) -> None:
    project.relate("a", "knows", "b")
    project.unrelate("a", "knows", "b")
    project.undo()
    for name in "ab":
        made, gone, back = project.see(lambda snapshot, name=name: snapshot.history(name))
        assert made.related == gone.unrelated == back.related == ("a -knows-> b",)
        assert made.version is None


def test_what_a_replacement_changed_is_told_with_its_old_value(project: Project) -> None:
    project.create(draft("a", "old", kind="was"))
    project.replace("a", "new", kind="is")
    event = project.see(lambda snapshot: snapshot.history("a"))[-1]
    assert (event.added, event.removed, event.changed["kind"], event.version) == (("new",), ("old",), "was", 2)


# ── what one change did ──────────────────────────────────────────────────────────────────────────────────────


def test_the_effects_of_a_change_are_those_the_whole_journal_tells_of(walk: Walk) -> None:
    with walk.project.store.read("default") as snapshot:
        touches = snapshot.touches()
        for change in walk.changes:
            expected = {(one.memory, one.how) for one in touches if one.at == change.at}
            assert {(one.memory, one.how) for one in snapshot.effects(change.id)} == expected, change


def test_what_a_change_did_to_relations_is_told_also_where_they_are_gone(project: Project) -> None:
    project.relate("a", "knows", "b")
    project.unrelate("a", "knows", "b")
    project.undo()
    project.unrelate("a", "knows", "b")
    found = project.see(lambda snapshot: [snapshot.relation_effects(one.id) for one in snapshot.changes(10)])
    assert [[(one.how, one.source, one.type, one.target) for one in some] for some in found] == [
        [(how, "a", "knows", "b")] for how in ("deleted", "restored", "deleted", "made")
    ]
    assert project.see(lambda snapshot: snapshot.relation_effects(10_000)) == []


def test_the_changes_since_a_time_are_those_made_after_it_newest_first(walk: Walk) -> None:
    with walk.project.store.read("default") as snapshot:
        numbers = [change.id for change in walk.changes]
        for place in (0, 100, len(numbers) - 1):
            later = [change.id for change in snapshot.changes_since(walk.changes[place].at, 1000)]
            assert later == numbers[:place:-1]
        assert len(snapshot.changes_since(0, 7)) == 7


def test_the_maker_of_a_record_is_the_change_that_created_it(walk: Walk) -> None:
    with walk.project.store.read("default") as snapshot:
        records = list(snapshot.records())
        makers = snapshot.makers([record.id for record in records])
        assert set(makers) == {record.id for record in records}
        made = {(one.memory, one.at) for one in snapshot.touches() if one.how == "made"}
        assert {(id, change.at) for id, change in makers.items()} <= made


def test_names_of_deleted_records_are_found_by_their_beginning(project: Project) -> None:
    project.create(draft("apple pie"), draft("apple tart"), draft("pear"))
    with project.changing() as tx:
        tx.remove_records(list(tx.ids(["apple pie", "pear"]).values()))
    with project.store.read("default") as snapshot:
        assert snapshot.deleted_starting("apple", 5) == ["apple pie"]
        assert snapshot.deleted_starting("apple t", 5) == []


def test_a_deleted_record_is_found_by_the_id_it_had(project: Project) -> None:
    project.create(draft("apple"), draft("pear"))
    with project.changing() as tx:
        gone, stays = (tx.ids([name])[name] for name in ("apple", "pear"))
        uids = tx.uids([gone, stays])
        tx.remove_records([gone])
    with project.store.read("default") as snapshot:
        assert [snapshot.deleted_uid(uids[one]) for one in (gone, stays)] == [[gone], []]
