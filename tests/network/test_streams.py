"""Streams of Streamable HTTP: what is told unasked, answers that take long, and coming back for what was missed."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from conformance.fixtures import SERVE
from stdio_client import DEADLINE, HANDSHAKES, LATEST_HANDSHAKE, MODERN, entity, envelope

from .conftest import MANY
from .served import Answer, Events, Refused, Served, eventually, initialize, request
from .waiting import GRAPH, create, held

BOTH = "application/json, text/event-stream"


@contextmanager
def posted(served: Served, message: Any, **headers: str) -> Iterator[tuple[http.client.HTTPResponse, Events]]:
    """A message whose answer is read as it comes; leaving hangs up."""
    with served.connection() as made:
        given = {"Content-Type": "application/json", "Accept": BOTH}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        made.request("POST", "/mcp", json.dumps(message), given)
        with made.getresponse() as answer:
            yield answer, Events(answer)


def begin(served: Served, version: str = LATEST_HANDSHAKE) -> dict[str, str]:
    """Shake hands; answers the headers of what belongs to the session."""
    begun = served.post(initialize(version))
    named = {"Mcp_Session_Id": begun.headers["mcp-session-id"], "MCP_Protocol_Version": version}
    assert served.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **named).status == 202
    return named


def stored(served: Served, name: str) -> bool:
    """Whether something of this name is stored."""
    found = served.post(request("resources/read", {"uri": GRAPH})).value
    return name in [one["name"] for one in json.loads(found["result"]["contents"][0]["text"])["entities"]]


# ── answers that take long ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("network.streams.answer")
def test_an_answer_that_is_there_at_once_is_one_piece_of_json(served: Served) -> None:
    session = begin(served)
    answer = served.post(request("ping"), Accept=BOTH, **session)
    assert answer.headers["content-type"] == "application/json"
    assert answer.value == {"jsonrpc": "2.0", "id": 7, "result": {}}


@pytest.mark.promise("network.streams.answer")
def test_who_takes_streams_only_gets_one(served: Served) -> None:
    with posted(served, request("ping"), Accept="text/event-stream", **begin(served)) as (answer, events):
        assert answer.getheader("content-type") == "text/event-stream"
        assert events.message() == {"jsonrpc": "2.0", "id": 7, "result": {}}
        assert events.next() is None


@pytest.mark.promise("network.streams.answer")
def test_who_takes_json_only_waits_for_it(served: Served, mine: str) -> None:
    session = begin(served)
    found: list[Answer] = []
    with held(served):
        caller = threading.Thread(target=lambda: found.append(served.post(create(mine), **session)))
        caller.start()
        assert served.post(request("ping", id=8), **session).status == 200
    caller.join(DEADLINE)
    assert found[0].headers["content-type"] == "application/json"
    assert found[0].value["result"]


@pytest.mark.promise("network.streams.resume")
def test_a_call_that_lasts_is_answered_by_a_stream_that_can_be_resumed_from_its_first_event(
    served: Served, mine: str
) -> None:
    session = begin(served)
    with held(served), posted(served, create(mine), **session) as (answer, events):
        assert answer.getheader("content-type") == "text/event-stream"
        first = events.next()
        assert first is not None
        assert first["data"] == ""
        assert int(first["retry"]) > 0
    with served.events("/mcp", Last_Event_ID=first["id"], **session) as rest:
        answered = rest.message()
        assert answered is not None
        assert answered["id"] == 7
        assert "error" not in answered
        assert rest.next() is None
    assert stored(served, mine)


@pytest.mark.promise("network.streams.resume")
def test_an_answer_that_was_missed_can_be_fetched_again_and_again(served: Served, mine: str) -> None:
    session = begin(served)
    with held(served), posted(served, create(mine), **session) as (_, events):
        first = events.next()
        assert first is not None
    fetched = []
    for _ in range(2):
        with served.events("/mcp", Last_Event_ID=first["id"], **session) as rest:
            fetched.append(rest.message())
    assert fetched[0] == fetched[1]
    assert fetched[0] is not None


@pytest.mark.promise("network.streams.resume")
def test_events_that_were_seen_are_not_sent_again(served: Served, mine: str) -> None:
    session = begin(served)
    many = [entity(f"{mine} {i}", "x") for i in range(500)]
    params = {"name": "create_entities", "arguments": {"entities": many}, "_meta": {"progressToken": "p"}}
    with posted(served, request("tools/call", params), **session) as (_, events):
        seen = []
        while (event := events.next()) is not None:
            seen.append(event)
    assert len({event["id"] for event in seen}) == len(seen)
    told = [json.loads(event["data"]) for event in seen if event["data"]]
    assert [one.get("method", one.get("id")) for one in told][-1] == 7
    assert "notifications/progress" in [one.get("method") for one in told]
    with served.events("/mcp", Last_Event_ID=seen[-2]["id"], **session) as rest:
        assert rest.message() == told[-1]
        assert rest.next() is None


@pytest.mark.long
@pytest.mark.promise("network.streams.answer")
@pytest.mark.parametrize("version", HANDSHAKES[:-1])
def test_older_clients_get_no_event_without_a_message(serving: Any, served: Served, mine: str, version: str) -> None:
    session = begin(served, version)
    many = [entity(f"{mine} {i}", "x") for i in range(500)]
    params = {"name": "create_entities", "arguments": {"entities": many}, "_meta": {"progressToken": "p"}}
    with posted(served, request("tools/call", params), **session) as (_, events):
        while (event := events.next()) is not None:
            json.loads(event["data"])


@pytest.mark.promise("network.streams.withdrawn")
def test_whoever_hangs_up_without_a_session_wants_it_no_more(served: Served, mine: str) -> None:
    message = create(mine)
    message["params"]["_meta"] = envelope()
    named = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "create_entities"}
    with held(served):
        with served.connection() as made:
            given = {"Content-Type": "application/json", "Accept": BOTH}
            given.update({name.replace("_", "-"): value for name, value in named.items()})
            made.request("POST", "/mcp", json.dumps(message), given)
            eventually(lambda: connections(served) == 2, "the call is there")
        eventually(lambda: connections(served) == 1, "it is gone")
    served.post(create(f"{mine} after"))
    assert not stored(served, mine)


@pytest.mark.promise("network.streams.withdrawn")
def test_what_is_cancelled_is_answered_so_and_not_done(served: Served, mine: str) -> None:
    session = begin(served)
    with held(served), posted(served, create(mine, 9), **session) as (_, events):
        assert events.next() is not None
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
        assert served.post(cancelled, **session).status == 202
        answered = events.message()
        assert answered is not None
        assert answered["error"]["code"] == -32800
    served.post(create(f"{mine} after"))
    assert not stored(served, mine)


@pytest.mark.promise("network.streams.withdrawn")
def test_one_request_that_hangs_up_leaves_the_others_of_its_session_alone(served: Served, mine: str) -> None:
    session = begin(served)
    with ExitStack() as lock, ExitStack() as open:
        lock.enter_context(held(served))
        _, staying = open.enter_context(posted(served, create(mine, 1), **session))
        assert staying.next() is not None
        with posted(served, create(f"{mine} too", 2), **session) as (_, leaving):
            assert leaving.next() is not None
        lock.close()
        answered = staying.message()
        assert answered is not None
        assert answered["id"] == 1
        assert "error" not in answered
    eventually(lambda: stored(served, f"{mine} too"), "a session's call is done though its client hung up")


# ── what is told unasked ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("network.streams.unasked")
def test_a_session_hears_of_changes_by_its_stream(served: Served, mine: str) -> None:
    session = begin(served)
    assert served.post(request("resources/subscribe", {"uri": GRAPH}), **session).status == 200
    with served.events("/mcp", **session) as events:
        served.post(create(mine))
        told = events.message()
        assert told is not None
        assert told["method"] == "notifications/resources/updated"
        assert told["params"]["uri"] == GRAPH


@pytest.mark.promise("network.streams.unasked")
def test_what_was_told_while_no_stream_was_open_comes_with_the_next_one(served: Served, mine: str) -> None:
    session = begin(served)
    served.post(request("resources/subscribe", {"uri": f"memory://memory/{mine}"}), **session)
    served.post(create(mine), **session)
    with served.events("/mcp", **session) as events:
        told = events.next()
        while told is not None and not told["data"]:
            told = events.next()
        assert told is not None
    with served.events("/mcp", Last_Event_ID=told["id"], **session) as events:
        served.post(request("resources/unsubscribe", {"uri": f"memory://memory/{mine}"}), **session)
        served.post(request("resources/subscribe", {"uri": GRAPH}), **session)
        served.post(create(f"{mine} too"), **session)
        again = events.message()
        assert again is not None
        assert again["params"]["uri"] == GRAPH


@pytest.mark.promise("network.streams.unasked")
def test_a_session_has_one_stream_for_what_is_told_unasked(served: Served) -> None:
    session = begin(served)
    with served.events("/mcp", **session) as events:
        first = events.next()
        assert first is not None
        with pytest.raises(Refused) as refused, served.events("/mcp", **session):
            pass
        assert refused.value.status == 409
        # Who says what it saw last is the same client on a new connection: the old one is over.
        with served.events("/mcp", Last_Event_ID=first["id"], **session) as again:
            assert events.next() is None
            assert again.next() is not None


@pytest.mark.promise("network.streams.resume")
@pytest.mark.parametrize("event", ["nonsense", "99-1", "0-x", "0-", "-1", "0-99999999999999999999", "١-١"])
def test_an_event_of_no_stream_is_refused(served: Served, event: str) -> None:
    session = begin(served)
    answer = served.request("GET", "/mcp", Accept="text/event-stream", Last_Event_ID=event.encode().decode("latin-1"),
                            **session)  # fmt: skip
    assert answer.status == 400


@pytest.mark.promise("network.streams.unasked")
def test_nobody_listens_without_a_session(served: Served) -> None:
    answer = served.request("GET", "/mcp", Accept="text/event-stream")
    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.promise("network.streams.unasked")
def test_a_subscription_of_the_stateless_era_is_a_stream(served: Served, mine: str) -> None:
    params = {"notifications": {"resourceSubscriptions": [GRAPH], "toolsListChanged": True}, "_meta": envelope()}
    named = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "subscriptions/listen"}
    with posted(served, request("subscriptions/listen", params, "sub"), **named) as (_, events):
        first = events.message()
        assert first is not None
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["notifications"] == {"resourceSubscriptions": [GRAPH]}  # lists of tools never change
        served.post(create(mine))
        told = events.message()
        assert told is not None
        assert told["method"] == "notifications/resources/updated"
        assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub"


@pytest.mark.promise("network.streams.lists")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/official", "/mcp/content"])
def test_no_list_is_said_to_change_that_never_does(served: Served, path: str) -> None:
    declared = served.post(initialize(), path).value["result"]["capabilities"]
    assert not [name for name, one in declared.items() if "listChanged" in one]


@pytest.mark.promise("network.streams.lists")
def test_lists_that_change_are_told_of(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, before=SERVE)
    session = begin(served)
    with served.events("/mcp", **session) as events:
        before = served.post(request("tools/list"), **session).value["result"]["tools"]
        served.post(request("tools/call", {"name": "test_trigger_tool_change", "arguments": {}}))
        told = events.message()
        assert told is not None
        assert told["method"] == "notifications/tools/list_changed"
        assert served.post(request("tools/list"), **session).value["result"]["tools"] != before


# ── the end of a session ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("network.sessions.end")
def test_a_session_that_is_ended_is_over_and_its_streams_with_it(served: Served) -> None:
    session = begin(served)
    with served.events("/mcp", **session) as events:
        assert events.next() is not None
        assert served.request("DELETE", "/mcp", **session).status == 204
        assert events.next() is None
    assert served.post(request("ping"), **session).status == 404
    assert served.request("DELETE", "/mcp", **session).status == 404


@pytest.mark.long
@pytest.mark.promise("network.sessions.end")
def test_a_session_nobody_uses_ends(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, "--session-idle", "1")
    session = begin(served)
    with served.events("/mcp", **begin(served)) as events:
        assert events.next() is not None
        eventually(lambda: sessions(served) == 1, "the unused one is gone, the one with a stream is not")
    assert served.post(request("ping"), **session).status == 404
    eventually(lambda: sessions(served) == 0, "both are gone")


@pytest.mark.promise("network.sessions.end")
def test_what_does_not_shake_hands_well_is_no_session(served: Served) -> None:
    before = sessions(served)
    answer = served.post(request("initialize", {"protocolVersion": 7}))
    assert answer.value["error"]["code"] == -32602
    assert "mcp-session-id" not in answer.headers
    assert sessions(served) == before


@pytest.mark.promise("network.sessions.end")
def test_a_session_of_one_dialect_is_none_of_another(served: Served) -> None:
    session = begin(served)
    assert served.post(request("ping"), "/mcp/official", **session).status == 404


# ── the stateless era's headers ───────────────────────────────────────────────────────────────────────────


def modern(served: Served, message: Any, **headers: str) -> Answer:
    """A message of the stateless era, with headers that may lie."""
    given = {"MCP_Protocol_Version": MODERN, "Mcp_Method": message["method"], **headers}
    return served.post(message, **given)


@pytest.mark.promise("network.eras.headers")
@pytest.mark.parametrize(
    ("params", "headers", "code"),
    [
        ({"_meta": envelope()}, {"Mcp_Method": "tools/call"}, -32020),
        ({"_meta": envelope()}, {"MCP_Protocol_Version": LATEST_HANDSHAKE}, -32020),
        ({"_meta": envelope("2099-01-01")}, {}, -32020),
        ({"_meta": envelope("2099-01-01")}, {"MCP_Protocol_Version": "2099-01-01"}, -32022),
        ({}, {"MCP_Protocol_Version": "2099-01-01"}, -32022),
        ({}, {}, -32602),
        ({"_meta": {}}, {}, -32602),
    ],
)
def test_headers_that_say_otherwise_than_the_message_are_refused(
    served: Served, params: dict[str, Any], headers: dict[str, str], code: int
) -> None:
    answer = modern(served, request("tools/list", params, "an id"), **headers)
    assert answer.status == 400
    assert answer.value["error"]["code"] == code
    assert answer.value["id"] == "an id"


@pytest.mark.promise("network.eras.headers")
def test_a_text_about_the_protocol_makes_no_message_modern(served: Served, mine: str) -> None:
    answer = served.post(create(f"{mine} io.modelcontextprotocol/protocolVersion"))
    assert answer.status == 200
    assert "error" not in answer.value


@pytest.mark.promise("network.eras.headers")
def test_the_stateless_era_has_no_sessions_and_no_batches(served: Served) -> None:
    plain = request("tools/list", {"_meta": envelope()})
    assert modern(served, plain, Mcp_Session_Id="never begun").status == 200
    begun = modern(served, request("initialize", {"_meta": envelope()}))
    assert (begun.status, begun.value["error"]["code"]) == (404, -32601)
    assert "mcp-session-id" not in begun.headers
    batch = served.post([plain], MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")
    assert (batch.status, batch.value["error"]["code"]) == (400, -32600)
    told = served.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
                       MCP_Protocol_Version=MODERN)  # fmt: skip
    assert told.status == 202


def figure(served: Served, name: str) -> float:
    """One of the server's figures."""
    page = served.request("GET", "/metrics").body.decode()
    return next(float(line.split()[1]) for line in page.splitlines() if line.startswith(f"{name} "))


def connections(served: Served) -> float:
    """How many are connected, who asks included."""
    return figure(served, "polymnia_connections")


def sessions(served: Served) -> float:
    """How many sessions there are."""
    return figure(served, "polymnia_sessions")
