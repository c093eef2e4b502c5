"""Ids and order: by the making, for ever, whatever happens to the others."""

from __future__ import annotations

import pytest

from form import mostly_long

from .engines import Engine
from .project import Project, draft, plain


def test_records_relations_and_observations_come_in_the_order_of_their_making(project: Project) -> None:
    project.create(draft("z", "3", "1", "2"), draft("a", "b", "a"))
    project.create(draft("m"))
    project.observe("z", "0")
    project.relate("m", "r", "a")
    project.relate("a", "r", "z")
    project.relate("m", "q", "a")
    assert [(r.name, r.observations) for r in project.state().records] == [
        ("z", ("3", "1", "2", "0")),
        ("a", ("b", "a")),
        ("m", ()),
    ]
    in_order = [("m", "a", "r"), ("a", "z", "r"), ("m", "a", "q")]
    assert [relation.ends for relation in project.state().relations] == in_order
    of_both = project.see(lambda snapshot: snapshot.relations_of(["z", "m", "a"]))
    assert [relation.ends for relation in of_both] == in_order
    assert [relation.ends for relation in project.see(lambda snapshot: snapshot.relations_from(["m", "a"]))] == in_order


def test_ids_grow_with_the_making_and_are_never_given_twice(project: Project) -> None:
    seen: list[int] = []
    for number in range(10):
        project.create(draft("again", f"text {number}"), draft(f"other {number}"))
        project.relate("again", "knows", f"other {number}")
        state = project.state()
        new = [row.id for row in (*state.records, *state.relations) if row.id not in seen]
        assert all(id > max(seen, default=0) for id in new)
        assert len(set(new)) == len(new) == 3
        seen += new
        project.delete("again")


def test_an_id_and_a_public_id_stay_whatever_happens_to_a_record(project: Project) -> None:
    project.create(draft("a", "text"), draft("b"))
    before = project.get("a")
    project.observe("a", "more")
    project.replace("a", "other", kind="else")
    project.mark("a", key=1)
    project.delete("a")
    project.undo()
    project.unobserve("a", "other")
    after = project.get("a")
    assert (after.id, after.uid, after.created) == (before.id, before.uid, before.created)
    assert project.names() == ["a", "b"]


def test_public_ids_are_told_apart(project: Project) -> None:
    project.create(*(draft(f"name {number}") for number in range(500)))
    uids = [record.uid for record in project.state().records]
    assert len(set(uids)) == 500


def test_what_is_brought_back_comes_back_to_its_place(project: Project) -> None:
    project.create(draft("a", "1", "2", "3"), draft("b"), draft("c"))
    project.relate("a", "first", "b")
    project.relate("b", "second", "c")
    project.relate("a", "third", "c")
    whole = plain(project.state())
    for go in (
        lambda: project.delete("a"),
        lambda: project.delete("b"),
        lambda: project.unobserve("a", "1", "2"),
        lambda: project.unrelate("b", "second", "c"),
        lambda: project.replace("a", "4", kind="other"),
    ):
        go()
        assert plain(project.state()) != whole
        project.undo()
        assert plain(project.state()) == whole


def test_pages_by_id_come_whole_and_once_while_others_add_and_delete(project: Project) -> None:
    project.create(*(draft(f"{number}", f"text {number}") for number in range(50)))
    seen: list[str] = []
    after = 0
    while page := project.see(lambda snapshot, after=after: list(snapshot.records(after, 7))):
        assert all(record.observations == (f"text {record.name}",) for record in page)
        seen += [record.name for record in page]
        after = page[-1].id
        if len(seen) == 14:
            project.delete("3", "13", "20")
            project.create(draft("50", "text 50"))
    assert seen == [f"{number}" for number in range(51) if number != 20]


@pytest.mark.long
@pytest.mark.parametrize("limit", mostly_long([0, 1, 1001, None, 999, 1000, 2000, 2500, 9999], 4))
def test_a_page_holds_as_many_as_were_asked_for(project: Project, limit: int | None) -> None:
    project.create(*(draft(f"{number}", "text") for number in range(2500)))
    page = project.see(lambda snapshot: [record.name for record in snapshot.records(limit=limit)])
    assert page == [f"{number}" for number in range(2500)][:limit]


@pytest.mark.long
def test_load_keeps_the_order_of_the_making_and_leaves_out_what_is_gone(project: Project) -> None:
    project.create(*(draft(f"{number}", f"text {number}") for number in range(1500)))
    ids = [record.id for record in project.state().records]
    project.delete("7")
    loaded = project.see(lambda snapshot: snapshot.load(ids[::-1]))
    assert [record.name for record in loaded] == [f"{number}" for number in range(1500) if number != 7]
    assert project.see(lambda snapshot: snapshot.load([ids[7]])) == []
    assert project.see(lambda snapshot: snapshot.load([])) == []
    assert project.see(lambda snapshot: [r.name for r in snapshot.load([ids[9], ids[7], ids[8]])]) == ["8", "9"]


