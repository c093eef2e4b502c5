"""detect_conflicts: what a sentence says beside its fact does not hide it, and what narrows it is heeded."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .analyzing import analyze, diary
from .speaking import stored

# Reasons, sources, occasions and brackets beside the fact.
HIDDEN = [
    ("Ticket PAY-112 (double charge on retry) is open.", "PAY-112 is closed.", "open and closed"),
    ("The timeout is 30 seconds.", "After the incident in May the timeout is now 10 seconds.", "30 seconds and 10"),
    ("Payment logs are kept for 30 days.", "Payment logs are kept for 90 days, because the auditors asked.", "30 days"),
    ("The upload limit is 20 MB.", "Per the meeting, the upload limit is 50 MB.", "20 MB and 50 MB"),
    ("The upload limit of the portal is 20 MB.", "The upload limit of the portal is 50 MB, as agreed.", "20 MB"),
    ("Mara owns the checkout page.", "Since Mara is on leave, Piet owns the checkout page.", "Mara and Piet"),
    ("The search index is rebuilt daily.", "The search index is rebuilt weekly so that it stays quiet.", "daily"),
    ("The gateway listens on port 8000.", "Following the review, the gateway listens on port 9000.", "8000 and 9000"),
    ("The payments API listens on port 8080.",
     "Check that port 8443 answers: the payments API listens on port 8443.", "8080 and 8443"),
    ("The database (a managed instance) is PostgreSQL.", "The database is MySQL.", "PostgreSQL and MySQL"),
    ("로그 보관 기간은 30일이다.", "감사팀 요청에 따라 로그 보관 기간은 90일이다.", "30일 and 90일"),
    ("결제 서버(신규 장비)의 포트는 8080이다.", "결제 서버의 포트는 9090이다.", "8080 and 9090"),
]  # fmt: skip

# These words belong to the fact.
NARROWER = [
    ("The timeout is 30 seconds.", "The timeout (in staging) is 10 seconds."),
    ("The door is open.", "After six the door is closed."),
    ("The shop is open.", "Because of the holiday, the shop in Ulm is closed."),
    ("Ticket PAY-112 (double charge on retry) is open.", "Ticket PAY-113 (double charge on login) is closed."),
    ("Logs are kept for 30 days, as agreed.", "Traces are kept for 3 days, as agreed."),
    ("The door code is 1234 (front).", "The door code is 9876 (back)."),
    ("로그 보관 기간(운영)은 30일이다.", "로그 보관 기간(개발)은 3일이다."),
]

# Both are true, each of its time.
TIMES = [
    ("p95 latency of checkout was 340 ms in September 2026.", "p95 latency of checkout was 210 ms in October 2026."),
    ("The mobile app is released every two weeks, on Wednesday.", "In 2024 the mobile app was released monthly."),
    ("After the meeting in May we hired two people.", "After the meeting in June we hired three people."),
    ("Due to rain, the match on Monday was cancelled.", "Due to rain, the match on Tuesday was cancelled."),
    ("After the update, the app starts in 2 seconds.", "Before the update, the app started in 5 seconds."),
    ("2024년 매출은 30억 원이었다.", "2025년 매출은 50억 원이었다."),
]


@pytest.mark.long
@pytest.mark.promise("analysis.conflicts.asides")
@pytest.mark.parametrize(("one", "two", "differs"), HIDDEN, ids=[case[1] for case in HIDDEN])
def test_what_is_said_beside_a_fact_does_not_hide_it(
    shared: Server, module_place: Place, project: str, one: str, two: str, differs: str
) -> None:
    with diary(module_place, project) as book:
        ids = [book.note(one, days=60), book.note(two, days=2)]
    for named in ({}, {"content_ids": ids}, {"content_ids": ids[:1]}):
        (found,) = analyze(shared, "detect_conflicts", project, **named)["conflicts"]
        assert [side["sentence"] for side in found["statements"]] == [one, two]
        assert differs in found["differs"]
        assert "answers" not in found["differs"]


@pytest.mark.promise("analysis.conflicts.asides")
@pytest.mark.parametrize("pair", NARROWER, ids=[pair[1] for pair in NARROWER])
def test_what_narrows_a_fact_is_heeded(shared: Server, project: str, pair: tuple[str, str]) -> None:
    ids = [stored(shared, project, text) for text in pair]
    for named in ({}, {"content_ids": ids[:1]}):
        assert analyze(shared, "detect_conflicts", project, **named)["conflicts"] == []


@pytest.mark.promise("analysis.conflicts.none")
@pytest.mark.parametrize("pair", TIMES, ids=[pair[1] for pair in TIMES])
def test_what_was_so_at_two_times_does_not_clash(shared: Server, project: str, pair: tuple[str, str]) -> None:
    ids = [stored(shared, project, text) for text in pair]
    for named in ({}, {"content_ids": ids}, {"content_ids": ids[:1]}):
        assert analyze(shared, "detect_conflicts", project, **named)["conflicts"] == []


@pytest.mark.promise("analysis.conflicts.sensitivity")
def test_what_only_high_tells_is_counted_below(shared: Server, module_place: Place, project: str) -> None:
    with diary(module_place, project) as book:
        book.note("Card numbers are never stored; only the token of the provider is.", days=60)
        book.note("The fraud service stores the card numbers of rejected payments for a week.", days=2)
    medium = analyze(shared, "detect_conflicts", project)
    assert medium["conflicts"] == []
    assert medium["notes"] == [
        "1 pair of statements that has something in common was compared.",
        "1 more pair of statements may clash, but that is not sure: sensitivity high tells them.",
    ]
    high = analyze(shared, "detect_conflicts", project, options={"sensitivity": "high"})
    (found,) = high["conflicts"]
    assert 0.3 <= found["confidence"] < 0.5
    assert found["resolution"]["action"] == "ask"
    assert high["notes"] == []


@pytest.mark.promise("analysis.conflicts.none")
def test_where_nothing_is_told_the_notes_say_what_was_looked_at(shared: Server, project: str) -> None:
    for text in ("The mail service listens on port 7002.", "The search service listens on port 7001."):
        stored(shared, project, text)
    answer = analyze(shared, "detect_conflicts", project)
    count = answer["looked_at"]["pairs_compared"]
    assert answer["conflicts"] == []
    assert answer["notes"][0].startswith(f"{count} pair")
