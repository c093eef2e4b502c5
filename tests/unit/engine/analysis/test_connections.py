"""What a record is connected with: by relations near and far, and by what the texts show."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polymnia import EntityDraft, Memory, remark
from polymnia.engine.analysis.connections import Connections, FoundConnection, connections, trust, with_inverses
from polymnia.engine.content import ItemDraft
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.errors import Invalid
from polymnia.models import Record, RelationDraft
from polymnia.storage.sqlite import SqliteStore

from ..search.toys import Toy


class Desk:
    """A project to draw relations in."""

    def __init__(self, path: Path) -> None:
        store = SqliteStore(str(path / "memory.db"), analyst=Analysis())
        self.memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=[Toy()])))

    def things(self, *names: str, **texts: str) -> None:
        made = [EntityDraft(name, "thing", (f"zz{at}q yy{at}q",)) for at, name in enumerate(names)]
        self.memory.create_entities(made + [EntityDraft(name, "thing", (text,)) for name, text in texts.items()])

    def relate(self, *drafts: RelationDraft) -> None:
        with self.memory.store.write(self.memory.project, "test", "relate") as tx:
            tx.relate(drafts)

    def item(self, text: str, **more: Any) -> Record:
        return self.memory.store_item(ItemDraft(text=text, **more), embed=True).record

    def of(self, record: str | Record, *, session: str | None = None, **asked: Any) -> Connections:
        with self.memory.store.read(self.memory.project) as snapshot:
            name = record if isinstance(record, str) else record.name
            (found,) = snapshot.load([snapshot.ids([name])[name]])
        work = lambda project: connections(project, found, **asked)  # noqa: E731
        return self.memory.analysed(work, key=(name, repr(asked)), session=session, quick=True)[0]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.memory.close()


def chain(desk: Desk, *strengths: float | None) -> None:
    """a, b, c … each related to the next with a strength."""
    names = [chr(ord("a") + at) for at in range(len(strengths) + 1)]
    desk.things(*names)
    desk.relate(*(RelationDraft(names[at], names[at + 1], "causes", strength) for at, strength in enumerate(strengths)))


def told(found: Connections) -> list[tuple[str, str, str, int]]:
    return [(one.target.name, one.type, one.direction, one.depth) for one in found.found]


def by_name(found: Connections) -> dict[str, FoundConnection]:
    return {one.target.name: one for one in found.found}


# ── relations that are there ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("depth", "reached"), [(1, "b"), (2, "bc"), (3, "bcd"), (5, "bcdef")])
def test_relations_are_followed_as_far_as_asked_for(desk: Desk, depth: int, reached: str) -> None:
    chain(desk, *[0.9] * 6)
    assert [name for name, *_ in told(desk.of("a", max_depth=depth))] == list(reached)


def test_strength_is_the_product_along_the_path_which_is_told(desk: Desk) -> None:
    chain(desk, 0.5, 0.8, None)
    found = by_name(desk.of("a", max_depth=3))
    assert [found[name].strength for name in "bcd"] == [0.5, 0.4, 0.4]
    path = found["d"].path
    uids = {record.target.name: record.target.uid for record in found.values()}
    assert [(step.end, step.type, step.direction, step.strength) for step in path] == [
        (uids["b"], "causes", "outgoing", 0.5),
        (uids["c"], "causes", "outgoing", 0.8),
        (uids["d"], "causes", "outgoing", None),
    ]
    assert [step.start for step in path][1:] == [uids["b"], uids["c"]]


def test_relations_are_followed_against_their_direction_too(desk: Desk) -> None:
    chain(desk, 0.9, 0.9)
    assert told(desk.of("c")) == [("b", "causes", "incoming", 1), ("a", "causes", "incoming", 2)]


def test_the_strongest_way_wins(desk: Desk) -> None:
    desk.things("a", "b", "c", "d")
    desk.relate(
        RelationDraft("a", "b", "causes", 0.9), RelationDraft("b", "d", "causes", 0.9),
        RelationDraft("a", "c", "causes", 0.5), RelationDraft("c", "d", "resolves", 1.0),
    )  # fmt: skip
    one = by_name(desk.of("a", max_depth=3))["d"]
    assert (one.strength, one.type) == (0.81, "causes")


def test_a_longer_way_may_be_the_stronger_one(desk: Desk) -> None:
    desk.things("a", "b", "c", "d")
    desk.relate(
        RelationDraft("a", "b", "causes", 0.1), RelationDraft("b", "d", "causes", 0.1),
        RelationDraft("a", "c", "causes", 0.9), RelationDraft("c", "b", "causes", 0.9),
    )  # fmt: skip
    found = by_name(desk.of("a", max_depth=3))
    assert (found["b"].depth, found["b"].strength) == (1, 0.1)  # what is there directly is told as it is
    assert (found["d"].depth, found["d"].strength) == (3, 0.081)


def test_strongest_first_and_no_more_than_the_limit(desk: Desk) -> None:
    desk.things("a", *(f"x{at}" for at in range(8)))
    desk.relate(*(RelationDraft("a", f"x{at}", "causes", (at + 1) / 10) for at in range(8)))
    found = desk.of("a", limit=3)
    assert [one.target.name for one in found.found] == ["x7", "x6", "x5"]
    assert any("5 more" in note for note in map(remark, found.notes))
    assert len(desk.of("a", limit=8).found) == 8


def test_only_the_types_asked_for_are_walked(desk: Desk) -> None:
    desk.things("a", "b", "c", "d")
    desk.memory.create_relations([("a", "b", "causes"), ("b", "c", "resolves"), ("a", "d", "causes")])
    assert {name for name, *_ in told(desk.of("a", max_depth=3))} == {"b", "c", "d"}
    assert {name for name, *_ in told(desk.of("a", max_depth=3, types=["causes"]))} == {"b", "d"}
    assert told(desk.of("a", types=["cites"])) == []


def test_types_that_no_list_has_are_shown_unless_types_are_asked_for(desk: Desk) -> None:
    desk.things("a", "b")
    desk.memory.create_relations([("a", "b", "사랑한다")])
    assert told(desk.of("a")) == [("b", "사랑한다", "outgoing", 1)]
    assert told(desk.of("a", types=["related_to"])) == []


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("part_of", "contains"), ("contains", "part_of"), ("follows", "precedes"), ("precedes", "follows")],
)
def test_the_inverse_type_counts_and_is_told_as_stored(desk: Desk, stored: str, asked: str) -> None:
    desk.things("a", "b")
    desk.memory.create_relations([("b", "a", stored)])
    assert told(desk.of("a", types=[asked])) == [("b", stored, "incoming", 1)]


def test_a_relation_drawn_by_hand_is_certain_and_one_drawn_by_itself_is_not(desk: Desk) -> None:
    desk.things("a", "b", "c", "d")
    desk.relate(
        RelationDraft("a", "b", "causes", 0.6, "because"), RelationDraft("a", "c", "similar_to", 0.6, origin="auto"),
        RelationDraft("a", "d", "references", 0.6, "names it", origin="auto"),
    )  # fmt: skip
    found = by_name(desk.of("a", max_depth=1))
    assert (found["b"].origin, found["b"].confidence, found["b"].context) == ("manual", 1.0, "because")
    assert found["c"].origin == "auto" and 0.6 < found["c"].confidence < 0.8
    assert found["d"].confidence == 0.6
    assert {name for name, *_ in told(desk.of("a", min_confidence=0.65))} == {"b", "c"}
    assert {name for name, *_ in told(desk.of("a", min_confidence=0.9))} == {"b"}


def test_confidence_falls_along_a_path(desk: Desk) -> None:
    desk.things("a", "b", "c")
    desk.relate(
        RelationDraft("a", "b", "references", 0.8, origin="auto"),
        RelationDraft("b", "c", "references", 0.5, origin="auto"),
    )
    assert by_name(desk.of("a"))["c"].confidence == 0.4
    assert "c" not in by_name(desk.of("a", min_confidence=0.45))


def test_several_relations_between_two_are_all_told_once(desk: Desk) -> None:
    desk.things("a", "b")
    desk.relate(
        RelationDraft("a", "b", "causes", 0.4), RelationDraft("a", "b", "causes", 0.9),
        RelationDraft("a", "b", "resolves", 0.5), RelationDraft("b", "a", "causes", 0.3),
        RelationDraft("a", "a", "causes", 1.0),
    )  # fmt: skip
    found = desk.of("a", max_depth=3)
    assert told(found) == [
        ("b", "causes", "outgoing", 1), ("b", "resolves", "outgoing", 1), ("b", "causes", "incoming", 1),
    ]  # fmt: skip
    assert [one.strength for one in found.found] == [0.9, 0.5, 0.3]


def test_circles_end(desk: Desk) -> None:
    desk.things("a", "b", "c")
    desk.memory.create_relations([("a", "b", "causes"), ("b", "c", "causes"), ("c", "a", "causes")])
    assert sorted(told(desk.of("a", max_depth=5))) == [("b", "causes", "outgoing", 1), ("c", "causes", "incoming", 1)]


def test_ends_that_name_nothing_are_a_note(desk: Desk) -> None:
    desk.things("a", "b")
    desk.relate(RelationDraft("a", "nobody", "causes"), RelationDraft("a", "b", "causes"))
    found = desk.of("a")
    assert told(found) == [("b", "causes", "outgoing", 1)]
    assert any("nobody" in note for note in map(remark, found.notes))


def test_a_deleted_end_is_not_told(desk: Desk) -> None:
    one, other = desk.item("qq1 ww1"), desk.item("qq2 ww2")
    desk.memory.relate_items(one.uid, other.uid, "causes")
    assert by_name(desk.of(one))
    desk.memory.delete_item(other.uid, keep_references=True)
    assert desk.of(one).found == []


def test_a_hub_on_the_way_is_walked_by_its_strongest_relations_and_that_is_said(desk: Desk) -> None:
    many = [f"x{at}" for at in range(150)]
    desk.things("a", "hub", *many)
    desk.relate(
        RelationDraft("a", "hub", "causes", 0.9),
        *(RelationDraft("hub", name, "causes", 0.9 - at / 1000) for at, name in enumerate(many)),
        *(RelationDraft(name, "hub", "resolves", 0.2) for name in many),
    )
    found = desk.of("a", max_depth=3, limit=500)
    assert found.looked_at["relations"] < 5000
    assert any("strongest were followed" in note for note in map(remark, found.notes))
    assert {"hub", "x0", "x1", "x2"} <= set(by_name(found))


def test_a_limit_that_is_reached_ends_the_walk(desk: Desk) -> None:
    near = [f"x{at}" for at in range(10)]
    desk.things("a", "far", *near)
    desk.memory.create_relations([*(("a", name, "causes") for name in near), ("x0", "far", "causes")])
    found = desk.of("a", max_depth=3, limit=10)
    assert found.looked_at["depth"] == 1 and "far" not in by_name(found)
    assert "far" in by_name(desk.of("a", max_depth=3, limit=11))


@pytest.mark.parametrize("asked", [{"max_depth": 0}, {"max_depth": 6}, {"limit": 0}])
def test_what_cannot_be_asked_is_refused(desk: Desk, asked: dict[str, Any]) -> None:
    desk.things("a")
    with pytest.raises(Invalid):
        desk.of("a", **asked)


def test_a_record_alone_has_no_connections(desk: Desk) -> None:
    desk.things("a")
    found = desk.of("a")
    assert found.found == []
    assert found.looked_at == {"relations": 0, "depth": 1, "stored": 0, "candidates": 0, "discovered": 0}
    assert [note for note in map(remark, found.notes) if "no model" not in note] == [
        "No relationship is drawn here, and no other item is near it."
    ]


@pytest.mark.parametrize("seed", range(5))
def test_no_better_way_is_overlooked(desk: Desk, seed: int) -> None:
    """Compared with trying every way."""
    draw = Random(seed)
    names = [f"x{at}" for at in range(16)]
    desk.things(*names)
    pairs = {frozenset(draw.sample(names, 2)): round(draw.uniform(0.1, 1.0), 3) for _ in range(30)}
    drawn = [(*sorted(pair), strength) for pair, strength in pairs.items()]
    desk.relate(*(RelationDraft(a, b, "causes", strength) for a, b, strength in drawn))
    both = [*drawn, *((b, a, strength) for a, b, strength in drawn)]
    best: dict[str, float] = {}
    ways = {("x0",): 1.0}
    for _ in range(3):
        ways = {
            (*way, b): value * s for way, value in ways.items() for a, b, s in both if a == way[-1] and b not in way
        }
        for way, value in ways.items():
            if len(way) == 2 or not any({a, b} == {"x0", way[-1]} for a, b, _ in drawn):
                best[way[-1]] = max(best.get(way[-1], 0.0), value)
    for limit in (3, 8, 50):
        found: dict[str, float] = {}
        for one in desk.of("x0", max_depth=3, limit=limit).found:
            found[one.target.name] = max(found.get(one.target.name, 0.0), one.strength)
            assert one.strength == pytest.approx(prod(step.strength for step in one.path), abs=1e-4)
        assert all(value == pytest.approx(best[name], abs=1e-4) for name, value in found.items())
        if limit == 50:
            assert set(found) == set(best)
        else:
            weakest = min(found.values())
            assert all(name in found for name, value in best.items() if value > weakest + 1e-4)


# ── what may be seen ─────────────────────────────────────────────────────────────────────────────────


def test_no_way_leads_through_another_session(desk: Desk) -> None:
    one, far = desk.item("qq1 ww1"), desk.item("qq2 ww2")
    hidden = desk.item("qq3 ww3", session="theirs")
    desk.relate(RelationDraft(one.name, hidden.name, "causes"), RelationDraft(hidden.name, far.name, "causes"))
    found = desk.of(one, max_depth=3)
    assert found.found == []
    assert [remark(one) for one in found.notes] == [
        "No relationship is drawn here, and the one item near it shows none."
    ]
    assert desk.of(one, max_depth=3, session="mine").found == []
    assert set(by_name(desk.of(one, max_depth=3, session="theirs"))) == {hidden.name, far.name}


def test_what_another_session_says_is_not_discovered(desk: Desk) -> None:
    one = desk.item("The harbour timetable of spring")
    desk.item(f"This implements {one.uid} at last", session="theirs")
    assert desk.of(one).found == []
    (found,) = desk.of(one, session="theirs").found
    assert (found.type, found.direction, found.origin) == ("implements", "incoming", "discovered")


# ── what the texts show ──────────────────────────────────────────────────────────────────────────────


def test_what_the_text_says_of_others_is_discovered_with_its_words(desk: Desk) -> None:
    other = desk.item("Retry with backoff", metadata={"title": "Retry with backoff"})
    one = desk.item(f"This change implements {other.uid} in the client")
    (found,) = desk.of(one).found
    assert (found.target.uid, found.type, found.direction, found.origin) == (
        other.uid, "implements", "outgoing", "discovered",
    )  # fmt: skip
    assert found.context is not None and other.uid in found.context
    assert found.depth == 1 and len(found.path) == 1 and 0 < found.confidence <= 1


def test_what_others_say_of_it_is_discovered(desk: Desk) -> None:
    one = desk.item("xx1 xx2", metadata={"title": "결제 재시도 정책 결정"})
    other = desk.item("이 글은 결제 재시도 정책 결정을 구현했다. 나머지는 다음에.")
    found = [found for found in desk.of(one).found if found.direction == "incoming"]
    assert [(found.target.uid, found.type) for found in found] == [(other.uid, "implements")]


def test_who_calls_it_by_its_number_is_discovered(desk: Desk) -> None:
    one = desk.item("# ADR-7: Keep orders apart\n\nxx1 xx2")
    other = desk.item("# Service\n\nThis implements ADR-7. Elsewhere ADR-77 is meant.")
    assert [(found.target.uid, found.type, found.direction) for found in desk.of(one).found] == [
        (other.uid, "implements", "incoming")
    ]


def test_a_named_record_of_a_graph_is_discovered_by_its_name(desk: Desk) -> None:
    desk.things(PostgreSQL="a relational database", api="resolves PostgreSQL locks", cell="zz1q", note="a cell divides")
    (found,) = desk.of("PostgreSQL").found
    assert (found.target.name, found.direction, found.origin) == ("api", "incoming", "discovered")
    assert desk.of("cell").found == []  # a plain word in small letters may mean anything


def test_similar_ones_are_discovered(desk: Desk) -> None:
    one = desk.item("whale swims deep under arctic ice")
    other = desk.item("deep under ice floes swims arctic whale")
    desk.item("quarterly invoices are due")
    (found,) = desk.of(one).found
    assert (found.target.uid, found.type) == (other.uid, "similar_to")
    assert 0.5 < found.confidence <= 1.0


def test_a_line_that_stands_in_another_text_is_not_what_that_speaks_of(desk: Desk) -> None:
    one, longer = desk.item("Water the orchids on Sunday"), desk.item("Water the orchids on Sunday and feed the parrot")
    assert {found.type for found in desk.of(one).found} <= {"similar_to"}
    assert {found.type for found in desk.of(longer).found} <= {"similar_to"}


@pytest.mark.parametrize(
    ("type", "turned"),
    [("implements", False), ("similar_to", False), ("similar_to", True), ("associated_with", True)],
)
def test_what_a_relation_says_already_is_not_discovered(desk: Desk, type: str, turned: bool) -> None:
    words = "whale swims deep under arctic ice"
    other = desk.item(words)
    one = desk.item(
        f"This implements {other.uid}" if type == "implements" else "deep under ice floes swims arctic whale"
    )
    assert [found.origin for found in desk.of(one).found] == ["discovered"]
    source, target = (other, one) if turned else (one, other)
    desk.relate(RelationDraft(source.name, target.name, type))
    assert [found.origin for found in desk.of(one).found] == ["manual"]


def test_types_and_confidence_apply_to_what_is_discovered(desk: Desk) -> None:
    other = desk.item("Retry with backoff")
    one = desk.item(f"This implements {other.uid} here")
    assert len(desk.of(one, types=["implements"]).found) == 1
    assert desk.of(one, types=["causes"]).found == []
    assert desk.of(one, min_confidence=0.99).found == []


def test_room_is_kept_for_what_is_discovered(desk: Desk) -> None:
    one = desk.item("xx1 xx2", metadata={"title": "Backoff decision of spring"})
    for at in range(12):
        other = desk.item(f"qq{at} ww{at}")
        desk.memory.relate_items(one.uid, other.uid, "causes")
    desk.item("This implements Backoff decision of spring")
    found = desk.of(one, limit=10).found
    assert len(found) == 10
    assert [one.origin for one in found].count("discovered") == 1


def test_the_same_question_gets_the_same_answer(desk: Desk) -> None:
    desk.things("a", *(f"x{at}" for at in range(30)))
    desk.memory.create_relations([("a", f"x{at}", "causes") for at in range(30)])
    assert desk.of("a", limit=7) == desk.of("a", limit=7)


def test_it_reads_a_material_too(desk: Desk) -> None:
    chain(desk, 0.9, 0.9)
    with desk.memory.store.read(desk.memory.project) as snapshot:
        (record,) = snapshot.load([snapshot.ids(["a"])["a"]])
    found, _ = desk.memory.analysed(lambda material: connections(material, record), key="connections")
    assert found == desk.of("a")


# ── trust ────────────────────────────────────────────────────────────────────────────────────────────


def test_trust_rises_with_similarity_and_never_leaves_its_bounds() -> None:
    steps = [trust("similar_to", "auto", at / 100) for at in range(101)]
    assert steps == sorted(steps) and steps[0] == 0.0 and steps[-1] == 1.0
    assert trust("implements", "auto", 0.7) == 0.7
    assert trust("similar_to", "manual", 0.1) == 1.0


def test_types_are_widened_by_their_inverses_alone() -> None:
    assert with_inverses(None) is None
    assert with_inverses(["contains", "cites"]) == {"contains", "part_of", "cites"}
