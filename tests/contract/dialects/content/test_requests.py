"""Whose call it is: requests that come again, users in the journal, and sessions."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from stdio_client import Place, Server

from .speaking import (
    bytes_of,
    error,
    find,
    found,
    get,
    read,
    refused,
    related,
    restarted,
    similar,
    stored,
    told,
    versions,
    write,
)

STORE = {"operation": "store_content", "project_id": "atlas", "content": "one kettle", "request_id": "r-1"}
VOLATILE = ("timestamp", "duration", "repeated")


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs from call to call."""
    return {key: value for key, value in answer.items() if key not in VOLATILE}


@pytest.mark.promise("content.requests.echo")
def test_every_operation_echoes_its_request_id(shared: Server, project: str) -> None:
    one, two = stored(shared, project, "first text"), stored(shared, project, "second text")
    calls: list[tuple[Any, str, dict[str, Any]]] = [
        (write, "store_content", {"content": "x"}),
        (write, "store_decision", {"title": "t", "context": "c", "decision": "d", "rationale": "r"}),
        (write, "create_relationship", {"source_id": one, "target_id": two, "type": "cites"}),
        (write, "update_content", {"content_id": one, "updates": {"summary": "s"}}),
        (read, "search_content", {"query": "text"}),
        (read, "get_content", {"content_id": one}),
        (read, "find_similar_content", {"content_id": one}),
        (read, "get_content_history", {"content_id": one}),
        (write, "delete_content", {"content_id": one}),
    ]
    for number, (call, operation, more) in enumerate(calls):
        assert call(shared, operation, project, request_id=f"r{number}", **more)["request_id"] == f"r{number}"
    assert "request_id" not in read(shared, "search_content", project, query="text")


@pytest.mark.promise("content.requests.once")
def test_the_same_request_again_is_answered_again_and_stores_nothing(place: Place, words: Server) -> None:
    first = words.call("memory_store", STORE).structured
    again = words.call("memory_store", STORE).structured
    assert lasting(again) == lasting(first)
    assert again["repeated"] is True
    assert "repeated" not in first
    assert found(words, "atlas", "kettle") == [first["content_id"]]
    assert len(told(place, "atlas", "changes")) == 1


@pytest.mark.promise("content.requests.once")
def test_it_holds_across_a_restart_and_a_kill(place: Place, words: Server) -> None:
    first = words.call("memory_store", STORE).structured
    second = restarted(place, words)
    assert lasting(second.call("memory_store", STORE).structured) == lasting(first)
    second.kill()
    third = place.serve("content")
    assert lasting(third.call("memory_store", STORE).structured) == lasting(first)
    assert find(third, "atlas", "kettle")["total"] == 1


@pytest.mark.promise("content.requests.once")
def test_of_two_at_once_one_is_done(place: Place, words: Server) -> None:
    other = place.serve("content")
    calls = [(server, server.begin_call("memory_store", STORE)) for server in (words, other) * 5]
    answers = [server.reply(number).structured for server, number in calls]
    assert len({answer["content_id"] for answer in answers}) == 1
    assert sum("repeated" not in answer for answer in answers) == 1
    assert find(words, "atlas", "kettle")["total"] == 1


@pytest.mark.promise("content.requests.once")
@pytest.mark.parametrize("hard", [False, True])
def test_every_write_is_done_once(place: Place, words: Server, hard: bool) -> None:
    one, two = stored(words, "atlas", "first text"), stored(words, "atlas", "second text")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("store_decision", {"title": "t", "context": "c", "decision": "d", "rationale": "r"}),
        ("create_relationship", {"source_id": one, "target_id": two, "type": "cites"}),
        ("update_content", {"content_id": one, "updates": {"content": "changed text"}}),
        ("delete_content", {"content_id": one, "options": {"hard": hard}}),
    ]
    for operation, more in calls:
        first = write(words, operation, "atlas", request_id=operation, **more)
        again = write(words, operation, "atlas", request_id=operation, **more)
        # What was drawn or written is not kept with the request: it has to be gone when the content is.
        assert lasting(again).items() <= lasting(first).items(), operation
        assert {"content_id", "relationship_id"} & set(again)
        assert again["repeated"] is True
    # One change each: a hard deletion is told of as well.
    assert len(told(place, "atlas", "changes")) == 6


@pytest.mark.promise("content.requests.once")
def test_a_request_that_was_refused_may_come_again_mended(shared: Server, project: str) -> None:
    refused(shared, "update_content", 404, project, content_id="none", updates={"summary": "s"}, request_id="r")
    refused(shared, "store_content", 422, project, content=" ", request_id="r")
    assert "repeated" not in write(shared, "store_content", project, content="mended", request_id="r")


