"""Tools ask the user and the client's model, over stdio; whatever the client does, every call is answered."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from stdio_client import ASKING, DEADLINE, HANDSHAKES, LATEST_HANDSHAKE, MODERN, Place, Server, envelope

BOTH: dict[str, Any] = {"elicitation": {}, "sampling": {}}
YES = {"action": "accept", "content": {"yes": True}}


@pytest.fixture(scope="module")
def transport() -> str:
    """A server with tools that ask."""
    return "asking"


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    """A server for tests that keep to names of their own."""
    server = module_place.start("--dialect", "strict")
    server.initialize(capabilities=BOTH)
    return server


@pytest.fixture
def asking(place: Place) -> Server:
    """A server of the test's own."""
    server = place.start("--dialect", "strict")
    server.initialize(capabilities=BOTH)
    return server


def begin(server: Server, name: str) -> tuple[int, dict[str, Any]]:
    """Call the tool that needs consent; answers the id of the call and the question that came."""
    call = server.begin_call("keep", {"name": name})
    asked = server.notification("elicitation/create", lambda one: one["params"]["message"] == f"Keep {name}?")
    return call, asked


def respond(server: Server, asked: dict[str, Any], result: Any) -> None:
    """Answer a question of the server."""
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def value(answer: dict[str, Any]) -> Any:
    """What a tool answered."""
    return answer["result"]["structuredContent"]["answer"]


@pytest.mark.promise("protocol.asking.user")
@pytest.mark.parametrize(
    ("result", "consent"),
    [
        (YES, True),
        ({"action": "accept", "content": {"yes": False}}, False),
        ({"action": "decline"}, False),
        ({"action": "cancel"}, None),
    ],
)
def test_the_user_accepts_declines_or_says_nothing(shared: Server, result: Any, consent: bool | None) -> None:
    name = f"asked for {json.dumps(result)}"

    call, asked = begin(shared, name)
    respond(shared, asked, result)

    assert value(shared.answer(call)) is consent
    assert (name in shared.names()) is bool(consent)
    schema = asked["params"]["requestedSchema"]
    assert [one["type"] for one in schema["properties"].values()] == ["boolean"]


@pytest.mark.promise("protocol.asking.model")
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"type": "text", "text": "short"}, "short"),
        ([{"type": "text", "text": "sh"}, {"type": "image", "data": ""}, {"type": "text", "text": "ort"}], "short"),
        ({"type": "image", "data": ""}, None),
    ],
)
def test_the_clients_model_answers(shared: Server, content: Any, text: str | None) -> None:
    call = shared.begin_call("shorten", {"text": "something long"})
    asked = shared.notification("sampling/createMessage")
    respond(shared, asked, {"role": "assistant", "model": "m", "content": content})

    assert value(shared.answer(call)) == text
    message = {"role": "user", "content": {"type": "text", "text": "something long"}}
    assert asked["params"] == {"messages": [message], "systemPrompt": "Be brief.", "maxTokens": 50}


@pytest.mark.promise("protocol.asking.malformed")
@pytest.mark.parametrize(
    "response",
    [
        {"result": {}},
        {"result": None},
        {"result": "yes"},
        {"result": {"action": "agree", "content": {"yes": True}}},
        {"result": {"action": "accept"}},
        {"result": {"action": "accept", "content": {"yes": "true"}}},
        {"result": {"action": "accept", "content": {"no": True}}},
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -1, "message": "no"}, "result": YES},
        {"jsonrpc": "1.0", "result": YES},
        {},
    ],
)
def test_what_is_no_answer_counts_as_none(shared: Server, response: dict[str, Any]) -> None:
    call, asked = begin(shared, "never kept")
    shared.send({"jsonrpc": "2.0", "id": asked["id"], **response})

    assert value(shared.answer(call)) is None
    assert "never kept" not in shared.names()


@pytest.mark.promise("protocol.asking.malformed")
def test_an_answer_to_something_else_is_ignored(shared: Server) -> None:
    call, asked = begin(shared, "kept once")
    for id in (call, "polymnia-1", 17):
        shared.send_line(json.dumps({"jsonrpc": "2.0", "id": id, "result": {"action": "decline"}}))
    assert shared.request("ping") == {}
    assert not shared.answered(call)
    respond(shared, asked, YES)
    respond(shared, asked, {"action": "decline"})

    assert value(shared.answer(call)) is True
    assert shared.request("ping") == {}


@pytest.mark.promise("protocol.asking.capability")
@pytest.mark.parametrize(
    ("capabilities", "user", "model"),
    [
        ({}, False, False),
        ({"elicitation": {}}, True, False),
        ({"elicitation": {"form": {}, "url": {}}}, True, False),
        ({"elicitation": {"url": {}}}, False, False),
        ({"sampling": {}}, False, True),
        ({"elicitation": True, "sampling": None}, False, False),
    ],
)
def test_only_what_the_client_declared_is_asked(
    module_place: Place, capabilities: Any, user: bool, model: bool
) -> None:
    server = module_place.start("--dialect", "strict")
    server.initialize(capabilities=capabilities)
    for tool, arguments, offered in (("keep", {"name": "x"}, user), ("shorten", {"text": "x"}, model)):
        call = server.begin_call(tool, arguments)
        if offered:
            respond(server, server.notification("elicitation/create" if user else "sampling/createMessage"), {})
        assert value(server.answer(call)) == (None if offered else "cannot ask")
    server.close()


