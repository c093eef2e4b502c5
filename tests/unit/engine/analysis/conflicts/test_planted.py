"""A project in which it is known what clashes, and its twin in which nothing does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polymnia.engine.analysis.conflicts import TYPES, Clash

from .planted import INNOCENT, PLANTED, Desk, shuffled


def sentences(clash: Clash) -> frozenset[str]:
    return frozenset((clash.left.sentence, clash.right.sentence))


@pytest.fixture(scope="module", params=[True, False], ids=["meaning", "words"])
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(tmp_path_factory.mktemp("planted"), meaning=request.param)
    made.notes(INNOCENT)
    made.notes([one.a for one in PLANTED], day=5)
    made.notes([one.b for one in PLANTED], day=25)
    yield made
    made.memory.close()


def test_what_was_planted_is_found_typed_and_resolved(desk: Desk) -> None:
    found = {sentences(one): one for one in desk.conflicts().clashes}
    for planted in PLANTED:
        clash = found.get(frozenset((planted.a, planted.b)))
        assert clash is not None, planted
        assert (clash.type, clash.subtype) == (planted.type, planted.subtype)
        assert clash.left.sentence == planted.a and clash.newer == "right"
        assert clash.resolution is not None and clash.resolution.action == planted.action
        assert clash.members == (clash.left.record.id, clash.right.record.id)
        assert clash.differs and clash.explanation


def test_little_else_is_found(desk: Desk) -> None:
    wanted = {frozenset((one.a, one.b)) for one in PLANTED}
    medium = desk.conflicts().clashes
    assert sum(sentences(one) in wanted for one in medium) / len(medium) >= 0.9
    assert {sentences(one) for one in desk.conflicts(sensitivity="low").clashes} <= wanted
    assert [one.confidence for one in medium] == sorted((one.confidence for one in medium), reverse=True)


def test_confidence_is_how_often_it_is_right(desk: Desk) -> None:
    wanted = {frozenset((one.a, one.b)) for one in PLANTED}
    found = desk.conflicts(sensitivity="high").clashes
    right = sum(sentences(one) in wanted for one in found)
    assert abs(sum(one.confidence for one in found) - right) <= 0.15 * len(found)


def test_a_lower_threshold_tells_more(desk: Desk) -> None:
    counts = [len(desk.conflicts(sensitivity=one).clashes) for one in ("low", "medium", "high")]
    assert counts[0] <= counts[1] < counts[2]


@pytest.mark.parametrize("type", TYPES)
def test_only_the_types_asked_for_are_told(desk: Desk, type: str) -> None:
    found = {sentences(one): one for one in desk.conflicts(types=[type]).clashes}
    assert {one.type for one in found.values()} == {type}
    assert {frozenset((one.a, one.b)) for one in PLANTED if one.type == type} <= found.keys()


def test_what_was_superseded_is_a_fact_to_who_asks_for_facts_alone(desk: Desk) -> None:
    (planted,) = (one for one in PLANTED if one.b == "The gateway timeout is now 10 seconds.")
    found = {sentences(one): one.subtype for one in desk.conflicts(types=["factual_conflicts"]).clashes}
    assert found[frozenset((planted.a, planted.b))] == "number"


def test_suggestions_are_left_out_when_nobody_wants_them(desk: Desk) -> None:
    assert all(one.resolution is None for one in desk.conflicts(suggest=False).clashes)


def test_the_same_store_gives_the_same_answer(desk: Desk) -> None:
    first, second = desk.conflicts(), desk.conflicts()
    assert first == second


def test_the_shuffled_twin_has_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.notes(INNOCENT)
    desk.notes([one.a for one in PLANTED], day=5)
    desk.notes(shuffled(), day=25)
    assert desk.conflicts(sensitivity="low").clashes == []
    assert len(desk.conflicts().clashes) <= 1


def test_applied_resolutions_leave_only_questions(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.notes(INNOCENT)
    desk.notes([one.a for one in PLANTED], day=5)
    desk.notes([one.b for one in PLANTED], day=25)
    for clash in desk.conflicts(sensitivity="low").clashes:
        assert clash.resolution is not None
        if clash.resolution.steps:
            desk.apply(clash.resolution.steps)
    left = desk.conflicts(sensitivity="low").clashes
    assert [one.subtype for one in left] == ["impossible_order"]
    assert left[0].resolution is not None and "2025-04-02" in left[0].resolution.why
