"""Short notes of every day in a whole project: what cannot both hold is found, series and lists are left in peace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polymnia.engine.analysis.conflicts import Clashes, conflicts_of
from polymnia.engine.analysis.material import Material

from .everyday import CLASHING, PEACEFUL, SERIES, UNSURE
from .planted import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def told(found: Clashes) -> set[frozenset[str]]:
    return {frozenset((one.left.sentence, one.right.sentence)) for one in found}


def sets(pairs: list[tuple[str, str]]) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in pairs}


@pytest.mark.parametrize("meaning", [True, False], ids=["meaning", "words"])
def test_what_clashes_is_found_among_all_the_others(tmp_path: Path, meaning: bool) -> None:
    desk = Desk(tmp_path, meaning=meaning)
    every = [*CLASHING, *UNSURE, *PEACEFUL]
    desk.notes([a for a, _ in every])
    desk.notes([b for _, b in every], day=30)
    medium = told(desk.conflicts())
    assert sorted(map(sorted, sets(CLASHING) - medium)) == []
    assert sorted(map(sorted, medium - sets(CLASHING))) == []
    high = told(desk.conflicts(sensitivity="high"))
    assert sets(CLASHING) | sets(UNSURE) <= high
    assert not high & sets(PEACEFUL)


@pytest.mark.parametrize("pair", CLASHING, ids=lambda pair: pair[0])
def test_a_project_of_these_two_alone(desk: Desk, pair: tuple[str, str]) -> None:
    desk.note(pair[0])
    late = desk.note(pair[1], day=30)
    (found,) = desk.conflicts(sensitivity="medium").clashes
    assert (found.left.sentence, found.right.sentence) == pair

    def ask(material: Material) -> Clashes:
        (record,) = material.snapshot.load(list(material.snapshot.ids_of([late]).values()))
        return conflicts_of(material, record)

    assert told(desk.read(ask)) == {frozenset(pair)}


def test_what_both_say_since_when_is_superseded(desk: Desk) -> None:
    desk.note("Since 1 March 2025 the harbour fee is 20 euros.")
    desk.note("Since 1 May 2026 the harbour fee is 30 euros.", day=3)
    (found,) = desk.conflicts().clashes
    assert (found.type, found.subtype) == ("temporal_conflicts", "superseded")
    assert found.resolution is not None and found.resolution.action == "keep_both_with_dates"


def test_a_series_is_no_conflict(desk: Desk) -> None:
    for notes in SERIES:
        for day, text in enumerate(notes):
            desk.note(text, day=day * 3)
    assert told(desk.conflicts(sensitivity="high")) == set()


def test_a_value_that_changed_twice_is_no_series(desk: Desk) -> None:
    for day, value in enumerate((30, 20, 10)):
        desk.note(f"The timeout of the gateway is {value} seconds.", day=day * 9)
    assert len(desk.conflicts()) == 3


def test_an_observation_with_a_subject_of_its_own(desk: Desk) -> None:
    desk.entity("Harbour office", "The harbour office opens at 8 in the morning.")
    desk.entity("Timetable", "The harbour office opens at 10 in the morning.", day=9)
    desk.entity("Orion", "The default upload limit is 20 MB.")
    desk.entity("Helios", "The default upload limit is 50 MB.", day=9)
    (found,) = desk.conflicts().clashes
    assert {found.left.record.name, found.right.record.name} == {"Harbour office", "Timetable"}


QUESTION, CONDITION = "Is the gateway timeout 20 seconds?", "If the cache is cold, the gateway timeout is 90 seconds."
NAMED = [
    "The gateway timeout is 30 seconds.",
    "The gateway timeout is 10 seconds.",
    "Lisbon has hills.",
    QUESTION,
    CONDITION,
    "The mail service does not store card numbers.",
    "The billing service stores card numbers.",
    "Never force push to a shared branch.",
    "알림 서버의 포트는 9090이다.",
]


def test_among_many_only_what_would_clash_anywhere(desk: Desk) -> None:
    ids = desk.notes(NAMED)
    found = desk.conflicts(*ids)
    assert told(found) == {frozenset(NAMED[:2])} and all(one.confidence >= 0.5 for one in found)
    high = told(desk.conflicts(*ids, sensitivity="high"))
    assert not any({QUESTION, CONDITION} & pair for pair in high)


def test_the_more_are_named_the_less_each_pair_is_suspected(desk: Desk) -> None:
    pair = ["Tickets for the ferry are cheap these days.", "Nobody can afford the ferry."]
    ids = desk.notes([*pair, "Lisbon has hills.", "Bread is baked at night.", "Violins have four strings."])

    def sure(*some: str) -> float:
        found = desk.conflicts(*some, sensitivity="high").clashes
        return max((one.confidence for one in found), default=0.0)

    assert sure(*ids) <= sure(*ids[:3]) <= sure(*ids[:2])
    assert sure(*ids) < sure(*ids[:2])


def test_only_the_sentence_that_clashes_is_told_and_taken_out(desk: Desk) -> None:
    old = desk.note("The harbour office opens at 8 in the morning. Ships pay at the counter.")
    new = desk.note("The harbour office opens at 10 in the morning.", day=87)
    (found,) = desk.conflicts(old, new).clashes
    assert found.left.sentence == "The harbour office opens at 8 in the morning."
    assert found.resolution is not None and found.resolution.steps
    desk.apply(found.resolution.steps)
    assert desk.memory.item(old).observations == ("Ships pay at the counter.",)


@pytest.mark.parametrize("named", [True, False])
def test_what_ended_does_not_clash_with_what_began_then(desk: Desk, named: bool) -> None:
    ids = [
        desk.note("Since 1 March 2025 the harbour fee is 20 euros."),
        desk.note("Since 1 May 2026 the harbour fee is 30 euros.", day=9),
    ]
    asked: dict[str, Any] = {"sensitivity": "high"}
    (found,) = desk.conflicts(*(ids if named else ()), **asked).clashes
    assert found.resolution is not None and found.resolution.steps
    desk.apply(found.resolution.steps)
    assert desk.memory.item(ids[0]).observations == (
        "Since 1 March 2025 the harbour fee is 20 euros (until 2026-05-01).",
    )
    assert desk.conflicts(*(ids if named else ()), **asked).clashes == []


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_two_named_items_clash_if_the_judge_or_a_project_says_so(tmp_path: Path, level: str) -> None:
    from polymnia.engine.analysis.contradiction import THRESHOLD, judge, probability

    desk = Desk(tmp_path)
    least = {"low": 0.8, "medium": probability(THRESHOLD, 0.5), "high": 0.3}[level]
    hit = 0
    for at, pair in enumerate([*CLASHING[5:12], *UNSURE]):
        ids = desk.notes(list(pair))
        alone = Desk(tmp_path / str(at))
        alone.notes(list(pair))
        (score,) = judge([pair])
        expected = probability(score.score, 0.5) >= least or bool(alone.conflicts(sensitivity=level))
        assert bool(desk.conflicts(*ids, sensitivity=level)) == expected, pair
        hit += expected
    assert hit


@pytest.mark.parametrize("pair", PEACEFUL[:4] + PEACEFUL[20:22], ids=lambda pair: pair[0])
def test_two_named_items_of_a_list_are_left_in_peace(desk: Desk, pair: tuple[str, str]) -> None:
    """The judge alone would call each of them a contradiction: it has learned from people in pictures."""
    assert desk.conflicts(*desk.notes(list(pair))).clashes == []
