"""Many requests at once: none waits for a slow one, none is lost, none is answered twice."""

from __future__ import annotations

import json

import pytest

from form import mostly_long
from stdio_client import Place, Server, entity

PROMPT = 5.0
"""Seconds within which something that waits for nothing has to be answered."""


@pytest.mark.promise("protocol.concurrency.ping")
def test_a_ping_is_answered_while_a_slow_call_runs(place: Place, server: Server) -> None:
    server.call("create_entities", entities=[entity("before", "x")])

    with place.held():
        slow = server.begin_call("create_entities", {"entities": [entity("slow", "x")]})
        assert server.request("ping") == {}
        assert len(server.tools()) == 9
        assert not server.answered(slow)

    assert not server.reply(slow).failed
    assert server.names() == ["before", "slow"]


@pytest.mark.promise("protocol.concurrency.ping")
def test_a_ping_is_answered_while_a_batch_with_a_slow_call_runs(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[entity("before", "x")])
    slow = {"name": "create_entities", "arguments": {"entities": [entity("slow", "x")]}}
    batch = [
        {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": slow},
        {"jsonrpc": "2.0", "id": "quick", "method": "ping"},
    ]

    with place.held():
        strict.send_line(json.dumps(batch))
        assert strict.request("ping") == {}

    assert {answer["id"] for answer in strict.batch_answer()} == {"slow", "quick"}
    assert strict.names() == ["before", "slow"]


@pytest.mark.promise("protocol.concurrency.reads")
def test_reads_are_answered_while_a_write_waits(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[entity("before", "x")])

    with place.held():
        slow = strict.begin_call("create_entities", {"entities": [entity("slow", "x")]})
        other = place.serve("official")
        assert other.names() == ["before"]
        assert strict.request("resources/list")["resources"]
        assert not strict.answered(slow)

    assert not strict.reply(slow).failed


@pytest.mark.promise("protocol.concurrency.pipelined")
@pytest.mark.promise("everywhere.one_answer")
def test_32_writes_sent_at_once_are_all_answered_once_and_all_stored(server: Server) -> None:
    requests = [
        {
            "jsonrpc": "2.0",
            "id": f"w{i}",
            "method": "tools/call",
            "params": {"name": "create_entities", "arguments": {"entities": [entity(f"n{i}", "x")]}},
        }
        for i in range(32)
    ]

    server.send(*requests)

    for request in requests:
        assert not server.answer(request["id"])["result"].get("isError", False)
    assert sorted(server.names()) == sorted(f"n{i}" for i in range(32))
    assert all(server.answers_to(request["id"]) == 1 for request in requests)


@pytest.mark.promise("protocol.concurrency.pipelined")
def test_32_additions_to_one_entity_sent_at_once_are_all_kept(server: Server) -> None:
    server.call("create_entities", entities=[entity("one", "0")])

    calls = [
        server.begin_call("add_observations", {"observations": [{"entityName": "one", "contents": [f"o{i}"]}]})
        for i in range(32)
    ]

    assert not any(server.reply(call).failed for call in calls)
    assert sorted(server.graph()["entities"][0]["observations"]) == sorted(["0", *(f"o{i}" for i in range(32))])


@pytest.mark.promise("protocol.concurrency.order")
def test_calls_sent_one_after_the_other_take_effect_in_that_order(server: Server) -> None:
    calls = [
        server.begin_call("create_entities", {"entities": [entity("a", "x"), entity("b", "x")]}),
        server.begin_call("add_observations", {"observations": [{"entityName": "a", "contents": ["y"]}]}),
        server.begin_call("delete_entities", {"entityNames": ["b"]}),
        server.begin_call("read_graph"),
    ]

    *writes, read = [server.reply(call) for call in calls]

    assert not any(write.failed for write in writes)
    assert read.value == {"entities": [entity("a", "x", "y")], "relations": []}


@pytest.mark.promise("protocol.cancellation")
def test_a_cancelled_write_is_answered_as_cancelled_and_stores_nothing(place: Place, server: Server) -> None:
    server.call("create_entities", entities=[entity("before", "x")])

    with place.held():
        slow = server.begin_call("create_entities", {"entities": [entity("slow", "x")]})
        server.notify("notifications/cancelled", {"requestId": slow, "reason": "changed my mind"})
        server.request("ping")

    assert server.answer(slow)["error"]["code"] == -32800
    assert server.names() == ["before"]
    server.call("create_entities", entities=[entity("after", "x")])
    assert server.names() == ["before", "after"]


@pytest.mark.promise("protocol.cancellation")
def test_a_cancelled_write_is_answered_without_waiting_for_the_store(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[entity("before", "x")])

    with place.held():
        slow = strict.begin_call("create_entities", {"entities": [entity("slow", "x")]})
        strict.notify("notifications/cancelled", {"requestId": slow})
        assert strict.answer(slow, PROMPT)["error"]["code"] == -32800

    assert strict.names() == ["before"]


@pytest.mark.promise("protocol.cancellation")
def test_a_cancelled_call_that_waits_behind_others_is_answered_at_once(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[entity("before", "x")])

    with place.held():
        slow = strict.begin_call("create_entities", {"entities": [entity("slow", "x")]})
        waiting = strict.begin_call("create_entities", {"entities": [entity("waiting", "x")]})
        reading = strict.begin_call("read_graph")
        for call in (waiting, reading):
            strict.notify("notifications/cancelled", {"requestId": call})
            assert strict.answer(call, PROMPT)["error"]["code"] == -32800

    assert not strict.reply(slow).failed
    assert strict.names() == ["before", "slow"]


@pytest.mark.promise("protocol.cancellation")
def test_cancelling_what_is_already_answered_changes_nothing(server: Server) -> None:
    done = server.begin_call("create_entities", {"entities": [entity("kept", "x")]})
    server.reply(done)

    server.notify("notifications/cancelled", {"requestId": done})

    assert server.names() == ["kept"]
    assert server.answers_to(done) == 1


@pytest.mark.long
@pytest.mark.promise("protocol.progress")
@pytest.mark.parametrize("dialect", mostly_long(["strict", "simple", "bilingual", "official"]))
def test_a_large_call_reports_its_progress_when_asked_to(server: Server) -> None:
    many = [entity(f"n{i}", f"observation {i}", f"another {i}") for i in range(5000)]

    call = server.begin_call("create_entities", {"entities": many}, meta={"progressToken": "p1"})

    assert not server.reply(call).failed
    reports = [n["params"] for n in server.notifications if n["method"] == "notifications/progress"]
    assert reports
    assert all(report["progressToken"] == "p1" for report in reports)
    steps = [report["progress"] for report in reports]
    assert steps == sorted(set(steps))
    assert all(report.get("total", 5000) == 5000 and report["progress"] <= 5000 for report in reports)
    last_report = max(i for i, m in enumerate(server.arrivals) if m.get("method") == "notifications/progress")
    answer = next(i for i, m in enumerate(server.arrivals) if m.get("id") == call)
    assert last_report < answer


@pytest.mark.long
@pytest.mark.promise("protocol.progress")
def test_nobody_who_did_not_ask_hears_of_progress(strict: Server) -> None:
    strict.call("create_entities", entities=[entity(f"n{i}", f"observation {i}") for i in range(5000)])

    assert strict.notifications == []
