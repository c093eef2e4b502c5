"""The quality of contents in real projects: every option changes the answer, and nothing is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polymnia import describe
from polymnia.dialects.content.reports import quality as words
from polymnia.engine.analysis.quality import DIMENSIONS, Improvement, Quality, analyze
from polymnia.engine.analysis.view import ProjectView
from polymnia.errors import Invalid

from .desk import Desk

GOOD = """# Release guide

The release guide tells how the release team ships the billing service.

## Steps

1. Build the image with `make image`.
2. Push the image with `make push`.
3. Restart the billing service with `make restart`.

## Rollback

Run `make rollback` when the error rate is above 2 percent.
"""
BAD = """# Release guide

This is done by some people somehow. It is not impossible that stuff breaks, etc.

#### Steps

There are three steps:

- build the image.
- Pushing the image
- Restart
- Maybe look into the log soon

## Rollback

## Notes

TODO: describe the e-mail and the email. The release was on Monday, 4 March 2025.
"""
KOREAN = """# 배포 안내

이것은 나중에 적절히 처리되어진다. 회의는 2025년 2월 30일에 열렸다. 배포는 세 단계입니다:

- 이미지 만들기
- 이미지 올리기

## 되돌리기

추후 작성
"""


def quality(desk: Desk, id: str, against: tuple[str, ...] = (), **more: Any) -> Quality:
    def work(material: ProjectView) -> Quality:
        others = [desk.record(material, one) for one in against]
        return analyze(material, desk.record(material, id), against=others, **more)

    return desk.ask(work)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def problem(one: Improvement) -> str:
    return describe(one.fault).summary


def scores(found: Quality) -> dict[str, float | None]:
    return {one.name: one.score for one in found.dimensions}


def test_a_good_text_is_better_than_a_bad_one_on_every_side(desk: Desk) -> None:
    good, bad = desk.note(GOOD, kind="guide"), desk.note(BAD, kind="guide")
    here, there = quality(desk, good), quality(desk, bad)
    assert here.score is not None and there.score is not None
    assert here.score > there.score + 0.15
    for name in ("clarity", "completeness", "accuracy", "structure"):
        mine, theirs = scores(here)[name], scores(there)[name]
        assert mine is not None and theirs is not None and mine > theirs, name
    assert all(0.0 <= one <= 1.0 for found in (here, there) for one in scores(found).values() if one is not None)


def test_suggestions_quote_the_text_and_come_in_the_order_of_their_gain(desk: Desk) -> None:
    found = quality(desk, desk.note(BAD, kind="guide"))
    assert found.suggestions
    gains = [one.gain for one in found.suggestions]
    assert gains == sorted(gains, reverse=True) and gains[0] > 0
    flat = " ".join(BAD.split())
    for one in found.suggestions:
        assert " ".join(one.fault.quote.split()) in flat, one
        assert problem(one) and describe(one.fault).recommendation
    quotes = {one.fault.quote for one in found.suggestions}
    assert "The release was on Monday, 4 March 2025." in quotes
    assert "There are three steps:" in quotes


def test_korean_is_judged_on_every_side_and_quoted_as_it_stands(desk: Desk) -> None:
    found = quality(desk, desk.note(KOREAN, kind="절차"))
    assert {name for name, score in scores(found).items() if score is not None} >= set(DIMENSIONS) - {"actionability"}
    quotes = {one.fault.quote for one in found.suggestions}
    assert "회의는 2025년 2월 30일에 열렸다." in quotes
    assert "이것은 나중에 적절히 처리되어진다." in quotes
    assert "배포는 세 단계입니다:" in quotes


def test_the_dimensions_asked_for_are_those_that_are_told(desk: Desk) -> None:
    id = desk.note(BAD)
    found = quality(desk, id, dimensions=["readability", "clarity"])
    assert [one.name for one in found.dimensions] == ["clarity", "readability"]
    known = [one.score for one in found.dimensions if one.score is not None]
    assert found.score == pytest.approx(sum(known) / 2, abs=1e-4)
    assert {one.dimension for one in found.suggestions} <= {"clarity", "readability"}
    with pytest.raises(Invalid, match="beauty"):
        quality(desk, id, dimensions=["beauty"])


def test_suggestions_and_metrics_can_be_left_out(desk: Desk) -> None:
    id = desk.note(BAD)
    assert not quality(desk, id, suggestions=False).suggestions
    bare = quality(desk, id, metrics=False)
    assert bare.suggestions and not any(one.metrics for one in bare.dimensions)
    full = quality(desk, id)
    assert full.score == bare.score
    shown = [words.dimension(one, metrics=True)["metrics"] for one in full.dimensions]
    assert all(metric["measured_against"] for one in shown for metric in one.values())


def test_a_benchmark_puts_others_side_by_side(desk: Desk) -> None:
    good, bad, plain = (
        desk.note(GOOD, kind="guide"),
        desk.note(BAD, kind="guide"),
        desk.note("The pump is loud. Kim heard it."),
    )
    found = quality(desk, good, (bad, plain))
    assert [one.id for one in found.compared] == [bad, plain]
    theirs = quality(desk, bad)
    assert found.compared[0].dimensions == scores(theirs)
    assert found.compared[0].score == theirs.score
    assert found.standing["overall"]["of"] == 3
    assert found.standing["clarity"]["rank"] == 1
    mine, other = scores(found)["clarity"], scores(theirs)["clarity"]
    assert mine is not None and other is not None
    assert found.compared[0].differences["clarity"] == pytest.approx(mine - other, abs=1e-4)
    assert found.compared[1].differences["actionability"] is None
    assert not quality(desk, good).compared and not quality(desk, good).standing


def test_a_word_alone_has_no_score_and_the_notes_say_why(desk: Desk) -> None:
    found = quality(desk, desk.note("ok"))
    assert found.score is None
    assert len(words.notes(found)) == len(DIMENSIONS)
    assert all(one.note for one in found.dimensions)


def test_a_placeholder_alone_is_incomplete(desk: Desk) -> None:
    found = quality(desk, desk.note("TBD"))
    assert scores(found)["completeness"] == 0
    assert found.suggestions[0].fault.quote == "TBD"


def test_accuracy_falls_when_the_project_says_otherwise(desk: Desk) -> None:
    desk.note("The gateway timeout of the billing service is 30 seconds.")
    id = desk.note("The gateway timeout of the billing service is 90 seconds.", ago=3)
    found = quality(desk, id, dimensions=["accuracy"])
    assert found.score is not None and found.score < 0.7
    first = found.suggestions[0]
    assert first.metric == "agreement_with_the_project"
    assert first.fault.quote == "The gateway timeout of the billing service is 90 seconds."
    assert "is 30 seconds" in problem(first)


def test_accuracy_holds_when_the_project_agrees(desk: Desk) -> None:
    desk.note("The gateway timeout of the billing service is 30 seconds.")
    id = desk.note("The office in Lisbon opens at nine.", ago=3)
    assert quality(desk, id, dimensions=["accuracy"]).score == 1.0


def test_what_its_kind_usually_has_is_missed(desk: Desk) -> None:
    for at in range(6):
        desk.note(
            f"# Incident {at}\n\nThe queue {at} stopped.\n\n## Cause\n\nA full disk.\n",
            kind="incident",
            metadata={"owner": "Kim"},
        )
    lacking = desk.note("# Incident 9\n\nThe queue 9 stopped.\n", kind="incident")
    whole = desk.note(
        "# Incident 8\n\nThe queue 8 stopped.\n\n## Cause\n\nHeat.\n", kind="incident", metadata={"owner": "Lee"}
    )
    there = quality(desk, lacking, dimensions=["completeness"])
    assert {problem(one).split("; ")[0] for one in there.suggestions if one.metric == "fields_of_its_kind"} == {
        '86% of 7 others of kind "incident" have "owner" in its metadata'.replace("86%", "100%"),
        '100% of 7 others of kind "incident" have a part "Cause"',
    }
    here = quality(desk, whole, dimensions=["completeness"])
    assert here.score is not None and there.score is not None and here.score > there.score


def test_relevance_knows_what_the_title_and_the_tags_promise(desk: Desk) -> None:
    text = "The billing service reads invoices from the queue. The queue holds invoices for a day."
    fits = desk.note(
        text, metadata={"title": "How billing reads invoices"}, tags=("billing",), summary="Billing reads invoices."
    )
    odd = desk.note(
        text + " ", metadata={"title": "Garden party in Lisbon"}, tags=("garden",), summary="Wine and music."
    )
    desk.notes([f"Roses and tulips of bed {n} need water at noon." for n in range(5)], tags=("garden",))
    here, there = (quality(desk, one, dimensions=["relevance"]) for one in (fits, odd))
    assert here.score is not None and there.score is not None and here.score > there.score + 0.3
    assert {one.metric for one in there.suggestions} == {"title_and_text", "summary_and_text", "tags_and_text"}


def test_relevance_sees_what_is_far_from_the_project_and_never_read(desk: Desk) -> None:
    notes = desk.notes(
        [f"The billing service sends invoice {at} to customer {at} of the billing team." for at in range(14)]
    )
    far = desk.note("Quokkas nap beneath eucalyptus boughs whenever sunlight fades.")
    for one in notes:
        desk.read(one, 3)
    found = quality(desk, far, dimensions=["relevance"])
    by_name = {metric.name: metric for metric in found.dimensions[0].metrics}
    assert by_name["nearness_to_the_project"].score < 0.2
    near = quality(desk, notes[3], dimensions=["relevance"])
    assert all(metric.score > 0.9 for metric in near.dimensions[0].metrics)


def test_the_spelling_of_the_project_is_the_measure(desk: Desk) -> None:
    desk.notes([f"Server {at} keeps its pages in PostgreSQL and not elsewhere." for at in range(8)])
    odd = desk.note("All the pages of the new server are kept in Postgresql, and the old ones in Postgresql too.")
    found = quality(desk, odd, dimensions=["consistency"])
    assert any("PostgreSQL" in problem(one) for one in found.suggestions)


def test_actionability_is_not_asked_of_what_only_tells(desk: Desk) -> None:
    found = quality(desk, desk.note("The moon is far away. The sea is deep and cold."), dimensions=["actionability"])
    assert found.score is None and "acted on" in words.notes(found)[0]


def test_a_decision_with_its_parts_is_complete(desk: Desk) -> None:
    parts = {
        "title": "SQLite",
        "context": "One file is wanted.",
        "decision": "We take SQLite.",
        "rationale": "It needs no server.",
        "alternatives": ["Postgres"],
        "impact": "One writer at a time.",
        "stakeholders": ["Kim"],
    }
    text = "# SQLite\n\nWe take SQLite.\n"
    whole = desk.note(text, kind="decision", metadata={"title": "SQLite", "decision": parts})
    bare = desk.note(
        text, kind="decision", metadata={"title": "SQLite", "decision": {**parts, "rationale": "", "alternatives": []}}
    )
    here, there = (quality(desk, one, dimensions=["completeness"]) for one in (whole, bare))
    assert here.score is not None and there.score is not None and here.score > there.score
    assert {problem(one) for one in there.suggestions} == {
        "The decision says nothing of its rationale.", "The decision says nothing of its alternatives.",
    }  # fmt: skip
    assert all(one.fault.quote == "We take SQLite." for one in there.suggestions)


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("text/x-python", '"""Read invoices."""\n\ndef read():\n    # TODO: close the file\n    return open("x")\n'),
        ("application/json", '{"name": "pump", "parts": ["valve", "hose"]}'),
        ("text/html", "<h1>Pump</h1><p>The pump is old. It was bought in 2020.</p><ul><li>valve</li></ul>"),
        ("text/csv", "name,seats\nElba,8\nTiber,14\n"),
        ("text/plain", "The pump is old.\nIt was bought in 2020.\n\nKim owns the pump."),
    ],
)
def test_every_content_type_is_read(desk: Desk, content_type: str, text: str) -> None:
    found = quality(desk, desk.note(text, content_type=content_type))
    assert [one.name for one in found.dimensions] == list(DIMENSIONS)
    assert all(one.note for one in found.dimensions if one.score is None)


def test_the_same_question_has_the_same_answer(desk: Desk) -> None:
    id = desk.note(BAD)
    desk.notes([f"Note {at} on the billing service and its queue." for at in range(12)])
    assert quality(desk, id) == quality(desk, id)


def test_without_a_model_it_works_all_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path, meaning=False)
    desk.notes([f"Note {at} on the billing service." for at in range(12)])
    found = quality(desk, desk.note(BAD))
    assert found.score is not None
    relevance = next(one for one in found.dimensions if one.name == "relevance")
    assert "no vectors" in words.dimension(relevance, metrics=False)["note"]
