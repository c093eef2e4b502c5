"""All of a change or nothing of it, whatever breaks it off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from polymnia.engine.ports import Snapshot, Transaction
from polymnia.errors import Cancelled, Fault
from polymnia.models import RelationDraft, Seen

from .engines import Engine
from .project import Project, draft, state
from .reads import everything

Step = Callable[[Transaction], Any]

# Every primitive that writes, each on something that was there before and on something this change made.
STEPS: dict[str, Step] = {
    "add_records": lambda tx: tx.add_records([draft("new", "fresh text"), draft("newer", "fresher text")]),
    "replace_record": lambda tx: tx.replace_record(tx.ids(["b"])["b"], draft("b", "replaced", kind="other")),
    "add_observations": lambda tx: tx.add_observations([(tx.ids(["a"])["a"], ["added", "added too"])]),
    "remove_observations": lambda tx: tx.remove_observations(tx.ids(["a"])["a"], ["first of a", "added"]),
    "add_relations": lambda tx: tx.add_relations([("a", "new", "made", {}), ("new", "b", "made", {"key": 1})]),
    "relate": lambda tx: tx.relate([RelationDraft("a", "b", "near", 0.5, "why", {"k": 1}, {"e": 2}, "auto", 7)]),
    "revise": lambda tx: tx.revise(tx.ids(["a"])["a"], {"scope": "there", "tags": ("t",), "metadata": {"k": 1}}),
    "add_session": lambda tx: tx.add_session("new"),
    "remove_sessions": lambda tx: tx.remove_sessions(["old", "nobody's"]),
    "remove_relations": lambda tx: tx.remove_relations([relation.id for relation in tx.relations_of(["b"])]),
    "set_extra": lambda tx: tx.set_extra(tx.ids(["a"])["a"], {"colour": "green"}),
    "note": lambda tx: tx.note("place", "there"),
    "purge_versions": lambda tx: tx.purge_versions(tx.ids(["b"])["b"]),
    "forget_notes": lambda tx: tx.forget_notes("p", "q"),
    "forget": lambda tx: tx.note("gone", None),
    "put_vectors": lambda tx: tx.put_vectors("model", 16, [(tx.texts_of(range(40))[-1].id, 0, b"half", b"bits")]),
    "drop_vectors": lambda tx: tx.drop_vectors(["model"]),
    "count_reads": lambda tx: tx.count_reads([Seen(tx.ids(["a"])["a"], 0, "ann", 1, 2)]),
    "index_words": lambda tx: tx.index_words(100),
    "drop_words": lambda tx: tx.drop_words(),
    "drop_indexes": lambda tx: tx.drop_indexes(),
    "index_substrings": lambda tx: tx.index_substrings(100),
    "remove_records": lambda tx: tx.remove_records(list(tx.ids(["c", "newer"]).values())),
    "restore_record": lambda tx: tx.restore_record(tx.ids_ever("deleted before")[0]),
    "purge": lambda tx: tx.purge([tx.ids(["d"])["d"]]),
    "undo": lambda tx: tx.undo(tx.changes(100)[-1].id),
}
READING = {"present_observations", "number"}


def _filled(project: Project) -> None:
    project.create(draft("to be undone", "text"))
    project.create(*(draft(name, f"first of {name}", f"second of {name}") for name in "abcd"))
    project.relate("a", "knows", "b")
    project.relate("d", "knows", "a")
    project.create(draft("deleted before", "text"))
    project.delete("deleted before")
    with project.changing() as tx:
        tx.add_session("old")
        tx.note("place", "here")
        tx.note("gone", "not yet")
        tx.put_vectors("other model", 16, [(tx.texts_of(range(40))[0].id, 0, b"half", b"bits")])
        tx.index_words(4)


def _everything(project: Project) -> tuple[Any, ...]:
    """Whatever a caller can see."""
    return (
        project.state(),
        project.store.stamp(project.name),
        project.see(lambda snapshot: snapshot.changes(100)),
        [project.see(lambda snapshot, n=name: snapshot.history(n)) for name in ("a", "b", "c", "d", "new")],
        [project.finds(form) for form in ("first of", "text", "added", "replaced", "other", "a")],
        [project.see(lambda snapshot, k=key: snapshot.noted(k)) for key in ("place", "gone")],
        project.see(everything),
    )


def test_the_steps_are_every_primitive_that_writes() -> None:
    writing = {name for name in vars(Transaction) if not name.startswith("_")} - set(dir(Snapshot))
    assert writing - READING - {"changed"} == set(STEPS) - {"forget"}


@pytest.mark.parametrize("count", range(1, len(STEPS) + 1))
def test_a_change_broken_off_after_any_step_leaves_everything_as_it_was(project: Project, count: int) -> None:
    _filled(project)
    before = _everything(project)
    steps = [step for name, step in STEPS.items() if name != "undo"][:count]
    if count == len(STEPS):
        steps = [STEPS["undo"]]
    with pytest.raises(RuntimeError, match="stop"), project.changing() as tx:
        for step in steps:
            step(tx)
        raise RuntimeError("stop")
    assert _everything(project) == before


@pytest.mark.parametrize("broken_by", [ValueError, Cancelled, KeyboardInterrupt, SystemExit, MemoryError])
def test_whatever_is_raised_rolls_the_change_back_and_is_passed_on(
    project: Project, broken_by: type[BaseException]
) -> None:
    _filled(project)
    before = _everything(project)
    with pytest.raises(broken_by, match="why"), project.changing() as tx:
        STEPS["add_records"](tx)
        STEPS["remove_records"](tx)
        raise broken_by("why")
    assert _everything(project) == before


def test_a_change_that_broke_off_does_not_stand_in_the_way_of_the_next(project: Project) -> None:
    with pytest.raises(KeyboardInterrupt), project.changing() as tx:
        tx.add_records([draft("new", "text of the first try")])
        raise KeyboardInterrupt
    project.create(draft("new", "text of the second try"))
    assert project.get("new").observations == ("text of the second try",)
    assert project.finds("first try") == []


def test_a_taken_name_breaks_off_the_whole_change(project: Project) -> None:
    project.create(draft("taken", "text"))
    before = _everything(project)
    with pytest.raises(Fault), project.changing() as tx:
        tx.add_records([draft("free")])
        tx.add_records([draft("another"), draft("taken")])
    assert _everything(project) == before


def test_a_change_sees_what_it_has_written(project: Project) -> None:
    project.create(draft("old", "old text"))
    with project.changing() as tx:
        assert not tx.changed
        (made,) = tx.add_records([draft("new", "new text", kind="sort", extra={"key": [1]})])
        assert tx.changed
        tx.add_relations([("new", "old", "follows", {})])
        tx.add_observations([(made.id, ["more text"])])
        tx.note("key", "value")
        assert tx.ids(["new", "old", "none"]) == {"old": tx.ids(["old"])["old"], "new": made.id}
        assert [record.observations for record in tx.load([made.id])] == [("new text", "more text")]
        assert tx.containing(["more te"]) == [made.id]
        assert tx.containing(["sort"]) == [made.id]
        assert [relation.ends for relation in tx.relations_of(["old"])] == [("new", "old", "follows")]
        assert tx.count() == (2, 1)
        assert tx.noted("key") == "value"
        assert tx.present_observations(made.id, ["new text", "no text"]) == {"new text"}
        assert tx.names_starting("n", 10) == ["new"]
        seen = state(tx)
    assert project.state() == seen


def test_a_record_is_answered_as_it_is_stored(project: Project) -> None:
    with project.changing() as tx:
        made = tx.add_records([draft("a", "one", "two", kind="k", extra={"x": {"y": [1, None]}}), draft("b")])
        related = tx.add_relations([("a", "b", "r", {"z": 1.5})])
    assert list(project.state().records) == made
    assert list(project.state().relations) == related
    with project.changing() as tx:
        replaced = tx.replace_record(made[0].id, draft("a", "three", kind="l"))
    assert project.get("a") == replaced
    assert (replaced.id, replaced.uid, replaced.created) == (made[0].id, made[0].uid, made[0].created)
    assert (replaced.kind, replaced.observations, replaced.extra) == ("l", ("three",), {})
    assert replaced.version == 2


def test_a_change_that_changes_nothing_leaves_no_trace(project: Project) -> None:
    _filled(project)
    before = _everything(project)
    with project.changing() as tx:
        assert tx.remove_observations(tx.ids(["a"])["a"], ["no such text"]) == 0
        tx.add_records([])
        tx.add_observations([(tx.ids(["a"])["a"], [])])
        tx.add_relations([])
        tx.remove_records([])
        tx.remove_relations([])
        tx.set_extra(tx.ids(["a"])["a"], {})
        tx.purge([])
        assert not tx.changed
    assert _everything(project) == before


def test_what_is_gone_already_is_no_obstacle_to_removing_it(project: Project) -> None:
    project.create(draft("a"), draft("b"))
    project.relate("a", "knows", "b")
    gone, (relation,) = project.id("a"), project.state().relations
    project.delete("a")
    before = _everything(project)
    with project.changing() as tx:
        tx.remove_records([gone])
        tx.remove_relations([relation.id])
    assert _everything(project) == before
    with project.changing() as tx:
        tx.purge([gone])
    before = _everything(project)
    with project.changing() as tx:
        tx.purge([gone])
    assert _everything(project) == before


def test_a_reader_that_breaks_off_leaves_the_store_in_use(project: Project) -> None:
    project.create(draft("a"))
    with pytest.raises(KeyboardInterrupt), project.store.read(project.name):
        raise KeyboardInterrupt
    with pytest.raises(RuntimeError), project.store.read(project.name) as snapshot:
        for _ in snapshot.relations():
            pass
        for _ in snapshot.records():
            raise RuntimeError("in the middle of an answer")
    assert project.names() == ["a"]
    project.create(draft("b"))
    assert project.names() == ["a", "b"]


def test_a_change_broken_off_is_not_seen_by_a_store_opened_later(engine: Engine, project: Project) -> None:
    project.create(draft("kept"))
    with pytest.raises(SystemExit), project.changing() as tx:
        tx.add_records([draft("lost", "text")])
        raise SystemExit
    other = Project(engine.open(), project.name)
    assert other.names() == ["kept"]
    other.store.close()
