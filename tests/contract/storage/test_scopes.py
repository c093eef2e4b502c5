"""Scopes with their counts, sessions, pages, and the strongest relations."""

from __future__ import annotations

import pytest

from polymnia.errors import Conflict
from polymnia.models import EntityDraft, Filters, RelationDraft

from .project import Project, draft


def _scopes(project: Project) -> dict[str | None, int]:
    return dict(project.see(lambda snapshot: snapshot.scopes()))


def test_scopes_are_counted_whatever_happens_to_their_memories(project: Project) -> None:
    made = project.create(draft("a", scope="work"), draft("b", scope="work/x"), draft("c"))
    assert _scopes(project) == {None: 1, "work": 1, "work/x": 1}
    with project.changing() as tx:
        tx.revise(tx.ids(["a"])["a"], {"scope": "work/x"})
        tx.revise(tx.ids(["c"])["c"], {"scope": "home"})
    moved = project.last().id
    assert _scopes(project) == {"home": 1, "work/x": 2}
    project.undo(moved)
    assert _scopes(project) == {None: 1, "work": 1, "work/x": 1}
    gone = project.delete("a", "c")
    assert _scopes(project) == {"work/x": 1}
    project.undo(gone)
    project.purge("b")
    assert _scopes(project) == {None: 1, "work": 1}
    project.undo(made)
    assert _scopes(project) == {}


def test_the_scopes_come_in_the_order_of_their_paths(project: Project) -> None:
    project.create(draft("a", scope="b"), draft("b", scope="a/b"), draft("c"), draft("d", scope="a"))
    assert [path for path, _ in project.see(lambda snapshot: snapshot.scopes())] == [None, "a", "a/b", "b"]


def test_a_memory_filed_nowhere_is_found_in_the_default_scope(project: Project) -> None:
    project.create(draft("a"), draft("b", scope="user"), draft("c", scope="user/other"), draft("d", scope="users"))

    def found(scope: str, below: bool) -> set[str]:
        wanted = Filters(scope=scope, scopes_below=below)
        numbers = project.see(lambda snapshot: snapshot.matching(wanted))
        return {r.name for r in project.state().records if r.id % (1 << 32) in numbers}

    assert found("user/default", False) == {"a"}
    assert found("user/default", True) == {"a"}
    assert found("user", False) == {"b"}
    assert found("user", True) == {"a", "b", "c"}
    assert found("users", True) == {"d"}


def test_revising_changes_what_is_named_and_keeps_the_version_before(project: Project) -> None:
    project.create(draft("a", "text", scope="x", tags=("one", "two"), category="c", metadata={"k": 1}))
    before = project.get("a")
    with project.changing() as tx:
        assert tx.revise(before.id, {"tags": ("two", "three"), "metadata": {}, "summary": "s"})
    after = project.get("a")
    assert (after.tags, after.metadata, after.summary) == (("two", "three"), {}, "s")
    assert (after.scope, after.category, after.observations, after.version) == ("x", "c", ("text",), 2)

    def tagged(tag: str) -> list[int]:
        return project.see(lambda snapshot: snapshot.matching(Filters(tags=(tag,))))

    assert (tagged("one"), len(tagged("three"))) == ([], 1)
    project.undo()
    assert project.get("a").tags == ("one", "two")
    assert (len(tagged("one")), tagged("three")) == (1, [])


def test_revising_to_the_same_is_no_change(project: Project) -> None:
    project.create(draft("a", scope="x"))
    stamp = project.store.stamp(project.name)
    with project.changing() as tx:
        assert not tx.revise(tx.ids(["a"])["a"], {"scope": "x", "tags": ()})
    assert (project.get("a").version, project.store.stamp(project.name)) == (1, stamp)


def test_a_record_from_elsewhere_keeps_its_id_times_and_version(project: Project) -> None:
    project.create(EntityDraft("a", "thing", uid="an id", created=5, updated=7, version=3))
    record = project.get("a")
    assert (record.uid, record.created, record.updated, record.version) == ("an id", 5, 7, 3)
    assert project.see(lambda snapshot: snapshot.ids_of(["an id", "none"])) == {"an id": record.id}


