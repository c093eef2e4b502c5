"""Where clashes are looked for: sessions, sets of items, one item, entities, empty and large projects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from polymnia import describe, remark
from polymnia.engine.analysis.conflicts import Clash, Clashes, conflicts_of
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.knowledge import judge as judging
from polymnia.engine.ports import Judgement
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid, NoModel

from .planted import Desk, Opinion

A, B = "The gateway timeout is 30 seconds.", "The gateway timeout is 10 seconds."


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def said(found: Clashes) -> list[str]:
    return [remark(one) for one in found.notes]


def pairs(found: list[Clash]) -> list[tuple[str, str]]:
    return [(one.left.sentence, one.right.sentence) for one in found]


def test_an_empty_project_and_one_of_one_item(desk: Desk) -> None:
    empty = desk.conflicts()
    assert empty.clashes == [] and empty.looked_at == dict.fromkeys(
        ("items", "statements", "pairs_found", "pairs_compared"), 0
    )
    desk.note(A)
    one = desk.conflicts()
    assert one.clashes == [] and said(one) == ["1 item: only statements within it could be compared."]


def test_sentences_of_one_item_may_clash(desk: Desk) -> None:
    desk.note("The Orion cache stores card numbers. We like it. The Orion cache does not store card numbers.")
    (found,) = desk.conflicts().clashes
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


def test_what_the_judge_calls_a_conflict_is_told_with_both_statements_and_which_is_newer(tmp_path: Path) -> None:
    judge = Opinion()
    old, new = "The ferry to Vik leaves from the north pier.", "The Vik ferry now departs at the south quay."
    judge.of(old, new, "update", "conflict")
    desk = Desk(tmp_path, judge=judge)
    ids = [desk.note(old, day=1), desk.note(new, day=40)]
    desk.notes(["Vik has a church.", "The north pier was built of stone."], day=2)
    (found,) = desk.conflicts(*ids).clashes
    assert (found.left.sentence, found.right.sentence, found.newer) == (old, new, "right")
    assert (found.type, found.subtype) == ("temporal_conflicts", "superseded")
    assert "later" in describe(found).explanation and 0.5 < found.confidence <= 1
    assert "north pier" in found.differs and "south quay" in found.differs
    # Each pair is read in both orders, and not again.
    asked = len(judge.asked)
    assert {(old, new), (new, old)} <= set(judge.asked)
    desk.conflicts(*ids)
    assert len(judge.asked) == asked


def test_two_named_items_about_different_things_do_not_clash(tmp_path: Path) -> None:
    desk = Desk(tmp_path, judge=Opinion())
    ids = desk.notes(["Anna is allergic to hazelnuts.", "The museum is closed on Tuesdays.", "Basil dies in frost."])
    assert desk.conflicts(*ids, sensitivity="high").clashes == []
    assert desk.conflicts(sensitivity="high").clashes == []


@pytest.mark.promise("analysis.conflicts.no_judge")
def test_without_a_judge_exact_rules_are_left_and_the_answer_says_so(desk: Desk) -> None:
    desk.notes([A, B, "The ferry leaves from the north pier.", "Boats depart at the south quay."])
    found = desk.conflicts()
    assert pairs(found.clashes) == [(A, B)]
    assert said(found) == [
        "No model judged what statements mean: only amounts, dates and negations of the same words were compared."
    ]


def test_a_judge_that_cannot_be_loaded_is_told_and_not_asked_again(tmp_path: Path) -> None:
    class Broken(Opinion):
        def load(self) -> None:
            self.asked.append(("load", ""))
            raise NoModel("The file judge_en.onnx is not as it was shipped")

    judge = Broken()
    desk = Desk(tmp_path, judge=judge)
    desk.notes([A, B])
    for _ in range(2):
        found = desk.conflicts()
        assert pairs(found.clashes) == [(A, B)]
        assert "(The file judge_en.onnx is not as it was shipped)" in said(found)[0]
    assert judge.asked == [("load", "")]


def test_what_could_not_be_judged_is_told_beside_what_could(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_BATCH", 1)

    class Half(Opinion):
        def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
            if any("항구" in text for pair in pairs for text in pair):
                raise NoModel("The file scorer_multi.onnx is not as it was shipped")
            return super().judge(pairs)

    judge = Half()
    old, new = "The ferry to Vik leaves from the north pier.", "The Vik ferry now departs at the south quay."
    judge.of(old, new, "update", "conflict")
    desk = Desk(tmp_path, judge=judge)
    desk.notes([old, new])
    desk.notes(["항구는 아침 여섯 시에 연다.", "항구는 아침 아홉 시에 연다."])
    found = desk.conflicts()
    assert pairs(found.clashes) == [(old, new)]
    assert "(The file scorer_multi.onnx is not as it was shipped)" in said(found)[0]


def test_one_item_against_the_project(desk: Desk) -> None:
    ids = desk.notes([A, "The portal is written in Go.", "Lisbon has hills."])
    late = desk.note("The gateway timeout is now 10 seconds.", day=9)

    def of(id: str, **asked: Any) -> list[Clash]:
        def ask(material: ProjectView) -> Clashes:
            (record,) = material.snapshot.load(list(material.snapshot.ids_of([id]).values()))
            return conflicts_of(material, record, **asked)

        told = desk.read(ask)
        assert told.looked_at["items"] > 1 and told.looked_at["statements"] > 1
        return told.clashes

    (found,) = of(late)
    assert (found.type, found.subtype) == ("factual_conflicts", "number")
    assert {found.left.record.uid, found.right.record.uid} == {ids[0], late}
    assert of(ids[1]) == [] and of(late, types=["logical_conflicts"]) == []
    assert of(late, suggest=False)[0].resolution is None


def test_observations_are_about_their_entity(tmp_path: Path) -> None:
    judge = Opinion()
    judge.of("Alice: works at Acme", "Alice: has left for Globex", "update", "conflict")
    desk = Desk(tmp_path, judge=judge)
    desk.entity("Alice", "works at Acme", "likes tea", "has left for Globex")
    desk.entity("Bob", "works at Initech", "likes coffee")
    (found,) = desk.conflicts(sensitivity="high").clashes
    assert {found.left.sentence, found.right.sentence} == {"works at Acme", "has left for Globex"}
    assert found.left.record.name == "Alice" == found.right.record.name


def test_what_is_superseded_is_marked_and_nothing_is_lost(desk: Desk) -> None:
    text = "# Orion\n\n- The Orion upload limit is 20 MB.\n- Orion has 3 retries.\n\nOrion is old. It is slow."
    long = desk.note(text, day=1)
    short = desk.note("The Vega quota is 9 GB.", day=1)
    desk.entity("Lyra", "The Lyra limit is 4 GB", "is old", day=1)
    newer = desk.note("The Orion upload limit is 50 MB.", day=9)
    newest = desk.note("The Vega quota is 7 GB.", day=9)
    desk.note("The Lyra limit is 8 GB.", day=9)
    for one in desk.conflicts().clashes:
        assert one.resolution is not None and one.resolution.action == "keep_newest"
        desk.apply(one.resolution.steps)
    day = moment(desk.memory.item(newer).updated)[:10]
    marked = text.replace("is 20 MB.", f"is 20 MB (until {day}).")
    assert desk.memory.item(long).observations == (marked,)
    assert desk.memory.item(short).observations == ("The Vega quota is 9 GB.",)
    assert desk.memory.item(short).metadata == {"superseded_by": newest}
    (left,) = desk.memory.open_nodes(["Lyra"])[0].records
    assert set(left.observations) == {f"The Lyra limit is 4 GB (until {day})", "is old"}
    assert desk.conflicts(sensitivity="high").clashes == []
    # What has replaced it is gone: it counts again.
    other = desk.note("The Vega quota is 8 GB.", day=10)
    desk.memory.delete_item(newest)
    (again,) = desk.conflicts().clashes
    assert {again.left.record.uid, again.right.record.uid} == {short, other}


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
        ("Sessions expire after 2 hours.", "Sessions expire after 120 minutes."),
        ("If the queue is full, the retry limit is 9.", "The retry limit is 5."),
        ("Is the retry limit 3?", "The retry limit is 5."),
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
    assert found.newer == "right" and "by less than a minute" in describe(found).explanation
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

    fill(500, 0)
    some = desk.conflicts(suggest=False).looked_at
    fill(700, 500)
    all = desk.conflicts(suggest=False).looked_at
    assert all["items"] == 1200 and some["items"] == 500
    assert 0 < all["pairs_found"] <= 5 * some["pairs_found"] and all["pairs_found"] <= 12 * 1200


def test_a_caller_may_call_it_off(desk: Desk) -> None:
    desk.notes([A, B])

    class Off(Exception):
        pass

    def ask(material: ProjectView) -> None:
        def tick(done: int, total: int) -> None:
            raise Off

        from polymnia.engine.analysis.conflicts import conflicts

        conflicts(ProjectView(material.neighbours, filters=material.filters, now=0, tick=tick))

    with pytest.raises(Off):
        desk.read(ask)
