"""Where clashes are looked for: sessions, sets of items, one item, entities, empty and large projects."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from polymnia.engine.analysis.actions import DeleteObservations
from polymnia.engine.analysis.conflicts import Clash, Clashes, conflicts_of
from polymnia.engine.analysis.material import Material
from polymnia.errors import Invalid

from .planted import Desk
from .unrelated import UNRELATED

A, B = "The gateway timeout is 30 seconds.", "The gateway timeout is 10 seconds."


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def pairs(found: list[Clash]) -> list[tuple[str, str]]:
    return [(one.left.sentence, one.right.sentence) for one in found]


def test_an_empty_project_and_one_of_one_item(desk: Desk) -> None:
    empty = desk.conflicts()
    assert empty.clashes == [] and empty.looked_at == dict.fromkeys(
        ("items", "statements", "pairs_found", "pairs_compared"), 0
    )
    desk.note(A)
    one = desk.conflicts()
    assert one.clashes == [] and one.notes == ["1 item: only statements within it could be compared."]


def test_sentences_of_one_item_may_clash(desk: Desk) -> None:
    desk.note("The Orion cache stores card numbers. We like it. The Orion cache does not store card numbers.")
    (found,) = desk.conflicts(sensitivity="high").clashes
    assert found.subtype == "negation_within_one_item" and found.newer == "same"
    assert found.resolution is not None and found.resolution.action == "ask" and not found.resolution.steps


def test_another_session_is_not_seen(desk: Desk) -> None:
    desk.note(A)
    desk.note(B, day=3, session="mine", scope="session/mine")
    seen = {"wanted": {"session": "mine", "any_session": False}}
    assert pairs(desk.conflicts(**seen).clashes) == [(A, B)]
    assert desk.conflicts(wanted={"any_session": False}).clashes == []
    assert desk.conflicts(wanted={"session": "other", "any_session": False}).clashes == []
    (found,) = desk.conflicts(**seen).clashes
    assert found.resolution is not None and found.resolution.steps


def test_a_set_of_items_is_compared_whatever_they_share(desk: Desk) -> None:
    ids = desk.notes([A, B, "Lisbon has hills."])
    assert pairs(desk.conflicts(ids[0], ids[1]).clashes) == [(A, B)]
    alone = desk.conflicts(ids[0], ids[2])
    assert alone.clashes == [] and alone.looked_at["pairs_compared"] == 1
    assert desk.conflicts(*ids).looked_at["pairs_compared"] == 3


def test_a_set_of_one_and_of_unknown_items(desk: Desk) -> None:
    ids = desk.notes([A, B])
    assert desk.conflicts(ids[0]).clashes == []
    assert desk.conflicts("content_none").looked_at["items"] == 0


def test_of_two_named_items_about_one_thing_the_judge_decides(desk: Desk) -> None:
    from polymnia.engine.analysis.contradiction import judge, probability

    texts = [
        A,
        "The gateway is fast.",
        "The gateway is not fast.",
        "It was late. Nobody came.",
        "Did nobody come late?",
    ]
    ids = desk.notes(texts)
    for i, j in ((0, 1), (0, 2), (1, 2), (3, 4)):
        found = desk.conflicts(ids[i], ids[j], sensitivity="high").clashes
        (judged,) = judge([(texts[i], texts[j])])
        told = probability(judged.score, 0.5)
        assert bool(found) == (told >= 0.3)
        assert not found or found[0].confidence >= told - 0.001  # or what it would have in a project


@pytest.mark.long
def test_two_named_items_about_different_things_do_not_clash(desk: Desk) -> None:
    ids = desk.notes(list(UNRELATED))
    pairs = random.Random(4).sample([(a, b) for at, a in enumerate(ids) for b in ids[at + 1 :]], 300)
    told = [pair for pair in pairs if desk.conflicts(*pair).clashes]
    assert len(told) <= 1
    assert len(desk.conflicts(*ids).clashes) <= 1


def test_one_item_against_the_project(desk: Desk) -> None:
    ids = desk.notes([A, "The portal is written in Go.", "Lisbon has hills."])
    late = desk.note("The gateway timeout is now 10 seconds.", day=9)

    def of(id: str, **asked: Any) -> list[Clash]:
        def ask(material: Material) -> Clashes:
            (record,) = material.snapshot.load(list(material.snapshot.ids_of([id]).values()))
            return conflicts_of(material, record, **asked)

        told = desk.read(ask)
        assert told.looked_at["items"] > 1 and told.looked_at["statements"] > 1
        return told.clashes

    (found,) = of(late)
    assert (found.type, found.subtype) == ("temporal_conflicts", "superseded")
    assert {found.left.record.uid, found.right.record.uid} == {ids[0], late}
    assert of(ids[1]) == [] and of(late, types=["logical_conflicts"]) == []
    assert of(late, suggest=False)[0].resolution is None


def test_observations_are_about_their_entity(desk: Desk) -> None:
    desk.entity("Alice", "works at Acme", "likes tea", "works at Globex")
    desk.entity("Bob", "works at Initech", "likes coffee")
    (found,) = desk.conflicts().clashes
    assert {found.left.sentence, found.right.sentence} == {"works at Acme", "works at Globex"}
    assert found.left.record.name == "Alice" == found.right.record.name


def test_an_observation_is_taken_out_and_the_entity_stays(desk: Desk) -> None:
    desk.entity("Orion", "upload limit is 20 MB", "is old", day=1)
    desk.note("The Orion upload limit is 50 MB.", day=9)
    (found,) = desk.conflicts().clashes
    assert found.resolution is not None and found.resolution.steps
    assert [type(step) for step in found.resolution.steps] == [DeleteObservations]
    desk.apply(found.resolution.steps)
    assert desk.conflicts().clashes == []
    (left,) = desk.memory.open_nodes(["Orion"])[0].records
    assert left.observations == ("is old",)


def test_a_sentence_is_taken_out_of_a_longer_text(desk: Desk) -> None:
    text = "# Orion\n\n- The Orion upload limit is 20 MB.\n- Orion has 3 retries.\n\nOrion is old. It is slow."
    id = desk.note(text, day=1)
    desk.note("The Orion upload limit is 50 MB.", day=9)
    (found,) = desk.conflicts().clashes
    assert found.left.sentence == "The Orion upload limit is 20 MB."
    assert found.resolution is not None and found.resolution.steps
    desk.apply(found.resolution.steps)
    assert desk.memory.item(id).observations == (text.replace("- The Orion upload limit is 20 MB.\n", ""),)
    assert desk.conflicts().clashes == []


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("As of 2023, the price of the Basic plan is 10 euros.", "As of 2025, the price of the Basic plan is 12 euros.",
         "As of 2023, the price of the Basic plan is 10 euros (until 2025-01-01)."),
        ("2023년 기준 기본 요금제의 가격은 10유로이다.", "2025년 기준 기본 요금제의 가격은 12유로이다.",
         "2023년 기준 기본 요금제의 가격은 10유로이다 (2025-01-01까지)."),
    ],
)  # fmt: skip
def test_dated_statements_are_both_kept(desk: Desk, old: str, new: str, marked: str) -> None:
    id = desk.note(old)
    desk.note(new)
    (found,) = desk.conflicts().clashes
    assert (found.type, found.subtype, found.newer) == ("temporal_conflicts", "superseded", "right")
    assert found.resolution is not None and found.resolution.action == "keep_both_with_dates"
    assert found.resolution.steps
    desk.apply(found.resolution.steps)
    assert desk.memory.item(id).observations == (marked,)
    assert desk.conflicts(sensitivity="high").clashes == []


def test_a_later_version_is_no_clash_with_the_one_before(desk: Desk) -> None:
    id = desk.note(A)
    desk.memory.update_item(id, text=B)
    assert desk.conflicts(sensitivity="high").clashes == []


@pytest.mark.parametrize(
    "texts",
    [
        ("The retry limit used to be 3 seconds, now it is 5.", "The retry limit is 3 seconds."),
        ("If the queue is full, the retry limit is 9.", "The retry limit is 5."),
        ("Is the retry limit 3?", "The retry limit is 5."),
        ("We met Helios on 3 May 2025.", "We met Helios on 10 May 2025."),
        ("Alice likes tea.", "Alice likes coffee."),
        ("Room 1 seats 8 people.", "Room 2 seats 20 people."),
        ("The export flag is enabled.", "The import flag is disabled."),
        ("- Option A takes 3 days\n- Option B takes 5 days", "Option C takes 9 days."),
        ("## Gateway\n\nTimeout: 30 seconds", "## Worker\n\nTimeout: 10 seconds"),
        ("```\nThe retry limit is 3.\n```", "The retry limit is 5."),
        ("만약 큐가 가득 차면 재시도 한도는 9이다.", "재시도 한도는 5이다."),
        ("지난주 회의는 3일에 열렸다.", "이번 주 회의는 10일에 열렸다."),
    ],
)
def test_what_only_looks_like_a_clash_is_not_told(desk: Desk, texts: tuple[str, ...]) -> None:
    for day, text in enumerate(texts):
        desk.note(text, day=day * 5)
    assert desk.conflicts().clashes == []


def test_the_later_one_is_told_however_close(desk: Desk) -> None:
    desk.note(A)
    desk.note(B, day=1 / 86_400)
    (found,) = desk.conflicts().clashes
    assert found.newer == "right" and "by less than a minute" in found.explanation
    assert found.resolution is not None and found.resolution.action == "ask"


def test_repeated_sentences_are_one_clash(desk: Desk) -> None:
    desk.notes([A, A, B], day=1)
    (found,) = desk.conflicts().clashes
    assert len(found.members) == 3


@pytest.mark.parametrize("asked", [{"types": ["nonsense"]}, {"sensitivity": "extreme"}])
def test_what_there_is_not_is_refused(desk: Desk, asked: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        desk.conflicts(**asked)


@pytest.mark.long
def test_the_pairs_grow_with_the_items_and_not_with_their_square(desk: Desk) -> None:
    def fill(count: int, first: int) -> None:
        parts = ("limit", "quota", "timeout", "budget", "deadline", "capacity", "price", "weight", "delay", "rate")
        desk.notes([f"The {parts[i % 10]} of service S{i // 4} is {i % 7} units." for i in range(first, first + count)])

    fill(300, 0)
    some = desk.conflicts(suggest=False).looked_at
    fill(900, 300)
    all = desk.conflicts(suggest=False).looked_at
    assert all["items"] == 1200 and some["items"] == 300
    assert 0 < all["pairs_found"] <= 5 * some["pairs_found"] and all["pairs_found"] <= 12 * 1200


def test_a_caller_may_call_it_off(desk: Desk) -> None:
    desk.notes([A, B])

    class Off(Exception):
        pass

    def ask(material: Material) -> None:
        def tick(done: int, total: int) -> None:
            raise Off

        from polymnia.engine.analysis.conflicts import conflicts

        conflicts(Material(material.look, wanted=material.wanted, now=0, tick=tick))

    with pytest.raises(Off):
        desk.read(ask)
