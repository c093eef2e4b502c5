"""Tools ask the user and the client's model over the network; the answer comes by another request of the session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client

from stdio_client import ASKING, DEADLINE, LATEST_HANDSHAKE, MODERN, envelope

from .conftest import MANY
from .served import Events, Message, Served, eventually, initialize, request
from .waiting import under_way

ASKS = f"import sys; sys.path.insert(0, {str(ASKING.parent)!r}); import asking; asking.install()"
BOTH: dict[str, Any] = {"elicitation": {}, "sampling": {}}
YES = {"action": "accept", "content": {"yes": True}}
EITHER = "application/json, text/event-stream"
PATH = "/mcp/strict"


@pytest.fixture(scope="module")
def served(serving: Callable[..., Served]) -> Served:
    """A server with tools that ask."""
    return serving(*MANY, before=ASKS)


def hello(version: str = LATEST_HANDSHAKE) -> Message:
    """The handshake of a client that can be asked everything."""
    message = initialize(version)
    return {**message, "params": {**message["params"], "capabilities": BOTH}}


def begin(served: Served) -> str:
    """Begin a session of a client that can be asked."""
    return served.post(hello(), PATH).headers["mcp-session-id"]


def keep(name: str, id: int | str = 7) -> Message:
    """A call that asks the user."""
    return request("tools/call", {"name": "keep", "arguments": {"name": name}}, id)


@contextmanager
def posted(served: Served, session: str, message: Message, **headers: str) -> Iterator[Events]:
    """A message whose answer is a stream."""
    with served.connection() as made:
        given = {"Content-Type": "application/json", "Accept": EITHER, "Mcp-Session-Id": session, **headers}
        made.request("POST", PATH, json.dumps(message), given)
        with made.getresponse() as answer:
            assert answer.getheader("content-type") == "text/event-stream"
            yield Events(answer)


def question(events: Events) -> Message:
    """The server's question, which is the next message."""
    asked = events.message()
    assert asked is not None
    assert asked["method"] in ("elicitation/create", "sampling/createMessage")
    return asked


def respond(served: Served, session: str, asked: Message, result: Any = YES) -> int:
    """Answer a question in a request of its own; answers the status."""
    message = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
    return served.post(message, PATH, Mcp_Session_Id=session).status


def value(answer: Message | None) -> Any:
    """What the tool answered."""
    assert answer is not None
    return answer["result"]["structuredContent"]["answer"]


def names(served: Served) -> list[str]:
    """What is stored."""
    called = served.post(request("tools/call", {"name": "read_graph", "arguments": {}}), PATH)
    return [one["name"] for one in called.value["result"]["structuredContent"]["entities"]]


def call_again(served: Served, name: str, first: str | None = None, second: str | None = None) -> Message:
    """Call in the stateless era, and again with the user's consent, with these keys; answers the last response."""
    meta = envelope(**{"io.modelcontextprotocol/clientCapabilities": BOTH})
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "keep"}

    def call(key: str | None, **more: Any) -> Message:
        params = {"name": "keep", "arguments": {"name": name}, "_meta": meta, **more}
        return dict(served.post(request("tools/call", params), PATH, key=key, **headers).value)

    asked = call(first)["result"]
    assert asked["resultType"] == "input_required"
    answers = dict.fromkeys(asked["inputRequests"], YES)
    return call(second, inputResponses=answers, requestState=asked["requestState"])


@pytest.mark.promise("network.asking.http")
def test_the_question_comes_in_the_stream_of_the_call_and_its_answer_by_another_post(served: Served, mine: str) -> None:
    session = begin(served)
    with posted(served, session, keep(mine)) as events:
        asked = question(events)
        assert mine not in names(served)
        assert respond(served, session, asked) == 202
        answer = events.message()
        assert value(answer) is True
        assert answer is not None
        assert answer["id"] == 7
        assert events.message() is None
    assert mine in names(served)


