"""What is found about the use of memories: planted readings and changes, and projects in which all are used alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polymnia import describe, remark
from polymnia.engine.analysis.activity.usage import usage_patterns
from polymnia.engine.analysis.findings import Finding, Findings

from .planted import DAY, HOUR, Place, names, one_named

DAYS = 120
NOTES = 40


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.many(0, [f"n{i}" for i in range(NOTES)])
    return place


def _ask(place: Place) -> Findings:
    return place.ask(usage_patterns, DAYS * DAY)


def _titles(pattern: Finding) -> list[str]:
    return [one["title"] for one in pattern.evidence["memories"]]


def _even(rng: np.random.Generator, count: int, among: int = NOTES) -> list[tuple[str, int, str, int, int]]:
    """Readings of any memory at any time by one of three."""
    return [
        (f"n{rng.integers(among)}", int(rng.integers(DAY, DAYS * DAY)), f"reader {rng.integers(3)}", 1, 1)
        for _ in range(count)
    ]


def test_what_is_read_most_is_named_with_its_readers(place: Place) -> None:
    rng = np.random.default_rng(1)
    place.read([*_even(rng, 200), *(("n7", day * DAY + 8 * HOUR, "bo via code", 2, 0) for day in range(1, 60))])
    found = _ask(place)
    most = one_named(found, "most_read")
    assert _titles(most) == ["n7"]
    assert most.evidence["memories"][0]["readers"][0] == "bo"
    assert most.evidence["memories"][0]["opened"] >= 118
    assert most.confidence > 0.99
    assert len(most.members) == 1
    assert one_named(found, "concentration").evidence["top_tenth_share"] > 0.3


def test_opening_a_memory_ten_times_a_day_is_one_reading(place: Place) -> None:
    rng = np.random.default_rng(2)
    place.read([*_even(rng, 200), ("n7", 5 * DAY, "bo", 500, 0)])
    assert "most_read" not in names(_ask(place))


def test_what_is_found_and_never_opened_is_named(place: Place) -> None:
    rng = np.random.default_rng(3)
    rows = [row for row in _even(rng, 300) if row[0] != "n3"]
    place.read([*rows, *(("n3", day * DAY, "bo", 0, 1) for day in range(1, 12))])
    passed = one_named(_ask(place), "found_not_opened")
    assert _titles(passed) == ["n3"]
    assert passed.evidence["memories"][0]["opened"] == 0


def test_what_nobody_reads_is_named_with_its_age(place: Place) -> None:
    rng = np.random.default_rng(4)
    place.read(_even(rng, 400, among=25))
    never = one_named(_ask(place), "never_read")
    assert never.evidence["count"] == 15
    assert never.evidence["expected"] < 1
    assert set(_titles(never)) < {f"n{i}" for i in range(25, NOTES)}
    assert all(one["days_unread"] > 100 for one in never.evidence["memories"])
    assert never.confidence == pytest.approx(never.evidence["stays_unread"], abs=0.001)


def test_what_is_read_on_and_on_without_an_update_is_named(place: Place) -> None:
    rng = np.random.default_rng(5)
    place.read([*_even(rng, 150), *(("n7", day * DAY, "bo", 1, 0) for day in range(1, 110))])
    for at in sorted(rng.integers(DAY, DAYS * DAY, 80).tolist()):
        if (number := int(rng.integers(NOTES))) != 7:
            place.change(at, f"n{number}")
    stale = one_named(_ask(place), "read_not_updated")
    assert _titles(stale)[0] == "n7"
    assert stale.evidence["memories"][0]["last_change"].startswith("2024-10-04")


def test_what_is_rewritten_again_and_again_is_named(place: Place) -> None:
    rng = np.random.default_rng(6)
    changes = [(int(at), f"n{rng.integers(NOTES)}") for at in rng.integers(DAY, DAYS * DAY, 60)]
    for at, name in sorted([*changes, *((day * DAY, "n9") for day in range(2, 80, 4))]):
        place.change(at, name)
    found = _ask(place)
    assert names(found) == ["rewritten"]
    assert _titles(one_named(found, "rewritten")) == ["n9"]
    assert one_named(found, "rewritten").evidence["memories"][0]["days_changed"] >= 20
    assert "Too little reading" in remark(found.notes[0])


def test_what_is_read_together_is_named(place: Place) -> None:
    rng = np.random.default_rng(7)
    rows = [row for row in _even(rng, 300) if row[0] not in ("n3", "n4")]
    for day in range(2, 90, 5):
        rows += [
            ("n3", day * DAY, "cy", 1, 0),
            ("n4", day * DAY, "cy", 1, 0),
            (f"n{10 + day % 9}", day * DAY, "cy", 1, 0),
        ]
    place.read(rows)
    pair = one_named(_ask(place), "read_together").evidence["pairs"][0]
    assert pair["titles"] == ["n3", "n4"]
    assert (pair["hours"], pair["lift"] > 2) == (18, True)


@pytest.mark.long
def test_even_use_has_no_pattern_but_for_one_project_in_twenty(tmp_path: Path) -> None:
    wrong = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        (tmp_path / str(seed)).mkdir()
        place = Place(tmp_path / str(seed))
        place.many(0, [f"n{i}" for i in range(NOTES)])
        place.read(_even(rng, 300))
        for at in sorted(rng.integers(DAY, DAYS * DAY, 70).tolist()):
            place.change(at, f"n{rng.integers(NOTES)}")
        found = _ask(place)
        wrong += found.patterns
        assert found.patterns or "sure enough" in remark(found.notes[0])
        assert found.looked_at["read_to_write"] == pytest.approx(300 / 71, abs=0.3)
    assert len(wrong) <= 1


def test_a_memory_that_came_late_is_not_called_unread(place: Place) -> None:
    rng = np.random.default_rng(13)
    place.read(_even(rng, 400))
    place.many((DAYS - 2) * DAY, [f"late {i}" for i in range(20)])
    assert "never_read" not in names(_ask(place))


def test_what_is_gone_is_left_out_and_counted(place: Place) -> None:
    rng = np.random.default_rng(14)
    place.read(_even(rng, 100))
    place.memory.delete_entities(["n7"])
    found = _ask(place)
    assert found.looked_at["memories"] == NOTES - 1


def test_korean_names_are_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(15)
    place = Place(tmp_path)
    place.many(0, ["회의록", *(f"n{i}" for i in range(NOTES))])
    place.read([*_even(rng, 200), *(("회의록", day * DAY, "민수 via 클라이언트", 1, 0) for day in range(1, 60))])
    most = one_named(_ask(place), "most_read")
    assert "회의록" in describe(most).summary
    assert most.evidence["memories"][0]["readers"] == ["민수"]


def test_little_is_answered_with_what_it_takes(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert "0 memories; it takes 5" in remark(_ask(place).notes[0])
    place.write(0, "only")
    found = _ask(place)
    assert (found.patterns, "1 memories" in remark(found.notes[0]) or "1 memory" in remark(found.notes[0])) == (
        [],
        True,
    )
    place.many(1, [f"n{i}" for i in range(6)])
    place.read([("n1", DAY, "bo", 1, 0)])
    assert "1 reading since 2024-10-05; it takes 20" in remark(_ask(place).notes[0])
