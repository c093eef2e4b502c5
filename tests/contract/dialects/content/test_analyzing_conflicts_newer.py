"""detect_conflicts: which statement is the newer one, and that nothing is to be marked unless that is certain."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from stdio_client import Place, Server

from .analyzing import analyze, diary
from .speaking import get

KEEP, DATE, ASK = "keep_newest", "keep_both_with_dates", "ask"
SECOND = 1 / 86_400


class Case(NamedTuple):
    """Two sentences, how many days ago each was stored, what is suggested, and which of them (0, 1) is newer."""

    one: str
    two: str
    ago: tuple[float, float]
    action: str
    newer: int | None


LOGS, LOGS_AS_OF = "Payment logs are kept for 30 days.", "As of {date}, payment logs are kept for 90 days."
KOREAN, KOREAN_SINCE = "결제 로그 보관 기간은 30일이다.", "{korean}부터 결제 로그 보관 기간은 90일이다."
FEE, FEE_FROM = "The harbour fee is 20 euros.", "From {ahead} on, the harbour fee is 30 euros."
FEE_SINCE = "Since {date} the harbour fee is 30 euros."
# {date} is the day 50 days ago, {ahead} one in a hundred days.
CASES = {
    # A date of its own, and one without: all must agree, and even then nothing goes.
    "dated and stored a moment later": Case(LOGS, LOGS_AS_OF, (9, 9 - 60 * SECOND), ASK, 1),
    "dated and stored a moment later, Korean": Case(KOREAN, KOREAN_SINCE, (9, 9 - 60 * SECOND), ASK, 1),
    "dated and stored weeks later": Case(LOGS, LOGS_AS_OF, (30, 5), ASK, 1),
    "dated, and the other was stored before that day": Case(LOGS, LOGS_AS_OF, (80, 40), DATE, 1),
    "dated, and the other was stored before that day, Korean": Case(KOREAN, KOREAN_SINCE, (80, 40), DATE, 1),
    "since a day, and the other was stored before that day": Case(FEE, FEE_SINCE, (80, 45), DATE, 1),
    "dated, and the other was stored long after that day": Case(FEE_SINCE, FEE, (50, 5), DATE, 1),
    "announced, and the other was stored later": Case(FEE_FROM, FEE, (50, 5), ASK, None),
    "announced, after the other": Case(FEE, FEE_FROM, (50, 5), DATE, 1),
    "dated, and stored together": Case(LOGS, LOGS_AS_OF, (9, 9), ASK, None),
    "dated, and stored together, Korean": Case(KOREAN_SINCE, KOREAN, (9, 9), ASK, None),
    "both dated, stored in the other order": Case(
        FEE_SINCE, "Since 1 March 2021 the harbour fee is 20 euros.", (40, 3), DATE, 0
    ),
    # Neither has a date.
    "stored weeks later": Case(LOGS, "Payment logs are kept for 90 days.", (60, 5), KEEP, 1),
    "stored weeks later, Korean": Case(KOREAN, "결제 로그 보관 기간은 90일이다.", (60, 5), KEEP, 1),
    "stored an hour later": Case(LOGS, "Payment logs are kept for 90 days.", (9, 9 - 3600 * SECOND), ASK, 1),
    "stored together": Case(LOGS, "Payment logs are kept for 90 days.", (9, 9), ASK, 1),
    "a version": Case("The importer requires Python 3.11.", "The importer requires Python 3.12.", (60, 5), KEEP, 1),
}  # fmt: skip


def store(place: Place, project: str, case: Case) -> list[str]:
    """Store the two sentences at their times."""
    with diary(place, project) as book:
        date = book.date(50)
        year, month, day = date.split("-")
        dates = {"date": date, "ahead": book.date(-100), "korean": f"{year}년 {int(month)}월 {int(day)}일"}
        return [
            book.note(text.format(**dates), days=ago)
            for text, ago in zip((case.one, case.two), case.ago, strict=True)
        ]  # fmt: skip


def only(server: Server, project: str, /, **more: Any) -> dict[str, Any]:
    """The one conflict of a project."""
    (found,) = analyze(server, "detect_conflicts", project, options={"sensitivity": "high"}, **more)["conflicts"]
    one: dict[str, Any] = found
    return one


@pytest.mark.promise("analysis.conflicts.certain")
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_to_be_marked_unless_it_is_certainly_the_older_one(
    shared: Server, module_place: Place, project: str, name: str
) -> None:
    case = CASES[name]
    ids = store(module_place, project, case)
    for named in ({}, {"content_ids": ids}):
        found = only(shared, project, **named)
        assert found["resolution"]["action"] == case.action
        assert found["newer"] == (None if case.newer is None else ids[case.newer])
        if case.action != ASK:
            call = found["resolution"]["call"]["arguments"]
            assert call["content_id"] == ids[1 - (case.newer or 0)]
            assert call["operation"] == "update_content"
            if case.action == KEEP:
                assert call["updates"] == {"metadata": {"superseded_by": ids[case.newer or 0]}}


@pytest.mark.promise("analysis.conflicts.certain")
def test_what_was_changed_for_another_reason_is_not_newer_for_certain(
    shared: Server, module_place: Place, project: str
) -> None:
    with diary(module_place, project) as book:
        old = book.note("The gateway timeout is 30 seconds. It has two nodes.", days=60)
        book.note("The gateway timeout is 10 seconds.", days=30)
        book.change(old, "The gateway timeout is 30 seconds. It has three nodes.", days=3)
    assert only(shared, project)["resolution"]["action"] == ASK


@pytest.mark.promise("analysis.conflicts.certain")
def test_the_older_one_is_dated_and_the_conflict_is_gone(shared: Server, module_place: Place, project: str) -> None:
    ids = store(module_place, project, CASES["dated, and the other was stored before that day"])
    call = only(shared, project)["resolution"]["call"]
    assert not shared.call(call["tool"], call["arguments"]).failed
    assert get(shared, project, ids[0])["content"].startswith("Payment logs are kept for 30 days (until ")
    assert analyze(shared, "detect_conflicts", project, options={"sensitivity": "high"})["conflicts"] == []


@pytest.mark.promise("analysis.conflicts.certain")
@pytest.mark.parametrize("days", [0.0, 0.5])
def test_decisions_of_one_day_are_put_to_a_person(
    shared: Server, module_place: Place, project: str, days: float
) -> None:
    parts = {"title": "Database of the ledger", "context": "The ledger needs a database", "rationale": "Measured"}
    one = {"decision": "Use PostgreSQL for the ledger", "alternatives": ["Use MySQL for the ledger"], **parts}
    two = {"decision": "Use MySQL for the ledger", "alternatives": ["Use PostgreSQL for the ledger"], **parts}
    with diary(module_place, project) as book:
        book.note("Ledger: PostgreSQL", days=9, kind="decision", metadata={"decision": one})
        book.note("Ledger: MySQL", days=9 - days, kind="decision", metadata={"decision": two})
    found = analyze(shared, "detect_conflicts", project, conflict_types=["recommendation_conflicts"])["conflicts"]
    assert [one["resolution"]["action"] for one in found if one["subtype"] == "opposed_decisions"] == [ASK]
