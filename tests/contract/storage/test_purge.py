"""Removing for good: the text is nowhere any more, and everything else is as it was."""

from __future__ import annotations

from random import Random

import pytest

from form import mostly_long
from polymnia.errors import Conflict

from .engines import Engine
from .project import Project, draft, plain

# A script nothing else here uses, so that any three letters of it tell where it came from.
SECRET = "ჭხჯჰ ჱჲჳჴ ჵჶჷ"


def _noise(project: Project, seed: str, changes: int, each: int = 10) -> None:
    """Many records in no order, so that pages are split and moved."""
    random = Random(seed)
    for _ in range(changes):
        project.create(
            *(
                draft(f"{random.random()}", *(f"{random.random()}" * random.randint(1, 20) for _ in range(4)))
                for _ in range(each)
            )
        )


@pytest.fixture(params=["scan", "index"])
def way(request: pytest.FixtureRequest, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the texts are in the index when they are purged."""
    route = next((route for route in engine.routes if route == request.param), engine.routes[0])
    engine.take_route(route, monkeypatch)
    return str(request.param)


def _secret(project: Project, name: str = "s") -> None:
    project.create(draft(f"{name} {SECRET}", SECRET, "other", kind=SECRET, extra={SECRET: SECRET}))


@pytest.mark.parametrize("deleted", [False, True])
def test_what_was_noted_of_a_purged_record_goes_with_it(engine: Engine, project: Project, deleted: bool) -> None:
    project.create(draft("kept", "text"), draft("gone", "text"))
    kept, gone = project.get("kept").uid, project.get("gone").uid
    with project.changing() as tx:
        tx.note(f"conflict {kept} {gone}", "12 34")
        tx.note(f"conflict {kept}", "56")
    if deleted:
        project.delete("gone")
    with project.changing("purge") as tx:
        tx.purge(tx.ids_ever("gone"))
    assert engine.traces(gone) == []
    assert project.see(lambda snapshot: snapshot.notes("conflict", "conflicu", 10)) == [f"conflict {kept}"]


@pytest.mark.parametrize(
    "life",
    mostly_long(
        ["stored", "replaced", "deleted and brought back", "observed", "unobserved", "marked", "related", "unrelated"],
        3,
    ),
)
@pytest.mark.usefixtures("way")
def test_a_purged_text_is_in_no_table_index_or_file(engine: Engine, project: Project, life: str) -> None:
    project.create(draft("kept", "text"))
    _secret(project)
    name = f"s {SECRET}"
    if life == "observed":
        project.observe(name, f"more {SECRET}")
    elif life == "unobserved":
        project.unobserve(name, SECRET)
    elif life == "replaced":
        project.replace(name, "harmless", kind="harmless")
    elif life == "marked":
        project.mark(name, harmless=True)
    elif life.endswith("related"):
        project.relate("kept", SECRET, name, key=SECRET)
        project.relate(name, SECRET, "kept")
        if life == "unrelated":
            project.unrelate("kept", SECRET, name)
    elif life.startswith("deleted"):
        project.delete(name)
        project.undo()
    assert engine.traces(SECRET)
    project.purge(name)
    assert engine.traces(SECRET) == []
    assert engine.strays() == []
    assert project.names() == ["kept"]
    assert project.finds(SECRET) == project.finds("ჭხჯ") == []


def test_a_purged_text_is_in_no_page_that_was_split_or_freed_before(engine: Engine, project: Project) -> None:
    for number in range(12):
        _secret(project, f"{number}")
        _noise(project, f"noise {number}", changes=4)
    for number in range(0, 12, 3):
        project.unobserve(f"{number} {SECRET}", SECRET)
        project.delete(f"{number + 1} {SECRET}")
        project.undo()
        _noise(project, f"more noise {number}", changes=1)
    project.purge(*(f"{number} {SECRET}" for number in range(12)))
    assert engine.traces(SECRET) == []
    assert engine.strays() == []


def test_a_purged_text_is_gone_when_the_last_reader_has_left(engine: Engine) -> None:
    project = Project(engine.open(busy_timeout=0.1), "default")
    _secret(project)
    with project.store.read(project.name) as snapshot:
        project.purge(f"s {SECRET}")
        assert [record.observations for record in snapshot.records()] == [(SECRET, "other")]
    project.create(draft("next"))
    assert engine.traces(SECRET) == []
    assert engine.strays() == []
    project.store.close()


def test_a_purged_text_is_gone_when_the_store_is_closed(engine: Engine) -> None:
    project = Project(engine.open(busy_timeout=0.1), "default")
    _secret(project)
    with project.store.read(project.name):
        project.purge(f"s {SECRET}")
    project.store.close()
    assert engine.traces(SECRET) == []
    assert engine.strays() == []


@pytest.mark.long
@pytest.mark.usefixtures("way")
def test_what_was_deleted_before_can_still_be_purged(engine: Engine, project: Project) -> None:
    name = f"s {SECRET}"
    project.create(draft("kept", "text"))
    for life in range(2):
        _secret(project)
        project.relate("kept", f"{SECRET} {life}", name)
        project.observe(name, f"{SECRET} {life}")
        project.delete(name)
    project.relate("kept", SECRET, name)
    with project.changing("purge") as tx:
        tx.purge(tx.ids_ever(name))
    assert engine.traces(SECRET) == []
    assert engine.strays() == []
    assert project.see(lambda snapshot: snapshot.ids_ever(name)) == []
    assert project.names() == ["kept"]
    assert project.state().relations == ()


def test_every_record_that_ever_bore_a_name_is_known(project: Project) -> None:
    project.create(draft("a"), draft("b"))
    first = project.id("a")
    project.replace("a", "text", kind="other")
    project.delete("a")
    assert project.see(lambda snapshot: snapshot.ids_ever("a")) == [first]
    project.create(draft("a"))
    second = project.id("a")
    project.undo()
    project.undo()
    assert project.id("a") == first
    assert project.see(lambda snapshot: snapshot.ids_ever("a")) == [first, second]
    assert project.see(lambda snapshot: snapshot.ids_ever("nobody")) == []
    assert Project(project.store, "other").see(lambda snapshot: snapshot.ids_ever("a")) == []


def test_a_purge_leaves_everything_else_as_it_was(project: Project) -> None:
    project.create(draft("a", "text of a"), draft("b", "text of b"))
    project.relate("a", "knows", "b")
    before = plain(project.state())
    past = project.last().at
    project.create(draft("gone", "text of gone"))
    project.relate("a", "knows", "gone")
    project.relate("gone", "knows", "gone")
    project.purge("gone")
    assert plain(project.state()) == before
    assert project.finds("text of") == ["a", "b"]
    assert [r.name for r in project.see(lambda snapshot: snapshot.as_of(past)[0])] == ["a", "b"]
    assert all("gone" not in repr(event) for event in project.see(lambda snapshot: snapshot.history("a")))


def test_several_are_purged_at_once_and_the_others_stay(project: Project) -> None:
    project.create(*(draft(f"{number}", f"text {number}") for number in range(10)))
    project.purge("1", "3", "5")
    assert project.names() == ["0", "2", "4", "6", "7", "8", "9"]
    assert project.finds("text 3") == []


def test_a_purged_record_is_missing_from_the_past_too(project: Project) -> None:
    project.create(draft("a", "text"), draft("gone", "text"))
    at = project.last().at
    project.delete("gone")
    project.undo()
    back = project.last().at
    project.purge("gone")
    for time in (at, back, project.last().at):
        records, _ = project.see(lambda snapshot, time=time: snapshot.as_of(time))
        assert [record.name for record in records] == ["a"]


def test_the_journal_tells_that_something_was_purged(project: Project) -> None:
    project.create(draft("gone", "text"))
    project.observe("gone", "more")
    with project.changing("purge", who="bob") as tx:
        tx.purge([tx.ids(["gone"])["gone"]])
    changes = project.see(lambda snapshot: snapshot.changes(10))
    assert [(change.action, change.who) for change in changes] == [
        ("purge", "bob"),
        ("observe", "ann"),
        ("create", "ann"),
    ]


def test_a_name_that_was_purged_can_be_used_again(project: Project) -> None:
    project.create(draft("a", "first"))
    project.purge("a")
    project.create(draft("a", "second"))
    project.delete("a")
    project.undo()
    assert project.get("a").observations == ("second",)
    events = project.see(lambda snapshot: snapshot.history("a"))
    assert "first" not in repr(events)
    assert [event.created for event in events if event.created] == [True, True]


@pytest.mark.parametrize(
    "touched",
    [
        "the purge itself",
        "create",
        "observe",
        "unobserve",
        "relate",
        "unrelate",
        "replace",
        "delete",
    ],
)
def test_no_undo_reaches_what_was_purged(project: Project, touched: str) -> None:
    project.create(draft("kept", "text"))
    numbers = {"create": project.create(draft("gone", "text", "more"))}
    numbers["observe"] = project.observe("gone", "x")
    numbers["unobserve"] = project.unobserve("gone", "more")
    numbers["relate"] = project.relate("kept", "knows", "gone")
    project.relate("gone", "knows", "kept")
    numbers["unrelate"] = project.unrelate("gone", "knows", "kept")
    numbers["replace"] = project.replace("gone", "y", kind="other")
    numbers["delete"] = project.delete("gone")
    project.undo()
    numbers["the purge itself"] = project.purge("gone")
    before, changes = project.state(), project.see(lambda snapshot: snapshot.changes(100))
    with pytest.raises(Conflict):
        project.undo(numbers[touched])
    assert project.state() == before
    assert project.see(lambda snapshot: snapshot.changes(100)) == changes


def test_of_a_change_that_touched_what_was_purged_the_rest_is_undone(project: Project) -> None:
    made = project.create(draft("gone", "text"), draft("kept", "text"))
    with project.changing() as tx:
        for id in tx.ids(["gone", "kept"]).values():
            tx.set_extra(id, {"key": 1})
    both = project.last().id
    project.purge("gone")
    with pytest.raises(Conflict, match="final"):
        project.undo()
    project.undo(both)
    assert project.get("kept").extra == {}
    assert project.names() == ["kept"]
    with pytest.raises(Conflict, match="already"):
        project.undo(both)
    project.undo(made)
    assert project.names() == []


def test_no_undo_brings_back_half_of_an_earlier_life(project: Project) -> None:
    project.create(draft("a", "first life"))
    deleted = project.delete("a")
    project.create(draft("a", "second life"))
    project.purge("a")
    with pytest.raises(Conflict):
        project.undo(deleted)
    assert project.names() == []
    assert project.see(lambda snapshot: snapshot.containing(["life"])) == []


def test_changes_before_and_after_a_purge_can_still_be_undone(project: Project) -> None:
    first = project.create(draft("a", "text"))
    project.create(draft("gone", "text"))
    project.purge("gone")
    last = project.create(draft("b", "text"))
    project.undo(last)
    project.undo(first)
    assert project.names() == []