@pytest.mark.promise("content.requests.once")
def test_the_same_id_in_another_project_is_another_request(shared: Server, project: str) -> None:
    one = write(shared, "store_content", project, content="a", request_id="same")
    two = write(shared, "store_content", f"{project} too", content="b", request_id="same")
    assert "repeated" not in two
    assert one["content_id"] != two["content_id"]


@pytest.mark.long
@pytest.mark.promise("content.requests.once")
@pytest.mark.parametrize("seed", [1, 2])
def test_retries_at_random_leave_what_one_try_each_leaves(place: Place, words: Server, seed: int) -> None:
    dice = Random(seed)
    asked: list[dict[str, Any]] = []
    first: dict[str, dict[str, Any]] = {}
    ids: list[str] = []
    for number in range(60):
        if asked and dice.random() < 0.5:
            given = dice.choice(asked)
        else:
            given = {"project_id": "atlas", "request_id": f"r{number}"}
            step = dice.choice(("store_content", "update_content", "create_relationship", "delete_content"))
            if step == "store_content" or len(ids) < 2:
                given |= {"operation": "store_content", "content": f"kettle {number}", "metadata": {"n": number}}
            elif step == "update_content":
                given |= {"operation": step, "content_id": dice.choice(ids), "updates": {"content": f"pan {number}"}}
            elif step == "create_relationship":
                source, target = dice.sample(ids, 2)
                given |= {"operation": step, "source_id": source, "target_id": target, "type": "cites"}
            else:
                given |= {"operation": step, "content_id": ids.pop(dice.randrange(len(ids)))}
            asked.append(given)
        answer = words.call("memory_store", given).structured
        before = first.setdefault(given["request_id"], answer)
        assert ("repeated" in answer) == (before is not answer)
        assert {key: answer[key] for key in ("content_id", "relationship_id") if key in answer} == {
            key: before[key] for key in ("content_id", "relationship_id") if key in before
        }
        if answer is before and given["operation"] == "store_content":
            ids.append(answer["content_id"])
    assert len(told(place, "atlas", "changes", "--limit", "200")) == len(first)
    assert find(words, "atlas", "kettle pan")["total"] == len(ids)


@pytest.mark.promise("content.requests.conflict")
@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("store_content", {"content": "another kettle"}),
        ("store_content", {"content": "one kettle", "tags": ["more"]}),
        ("store_content", {"content": "one kettle", "session_id": "s"}),
        ("store_decision", {"title": "t", "context": "c", "decision": "d", "rationale": "r"}),
    ],
)
def test_an_id_used_for_two_different_requests_is_a_conflict(
    shared: Server, project: str, operation: str, more: dict[str, Any]
) -> None:
    stored(shared, project, "one kettle", request_id="r-1")
    fault = refused(shared, operation, 409, project, request_id="r-1", **more)
    assert fault["data"]["error_type"] == "conflict"
    assert "r-1" in fault["message"]
    assert find(shared, project, "kettle")["total"] == 1


@pytest.mark.promise("content.users.journal")
def test_the_user_is_kept_in_the_journal_and_the_history(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "first", user_id="ann@example.org")
    write(words, "update_content", "atlas", content_id=id, updates={"content": "second"}, user_id="bob")
    stored(words, "atlas", "of nobody")
    changes = told(place, "atlas", "changes")
    assert ["ann@example.org" in one["who"] for one in changes] == [False, False, True]
    assert ["bob" in one["who"] for one in changes] == [False, True, False]
    assert [one["action"] for one in changes] == ["store_content", "update_content", "store_content"]
    newest, oldest = versions(words, "atlas", id)
    assert "bob" in newest["changed_by"]
    assert "ann@example.org" in oldest["changed_by"]


@pytest.mark.promise("content.sessions.seen")
def test_what_a_session_wrote_only_that_session_sees(shared: Server, project: str) -> None:
    ours = stored(shared, project, "a harbour for everyone")
    mine = stored(shared, project, "a harbour for one", session_id="one")
    assert found(shared, project, "harbour") == [ours]
    assert set(found(shared, project, "harbour", session_id="one")) == {ours, mine}
    assert found(shared, project, "harbour", session_id="two") == [ours]
    assert get(shared, project, mine, session_id="one")["session_id"] == "one"
    assert get(shared, project, ours, session_id="two")["content_id"] == ours
    for session in ({}, {"session_id": "two"}):
        for operation, more in (
            ("get_content", {"content_id": mine}),
            ("get_content_history", {"content_id": mine}),
            ("find_similar_content", {"content_id": mine}),
            ("update_content", {"content_id": mine, "updates": {"summary": "s"}}),
            ("delete_content", {"content_id": mine}),
            ("create_relationship", {"source_id": mine, "target_id": ours, "type": "cites"}),
            ("create_relationship", {"source_id": ours, "target_id": mine, "type": "cites"}),
        ):
            refused(shared, operation, 404, project, **more, **session)
        assert mine not in similar(shared, project, content="a harbour for one", **session)
        assert find(shared, project, "harbour", **session)["total"] == 1
    assert mine in similar(shared, project, content="a harbour for one", session_id="one")


