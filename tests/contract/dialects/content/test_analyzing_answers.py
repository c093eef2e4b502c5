"""What every answer of memory_analyze has: of empty projects, of one item, in every language, and of every tool."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from polymnia import EntityDraft
from polymnia.engine.search import Analysis
from stdio_client import Place, Server, entity, relation

from .analyzing import CONFLICTS, DAY, INSIGHTS, PATTERNS, analyze, analyze_all, diary, ids_in, kinds, lasting, strings
from .speaking import get, related, stored

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
        marked = [one["quote"] for one in answer["suggestions"]]
        for dimension in answer["dimensions"].values():
            marked += [text for metric in dimension["metrics"].values() for text in metric.get("quotes", [])]
        assert not [text for text in marked if text.rstrip("…") not in texts[id]]


@pytest.mark.promise("analysis.answers.confidence")
def test_confidence_is_a_share_and_the_surest_comes_first(shared: Server, mixed: list[str]) -> None:
    whole = analyze(shared, "detect_patterns", "mixed", options={"min_confidence": 0})["patterns"]
    for type in PATTERNS:
        sure = [one["confidence"] for one in whole if one["type"] == type]
        assert all(0 <= one <= 1 for one in sure)
        assert sure == sorted(sure, reverse=True), type
    sure = [one["confidence"] for one in analyze(shared, "detect_conflicts", "mixed")["conflicts"]]
    assert sure
    assert sure == sorted(sure, reverse=True)


@pytest.mark.promise("analysis.answers.same")
def test_the_same_project_is_answered_the_same_by_another_server(
    module_place: Place, shared: Server, project: str
) -> None:
    ids = [stored(shared, project, text) for text in MIXED]
    other = module_place.serve("content")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("detect_conflicts", {}),
        ("find_content_relationships", {"content_id": ids[1]}),
        ("analyze_quality", {"content_id": ids[0]}),
        ("detect_patterns", {"pattern_types": ["topic_clusters", "quality_issues", "relationship_patterns"]}),
    ]
    for operation, given in asked:
        mine = lasting(analyze(shared, operation, project, **given))
        assert lasting(analyze(other, operation, project, **given)) == mine


# Little


@pytest.mark.promise("analysis.little")
def test_an_empty_project_has_nothing_and_says_so(shared: Server, project: str) -> None:
    found = analyze(shared, "detect_patterns", project, options={"min_confidence": 0})
    assert (found["patterns"], found["counts"]) == ([], dict.fromkeys(PATTERNS, 0))
    assert {one["type"] for one in found["notes"]} == {"project", *PATTERNS}
    conflicts = analyze(shared, "detect_conflicts", project)
    assert (conflicts["conflicts"], conflicts["counts"]) == ([], dict.fromkeys(CONFLICTS, 0))
    assert conflicts["looked_at"]["items"] == 0
    insights = analyze(shared, "generate_insights", project, options={"depth": "comprehensive"})
    assert (insights["insights"], insights["counts"]) == ([], dict.fromkeys(INSIGHTS, 0))
    assert insights["notes"]
    for scope in ({"scope": "session", "session_id": "s"}, {"session_id": "s"}):
        assert analyze(shared, "detect_patterns", project, **scope)["patterns"] == []
        assert analyze(shared, "generate_insights", project, **scope)["insights"] == []


@pytest.mark.long
@pytest.mark.promise("analysis.little")
@pytest.mark.parametrize(
    "text", ["The ferry leaves at noon.", "배는 정오에 떠난다.", "🦊", ".", "x" * 100_000, "a\n" * 5000]
)
def test_one_item_is_analysed_without_a_finding_of_others(shared: Server, project: str, text: str) -> None:
    id = stored(shared, project, text)
    answers = analyze_all(shared, project, id)
    assert not [one for answer in answers for one in answer.get("relationships", [])]
    assert not [one for answer in answers for one in answer.get("conflicts", [])]
    for answer in answers:
        assert kinds(answer.get("patterns", [])) <= {"empty", "badly_structured"}
    whole = analyze(shared, "detect_patterns", project)
    assert {one["type"] for one in whole["notes"]} >= {"topic_clusters", "usage_patterns", "temporal_patterns"}


# Languages


@pytest.mark.promise("analysis.languages")
def test_a_korean_project_is_analysed(shared: Server, module_place: Place) -> None:
    sea, bread = (
        ["항구", "선박", "닻", "선장", "선원", "파도", "조류", "돛대", "갑판", "등대"],
        ["밀가루", "오븐", "반죽", "효모", "껍질", "제빵사", "호밀", "소금", "버터", "설탕"],
    )
    with diary(module_place, "한국어") as book:
        groups = [
            {book.note(f"{' '.join(words[at:] + words[:at])}에 관한 글이다.", days=30 - at) for at in range(8)}
            for words in (sea, bread)
        ]
        old = book.note("백업 보관 기간은 30일이다.", days=9)
        new = book.note("백업 보관 기간은 이제 90일이다.", days=2)
        naming = book.note(f"보관 기간은 {new} 문서에 적혀 있다.", days=1)
    found = analyze(shared, "detect_patterns", "한국어", pattern_types=["topic_clusters"])["patterns"]
    clusters = {frozenset(one["content_ids"]) for one in found if one["name"] == "cluster"}
    assert {frozenset(group) for group in groups} <= clusters
    (clash,) = analyze(shared, "detect_conflicts", "한국어")["conflicts"]
    assert (clash["type"], clash["newer"]) == ("factual_conflicts", new)
    assert {side["content_id"] for side in clash["statements"]} == {old, new}
    (link,) = analyze(shared, "find_content_relationships", "한국어", content_id=naming)["relationships"]
    assert link["content_id"] == new


# Other tools


@pytest.mark.long
@pytest.mark.promise("analysis.one_memory")
def test_what_the_graph_tools_keep_is_analysed_as_well(place: Place) -> None:
    server = place.serve("all")
    server.call("create_entities", entities=[
        entity("Harbour office", "The harbour office opens at 08:00 each morning.", "It has two rooms."),
        entity("Ferry", "The ferry leaves at noon."),
        entity("Quay", "The quay is made of stone."),
    ])  # fmt: skip
    server.call("create_relations", relations=[
        relation("Harbour office", "part_of", "Quay"), relation("Quay", "part_of", "Harbour office"),
    ])  # fmt: skip
    memory = server.call("memory_store", content="The lamp of the quay is green.").value["memory_id"]
    id = stored(server, "default", "The harbour office opens at 10:00 each morning.")
    conflicts = analyze(server, "detect_conflicts", "default")
    assert conflicts["looked_at"]["items"] == 5
    assert {one["type"] for one in conflicts["conflicts"]} == {"factual_conflicts", "logical_conflicts"}
    office = next(
        side for one in conflicts["conflicts"] for side in one["statements"] if side["title"] == "Harbour office"
    )["content_id"]
    related(server, "default", id, office, "cites")
    found = analyze(server, "find_content_relationships", "default", content_id=id, max_depth=2)
    assert {one["title"] for one in found["relationships"]} >= {"Harbour office", "Quay"}
    for one in (office, memory, id):
        assert all(answer["success"] for answer in analyze_all(server, "default", one))
        assert analyze(server, "analyze_quality", "default", content_id=one)["overall_score"] is not None
    shape = analyze(server, "detect_patterns", "default", pattern_types=["relationship_patterns"])
    assert "cycle" in kinds(shape["patterns"])


HOSTILE = (
    "memory_store {x", 'memory_store {"operation": "delete_content"}', "memory_analyze {}", '{"tool": "x"}', "}{", '"',
    "'", "a\nb\n{", "$(rm -rf .)", "[[missing]] {", "“…”", "content_" + "0" * 32, "<script>", "%s %(x)s {0} {x}",
)  # fmt: skip


@pytest.mark.promise("analysis.names")
def test_no_name_type_tag_or_text_breaks_an_analysis(place: Place) -> None:
    server = place.serve("all", "--graph", "simple")
    for name in HOSTILE:
        text = f"Refers to [[{name}]] and {name}. Who owns {name}? TODO: {name}"
        entity = {"name": name, "entityType": name, "observations": [text, text]}
        server.call("create_entities", entities=[entity])
        missing = {"from": name, "to": f"missing {name}", "relationType": name}
        around = {"from": name, "to": name, "relationType": "part_of"}
        server.call("create_relations", relations=[missing, around])
        for tag in (name, name.upper()):
            stored(server, "default", text, tags=[tag], metadata={"title": name})
    every = {"options": {"depth": "comprehensive"}, "max_tokens": 100_000}
    answer = analyze(server, "generate_insights", "default", **every)
    loose = {one["evidence"]["name"] for one in answer["insights"] if one["name"] == "loose_end"}
    assert loose == {f"missing {name}" for name in HOSTILE}
    assert all(one["success"] for one in analyze_all(server, "default", stored(server, "default", HOSTILE[1])))
    (end,) = [one for one in answer["insights"] if one["evidence"].get("name") == f"missing {HOSTILE[0]}"]
    assert end["drafts"][0]["arguments"]["entities"][0]["name"] == f"missing {HOSTILE[0]}"
    (delete,) = end["calls"]
    assert not server.call(delete["tool"], delete["arguments"]).failed
    again = analyze(server, "generate_insights", "default", **every)["insights"]
    assert f"missing {HOSTILE[0]}" not in {one["evidence"].get("name") for one in again}


@pytest.mark.promise("analysis.one_memory")
def test_a_suggestion_about_an_entity_is_made_with_the_tools_of_the_graph(place: Place) -> None:
    month = 30 * DAY
    now = [1_700_000_000_000_000]
    store = place.open_store(clock=lambda: now[0], analyst=Analysis())
    for name, texts in (
        ("Harbour office", ("The harbour office opens at 08:00 each morning.", "It has two rooms.")),
        ("content_timetable", ("The harbour office opens at 10:00 each morning.",)),
    ):
        with store.write("default", "Ann", "create_entities") as tx:
            tx.add_records([EntityDraft(name, "thing", texts, uid=name if name.startswith("content_") else None)])
        now[0] += month
    store.close()
    server = place.serve("all")
    (clash,) = analyze(server, "detect_conflicts", "default")["conflicts"]
    resolution = clash["resolution"]
    assert resolution["call"]["tool"] == "delete_observations"
    for key in ("call", "then"):
        if key in resolution:
            assert not server.call(resolution[key]["tool"], resolution[key]["arguments"]).failed
    assert analyze(server, "detect_conflicts", "default")["conflicts"] == []
    (office,) = server.call("open_nodes", names=["Harbour office"]).value["nodes"]
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