@pytest.mark.promise("network.asking.meanwhile")
def test_the_session_goes_on_while_two_calls_wait_and_are_answered_in_the_other_order(
    served: Served, mine: str
) -> None:
    session = begin(served)
    with posted(served, session, keep(f"{mine} 1", 1)) as one, posted(served, session, keep(f"{mine} 2", 2)) as two:
        first, second = question(one), question(two)
        assert served.post(request("ping", id=3), PATH, Mcp_Session_Id=session).value["result"] == {}
        read = request("tools/call", {"name": "read_graph", "arguments": {}}, 4)
        assert "result" in served.post(read, PATH, Mcp_Session_Id=session).value
        respond(served, session, second)
        assert value(two.message()) is True
        respond(served, session, first, {"action": "decline"})
        assert value(one.message()) is False


@pytest.mark.promise("network.asking.meanwhile")
def test_many_clients_waiting_take_no_thread_from_others(served: Served, mine: str) -> None:
    with ExitStack() as stack:
        waiting = []
        for i in range(3):
            session = begin(served)
            for n in range(8):
                events = stack.enter_context(posted(served, session, keep(f"{mine} {i} {n}", n)))
                waiting.append((session, events, question(events)))
        session = begin(served)
        assert served.post(request("ping"), PATH, Mcp_Session_Id=session).value["result"] == {}
        assert not [name for name in names(served) if name.startswith(mine)]
        for session, events, asked in reversed(waiting):
            respond(served, session, asked)
            assert value(events.message()) is True
    assert len([name for name in names(served) if name.startswith(mine)]) == 24


@pytest.mark.promise("network.asking.private")
def test_nobody_else_can_answer(served: Served, mine: str) -> None:
    session, other = begin(served), begin(served)
    with posted(served, session, keep(mine)) as events:
        asked = question(events)
        assert respond(served, other, asked) == 202
        message = {"jsonrpc": "2.0", "id": asked["id"], "result": YES}
        assert served.post(message, PATH).status == 202
        assert under_way(served) == 1
        respond(served, session, asked, {"action": "decline"})
        assert value(events.message()) is False


@pytest.mark.promise("network.asking.http")
def test_a_client_that_takes_no_stream_is_not_asked(served: Served, mine: str) -> None:
    session = begin(served)

    assert value(served.post(keep(mine), PATH, Mcp_Session_Id=session).value) == "cannot ask"
    assert value(served.post(keep(mine), PATH, Accept=EITHER).value) == "cannot ask"


@pytest.mark.promise("network.asking.ends")
def test_cancelling_the_call_ends_the_question(served: Served, mine: str) -> None:
    session = begin(served)
    with posted(served, session, keep(mine)) as events:
        asked = question(events)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        assert served.post(cancel, PATH, Mcp_Session_Id=session).status == 202
        told, answer = events.message(), events.message()
        assert told is not None
        assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", asked["id"])
        assert answer is not None
        assert answer["error"]["code"] == -32800
    eventually(lambda: under_way(served) == 0, "the call still waits")


@pytest.mark.promise("network.asking.ends")
def test_ending_the_session_ends_the_question(served: Served, mine: str) -> None:
    session = begin(served)
    with posted(served, session, keep(mine)) as events:
        question(events)
        assert served.request("DELETE", PATH, Mcp_Session_Id=session).status == 204
        eventually(lambda: under_way(served) == 0, "the call still waits")
    assert mine not in names(served)


@pytest.mark.promise("network.asking.resumed")
def test_a_question_outlives_a_broken_stream(served: Served, mine: str) -> None:
    session = begin(served)
    with posted(served, session, keep(mine)) as events:
        asked = None
        while asked is None:
            event = events.next()
            assert event is not None
            asked = json.loads(event["data"]) if event["data"] else None
    respond(served, session, asked)
    with served.events(PATH, Mcp_Session_Id=session, Last_Event_ID=event["id"]) as events:
        assert value(events.message()) is True


@pytest.mark.promise("network.asking.ends")
def test_without_an_answer_in_time_the_call_goes_on(serving: Callable[..., Served], mine: str) -> None:
    served = serving(*MANY, before=ASKS, changes={"polymnia.transports.client_requests.ANSWER_SECONDS": 0.0})
    session = begin(served)
    with posted(served, session, keep(mine)) as events:
        asked, told, answer = question(events), events.message(), events.message()
        assert told is not None
        assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", asked["id"])
        assert value(answer) is None
    assert call_again(served, mine)["error"]["code"] == -32602  # in the stateless era its state has expired