@pytest.mark.promise("content.sessions.seen")
def test_spaces_around_a_session_are_not_part_of_it(shared: Server, project: str) -> None:
    id = stored(shared, project, "a harbour for one", session_id=" one ")
    for session in (" one ", "one"):
        assert get(shared, project, id, session_id=session)["content_id"] == id
        assert found(shared, project, "harbour", session_id=session) == [id]


@pytest.mark.promise("content.sessions.seen")
def test_a_search_in_vain_tells_nothing_of_a_session(shared: Server, project: str) -> None:
    stored(shared, project, "an orchard")
    stored(shared, project, "Zanzibar Quetzal", session_id="one", tags=["Quetzal"], content_type="text/quetzal")
    for query in ("Zanzibar", "Zanzibr", "text/quetzal"):
        for filters in ({}, {"tags": ["Quetzal"]}, {"content_types": ["text/quetzal"]}):
            answer = find(shared, project, query, filters=filters)
            assert (answer["total"], answer["results"]) == (0, [])
            assert "Quetzal" not in str(answer)


@pytest.mark.promise("content.sessions.full")
def test_a_session_changes_its_own_and_the_projects_data(shared: Server, project: str) -> None:
    ours = stored(shared, project, "for everyone")
    mine = stored(shared, project, "for one", session_id="one")
    for id in (ours, mine):
        write(shared, "update_content", project, content_id=id, updates={"summary": "s"}, session_id="one")
    related(shared, project, mine, ours, session_id="one")
    assert get(shared, project, ours)["summary"] == "s"
    assert "session_id" not in get(shared, project, ours)
    write(shared, "delete_content", project, content_id=mine, session_id="one")
    refused(shared, "get_content", 404, project, content_id=mine, session_id="one")


@pytest.mark.promise("content.sessions.links")
def test_a_relationship_into_a_session_is_not_shown_outside_of_it(shared: Server, project: str) -> None:
    ours = stored(shared, project, "for everyone")
    mine = stored(shared, project, "for one", session_id="one")
    related(shared, project, mine, ours, session_id="one", context="whispered")
    everything = {"include_refs": True, "options": {"include_relationships": True}}
    assert mine in str(get(shared, project, ours, session_id="one", **everything))
    for session in ({}, {"session_id": "two"}):
        shown = get(shared, project, ours, **everything, **session)
        assert mine not in str(shown)
        assert "whispered" not in str(shown)
        assert shown["relationships"] == []
        assert shown["references"] == {"outgoing": [], "incoming": []}


@pytest.mark.promise("content.sessions.required")
def test_a_server_may_ask_for_a_session_for_every_write(place: Place) -> None:
    server = place.serve("content", "--require-session", "on")
    id = stored(server, "atlas", "of a session", session_id="one")
    for operation, more in (
        ("store_content", {"content": "x"}),
        ("update_content", {"content_id": id, "updates": {"summary": "s"}}),
        ("delete_content", {"content_id": id}),
        ("store_decision", {"title": "t", "context": "c", "decision": "d", "rationale": "r"}),
        ("create_relationship", {"source_id": id, "target_id": id, "type": "cites"}),
    ):
        fault = refused(server, operation, 403, "atlas", **more)
        assert fault["data"]["error_type"] == "forbidden"
        assert "session_id" in fault["message"]
    mend = {"operation": "validate_data_integrity", "project_id": "atlas", "options": {"fix_issues": True}}
    fault = error(server, "memory_system", mend)
    assert fault["code"] == 403 and "session_id" in fault["message"]
    assert server.call("memory_system", mend | {"session_id": "one"}).value["success"]
    assert len(told(place, "atlas", "changes")) == 1
    assert find(server, "atlas", "session")["total"] == 0
    assert found(server, "atlas", "session", session_id="one") == [id]
    write(server, "update_content", "atlas", content_id=id, updates={"summary": "s"}, session_id="one")


@pytest.mark.promise("content.requests.bytes")
def test_what_is_kept_of_a_request_goes_with_a_hard_deletion(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "Xylophone", metadata={"key": "Quagmire"}, request_id="r-1")
    stored(words, "atlas", "stays")
    write(words, "delete_content", "atlas", content_id=id, options={"hard": True})
    restarted(place, words)
    for name, data in bytes_of(place).items():
        assert b"Xylophone" not in data, name
        assert b"Quagmire" not in data, name
