"""Whose data it is: nothing of another project or session is in any answer of memory_analyze."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import analyze, analyze_all, denied, diary, ids_in, lasting, says
from .speaking import related, stored, told

OURS = [
    "The harbour office opens at 08:00 each morning.",
    "The harbour office opens at 10:00 each morning.",
    "# Harbour rules\n\nShips pay at the counter. TODO: say how much.",
    "The ferry leaves the harbour at eight.",
]
THEIRS = [
    "The zanzibar quetzal office opens at 09:00 each morning.",
    "The harbour office opens at 7 says the zanzibar quetzal.",
    "# Quetzal of zanzibar\n\nThe quetzal pays at the harbour counter. TODO: feed the quetzal.",
    "The zanzibar ferry leaves the harbour at noon with a quetzal.",
]
WORDS = ("zanzibar", "quetzal", "mallory")


def fill(server: Server, project: str, texts: list[str], /, **more: Any) -> list[str]:
    """Store texts, and relate each to the next."""
    ids = [stored(server, project, text, **more) for text in texts]
    session = {key: value for key, value in more.items() if key == "session_id"}
    for a, b in pairwise(ids):
        related(server, project, a, b, "references", **session)
    return ids


@pytest.mark.promise("analysis.isolation.projects")
def test_nothing_of_another_project_is_in_any_answer(shared: Server, project: str) -> None:
    alone = [lasting(one) for one in analyze_all(shared, project, fill(shared, project, OURS)[0])]
    secret, ours = f"{project} secret", f"{project} ours"
    theirs, mine = fill(shared, secret, THEIRS, user_id="mallory"), fill(shared, ours, OURS)
    for id in theirs:
        shared.call("memory_retrieve", operation="get_content", project_id=secret, content_id=id, user_id="mallory")
    analyze_all(shared, secret, theirs[0])
    answers = analyze_all(shared, ours, mine[0])
    assert not says(answers, *WORDS)
    assert ids_in(answers) <= set(mine)
    assert [sorted(one.get("counts", {}).items()) for one in answers] == [
        sorted(one.get("counts", {}).items()) for one in alone
    ]


@pytest.mark.promise("analysis.isolation.sessions")
def test_nothing_of_another_session_is_in_any_answer(shared: Server, project: str) -> None:
    mine = fill(shared, project, OURS)
    theirs = fill(shared, project, THEIRS, session_id="s", user_id="mallory")
    # A relationship into the session is drawn from there.
    related(shared, project, theirs[0], mine[0], "causes", session_id="s", context="the quetzal of zanzibar")
    related(shared, project, mine[1], theirs[1], "causes", session_id="s", context="the quetzal of zanzibar")
    for id in theirs:
        shared.call("memory_retrieve", operation="get_content", project_id=project, content_id=id, session_id="s",
                    user_id="mallory")  # fmt: skip
    for more in ({}, {"session_id": "t"}):
        for id in mine:
            answers = analyze_all(shared, project, id, **more)
            assert not says(answers, *WORDS)
            assert ids_in(answers) <= set(mine)


@pytest.mark.long
@pytest.mark.promise("analysis.isolation.sessions")
def test_with_its_session_the_data_of_both_is_seen(shared: Server, project: str) -> None:
    mine = fill(shared, project, OURS)
    theirs = fill(shared, project, THEIRS, session_id="s")
    answers = analyze_all(shared, project, mine[0], session_id="s")
    assert set(says(answers, *WORDS)) == {"zanzibar", "quetzal"}
    assert ids_in(answers) & set(theirs)
    assert ids_in(answers) & set(mine)
    conflicts = analyze(shared, "detect_conflicts", project, session_id="s")
    assert conflicts["looked_at"]["items"] == len(OURS) + len(THEIRS)
    assert analyze(shared, "detect_conflicts", project)["looked_at"]["items"] == len(OURS)
    related(shared, project, mine[3], theirs[3], "causes", session_id="s")
    found = analyze(shared, "find_content_relationships", project, content_id=mine[3], session_id="s")
    assert theirs[3] in {one["content_id"] for one in found["relationships"]}
    assert analyze(shared, "analyze_quality", project, content_id=theirs[0], session_id="s")["overall_score"]


@pytest.mark.promise("analysis.isolation.sessions")
def test_the_scope_session_is_the_data_of_that_session_alone(shared: Server, project: str) -> None:
    fill(shared, project, THEIRS, user_id="mallory")
    fill(shared, project, THEIRS, session_id="t", user_id="mallory")
    mine = fill(shared, project, OURS, session_id="s")
    for operation, options in (
        ("detect_patterns", {"min_confidence": 0.0}),
        ("generate_insights", {"depth": "comprehensive"}),
    ):
        answer = analyze(shared, operation, project, scope="session", session_id="s", options=options)
        assert answer["scope"] == "session"
        assert not says(answer, *WORDS)
        assert ids_in(answer) <= set(mine)
        assert ids_in(answer)


@pytest.mark.promise("analysis.isolation.sessions")
@pytest.mark.parametrize("hard", [False, True])
def test_what_was_deleted_in_another_session_is_not_told_either(shared: Server, project: str, hard: bool) -> None:
    stored(shared, project, "The ferry leaves the harbour at eight.", user_id="alice")
    before = analyze(shared, "detect_patterns", project)["looked_at"]
    gone = stored(shared, project, "The quetzal sleeps.", session_id="s", user_id="mallory")
    whose = {"project_id": project, "content_id": gone, "session_id": "s", "user_id": "mallory"}
    shared.call("memory_retrieve", operation="get_content", **whose)
    shared.call("memory_store", operation="delete_content", options={"hard": hard}, **whose)
    after = analyze(shared, "detect_patterns", project)
    assert not says(after, *WORDS)
    assert after["looked_at"] == before
    other = analyze(shared, "detect_patterns", project, scope="session", session_id="t")
    assert not says(other, *WORDS)
    assert other["looked_at"]["temporal_patterns"]["changes"] == 0


@pytest.mark.promise("analysis.isolation.sessions")
def test_an_id_of_another_session_in_a_text_leads_nowhere(shared: Server, project: str) -> None:
    secret = stored(shared, project, "# Quetzal\n\nIt sleeps in zanzibar.", session_id="s")
    mine = stored(shared, project, f"This names {secret} and nothing else.")
    answers = analyze_all(shared, project, mine)
    assert not says(answers, *WORDS)
    assert not [one for answer in answers for one in answer.get("relationships", [])]
    denied(shared, "analyze_quality", 404, project, content_id=mine, options={"benchmark_against": [secret]})


@pytest.mark.promise("analysis.isolation.sessions")
def test_an_id_of_another_session_is_told_like_one_that_never_was(shared: Server, project: str) -> None:
    live, gone = (stored(shared, project, "The quetzal sleeps.", session_id="s") for _ in range(2))
    shared.call("memory_store", operation="delete_content", project_id=project, content_id=gone, session_id="s")
    told = []
    for id in (f"content_{'0' * 32}", live, gone):
        naming = stored(shared, project, f"See {id} for more.")
        answer = analyze(shared, "generate_insights", project, content_ids=[naming], insight_types=["content_gaps"])
        text = json.dumps([answer["insights"], answer["looked_at"]]).replace(id, "ID").replace(naming, "NAMING")
        told.append(text)
    assert told[1:] == told[:1] * 2


# Nothing is changed


@pytest.mark.long
@pytest.mark.promise("analysis.reads_only")
def test_analysing_changes_nothing(place: Place) -> None:
    server = place.serve("content")
    with diary(place, "atlas") as book:
        ids = [book.note(text, days=50 - 10 * at) for at, text in enumerate((*OURS, "The door code is 4711."))]
        ids.append(book.note("The door code is 8155.", days=1))
        inside = book.note("The quetzal sleeps.", session="s")
        book.relate([(ids[0], ids[1]), (ids[1], ids[2])], "part_of")

    def state() -> str:
        shown: dict[str, Any] = {"include_refs": True, "include_history": True,
                                 "options": {"include_relationships": True}}  # fmt: skip
        seen = [
            server.call("memory_retrieve", operation="get_content", project_id="atlas", content_id=id, session_id="s",
                        **shown).structured["content"]
            for id in (*ids, inside)
        ]  # fmt: skip
        return json.dumps([told(place, "atlas", "changes"), seen], sort_keys=True)

    before = state()
    for id in ids:
        analyze_all(server, "atlas", id)
    analyze_all(server, "atlas", inside, session_id="s")
    analyze(server, "detect_patterns", "atlas", scope="session", session_id="s", user_id="Ann", request_id="r1")
    analyze(server, "detect_patterns", "atlas", scope="session", session_id="new", request_id="r1")
    assert state() == before


@pytest.mark.promise("analysis.reads_only")
def test_analysing_is_not_reading(shared: Server, project: str) -> None:
    ids = fill(shared, project, OURS)
    analyze_all(shared, project, ids[0])
    used = analyze(shared, "detect_patterns", project, pattern_types=["usage_patterns"])["looked_at"]["usage_patterns"]
    assert (used["readings"], used["opened"], used["found"]) == (0, 0, 0)


@pytest.mark.promise("analysis.reads_only")
def test_where_a_session_is_required_to_write_it_is_not_to_analyse(place: Place) -> None:
    server = place.serve("content", "--require-session", "on")
    id = stored(server, "atlas", OURS[0], session_id="s")
    assert analyze(server, "detect_conflicts", "atlas")["looked_at"]["items"] == 0
    assert analyze(server, "analyze_quality", "atlas", content_id=id, session_id="s")["content_id"] == id