@pytest.mark.promise("network.asking.ends")
def test_a_server_that_stops_waits_for_no_client(serving: Callable[..., Served], mine: str) -> None:
    served = serving(*MANY, before=ASKS)
    session = begin(served)
    with posted(served, session, keep(mine)) as events, served.socket("/ws/strict") as made:
        question(events)
        made.send(json.dumps(hello()))
        made.send(json.dumps(keep(f"{mine} too")))
        while "method" not in json.loads(made.recv(DEADLINE)):
            pass
        served.ask_to_stop()
        heard = []
        while (message := events.message()) is not None:
            heard.append(message)
        assert value(heard[-1]) is None
    assert served.code() == 0


@pytest.mark.promise("network.asking.sse")
def test_the_older_stream_carries_questions(served: Served, mine: str) -> None:
    with served.events("/sse/strict") as events:
        first = events.next()
        assert first is not None
        where = first["data"]
        assert served.post(hello(), where).status == 202
        assert events.message()
        assert served.post(keep(mine), where).status == 202
        asked = question(events)
        assert served.post(request("ping", id=8), where).status == 202
        assert events.message() == {"jsonrpc": "2.0", "id": 8, "result": {}}
        assert served.post({"jsonrpc": "2.0", "id": asked["id"], "result": YES}, where).status == 202
        assert value(events.message()) is True
        served.post(keep(f"{mine} gone"), where)
        question(events)
    eventually(lambda: under_way(served) == 0, "the call still waits for a client that is gone")
    assert f"{mine} gone" not in names(served)


@pytest.mark.promise("network.asking.ws")
def test_a_socket_carries_questions(served: Served, mine: str) -> None:
    with served.socket("/ws/strict") as made:

        def hear() -> Message:
            return dict(json.loads(made.recv(DEADLINE)))

        made.send(json.dumps(hello()))
        assert hear()["id"] == 0
        made.send(json.dumps(keep(f"{mine} 1", 1)))
        first = hear()
        made.send(json.dumps(keep(f"{mine} 2", 2)))
        second = hear()
        made.send(json.dumps(request("ping", id=3)))
        assert hear() == {"jsonrpc": "2.0", "id": 3, "result": {}}
        for asked, id in ((second, 2), (first, 1)):
            made.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": YES}))
            answer = hear()
            assert (answer["id"], value(answer)) == (id, True)
        made.send(json.dumps(keep(f"{mine} gone", 4)))
        hear()
    eventually(lambda: under_way(served) == 0, "the call still waits for a client that is gone")
    assert f"{mine} gone" not in names(served)


@pytest.mark.promise("network.asking.stateless")
def test_the_stateless_era_calls_again_with_the_answer(served: Served, mine: str) -> None:
    done = call_again(served, mine)["result"]

    assert done["resultType"] == "complete"
    assert value({"result": done}) is True


@pytest.mark.promise("network.asking.stateless")
def test_a_state_is_of_use_to_its_caller_alone(serving: Callable[..., Served], mine: str) -> None:
    served = serving(*MANY, before=ASKS)
    ann, ben = (served.keys.add(name)[1] for name in ("ann", "ben"))

    assert call_again(served, mine, ann, ben)["error"]["code"] == -32602
    assert value(call_again(served, mine, ann, ann)) is True


@pytest.mark.promise("network.asking.official_client")
@pytest.mark.parametrize(
    ("path", "mode"), [("/mcp/strict", "legacy"), ("/mcp/strict", "auto"), ("/sse/strict", "legacy")]
)
def test_the_official_client_answers(served: Served, mine: str, path: str, mode: str) -> None:
    heard: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        heard.append(params.message)
        return types.ElicitResult(action="accept", content={"yes": True})

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        heard.append(params.messages[0].content.text)
        return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text=mine))

    async def main() -> None:
        url = f"http://127.0.0.1:{served.port}{path}"
        target = sse_client(url) if path.startswith("/sse") else url
        with anyio.fail_after(DEADLINE):
            async with Client(target, mode=mode, elicitation_callback=elicit, sampling_callback=sample) as client:
                called = await client.call_tool("keep_short", {"text": "something long"})
                assert called.structured_content == {"answer": [mine, True, True]}

    anyio.run(main)
    assert heard == ["something long", f"Keep {mine}?", f"Keep {mine} for ever?"]
    assert mine in names(served)