@pytest.mark.promise("protocol.asking.user")
@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_version_with_a_handshake_can_ask(place: Place, version: str) -> None:
    server = place.start("--dialect", "strict")
    server.initialize(version, BOTH)
    call, asked = begin(server, "tea")
    respond(server, asked, YES)

    assert value(server.answer(call)) is True


@pytest.mark.promise("protocol.asking.meanwhile")
def test_other_requests_are_served_while_calls_wait_and_answers_come_in_any_order(asking: Server) -> None:
    waiting = [begin(asking, f"n{i}") for i in range(5)]

    assert asking.request("ping") == {}
    assert asking.names() == []
    asking.call("create_entities", entities=[{"name": "other", "entityType": "thing", "observations": ["x"]}])
    assert asking.names() == ["other"]
    assert asking.tools()
    assert not any(asking.answered(call) for call, _ in waiting)
    for call, asked in reversed(waiting):
        respond(asking, asked, YES)
        assert value(asking.answer(call)) is True

    assert asking.names() == ["other", "n4", "n3", "n2", "n1", "n0"]


@pytest.mark.promise("protocol.asking.meanwhile")
def test_other_processes_write_while_a_call_waits(asking: Server, place: Place) -> None:
    call, asked = begin(asking, "mine")
    other = place.serve("strict")
    other.call("create_entities", entities=[{"name": "theirs", "entityType": "thing", "observations": ["x"]}])
    respond(asking, asked, YES)

    assert value(asking.answer(call)) is True
    assert other.names() == ["theirs", "mine"]


@pytest.mark.promise("protocol.asking.many")
def test_beyond_eight_at_once_a_call_gets_no_answer_and_none_is_lost(asking: Server) -> None:
    waiting = [begin(asking, f"n{i}") for i in range(8)]

    assert value(asking.answer(asking.begin_call("keep", {"name": "one too many"}))) is None
    for call, asked in waiting:
        respond(asking, asked, YES)
        assert value(asking.answer(call)) is True
    call, asked = begin(asking, "again")
    respond(asking, asked, YES)
    assert value(asking.answer(call)) is True


@pytest.mark.promise("protocol.asking.cancelled")
@pytest.mark.parametrize("tool", ["keep", "shorten"])
def test_cancelling_the_call_ends_the_question_too(shared: Server, tool: str) -> None:
    call = shared.begin_call(tool, {"name": "never"} if tool == "keep" else {"text": "never"})
    asked = shared.notification("elicitation/create" if tool == "keep" else "sampling/createMessage")
    shared.notify("notifications/cancelled", {"requestId": call})

    assert shared.answer(call)["error"]["code"] == -32800
    shared.notification("notifications/cancelled", lambda one: one["params"]["requestId"] == asked["id"])
    respond(shared, asked, YES)
    assert "never" not in shared.names()
    assert shared.answers_to(call) == 1


@pytest.mark.promise("protocol.asking.gone")
def test_at_the_end_of_input_calls_go_on_without_an_answer(asking: Server) -> None:
    calls = [begin(asking, f"n{i}")[0] for i in range(3)]
    asking.close_input()

    assert asking.exit_code() == 0
    assert [value(asking.answer(call)) for call in calls] == [None] * 3


@pytest.mark.promise("protocol.asking.gone")
@pytest.mark.parametrize("calls", [1, 3])
def test_a_signal_ends_a_server_that_waits_for_its_client(asking: Server, calls: int) -> None:
    begun = [begin(asking, f"n{i}") for i in range(calls)]
    os.kill(asking.process.pid, signal.SIGTERM)

    assert asking.exit_code() == 0
    for call, asked in begun:
        assert value(asking.answer(call)) is None
        asking.notification("notifications/cancelled", lambda one, id=asked["id"]: one["params"]["requestId"] == id)


# The stateless era


