"""The official clients of both eras, and the Inspector, against every transport they speak: `all` and one dialect."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.subscriptions import ResourceUpdated

from form import mostly_long
from stdio_client import DEADLINE, LATEST_HANDSHAKE, MODERN, entity

from .node_client import converse, conversing, inspected
from .proxy import cable
from .served import Served, eventually, request
from .waiting import GRAPH, create, held, under_way

FIRST_OF_AN_ANSWER = b"id: 1-0\n"  # stream 0 is that of what is told unasked


def url(served: Served, path: str) -> str:
    """An address of the server."""
    scheme = "ws" if path.startswith("/ws") else "http"
    return f"{scheme}://127.0.0.1:{served.port}{path}"


def names(served: Served) -> list[str]:
    """What is stored."""
    called = served.post(request("tools/call", {"name": "read_graph", "arguments": {}}), "/mcp/official")
    return [one["name"] for one in called.value["result"]["structuredContent"]["entities"]]


def python(target: Any, mode: str, talk: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    """A conversation of the official client for Python."""

    async def main() -> None:
        with anyio.fail_after(DEADLINE):
            async with Client(target, mode=mode, **options) as client:
                await talk(client)

    anyio.run(main)


PYTHON = pytest.mark.parametrize(
    ("path", "mode", "version"),
    [
        ("/mcp", "legacy", LATEST_HANDSHAKE),
        ("/mcp", "auto", MODERN),
        ("/mcp/official", "legacy", LATEST_HANDSHAKE),
        ("/mcp/official", MODERN, MODERN),
        ("/sse", "legacy", LATEST_HANDSHAKE),
        ("/sse/official", "legacy", LATEST_HANDSHAKE),
    ],
)


@pytest.mark.promise("network.clients")
@PYTHON
def test_the_python_client_works(served: Served, mine: str, path: str, mode: str, version: str) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def talk(client: Client) -> None:
        assert client.protocol_version == version
        assert "create_entities" in [tool.name for tool in (await client.list_tools()).tools]
        many = [entity(f"{mine} {i}", f"observation {i}") for i in range(500)]
        made = await client.call_tool("create_entities", {"entities": many}, progress_callback=hear)
        assert not made.is_error
        graph = await client.read_resource(GRAPH)
        found = [one["name"] for one in json.loads(graph.contents[0].text)["entities"]]
        assert found[-500:] == [one["name"] for one in many]
        assert (await client.list_prompts()).prompts
        failed = await client.call_tool("create_entities", {"entities": "none"})
        assert failed.is_error

    python(sse_client(url(served, path)) if path.startswith("/sse") else url(served, path), mode, talk)
    assert heard
    assert heard == sorted(heard)


@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("path", mostly_long(["/mcp", "/sse", "/mcp/strict", "/sse/strict"], 2))
def test_the_python_client_hears_of_changes_in_the_handshake_era(served: Served, mine: str, path: str) -> None:
    news: list[anyio.Event] = []

    async def handle(message: object) -> None:
        if getattr(message, "method", None) == "notifications/resources/updated":
            news[0].set()

    async def talk(client: Client) -> None:
        news.append(anyio.Event())
        with pytest.warns(Warning, match="subscribe"):
            await client.subscribe_resource(GRAPH)
        await anyio.to_thread.run_sync(lambda: served.post(create(mine)))
        await news[0].wait()

    target = sse_client(url(served, path)) if path.startswith("/sse") else url(served, path)
    python(target, "legacy", talk, message_handler=handle)


@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("path", mostly_long(["/mcp", "/mcp/strict"]))
def test_the_python_client_hears_of_changes_in_the_stateless_era(served: Served, mine: str, path: str) -> None:
    async def talk(client: Client) -> None:
        async with client.listen(resource_subscriptions=[GRAPH]) as news:
            await anyio.to_thread.run_sync(lambda: served.post(create(mine)))
            async for event in news:
                assert event == ResourceUpdated(uri=GRAPH)
                break

    python(url(served, path), MODERN, talk)


@pytest.mark.promise("network.clients")
@pytest.mark.parametrize(("path", "mode"), [("/mcp", "legacy"), ("/mcp", MODERN), ("/sse", "legacy")])
def test_what_the_python_client_withdraws_is_not_done(served: Served, mine: str, path: str, mode: str) -> None:
    async def talk(client: Client) -> None:
        async def withdraw() -> None:
            await anyio.to_thread.run_sync(lambda: eventually(lambda: under_way(served), "the call never began"))
            scope.cancel()

        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(withdraw)
                await client.call_tool("create_entities", {"entities": [entity(mine, "x")]})
        assert scope.cancelled_caught
        await client.list_tools()  # the client is none the worse for it

    with held(served):
        python(sse_client(url(served, path)) if path.startswith("/sse") else url(served, path), mode, talk)
        eventually(lambda: _is_alone(served), "the client has left")
    served.post(create(f"{mine} after"))
    assert f"{mine} after" in names(served)
    assert mine not in names(served)


NODE = pytest.mark.parametrize(
    ("kind", "path"),
    mostly_long(
        [
            ("http", "/mcp"),
            ("sse", "/sse/official"),
            ("ws", "/ws"),
            ("modern", "/mcp/official"),
            ("http", "/mcp/official"),
            ("sse", "/sse"),
            ("ws", "/ws/official"),
            ("http2", "/mcp"),
            ("sse2", "/sse/official"),
            ("modern", "/mcp"),
        ],
        short=4,
    ),
)


@pytest.mark.promise("network.clients")
@NODE
def test_the_node_clients_work(served: Served, mine: str, kind: str, path: str) -> None:
    told = converse(kind, url(served, path), "everything", mine)

    assert "create_entities" in told["tools"]
    assert told["told"] == GRAPH
    assert mine in told["names"]
    assert told["completed"] == [mine]
    assert told["prompts"] == 3
    assert told["progress"]
    assert told["progress"] == sorted(told["progress"])
    assert "nobody" in told["missing"]
    if kind.startswith("http"):  # it ended its session
        assert served.post(request("ping"), path, Mcp_Session_Id=told["session"]).status == 404


@pytest.mark.long
@pytest.mark.promise("network.clients")
@pytest.mark.parametrize(
    ("kind", "path"), mostly_long([("http", "/mcp/content"), ("sse", "/sse/content"), ("ws", "/ws/content")])
)
def test_a_node_client_stores_a_content(served: Served, kind: str, path: str) -> None:
    content = {"operation": "store_content", "project_id": "atlas", "content": "Ann likes tea"}
    told = converse(kind, url(served, path), "tool", "memory_store", json.dumps(content))
    assert not told["isError"], told


@pytest.mark.long
@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("kind", mostly_long(["http", "ws", "sse", "http2", "modern"], short=2))
def test_what_a_node_client_withdraws_is_not_done(served: Served, mine: str, kind: str) -> None:
    path = {"sse": "/sse", "ws": "/ws"}.get(kind, "/mcp")
    with held(served):
        assert converse(kind, url(served, path), "cancel", mine) == {"outcome": "withdrawn"}
        eventually(lambda: _is_alone(served), "the client has left")
    served.post(create(f"{mine} after"))
    assert f"{mine} after" in names(served)
    assert mine not in names(served)


@pytest.mark.long
@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("path", mostly_long(["/mcp", "/mcp/official"]))
def test_a_node_client_comes_back_for_the_rest_of_an_answer(served: Served, mine: str, path: str) -> None:
    with conversing("http", url(served, path), "resume", mine) as told:
        with held(served):
            broken = next(told)
            assert broken["resumptionToken"]
        assert not next(told)["isError"]
    assert names(served).count(mine) == 1


@pytest.mark.long
@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("kind", ["http", "http2"])
def test_a_node_client_whose_connection_breaks_gets_its_answer_all_the_same(
    served: Served, mine: str, kind: str
) -> None:
    given = json.dumps({"entities": [entity(mine, "x")]})
    with cable(served.port) as wire, ExitStack() as lock:
        lock.enter_context(held(served))
        with conversing(kind, f"http://127.0.0.1:{wire.port}/mcp", "tool", "create_entities", given) as told:
            wire.wait_for(FIRST_OF_AN_ANSWER)
            wire.cut()
            lock.close()
            assert not next(told)["isError"]
    assert names(served).count(mine) == 1


@pytest.mark.long
@pytest.mark.promise("network.clients")
def test_a_python_client_whose_connection_breaks_gets_its_answer_all_the_same(served: Served, mine: str) -> None:
    with cable(served.port) as wire, ExitStack() as lock:

        def break_it() -> None:
            wire.wait_for(FIRST_OF_AN_ANSWER)
            wire.cut()
            lock.close()

        async def talk(client: Client) -> None:
            lock.enter_context(held(served))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, break_it)
                made = await client.call_tool("create_entities", {"entities": [entity(mine, "x")]})
                assert not made.is_error

        python(f"http://127.0.0.1:{wire.port}/mcp", "legacy", talk)
    assert names(served).count(mine) == 1


@pytest.mark.long
@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("path", mostly_long(["/mcp", "/mcp/official", "/sse", "/sse/official"]))
def test_the_inspector_works(served: Served, mine: str, tmp_path: Path, path: str) -> None:
    def inspect(method: str, *given: str) -> Any:
        transport = "sse" if path.startswith("/sse") else "http"
        return inspected(url(served, path), tmp_path, "--transport", transport, "--method", method, *given)

    assert "create_entities" in [tool["name"] for tool in inspect("tools/list")["tools"]]
    given = f"entities={json.dumps([entity(mine, 'x')])}"
    called = inspect("tools/call", "--tool-name", "create_entities", "--tool-arg", given)
    assert not called.get("isError"), called
    assert mine in inspect("resources/read", "--uri", GRAPH)["contents"][0]["text"]


@pytest.mark.promise("network.clients")
@pytest.mark.parametrize("path", ["/ws", "/ws/associative"])
def test_a_plain_socket_works(served: Served, path: str) -> None:
    with served.socket(path, subprotocols=["mcp"]) as made:
        assert made.subprotocol == "mcp"

        def ask(method: str, params: dict[str, Any] | None = None) -> Any:
            made.send(json.dumps(request(method, params)))
            while (found := json.loads(made.recv(DEADLINE))).get("id") != 7:
                pass
            return found["result"]

        client = {"name": "socket", "version": "1"}
        begun = ask("initialize", {"protocolVersion": LATEST_HANDSHAKE, "capabilities": {}, "clientInfo": client})
        assert begun["protocolVersion"] == LATEST_HANDSHAKE
        made.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        assert "memory_store" in [tool["name"] for tool in ask("tools/list")["tools"]]
        stored = ask("tools/call", {"name": "memory_store", "arguments": {"content": "Ann likes tea"}})
        assert not stored.get("isError"), stored


@pytest.mark.promise("network.clients")
def test_a_plain_socket_hears_of_changes_and_progress(served: Served, mine: str) -> None:
    with served.socket("/ws") as made:
        heard: list[dict[str, Any]] = []
        made.send(json.dumps(request("resources/subscribe", {"uri": GRAPH}, 1)))
        heard.append(json.loads(made.recv(DEADLINE)))
        many = [entity(f"{mine} {i}", "x") for i in range(500)]
        params = {"name": "create_entities", "arguments": {"entities": many}, "_meta": {"progressToken": "p"}}
        made.send(json.dumps(request("tools/call", params, 2)))

        def methods() -> set[Any]:
            return {one.get("method", one.get("id")) for one in heard}

        while not {2, "notifications/resources/updated", "notifications/progress"} <= methods():
            heard.append(json.loads(made.recv(DEADLINE)))


def _is_alone(served: Served) -> bool:
    """Whether nobody is connected but who asks."""
    page = served.request("GET", "/metrics").body.decode()
    return "\npolymnia_connections 1.0\n" in page


@pytest.mark.promise("network.dialect")
def test_the_dialect_that_was_chosen_is_the_one_without_a_name(serving: Callable[..., Served]) -> None:
    served = serving("--dialect", "native")
    for path, tool in (("/mcp", "recall"), ("/mcp/native", "recall"), ("/mcp/all", "read_graph")):
        tools = served.post(request("tools/list"), path).value["result"]["tools"]
        assert tool in [one["name"] for one in tools], path
