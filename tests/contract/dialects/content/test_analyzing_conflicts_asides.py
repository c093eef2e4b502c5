"""detect_conflicts: what a sentence says beside its fact does not hide it, and what narrows it is heeded."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .analyzing import analyze, diary
from .speaking import stored

# Reasons, sources, occasions and brackets beside the fact.
HIDDEN = [
    ("The gateway listens on port 8000.", "Following the review, the gateway listens on port 9000."),
    ("Mara owns the checkout page.", "Since Mara is on leave, Piet owns the checkout page."),
    pytest.param(
        ("The search index is rebuilt daily.", "The search index is rebuilt weekly, because the auditors asked."),
        marks=pytest.mark.xfail(strict=True, reason="the judge takes what has a reason for a narrower statement"),
    ),
]

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


@pytest.mark.promise("analysis.conflicts.asides")
@pytest.mark.parametrize("texts", HIDDEN)
def test_what_is_said_beside_a_fact_does_not_hide_it(
    meaning: Server, module_place: Place, project: str, texts: tuple[str, str]
) -> None:
    with diary(module_place, project) as book:
        ids = [book.note(text, days=60 - 50 * at) for at, text in enumerate(texts)]
    found = analyze(meaning, "detect_conflicts", project, content_ids=ids)["conflicts"]
    assert [[side["sentence"] for side in one["statements"]] for one in found] == [list(texts)]


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


@pytest.mark.promise("analysis.conflicts.none")
def test_where_nothing_is_told_the_notes_say_what_was_looked_at(shared: Server, project: str) -> None:
    for text in ("The mail service listens on port 7002.", "The search service listens on port 7001."):
        stored(shared, project, text)
    answer = analyze(shared, "detect_conflicts", project)
    count = answer["looked_at"]["pairs_compared"]
    assert answer["conflicts"] == []
    assert answer["notes"][0].startswith("No model judged what statements mean")
    assert answer["notes"][1].startswith(f"{count} pair")