def modern(server: Server, tool: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Call a tool of the stateless era, with all capabilities; answers the result."""
    meta = envelope(**{"io.modelcontextprotocol/clientCapabilities": BOTH})
    return server.request("tools/call", {"name": tool, "arguments": arguments, "_meta": meta, **more})


def question(result: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """The key of the one question of a result, the question and the state."""
    assert result["resultType"] == "input_required", result
    [(key, asked)] = result["inputRequests"].items()
    return key, asked, result["requestState"]


@pytest.mark.promise("protocol.asking.stateless")
def test_a_call_is_answered_with_its_question_and_called_again(shared: Server) -> None:
    key, asked, state = question(modern(shared, "keep", {"name": "modern"}))
    assert asked["method"] == "elicitation/create"
    assert "modern" not in shared.names()
    done = modern(shared, "keep", {"name": "modern"}, inputResponses={key: YES}, requestState=state)

    assert done["resultType"] == "complete"
    assert value({"result": done}) is True
    assert "modern" in shared.names()


@pytest.mark.promise("protocol.asking.stateless")
def test_three_questions_take_three_more_calls(shared: Server) -> None:
    given = {"text": "a long story"}
    key, asked, state = question(modern(shared, "keep_short", given))
    assert asked["method"] == "sampling/createMessage"
    sampled = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "story"}}
    key, asked, state = question(modern(shared, "keep_short", given, inputResponses={key: sampled}, requestState=state))
    assert asked["params"]["message"] == "Keep story?"
    key, asked, state = question(modern(shared, "keep_short", given, inputResponses={key: YES}, requestState=state))
    assert asked["params"]["message"] == "Keep story for ever?"
    again, _, state = question(modern(shared, "keep_short", given, inputResponses={}, requestState=state))
    assert again == key
    done = modern(shared, "keep_short", given, inputResponses={key: YES, "x": 1}, requestState=state)

    assert value({"result": done}) == ["story", True, True]


@pytest.mark.promise("protocol.asking.stateless")
@pytest.mark.parametrize("case", ["tampered", "of another call", "of another tool", "no string", "no state"])
def test_a_state_that_is_not_of_this_call_is_refused(shared: Server, case: str) -> None:
    key, _, state = question(modern(shared, "keep", {"name": "first"}))
    forged: Any = {"tampered": state[:-8] + "AAAAAAA=", "no string": 17, "no state": "e30="}.get(case, state)
    tool, arguments = ("shorten", {"text": "x"}) if case == "of another tool" else ("keep", {"name": "first"})
    if case == "of another call":
        arguments = {"name": "second"}
    meta = envelope(**{"io.modelcontextprotocol/clientCapabilities": BOTH})
    params = {"name": tool, "arguments": arguments, "_meta": meta, "inputResponses": {key: YES}}

    assert shared.refusal("tools/call", {**params, "requestState": forged})["code"] == -32602
    assert not {"first", "second"} & set(shared.names())


@pytest.mark.promise("protocol.asking.stateless")
def test_answers_to_questions_that_were_not_asked_are_ignored(shared: Server) -> None:
    key, _, state = question(modern(shared, "keep", {"name": "unasked"}))

    assert question(modern(shared, "keep", {"name": "unasked"}, inputResponses={key: YES}))[0] == key
    without = shared.modern("tools/call", {"name": "keep", "arguments": {"name": "unasked"}})
    assert value({"result": without}) == "cannot ask"
    nobody = modern(shared, "keep", {"name": "unasked"}, inputResponses={key: {"action": 1}}, requestState=state)
    assert value({"result": nobody}) is None


# The official client

ERAS = pytest.mark.parametrize(("mode", "version"), [("legacy", LATEST_HANDSHAKE), ("auto", MODERN)])


def converse(place: Place, mode: str, talk: Callable[[Client], Awaitable[None]], **callbacks: Any) -> None:
    """A conversation of the official client with a server whose tools ask."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[str(ASKING), "stdio", "--structured", "on"],
        env=place.environment,
        cwd=place.folder,
    )

    async def main(errors: Path) -> None:
        with errors.open("w") as log, anyio.fail_after(DEADLINE):
            async with Client(stdio_client(parameters, errlog=log), mode=mode, **callbacks) as client:
                await talk(client)

    errors = place.folder / "client-stderr.txt"
    anyio.run(main, errors)
    assert "Traceback" not in errors.read_text()


@pytest.mark.promise("protocol.asking.official_client")
@ERAS
def test_the_official_client_answers_for_its_user_and_its_model(place: Place, mode: str, version: str) -> None:
    heard: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        heard.append(params.message)
        return types.ElicitResult(action="accept", content={"yes": "for ever" not in params.message})

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        heard.append(params.messages[0].content.text)
        return types.CreateMessageResult(
            role="assistant", model="m", content=types.TextContent(type="text", text="short")
        )

    async def talk(client: Client) -> None:
        assert client.protocol_version == version
        kept = await client.call_tool("keep", {"name": "tea"})
        assert kept.structured_content == {"answer": True}
        three = await client.call_tool("keep_short", {"text": "something long"})
        assert three.structured_content == {"answer": ["short", True, False]}

    converse(place, mode, talk, elicitation_callback=elicit, sampling_callback=sample)
    assert heard == ["Keep tea?", "something long", "Keep short?", "Keep short for ever?"]


@pytest.mark.promise("protocol.asking.official_client")
@ERAS
def test_the_official_client_without_callbacks_is_asked_nothing(place: Place, mode: str, version: str) -> None:
    async def talk(client: Client) -> None:
        assert (await client.call_tool("keep", {"name": "tea"})).structured_content == {"answer": "cannot ask"}

    converse(place, mode, talk)
