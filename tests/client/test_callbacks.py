"""Callbacks: progress and changes, when they run, where, and what happens when they fail."""

from __future__ import annotations

import asyncio
import queue
import threading
import uuid
from typing import Any

import pytest

from polymnia.client import AsyncMCPMemoryClient, MCPMemoryClient
from stdio_client import DEADLINE

from .serving import Serving

MANY = 1500
KINDS = ["ws", "http", "stdio"]


def _entities(number: int = MANY) -> list[dict[str, Any]]:
    prefix = uuid.uuid4().hex
    return [{"name": f"{prefix} {n}", "entityType": "t", "observations": ["x"]} for n in range(number)]


@pytest.mark.promise("clients.python.progress")
@pytest.mark.parametrize("kind", KINDS)
def test_all_progress_is_told_before_the_call_returns_on_the_thread_that_made_it(shared: Serving, kind: str) -> None:
    told: list[tuple[float, float | None, bool]] = []
    here = threading.current_thread()
    with MCPMemoryClient(shared.url(kind)) as client:

        def hear(done: float, total: float | None) -> None:
            if not told:
                client.create_entities(_entities(1), on_progress=lambda *_: None)  # a callback may use the client
            told.append((done, total, threading.current_thread() is here))

        client.create_entities(_entities(), on_progress=hear)
        assert told[-1] == (MANY, MANY, True)
        assert told == sorted(told)
        assert len(told) > 1


@pytest.mark.promise("clients.python.progress")
def test_progress_heard_by_coroutines_is_heard_before_the_call_returns(shared: Serving) -> None:
    async def call(kind: str) -> None:
        begun: list[float] = []
        told: list[float] = []
        answered = asyncio.Event()

        async def hear(done: float, total: float | None) -> None:
            begun.append(done)
            await answered.wait()
            told.append(done)

        async with AsyncMCPMemoryClient(shared.url(kind)) as client:
            task = asyncio.create_task(client.create_entities(_entities(), on_progress=hear))
            while not begun or client._pending:
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
            assert not task.done()
            answered.set()
            await task
            assert begun[-1] == MANY
            assert sorted(told) == begun

    for kind in ("ws", "http"):
        asyncio.run(call(kind))


@pytest.mark.promise("clients.python.callbacks")
def test_a_callback_that_fails_is_logged_and_breaks_nothing(shared: Serving, caplog: pytest.LogCaptureFixture) -> None:
    name = uuid.uuid4().hex
    heard: queue.Queue[str] = queue.Queue()

    def fail(*told: object) -> None:
        heard.put("failed")
        raise ZeroDivisionError("in a callback")

    async def fail_later(*told: object) -> None:
        await asyncio.sleep(0)
        fail()

    def failures() -> int:
        found = [one for one in caplog.records if one.name == "polymnia.client" and one.exc_info]
        caplog.clear()
        return len([one for one in found if one.exc_info and one.exc_info[0] is ZeroDivisionError])

    async def run(callback: Any) -> None:
        async with AsyncMCPMemoryClient(shared.url("ws")) as client:
            await client.create_entities(_entities(), on_progress=callback)

    for callback in (fail, fail_later):
        asyncio.run(run(callback))
        assert failures()
        with MCPMemoryClient(shared.url("ws")) as client:
            client.create_entities(_entities(), on_progress=callback)
            assert failures()
            while not heard.empty():
                heard.get()
            client.subscribe(name, callback)
            client.subscribe(name, heard.put)
            for _ in range(2):
                client.create_entities([{"name": name, "entityType": "t", "observations": ["x"]}])
                assert heard.get(timeout=DEADLINE) == "failed"
                assert heard.get(timeout=DEADLINE) == f"memory://memory/{name}"
                assert failures() == 1
                client.delete_entities([name])
                assert heard.get(timeout=DEADLINE) == "failed"
                assert heard.get(timeout=DEADLINE) == f"memory://memory/{name}"
                assert failures() == 1


@pytest.mark.promise("clients.python.callbacks")
def test_a_coroutine_function_is_awaited_without_asyncio_too(shared: Serving) -> None:
    name = uuid.uuid4().hex
    heard: queue.Queue[str] = queue.Queue()

    async def changed(uri: str) -> None:
        await asyncio.sleep(0)
        heard.put(uri)

    with MCPMemoryClient(shared.url("ws")) as client:
        client.subscribe(name, changed)
        client.create_entities([{"name": name, "entityType": "t", "observations": ["x"]}])
        assert heard.get(timeout=DEADLINE) == f"memory://memory/{name}"


@pytest.mark.promise("clients.python.subscriptions")
def test_unsubscribing_takes_away_that_callback_and_no_other(shared: Serving) -> None:
    name = uuid.uuid4().hex
    heard: queue.Queue[str] = queue.Queue()

    def first(uri: str) -> None:
        heard.put("first")

    def second(uri: str) -> None:
        heard.put("second")

    with MCPMemoryClient(shared.url("ws")) as client:
        entity = {"name": name, "entityType": "t", "observations": ["x"]}
        client.subscribe(name, first)
        client.subscribe(name, second)
        client.unsubscribe(name, print)
        client.unsubscribe(f"memory://memory/{uuid.uuid4().hex}", first)
        client.create_entities([entity])
        assert [heard.get(timeout=DEADLINE) for _ in range(2)] == ["first", "second"]
        client.unsubscribe(f"memory://memory/{name}", first)
        client.delete_entities([name])
        assert heard.get(timeout=DEADLINE) == "second"
        client.create_entities([entity])
        assert heard.get(timeout=DEADLINE) == "second"
        client.unsubscribe(name)
        client.delete_entities([name])
        client.ping()
        assert heard.empty()


def test_no_callback_begins_after_the_client_was_closed(shared: Serving) -> None:
    name = uuid.uuid4().hex
    heard: queue.Queue[threading.Thread] = queue.Queue()
    goes_on = threading.Event()

    def changed(uri: str) -> None:
        heard.put(threading.current_thread())
        assert goes_on.wait(DEADLINE)

    with MCPMemoryClient(shared.url("ws")) as client:
        client.subscribe(name, changed)
        client.create_entities([{"name": name, "entityType": "t", "observations": ["x"]}])
        thread = heard.get(timeout=DEADLINE)
        client.delete_entities([name])
        while not client._callbacks._work_queue.qsize():
            client.ping()
    goes_on.set()
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert heard.empty()
