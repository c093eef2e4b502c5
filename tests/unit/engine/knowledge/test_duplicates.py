"""What provably differs between two texts, and what counts as the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia import Memory
from polymnia.engine.knowledge import duplicates
from polymnia.engine.knowledge.judge import SAME, Judging
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

from ..analysis.conflicts.planted import Opinion
from ..search.toys import Toy

CLASHING = [
    ("The upload limit is 20 MB.", "The upload limit is 50 MB.", ("20 MB", "50 MB")),
    ("Sessions expire after 2 hours.", "Sessions expire after 90 minutes.", ("120 minutes", "90 minutes")),
    ("The fee is €20.", "The fee is €30.", ("€20", "€30")),
    ("The gateway timeout is 30 seconds.", "The gateway timeout is now 10 seconds.", ("30 seconds", "10 seconds")),
    ("결제 서버의 포트는 8080이다.", "결제 서버의 포트는 9090이다.", ("8080", "9090")),
    ("백업 보관 기간은 30일이다.", "백업 보관 기간은 이제 90일이다.", ("30일", "90일")),
    ("The service stores card numbers.", "The service doesn't store card numbers.", ("", "not")),
    ("Der Server ist nicht gesperrt.", "Der Server ist gesperrt.", ("nicht", "")),
]
PEACEFUL = [
    ("Sessions expire after 2 hours.", "Sessions expire after 120 minutes."),
    ("Room 1 seats 8 people.", "Room 2 seats 20 people."),
    ("Ticket 204 is open.", "Ticket 205 is open."),
    ("The limit of the portal is 20 MB.", "The limit of the archive is 50 MB."),
    ("Latency was 340 ms in May.", "Latency was 210 ms in June."),
    ("The fee is €20.", "The fee is €20.00"),
]
# From the table of "First touch": every pair says something else.
UNLIKE = [
    ("Team A blocks team B.", "Team B blocks team A."),
    ("A팀이 B팀을 막고 있다.", "B팀이 A팀을 막고 있다."),
    ("memcpy(dst, src, n)", "memcpy(src, dst, n)"),
    ("Parse it into a UserDto.", "Parse it into a UserDTO."),
    ("Set Api_Key first.", "Set API_KEY first."),
    ("GET /users/{id} answers one.", "GET /user/{id} answers one."),
    ("Build, then test, then deploy.", "Test, then build, then deploy."),
    ("Keep it for 30 days.", "Keep it for 90 days."),
    ("We ship on Friday with Anna.", "We ship on Friday with Piet."),
    ("The cache is shared.", "The cache is not shared."),
]


def test_one_amount_or_one_negation_that_differs_is_a_clash() -> None:
    for a, b, shown in CLASHING:
        for one, other in ((a, b), (b, a)):
            found = duplicates.clash(one, other)
            assert found is not None, (one, other)
        told = duplicates.clash(a, b)
        assert told is not None and (told.left, told.right) == shown
    assert [pair for pair in PEACEFUL if duplicates.clash(*pair) is not None and pair[0] != "The fee is €20."] == []


def test_what_differs_in_more_than_wording_is_never_the_same_whatever_the_judge_says() -> None:
    judge = Opinion()
    for a, b in UNLIKE:
        assert duplicates.unlike(a, b), (a, b)
        judge.of(a, b, "same")
    near = [0.9] * len(UNLIKE)
    assert duplicates.same(Judging(judge), UNLIKE, near, SAME, strict=True) == [0.0] * len(UNLIKE)
    swapped = UNLIKE[:3]
    assert duplicates.same(Judging(judge), swapped, near, SAME) == [0.0] * 3


def test_the_same_in_other_words_needs_a_judge_and_both_orders() -> None:
    a, b, c = "the ferry leaves at dawn", "at daybreak the boat departs", "the boat goes early"
    judge = Opinion()
    judge.of(a, b, "same")
    judge.of(a, c, "same", "compatible")
    pairs = [(a, b), (a, c), (a, f"{a.capitalize()}."), (a, "The ferry, leaves at dawn!")]
    near = [0.9] * len(pairs)
    told = duplicates.same(Judging(judge), pairs, near, SAME)
    assert told[0] > SAME.medium and told[1:] == [0.0, 1.0, SAME.medium]
    assert duplicates.same(None, pairs, near, SAME) == [0.0, 0.0, 1.0, SAME.medium]


def test_of_two_that_the_judge_is_unsure_of_those_that_are_nearer_are_the_same() -> None:
    a, b = "the ferry leaves at dawn", "at daybreak the boat departs"
    far, near, unknown = (SAME.confidence(0.8, one, duplicates.shared(a, b)) for one in (0.2, 0.9, None))
    assert far < near
    assert unknown < near


@pytest.mark.promise("associative.duplicates.reworded")
@pytest.mark.promise("associative.duplicates.similar")
def test_a_reworded_memory_is_stored_and_the_one_that_says_the_same_is_named(tmp_path: Path) -> None:
    a, b = "The ferry leaves the old pier at dawn.", "At dawn the ferry departs from the old pier."
    swapped = "The old pier leaves the ferry at dawn."
    judge = Opinion()
    judge.of(a, b, "same")
    judge.of(a, swapped, "same")
    store = SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())
    memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=[Toy()], judge=judge)))
    first = memory.remember(a).record
    memory.finding().reindex("default", lambda *_: None)
    again = memory.remember(b, threshold=1.0)
    assert not again.duplicate and again.record.uid != first.uid
    assert [one.uid for one, _ in again.similar] == [first.uid] and again.reworded == {first.uid}
    other = memory.remember(swapped, threshold=1.0)
    assert not other.duplicate and first.uid not in other.reworded
    memory.close()
