"""Content gaps: what a project speaks of and does not hold, planted one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from form import each
from polymnia import describe
from polymnia.engine.analysis.actions import Relate, StoreItem
from polymnia.engine.analysis.insights.gaps import headed, name_key, open_questions, placeholders, unanswered
from polymnia.engine.content import Decision, decision_text
from polymnia.models import Record

from .planted import Project, named, of_type


@each(
    ("text", "questions"),
    [
        ("Who pays for the lamps?", ["Who pays for the lamps?"]),
        ("Who pays for the lamps? The town does.", []),
        ("## How do I start it?\n\nPress the green button.", []),
        ("- Who pays for the lamps?\n- Who lights the lamps?", ["Who pays for the lamps?", "Who lights the lamps?"]),
        ("We met.\n\nWho pays for the lamps?", ["Who pays for the lamps?"]),
        ("Ann: who pays for it?\nBob: the town pays.", []),
        ("계약은 언제 끝나나요?", ["계약은 언제 끝나나요?"]),
        ("계약은 언제 끝나나요? 3월에 끝납니다.", []),
        ("누가 비용을 부담합니까", ["누가 비용을 부담합니까"]),
        ("See https://a.example/?q=lamps", []),
        ("```\nis_it(x)?\n```", []),
        ("why?", []),
        ("", []),
    ],
)
def test_a_question_stands_open_when_nothing_in_its_place_answers_it(text: str, questions: list[str]) -> None:
    assert list(open_questions(text)) == questions


def test_the_more_of_its_words_are_said_the_less_open_is_a_question() -> None:
    assert unanswered(0.0) > 0.9 > unanswered(0.3) > 0.7 > unanswered(0.8) > unanswered(1.0)


def test_a_question_that_another_memory_answers_is_no_gap(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.note("The harbour contract expires in March.", days=4)
    project.note("When does the harbour contract expire?", days=3)
    lost = project.note("Where is the spare rudder kept?", days=2)
    (one,) = named(project.insights("content_gaps"), "open_question")
    assert one.members == (lost.id,)
    assert one.confidence == pytest.approx(unanswered(0.0), abs=1e-4)
    assert "Where is the spare rudder kept?" in describe(one).summary
    assert [type(step) for step in one.actions] == [StoreItem, Relate] and one.actions[1].target == lost.uid


def test_a_question_does_not_answer_another(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.note("When does the harbour contract expire?", days=3)
    project.note("Does the harbour contract expire soon?", days=2)
    assert len(named(project.insights("content_gaps"), "open_question")) == 2


def test_a_question_that_something_resolves_is_closed(tmp_path: Path) -> None:
    project = Project(tmp_path)
    question = project.note("Where is the spare rudder kept?", days=2)
    answer = project.note("Under the stairs.", days=1)
    project.relate(answer.name, question.name, "resolves")
    assert not named(project.insights("content_gaps"), "open_question")


def test_in_a_conversation_the_next_speaker_is_asked(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.note("Ann: Where is the spare rudder kept?", days=3)
    project.note("Ben: Under the stairs, I think.", days=2)
    lost = project.note("Ann: Who painted the old lighthouse?", days=1)
    assert [one.members for one in named(project.insights("content_gaps"), "open_question")] == [(lost.id,)]


def test_korean_questions_are_read_too(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.note("항구 임대 계약은 내년 3월에 만료된다.", days=4)
    project.note("항구 임대 계약은 언제 만료되나요?", days=3)
    lost = project.note("예비 방향타는 어디에 보관하나요?", days=2)
    assert [one.members for one in named(project.insights("content_gaps"), "open_question")] == [(lost.id,)]


@each(
    ("text", "lines"),
    [
        ("TODO: name a deputy", ["TODO: name a deputy"]),
        ("The budget is to be decided.", ["The budget is to be decided."]),
        ("일정은 추후 결정한다.", ["일정은 추후 결정한다."]),
        ("담당자: 미정", ["담당자: 미정"]),
        ("# A\n\n## B\n\n## C\nText", ["## B"]),
        ("# A\n\n## B\nText\n\n## C", ["## C"]),
        ("# Only a title", []),
        ("# A\n## B\nText", []),
        ("Add it to the todo list.", []),
        ("```\n# TODO later\n```", []),
        ("추후에 만나자", []),
    ],
)
def test_what_is_unfinished_is_quoted(text: str, lines: list[str]) -> None:
    assert [line for _, line in placeholders(text)] == lines


def test_what_is_referred_to_and_is_not_there(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(1, 6):
        project.note(f"We chose way {number}.", days=20 - number, title=f"ADR-{number} Way {number}")
    there = project.note("The chart of the bay.", days=9, title="Harbour chart")
    project.note(f"See [[Harbour chart]] and {there.uid}, as ADR-1, ADR-2, ADR-3 and ADR-4 say.", days=8)
    lost = project.note(f"See [[Tide table]] and content_{'0' * 32} and ADR-9.", days=7)
    found = named(project.insights("content_gaps", depth="deep"), "missing_reference")
    assert {one.evidence["reference"] for one in found} == {"Tide table", f"content_{'0' * 32}", "ADR-9"}
    assert {one.members for one in found} == {(lost.id,)}
    sure = {one.evidence["reference"]: one.confidence for one in found}
    assert sure["Tide table"] == 1.0
    assert sure["ADR-9"] == pytest.approx(5 / 6, abs=0.01)  # four of the four others are there


def test_a_relation_that_leads_nowhere(tmp_path: Path) -> None:
    project = Project(tmp_path)
    one = project.note("The bridge.", days=3)
    other = project.note("The quay.", days=2)
    project.relate(one.name, other.name)
    project.relate(one.name, "Weir", "leads_to")
    project.relate(other.name, "Weir", "leads_to")
    (loose,) = named(project.insights("content_gaps"), "loose_end")
    assert loose.evidence["name"] == "Weir"
    assert loose.evidence["count"] == 2
    assert set(loose.members) == {one.id, other.id}


def _decide(project: Project, number: int, *, alternatives: list[str]) -> Record:
    parts = Decision(
        title=f"Choice {number}", context="It broke.", decision=f"Take number {number}.", rationale="Because it holds.",
        alternatives=alternatives,
    )  # fmt: skip
    return project.note(decision_text(parts), kind="decision", title=parts.title, days=50 - number)


def test_a_decision_without_what_the_others_have(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(9):
        _decide(project, number, alternatives=["Do nothing"])
    bare = _decide(project, 9, alternatives=[])
    found = project.insights("content_gaps", depth="deep")
    (one,) = named(found, "decision_without_alternatives")
    assert one.members == (bare.id,)
    assert one.confidence == pytest.approx(10 / 11, abs=1e-3)
    assert not named(found, "decision_without_rationale")
    assert not named(found, "decision_without_impact")  # none has it: that is the habit here


def test_a_name_that_many_mention_and_none_is_about(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for name in ("Ariadne", "Bellerophon", "Calypso", "Daphne"):
        project.note(f"{name} is a boat of ours.", title=name, days=60)
        for day in range(3):
            project.note(f"On day {day} we sailed {name} past the pier.", days=50 - day)
    for day in range(4):
        project.note(f"On day {day} we repaired Euryale at the quay.", days=20 - day)
    found = named(project.insights("content_gaps"), "unwritten_name")
    assert [one.evidence["name"] for one in found] == ["Euryale"]
    assert len(found[0].members) == 4
    assert found[0].confidence == pytest.approx(5 / 6, abs=1e-3)


def test_heads_are_names_titles_tags_and_first_words() -> None:
    records = [
        Record(id=1, uid="a", name="Blue Lamp", kind="thing"),
        Record(id=2, uid="b", name="b", kind="content", observations=("Redis는 캐시다. Later Kafka comes.",)),
        Record(id=3, uid="c", name="c", kind="content", observations=("# The Odessa plan\n\nText",), tags=("Quay",)),
    ]
    there = ["lamp", "Blue Lamp", "redis", "odessa", "QUAY", "The Odessa plan"]
    absent = ["Kafka", "Lamp Blue", "Blue Lamp Post", "Plan B"]
    heads = headed(records, {name_key(name) for name in there + absent})
    assert [name for name in there + absent if name_key(name) in heads] == there


def test_a_sound_project_has_no_gaps(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(10):
        project.note(f"The lamp {number} stands at the quay and burns oil.", days=20 - number)
    assert not of_type(project.insights("content_gaps", depth="comprehensive"), "content_gaps")
