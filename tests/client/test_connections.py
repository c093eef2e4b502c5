"""What happens while a connection lasts, and when it does not."""

from __future__ import annotations

import asyncio
import queue

import pytest

from form import mostly_long
from network.proxy import cable
from polymnia.client import AsyncMCPMemoryClient, CallTimeoutError, MCPMemoryClient
from polymnia.client.http import HttpLink
from stdio_client import DEADLINE

from .serving import Serving

WRITES = 1000


@pytest.mark.promise("clients.python.once")
@pytest.mark.parametrize("kind", mostly_long(["http", "ws"]))
def test_of_a_thousand_writes_under_a_killed_server_none_is_lost_and_none_is_doubled(
    serving: Serving, kind: str
) -> None:
    async def write() -> None:
        done = 0
        turns = asyncio.Semaphore(20)

        async def one(client: AsyncMCPMemoryClient, number: int) -> None:
            nonlocal done
            async with turns:
                if number % 3 == 0:
                    await client.store_content("atlas", f"content {number}")
                elif number % 3 == 1:
                    await client.store_memory(f"memory {number}", allow_duplicates=True, auto_associate=False)
                else:
                    await client.create_entities(
                        [{"name": f"entity {number}", "entityType": "t", "observations": [f"x {number}"]}]
                    )
                done += 1

        async def kill() -> None:
            for border in (100, 400, 700):
                while done < border:
                    await asyncio.sleep(0.005)
                await asyncio.to_thread(serving.kill)
                await asyncio.to_thread(serving.start)

        async with AsyncMCPMemoryClient(serving.url(kind), timeout=DEADLINE) as client:
            await asyncio.gather(kill(), *(one(client, number) for number in range(WRITES)))
            stored = await client.export_project_data("atlas", "json")
            graph = await client.read_graph()
        assert stored["item_count"] == len(range(0, WRITES, 3))
        texts = sorted(text for entity in graph["entities"] for text in entity["observations"])
        wanted = [f"memory {n}" if n % 3 == 1 else f"x {n}" for n in range(WRITES) if n % 3]
        assert texts == sorted(wanted)

    asyncio.run(write())


@pytest.mark.promise("clients.python.cancelling")
@pytest.mark.parametrize("kind", ["ws", "http"])
def test_a_call_that_times_out_or_is_cancelled_is_withdrawn(serving: Serving, kind: str) -> None:
    entities = [{"name": "Ann", "entityType": "person", "observations": ["x"]}]

    async def withdraw() -> None:
        async with AsyncMCPMemoryClient(serving.url(kind)) as client:
            await client.ping()
            with serving.held():
                with pytest.raises(CallTimeoutError) as raised:
                    await client.create_entities(entities, timeout=0.3)
                assert raised.value.code == 504
                task = asyncio.create_task(client.create_entities(entities))
                await asyncio.sleep(0)
                await client.ping()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await client.ping()  # behind the cancellation, so that this has arrived
            await client.create_entities([{"name": "Bob", "entityType": "person", "observations": ["y"]}])
            assert [one["name"] for one in (await client.read_graph())["entities"]] == ["Bob"]

    asyncio.run(withdraw())


@pytest.mark.promise("clients.python.subscriptions")
@pytest.mark.parametrize("kind", ["ws", "http"])
def test_a_subscription_hears_of_changes_and_outlives_the_server(serving: Serving, kind: str) -> None:
    heard: queue.Queue[list[str]] = queue.Queue()
    with MCPMemoryClient(serving.url(kind)) as client, MCPMemoryClient(serving.url("ws")) as other:
        other.create_entities([{"name": "Ann/Lee", "entityType": "person", "observations": ["x"]}])

        def changed(uri: str) -> None:  # a callback may use the client
            heard.put(client.open_nodes(["Ann/Lee"])["nodes"][0]["observations"])

        client.subscribe("Ann/Lee", changed)
        other.add_observations([{"entityName": "Ann/Lee", "contents": ["tea"]}])
        assert heard.get(timeout=DEADLINE) == ["x", "tea"]

        serving.kill()
        serving.start()
        assert heard.get(timeout=DEADLINE) == ["x", "tea"]  # it may have missed something
        other.add_observations([{"entityName": "Ann/Lee", "contents": ["coffee"]}])
        assert heard.get(timeout=DEADLINE) == ["x", "tea", "coffee"]
        client.unsubscribe("Ann/Lee", changed)
        other.add_observations([{"entityName": "Ann/Lee", "contents": ["water"]}])
        client.ping()
        assert heard.empty()


@pytest.mark.promise("clients.python.resuming")
def test_an_answer_whose_stream_breaks_is_taken_up_where_it_broke(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, bool]] = []
    made = HttpLink._request

    def seen(link: HttpLink, method: str, body: bytes, last: str) -> bytes:
        if b"create_entities" in body or last:
            sent.append((method, bool(last)))
        return made(link, method, body, last)

    monkeypatch.setattr(HttpLink, "_request", seen)

    async def resume() -> None:
        with cable(serving.port) as line:
            async with AsyncMCPMemoryClient(f"http://127.0.0.1:{line.port}/mcp") as client:
                await client.ping()
                with serving.held():
                    task = asyncio.create_task(
                        client.create_entities([{"name": "Ann", "entityType": "p", "observations": ["x"]}])
                    )
                    await asyncio.to_thread(line.wait_for, b"text/event-stream")
                    await asyncio.to_thread(line.wait_for, b"retry:")
                    line.cut()
                assert (await task)["entities"][0]["name"] == "Ann"

    asyncio.run(resume())
    assert sent == [("POST", False), ("GET", True)]


def test_a_process_that_ends_is_started_again(shared: Serving) -> None:
    with MCPMemoryClient(shared.url("stdio")) as client:
        client.scope_list()
        link = client._client._link
        link._transport.kill()  # type: ignore[union-attr]
        assert client.scope_list()["scopes"] is not None
