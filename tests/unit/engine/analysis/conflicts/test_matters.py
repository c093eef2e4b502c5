"""What clashes without a pair of opposite sentences: orders, decisions, relations."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia.models import RelationDraft

from .planted import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("texts", "differs"),
    [
        (("The fair runs from 12 May 2025 to 3 May 2025.",), "from 2025-05-12 to 2025-05-03"),
        (("행사는 2025년 5월 12일부터 2025년 5월 3일까지 열린다.",), "from 2025-05-12 to 2025-05-03"),
        (("Anna Berg was born on 2 May 1990.", "Anna Berg died on 3 March 1988."), "1990-05-02 and 1988-03-03"),
        (("The backup runs before the test.", "The test runs before the backup."), "before backup and after backup"),
        (("The review is after the merge.", "The review is before the merge."), "before merge and after merge"),
        (("이전은 배포보다 먼저 실행된다.", "배포는 이전보다 먼저 실행된다."), "before 이전 and after 이전"),
        (("이전은 2025년 6월 2일 시작했다.", "이전은 2025년 4월 9일 완료했다."), "2025-06-02 and 2025-04-09"),
    ],
)  # fmt: skip
def test_an_impossible_order(desk: Desk, texts: tuple[str, ...], differs: str) -> None:
    desk.notes(list(texts))
    (found,) = desk.conflicts(types=["temporal_conflicts"]).clashes
    assert (found.subtype, found.differs) == ("impossible_order", differs)
    assert found.resolution is not None and found.resolution.action == "ask"


@pytest.mark.parametrize(
    "texts",
    [
        ("The fair runs from April to October.", "The fair runs from 3 May 2025 to 12 May 2025."),
        ("Anna Berg was born on 2 May 1990.", "Jonas Berg died on 3 March 1988."),
        ("The backup runs before the export.", "The import runs before the backup."),
        ("The Orion migration started on 2025-04-02.", "The Orion migration finished on 2025-05-12."),
        ("Orion grew from 1993 to the 1990s.",),
    ],
)
def test_a_possible_order(desk: Desk, texts: tuple[str, ...]) -> None:
    desk.notes(list(texts))
    assert desk.conflicts(types=["temporal_conflicts"]).clashes == []


def decide(desk: Desk, day: int, title: str, choice: str, *others: str) -> str:
    parts = {"title": title, "context": "", "decision": choice, "rationale": "", "alternatives": list(others)}
    text = f"# {title}\n\n## Decision\n\n{choice}\n"
    return desk.note(text, day, kind="decision", metadata={"title": title, "decision": parts})


def test_a_decision_that_chooses_what_another_rejected(desk: Desk) -> None:
    first = decide(desk, 1, "Database of the event store", "We take PostgreSQL", "MongoDB", "MySQL")
    second = decide(desk, 9, "Event store database", "MongoDB it is", "PostgreSQL")
    decide(desk, 9, "Colour of the logo", "MongoDB green", "PostgreSQL blue")
    (found,) = desk.conflicts(types=["recommendation_conflicts"]).clashes
    assert found.subtype == "opposed_decisions" and found.newer == "right"
    assert {found.left.record.uid, found.right.record.uid} == {first, second}
    assert found.resolution is not None and found.resolution.steps
    desk.apply(found.resolution.steps)
    assert desk.memory.item(first).metadata["superseded_by"] == second
    assert desk.conflicts(types=["recommendation_conflicts"]).clashes == []


def test_relations_that_lead_back(desk: Desk) -> None:
    for name in ("engine", "wheel", "car", "lid", "note"):
        desk.entity(name, f"is called {name}")
    desk.memory.create_relations(
        [("wheel", "car", "part_of"), ("car", "engine", "part_of"), ("wheel", "engine", "contains")]
    )
    desk.memory.create_relations(
        [("lid", "note", "depends on"), ("lid", "note", "required_by"), ("car", "note", "likes")]
    )
    desk.memory.create_relations([("note", "car", "likes"), ("lid", "car", "precedes"), ("lid", "wheel", "precedes")])
    found = desk.conflicts(types=["logical_conflicts"]).clashes
    assert [(one.subtype, one.confidence, len(one.members)) for one in found] == [
        ("both_ways", 0.864, 2),
        ("cycle", 0.826, 3),
    ]
    assert "wheel part_of car" in found[1].differs and found[1].resolution is not None
    assert found[1].resolution.action == "ask" and "Which of these relations is wrong" in found[1].resolution.why
    assert desk.conflicts(types=["factual_conflicts"]).clashes == []


def test_a_ring_that_drew_itself_is_as_sure_as_its_weakest_relation(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.entity(name, f"is called {name}")
    with desk.memory.store.write("default", "test", "relate") as tx:
        tx.relate([RelationDraft("a", "b", "part_of", 0.6, origin="auto"), RelationDraft("b", "a", "part_of", 0.9)])
    (found,) = desk.conflicts(types=["logical_conflicts"]).clashes
    assert (found.subtype, found.confidence) == ("both_ways", 0.6)
    assert desk.conflicts(types=["logical_conflicts"], sensitivity="low").clashes == []


def test_states_that_exclude_each_other(desk: Desk) -> None:
    desk.notes(["The Helios contract is approved.", "The Nova contract is rejected.", "Ticket 7 is in progress."])
    desk.notes(["The Helios contract is rejected.", "Ticket 7 is done.", "Ticket 8 is done."], day=4)
    found = desk.conflicts(types=["logical_conflicts"]).clashes
    assert {one.left.sentence for one in found} == {"The Helios contract is approved.", "Ticket 7 is in progress."}
    assert {one.subtype for one in found} == {"exclusive_states"}
