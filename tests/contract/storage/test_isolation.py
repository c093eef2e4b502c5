"""A reader sees one moment, and one project: nothing that comes later, nothing of anybody else."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from polymnia.engine.ports import Snapshot, Store
from polymnia.errors import Conflict, NotFound
from polymnia.models import Seen

from .engines import Engine
from .project import Project, draft
from .reads import EVERY, MODEL, READS, everything


def _filled(project: Project, word: str = "") -> None:
    """Something for every read to answer."""
    project.create(draft("ann", f"likes tea{word}", kind="person"), draft("bob", f"hates tea{word}", kind="person"))
    project.relate("ann", "knows", "bob")
    project.relate("nobody", "seeks", "ann", key=word)
    project.create(draft("gone", f"text{word}"))
    with project.changing() as tx:
        tx.index_words(100)
    project.replace("bob", f"hates tea{word}", kind="person", tags=("loud",))
    project.delete("gone")
    with project.changing() as tx:
        tx.note("place", f"here{word}")
        tx.add_session(f"today{word}")
        tx.put_vectors(MODEL, 8, [(tx.texts_of(EVERY)[0].id, 0, b"half of a vector", word.encode() or b"bits")])


def _change_all(project: Project) -> None:
    """Change the answer of every read."""
    project.create(draft("Ann", "also likes tea", kind="person"), draft("another", "tea"))
    project.observe("bob", "more about bob")
    project.delete("ann")
    project.relate("bob", "knows", "another")
    with project.changing() as tx:
        tx.note("place", "elsewhere")
        tx.note("plan", "another")
        tx.remove_sessions(["today"])
        tx.put_vectors(MODEL, 8, [(tx.texts_of(EVERY)[-1].id, 0, b"half of a vector", b"bits")])
        tx.count_reads([Seen(next(iter(tx.records())).id, 0, "bea", 1, 0)])
        tx.index_words(100)


def test_every_way_to_read_is_looked_at() -> None:
    assert set(READS) == {name for name in dir(Snapshot) if not name.startswith("_")}


def _is_empty(answer: Any) -> bool:
    if isinstance(answer, list | tuple):
        return all(_is_empty(part) for part in answer)
    return not answer


def test_every_read_of_a_new_project_answers_nothing(project: Project) -> None:
    answers = project.see(everything)
    assert {name for name, answer in answers.items() if not _is_empty(answer)} == set()
    with pytest.raises(Conflict), project.changing() as tx:
        tx.undo(None)


# ── one moment ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reader_sees_nothing_of_what_is_committed_after_it_began(project: Project) -> None:
    _filled(project)
    with project.store.read(project.name) as snapshot:
        before = everything(snapshot)
        _change_all(project)
        assert everything(snapshot) == before
        now = project.see(everything)
    # The changes were such that every read tells them, but the vague one and those about damage and an id of none.
    assert {name for name in READS if now[name] == before[name]} <= {"is_common", "damage", "deleted_uid"}


def test_a_reader_that_has_read_nothing_yet_sees_the_moment_it_was_opened_at(project: Project) -> None:
    _filled(project)
    with project.store.read(project.name) as snapshot:
        _change_all(project)
        assert {record.name for record in snapshot.records()} == {"ann", "bob"}


def test_a_listing_under_way_goes_on_as_it_began(project: Project) -> None:
    project.create(*(draft(f"name {number}", "text") for number in range(2500)))
    with project.store.read(project.name) as snapshot:
        listing = snapshot.records()
        seen = [next(listing).name]
        project.delete(*(f"name {number}" for number in range(1, 2500, 2)))
        project.create(draft("late", "text"))
        seen += [record.name for record in listing]
    assert seen == [f"name {number}" for number in range(2500)]


def test_a_reader_in_a_project_that_is_made_meanwhile_goes_on_seeing_nothing(store: Store) -> None:
    with store.read("not yet") as snapshot:
        _filled(Project(store, "not yet"))
        assert _is_empty(list(snapshot.records()))
        assert snapshot.count() == (0, 0)
    assert Project(store, "not yet").names() == ["ann", "bob"]


def test_a_reader_never_waits_for_a_writer(engine: Engine) -> None:
    # Whoever did wait would wait for this very thread, and give up.
    mine, other = engine.open(busy_timeout=2), engine.open(busy_timeout=2)
    project = Project(mine, "default")
    _filled(project)
    before = project.see(everything)
    with project.changing() as tx:
        tx.add_records([draft("new", "tea")])
        tx.remove_records(list(tx.ids(["ann"]).values()))
        assert project.see(everything) == before
        assert Project(other, "default").see(everything) == before
        assert mine.stamp("default") == other.stamp("default")
        assert Project(other, "another").names() == []
    mine.close()
    other.close()


def test_a_writer_never_waits_for_a_reader(engine: Engine) -> None:
    mine, other = engine.open(busy_timeout=2), engine.open(busy_timeout=2)
    _filled(Project(mine, "default"))
    with mine.read("default") as first, other.read("default") as second:
        Project(mine, "default").create(draft("by one", "text"))
        Project(other, "default").create(draft("by the other", "text"))
        assert first.count() == second.count() == (2, 2)
    assert Project(mine, "default").names() == ["ann", "bob", "by one", "by the other"]
    mine.close()
    other.close()


def test_a_store_sees_what_another_one_has_committed_at_once(engine: Engine) -> None:
    mine, other = Project(engine.open(), "default"), Project(engine.open(), "default")
    for number in range(5):
        mine.create(draft(f"mine {number}", "text"))
        assert other.state() == mine.state()
        other.create(draft(f"other {number}", "text"))
        assert mine.state() == other.state()
    mine.store.close()
    other.store.close()


def test_readers_on_many_threads_each_see_one_whole_change(project: Project) -> None:
    """Two records are always changed together; a reader that sees them differ has seen half a change."""
    project.create(draft("left", kind="0"), draft("right", kind="0"))
    done, torn = threading.Event(), []

    def look() -> None:
        while not done.is_set():
            left, right = project.see(lambda snapshot: list(snapshot.records()))
            if left.kind != right.kind or left.observations != right.observations:
                torn.append((left, right))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(60):
        with project.changing() as tx:
            for id in tx.ids(["left", "right"]).values():
                tx.replace_record(id, draft("", f"text {number}", kind=str(number)))
    done.set()
    for reader in readers:
        reader.join()
    assert torn == []


# ── one project ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("read", READS)
def test_no_read_answers_anything_of_another_project(store: Store, read: str) -> None:
    _filled(Project(store, "before"), word=" of another")
    empty, alike = Project(store, "empty"), Project(store, "alike")
    assert _is_empty(empty.see(READS[read]))
    _filled(alike, word=" of this one")
    answer = alike.see(READS[read])
    _filled(Project(store, "after"), word=" of another")
    _change_all(Project(store, "before"))
    assert alike.see(READS[read]) == answer
    assert "of another" not in repr(answer)


@pytest.mark.parametrize("count", [1, 2])
def test_ids_of_another_project_load_nothing(store: Store, count: int) -> None:
    mine, other = Project(store, "mine"), Project(store, "other")
    _filled(mine)
    _filled(other)
    ids = [record.id for record in other.state().records][:count]
    assert mine.see(lambda snapshot: snapshot.load(ids)) == []


def test_changes_of_another_project_can_neither_be_seen_nor_undone(store: Store) -> None:
    mine, other = Project(store, "mine"), Project(store, "other")
    _filled(mine)
    number = other.create(draft("theirs"))
    assert mine.see(lambda snapshot: snapshot.change(number)) is None
    before = other.state(), mine.state()
    with pytest.raises(NotFound):
        mine.undo(number)
    assert (other.state(), mine.state()) == before
    assert other.see(lambda snapshot: snapshot.change(number)) is not None


def test_undo_purge_and_deletes_stay_in_their_project(store: Store) -> None:
    mine, other = Project(store, "mine"), Project(store, "other")
    _filled(mine)
    _filled(other)
    before = other.see(everything)
    mine.delete("bob")
    mine.undo()
    mine.purge("ann")
    assert other.see(everything) == before
    other.delete("ann")
    other.undo()
    assert other.names() == ["ann", "bob"]


@pytest.mark.parametrize(
    "name", ["", " ", "Default", "default ", "프로젝트", "a/b", "%", "'; DROP TABLE memory; --", "\\' $1"]
)
def test_a_project_may_have_any_name_and_is_told_apart_by_every_letter(store: Store, name: str) -> None:
    default, named = Project(store, "default"), Project(store, name)
    default.create(draft("in default"))
    named.create(draft("in the other"))
    assert default.names() == ["in default"]
    assert named.names() == ["in the other"]
