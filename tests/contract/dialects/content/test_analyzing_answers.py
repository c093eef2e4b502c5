"""What every answer of memory_analyze has: of empty projects, of one item, in every language, and of every tool."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import analyze, analyze_all, diary, ids_in, strings
from .speaking import get

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

MIXED = [
    "# Harbour rules\n\nShips pay at the counter. TODO: say how much. The fee is due on 31 February 2025.",
    "The harbour office opens at 08:00 each morning. Stuff was done by someone somehow.",
    "The harbour office opens at 10:00 each morning.",
    "# 항구 규칙\n\n배는 창구에서 요금을 낸다. TODO: 금액을 적는다.",
    "결제 서버의 포트는 8080이다.",
    "결제 서버의 포트는 9090이다.",
    "Der Hafen öffnet um acht Uhr. Die Fähre fährt nicht am Sonntag.",
    "港口办公室早上八点开门。渡轮周日不开。",
    "🦊",
    "```python\nprint('x')\n```",
    '{"port": 8080}',
    "The harbour office opens at 08:00 each morning. Stuff was done by someone somehow.",
]


@pytest.fixture(scope="module")
def mixed(module_place: Place, shared: Server) -> list[str]:
    """Items in several languages, some of them odd, related to each other; nobody changes them."""
    with diary(module_place, "mixed") as book:
        ids = [book.note(text, days=40 - 3 * at) for at, text in enumerate(MIXED)]
        book.relate(pairwise(ids))
        for day in range(9):
            book.read(ids[0], days=day)
    return ids


def quotes(value: Any) -> list[tuple[str, str]]:
    """Every sentence that an answer quotes, with the id of its item."""
    found: list[tuple[str, str]] = []
    if isinstance(value, dict):
        if value.get("subtype") in ("cycle", "both_ways"):  # of relations, which have no sentences
            return []
        for text, id in (("sentence", "content_id"), ("sentence", "id"), ("quote", "id"), ("other_quote", "other_id"),
                         ("text", "id")):  # fmt: skip
            if isinstance(value.get(text), str) and isinstance(value.get(id), str):
                found.append((value[text], value[id]))
        found += [one for part in value.values() for one in quotes(part)]
    elif isinstance(value, list):
        found = [one for part in value for one in quotes(part)]
    return found


@pytest.mark.long
@pytest.mark.promise("analysis.answers")
def test_every_answer_says_that_it_is_one_when_and_of_what(shared: Server, mixed: list[str]) -> None:
    for answer in analyze_all(shared, "mixed", mixed[0]):
        assert answer["success"] is True
        assert MOMENT.fullmatch(answer["timestamp"])
        assert MOMENT.fullmatch(answer["analyzed_at"])
        assert answer["analyzed_at"] <= answer["timestamp"]
        assert re.fullmatch(r"\d+ms", answer["duration"])
        assert isinstance(answer["cached"], bool)
        assert answer["looked_at"]
        assert isinstance(answer["notes"], list)


@pytest.mark.promise("analysis.answers")
def test_the_answer_is_the_same_in_text_and_structure(shared: Server, mixed: list[str]) -> None:
    reply = shared.call("memory_analyze", operation="detect_conflicts", project_id="mixed")
    assert json.loads(reply.text) == reply.structured
    assert "NaN" not in reply.text
    assert "Infinity" not in reply.text
    assert reply.result["conflicts"] == reply.structured["conflicts"]


@pytest.mark.promise("analysis.answers.ids")
def test_every_id_in_an_answer_can_be_read(shared: Server, mixed: list[str]) -> None:
    told = set()
    for id in mixed:
        told |= ids_in(analyze_all(shared, "mixed", id))
    assert told <= set(mixed)
    assert len(told) > len(mixed) // 2
    for id in told:
        get(shared, "mixed", id)


@pytest.mark.promise("analysis.answers.quotes")
def test_every_sentence_that_is_quoted_stands_in_its_item(shared: Server, mixed: list[str]) -> None:
    texts = dict(zip(mixed, MIXED, strict=True))
    answers = [answer for id in mixed for answer in analyze_all(shared, "mixed", id)]
    found = [(text, id) for answer in answers for text, id in quotes(answer)]
    assert {id for _, id in found} >= {mixed[1], mixed[2], mixed[4], mixed[5]}
    assert not [(text, texts[id]) for text, id in found if text.rstrip("…") not in texts[id]]
    for id in mixed:
        answer = analyze(shared, "analyze_quality", "mixed", content_id=id, options={"include_metrics": True})
        assert len(office["observations"]) == 2  # nothing is lost
    assert [text for text in office["observations"] if "opens at 08:00 each morning (until " in text]


@pytest.mark.promise("analysis.one_memory")
def test_in_all_the_tool_is_one_of_all(place: Place) -> None:
    server = place.serve("all")
    assert "memory_analyze" in server.tools()
    assert list(strings(server.tools()["memory_analyze"]["inputSchema"]["properties"]["operation"]["enum"])) == [
        "detect_patterns", "analyze_quality", "find_content_relationships", "detect_conflicts", "generate_insights",
    ]  # fmt: skip


@pytest.mark.promise("analysis.answers.room")
def test_an_answer_fits_into_what_a_model_reads(module_place: Place, shared: Server) -> None:
    with diary(module_place, "crowded") as book:
        for at in range(160):
            book.note(f"The quota of the tenant number{at}x is {at + 10} GB.", days=40)
            book.note(f"The quota of the tenant number{at}x is {at + 400} GB.", days=3)
    answer = analyze(shared, "detect_conflicts", "crowded")
    assert len(json.dumps(answer, ensure_ascii=False)) < 70_000
    found, told = answer["counts"]["factual_conflicts"], len(answer["conflicts"])
    assert 0 < told < found == 160
    assert any(f"{found - told:,} more were found" in note for note in answer["notes"])
    named = [side["content_id"] for side in answer["conflicts"][0]["statements"]]
    few = analyze(shared, "detect_conflicts", "crowded", content_ids=named)
    assert len(few["conflicts"]) == 1 and not [note for note in few["notes"] if "more were found" in note]
