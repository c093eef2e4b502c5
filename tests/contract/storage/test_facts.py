"""The small things a store keeps beside memories, and the small questions it answers about names."""

from __future__ import annotations

import pytest

from polymnia.engine.ports import Store

from .engines import Engine
from .project import Project, draft

# ── facts ───────────────────────────────────────────────────────────────────────────────────────────────────


def _note(project: Project, key: str, value: str | None) -> None:
    with project.changing() as tx:
        tx.note(key, value)


def _noted(project: Project, key: str) -> str | None:
    return project.see(lambda snapshot: snapshot.noted(key))


@pytest.mark.parametrize("value", ["value", "", "값 😀\n", "x" * 1_000_000], ids=len)
def test_a_fact_is_kept_replaced_and_forgotten(engine: Engine, project: Project, value: str) -> None:
    assert _noted(project, "key") is None
    _note(project, "key", "first")
    _note(project, "key", value)
    _note(project, "other key", "other")
    assert _noted(project, "key") == value
    later = Project(engine.open(), project.name)
    assert _noted(later, "key") == value
    later.store.close()
    _note(project, "key", None)
    _note(project, "never kept", None)
    assert _noted(project, "key") is None
    assert _noted(project, "other key") == "other"


def test_a_fact_is_no_change_of_the_memory(project: Project) -> None:
    project.create(draft("a"))
    stamp, changes = project.store.stamp(project.name), project.see(lambda snapshot: snapshot.changes(10))
    with project.changing() as tx:
        tx.note("key", "value")
        assert not tx.changed
    assert project.store.stamp(project.name) == stamp
    assert project.see(lambda snapshot: snapshot.changes(10)) == changes
    assert project.finds("value") == []
    project.undo()
    assert _noted(project, "key") == "value"


def test_a_fact_may_be_the_first_thing_a_project_holds(store: Store) -> None:
    new = Project(store, "new")
    _note(new, "key", "value")
    assert _noted(new, "key") == "value"
    assert _noted(Project(store, "other"), "key") is None
    assert new.names() == []
    assert store.stamp("new") == 0


def test_a_fact_is_kept_with_the_change_it_came_with(project: Project) -> None:
    with project.changing() as tx:
        tx.add_records([draft("a")])
        tx.note("key", "value")
    assert (_noted(project, "key"), project.names()) == ("value", ["a"])
    with pytest.raises(ValueError, match="stop"), project.changing() as tx:
        tx.add_records([draft("b")])
        tx.note("key", None)
        raise ValueError("stop")
    assert (_noted(project, "key"), project.names()) == ("value", ["a"])


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────

NAMES = ["a", "ab", "aB", "abc", "b", "서울", "서울시", "서", "%", "a%", "a_", "é", "e\u0301", "", " ", "\uffff", "😀"]


@pytest.mark.parametrize("prefix", [*NAMES, "ab ", "nothing", "x"])
def test_names_are_completed_in_alphabetical_order(project: Project, prefix: str) -> None:
    project.create(*(draft(name, f"text {prefix}") for name in NAMES))
    expected = sorted(name for name in NAMES if name.startswith(prefix))
    assert project.see(lambda snapshot: snapshot.names_starting(prefix, 100)) == expected
    assert project.see(lambda snapshot: snapshot.names_starting(prefix, 2)) == expected[:2]


def test_names_are_completed_up_to_the_last_character_there_is(project: Project) -> None:
    project.create(draft("a\U0010ffff"), draft("\U0010ffff"), draft("a"))
    assert project.see(lambda snapshot: snapshot.names_starting("a", 9)) == ["a", "a\U0010ffff"]
    assert project.see(lambda snapshot: snapshot.names_starting("", 9)) == ["a", "a\U0010ffff", "\U0010ffff"]


def test_deleted_names_complete_nothing(project: Project) -> None:
    project.create(draft("abc"), draft("abd"))
    project.delete("abc")
    assert project.see(lambda snapshot: snapshot.names_starting("ab", 9)) == ["abd"]
    project.undo()
    assert project.see(lambda snapshot: snapshot.names_starting("ab", 9)) == ["abc", "abd"]


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ("user-service", "User-Service"),
        ("Straße", "STRASSE"),
        ("paypal", "pаypal"),
        ("cafe\u0301", "café"),
        ("ab", "a\u200bb"),
        ("ＡＢＣ", "abc"),
        ("a  b", "a b"),
        ("서울", "서울\u2060"),
        ("it's", "it’s"),
    ],
    ids=ascii,
)
def test_names_that_could_be_taken_for_one_another_are_told(project: Project, stored: str, given: str) -> None:
    project.create(draft(stored), draft("something else"))
    assert project.see(lambda snapshot: snapshot.look_alikes([given])) == [(given, stored)]
    assert project.see(lambda snapshot: snapshot.look_alikes([stored])) == []
    project.create(draft(given))
    assert project.see(lambda snapshot: snapshot.look_alikes([stored, "something else", given])) == [
        (stored, given),
        (given, stored),
    ]
    project.delete(stored)
    assert project.see(lambda snapshot: snapshot.look_alikes([given])) == []
    project.undo()
    assert project.see(lambda snapshot: snapshot.look_alikes([given])) == [(given, stored)]


@pytest.mark.parametrize(
    ("stored", "given"), [("a", "b"), ("resume", "résumé"), ("ab", "a b"), ("서울", "서울시"), ("1", "l")], ids=ascii
)
def test_names_that_a_reader_tells_apart_are_no_look_alikes(project: Project, stored: str, given: str) -> None:
    project.create(draft(stored))
    assert project.see(lambda snapshot: snapshot.look_alikes([given])) == []


def test_names_are_the_same_only_letter_by_letter(project: Project) -> None:
    alike = ["é", "e\u0301", "E\u0301", "a", "A", "a ", " a", "а"]
    project.create(*(draft(name) for name in alike))
    ids = project.see(lambda snapshot: snapshot.ids(alike))
    assert len(set(ids.values())) == len(alike)
    for name in alike:
        assert project.see(lambda snapshot, name=name: snapshot.ids([name])) == {name: ids[name]}
    assert project.see(lambda snapshot: snapshot.ids(["É", "ａ"])) == {}