def test_the_newest_come_newest_first(project: Project) -> None:
    project.create(*(draft(f"{number}", "text") for number in range(5)))
    project.observe("0", "touched last")
    project.delete("4")
    names = [record.name for record in project.see(lambda snapshot: snapshot.newest(3))]
    assert names == ["3", "2", "1"]
    assert len(project.see(lambda snapshot: snapshot.newest(100))) == 4


def test_relations_of_names_the_ends_and_from_only_the_sources(project: Project) -> None:
    project.create(draft("a"), draft("b"))
    project.relate("a", "to", "b")
    project.relate("b", "to", "b")
    project.relate("x", "to", "a")
    project.relate("x", "to", "y")

    def ends(find: str, *names: str) -> list[tuple[str, str, str]]:
        return [relation.ends for relation in project.see(lambda snapshot: getattr(snapshot, find)(names))]

    assert ends("relations_of", "b") == [("a", "b", "to"), ("b", "b", "to")]
    assert ends("relations_of", "a", "b") == [("a", "b", "to"), ("b", "b", "to"), ("x", "a", "to")]
    assert ends("relations_from", "b", "a") == [("a", "b", "to"), ("b", "b", "to")]
    assert [r.ends for r in project.see(lambda snapshot: snapshot.loose_relations())] == [
        ("x", "a", "to"),
        ("x", "y", "to"),
    ]


@pytest.mark.parametrize("read", ["ids", "load", "relations_of", "relations_from", "find_relations", "look_alikes"])
def test_asking_for_nothing_answers_nothing(project: Project, read: str) -> None:
    project.create(draft("a"))
    project.relate("a", "knows", "a")
    assert not project.see(lambda snapshot: getattr(snapshot, read)([]))


def test_the_same_relation_may_be_there_many_times(project: Project) -> None:
    for number in range(3):
        project.relate("a", "knows", "b", number=number)
    found = project.see(lambda snapshot: snapshot.find_relations([("a", "b", "knows"), ("b", "a", "knows")]))
    assert [relation.extra for relation in found] == [{"number": 0}, {"number": 1}, {"number": 2}]


def test_the_same_observation_may_be_there_many_times_and_goes_at_once(project: Project) -> None:
    project.create(draft("a", "twice", "once", "twice"))
    assert project.get("a").observations == ("twice", "once", "twice")
    with project.changing() as tx:
        assert tx.present_observations(project.id("a"), ["twice", "never"]) == {"twice"}
        assert tx.remove_observations(project.id("a"), ["twice", "never", "twice"]) == 2
    assert project.get("a").observations == ("once",)


def test_texts_are_given_back_letter_by_letter(engine: Engine, project: Project) -> None:
    odd = [
        "",
        " ",
        "\t\n\r",
        "\x01\x1f\x7f",
        "é",
        "e\u0301",
        "ﬁ",
        "İı",
        "\u200d\u2060",
        "😀👩‍👩‍👧",
        "\uffff\U0010ffff",
        "a" * 100_000,
    ]
    project.create(*(draft(f"name {text}", text, kind=f"kind {text}", extra={text: text}) for text in odd))
    for number, text in enumerate(odd):
        project.relate(text, text, f"name {text}", number=number)
    other = Project(engine.open(), project.name)
    for seen in (project.state(), other.state()):
        for record, text in zip(seen.records, odd, strict=True):
            assert record.name == f"name {text}"
            assert record.kind == f"kind {text}"
            assert record.observations == (text,)
            assert record.extra == {text: text}
        assert [relation.ends for relation in seen.relations] == [(text, f"name {text}", text) for text in odd]
    assert other.see(lambda snapshot: snapshot.ids([f"name {text}" for text in odd])).keys() == {
        f"name {text}" for text in odd
    }
    other.store.close()


def test_a_version_counts_the_changes_of_a_record(project: Project) -> None:
    project.create(draft("a", "1"), draft("b"))
    with project.changing() as tx:
        tx.add_observations([(tx.ids(["a"])["a"], ["2"])])
        tx.remove_observations(tx.ids(["a"])["a"], ["1"])
        tx.set_extra(tx.ids(["a"])["a"], {"key": 1})
    assert project.get("a").version == 2
    project.replace("a", "3")
    assert project.get("a").version == 3
    project.relate("a", "knows", "b")
    assert (project.get("a").version, project.get("b").version) == (3, 1)
    project.delete("a")
    project.undo()
    assert project.get("a").version == 4
    assert project.get("a").updated == project.last().at