def test_a_relation_carries_its_strength_reason_origin_and_time(project: Project) -> None:
    with project.changing() as tx:
        (made,) = tx.relate([RelationDraft("a", "b", "near", 0.5, "why", {"k": 1}, {"e": 2}, "auto", 7)])
    (kept,) = project.state().relations
    assert kept == made
    assert (kept.strength, kept.context, kept.metadata, kept.extra) == (0.5, "why", {"k": 1}, {"e": 2})
    assert (kept.origin, kept.created) == ("auto", 7)
    gone = project.unrelate("a", "near", "b")
    project.undo(gone)
    assert project.state().relations == (made,)


def test_the_strongest_relations_of_each_name_come_from_both_directions(project: Project) -> None:
    with project.changing() as tx:
        tx.relate([RelationDraft("a", f"far {n}", "near", n / 10) for n in range(9)])
        tx.relate([RelationDraft(f"in {n}", "a", "near", n / 10 + 0.05) for n in range(9)])
        tx.relate([RelationDraft("b", "a", "drawn"), RelationDraft("b", "b", "self", 0.2)])
    found = project.see(lambda snapshot: snapshot.strongest(["a", "b", "nobody"], 3))
    assert [(r.source, r.target) for r in found["a"]] == [("b", "a"), ("in 8", "a"), ("a", "far 8")]
    assert [r.type for r in found["b"]] == ["drawn", "self"]
    assert "nobody" not in found


def test_pages_go_from_the_newest_to_the_oldest(project: Project) -> None:
    project.create(*(draft(name) for name in "abcde"))

    def page(skip: int) -> list[str]:
        return [record.name for record in project.see(lambda snapshot: snapshot.page(skip, 2))]

    assert [page(0), page(2), page(4), page(6)] == [["e", "d"], ["c", "b"], ["a"], []]


def test_what_was_made_around_a_record_is_told_in_order(project: Project) -> None:
    project.create(*(draft(name, "text") for name in "abcde"))
    ids = [record.id for record in project.state().records]
    assert project.see(lambda snapshot: snapshot.around(ids[2], 1)) == [ids[1], ids[3]]
    assert project.see(lambda snapshot: snapshot.around(ids[0], 9)) == ids[1:]


def test_a_session_counts_its_memories_and_tells_when_it_was_used(project: Project) -> None:
    with project.changing() as tx:
        tx.add_session("empty")
        tx.add_session("monday")
    project.create(draft("a", session="monday"), EntityDraft("b", "thing", session="monday", created=5, updated=9))
    empty, monday = project.see(lambda snapshot: snapshot.sessions())
    assert (empty.name, empty.memories, empty.used) == ("empty", 0, empty.created)
    assert (monday.memories, monday.created, monday.used) == (2, 5, project.get("a").updated)


def test_ending_a_session_is_undone_with_the_rest_of_its_change(project: Project) -> None:
    with project.changing() as tx:
        tx.add_session("monday")
    began = project.last().id
    before = project.see(lambda snapshot: snapshot.sessions())
    with project.changing() as tx:
        tx.remove_sessions(["monday"])
    ended = project.last().id
    assert not project.see(lambda snapshot: snapshot.has_session("monday"))
    project.undo(ended)
    assert project.see(lambda snapshot: snapshot.sessions()) == before
    project.undo(began)
    assert project.see(lambda snapshot: snapshot.sessions()) == []


def test_a_session_begun_again_stands_in_the_way_of_an_undo(project: Project) -> None:
    with project.changing() as tx:
        tx.add_session("monday")
    with project.changing() as tx:
        tx.remove_sessions(["monday"])
    ended = project.last().id
    with project.changing() as tx:
        tx.add_session("monday")
    with pytest.raises(Conflict) as refused:
        project.undo(ended)
    assert refused.value.changes == [project.last().id]
