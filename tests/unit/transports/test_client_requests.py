"""Questions to a client whose transport is only played."""

from __future__ import annotations

import json
import threading
from queue import SimpleQueue
from typing import Any

import pytest

import asking
from polymnia import app
from polymnia.transports import client_requests, rpc
from polymnia.transports.rpc import Connection, Request, unheard

_DEADLINE = 30.0


class Client:
    """A client that runs every call on a thread of its own and hears what is sent."""

    def __init__(self, folder: Any) -> None:
        self.heard: SimpleQueue[dict[str, Any]] = SimpleQueue()
        chosen = app.settings({"dialect": "strict", "store": str(folder / "memory.db"), "embedder": "none"}, {})
        server = app.server(chosen, app.open_memory(chosen, "nobody"))
        asking.add_tools(server.registry)
        self.connection = Connection(server, self)
        self.connection.capabilities = {"elicitation": {}, "sampling": {}}

    def send(self, data: bytes, error: object = None) -> None:
        self.heard.put(json.loads(data))

    def run(self, call: Request) -> None:
        threading.Thread(target=call.run).start()

    def log(self, level: str, text: str) -> None:
        raise AssertionError(text)

    def call(self, notice: Any = None) -> None:
        call = {"name": "keep", "arguments": {"name": "tea"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        self.connection.receive(json.dumps(message).encode(), self.send, notice)

    def hear(self) -> dict[str, Any]:
        return self.heard.get(timeout=_DEADLINE)


@pytest.fixture
def client(tmp_path: Any) -> Client:
    return Client(tmp_path)


def answered(message: dict[str, Any]) -> Any:
    """What the tool answered."""
    return message["result"]["structuredContent"]["answer"]


def test_without_an_answer_in_time_there_is_none(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_requests, "ANSWER_SECONDS", 0.0)
    client.call()
    asked, told, answer = client.hear(), client.hear(), client.hear()
    assert told["method"] == "notifications/cancelled"
    assert told["params"]["requestId"] == asked["id"]
    assert answered(answer) is None
    assert not client.connection.questions


def test_a_question_nobody_reads_is_given_up(client: Client) -> None:
    def notice(data: bytes) -> None:
        client.send(data)

    client.call(notice)
    assert client.hear()["method"] == "elicitation/create"
    client.connection.mute(client.send)  # another's
    assert client.connection.questions
    client.connection.mute(notice)
    assert answered(client.hear()) is None


def test_nothing_is_asked_where_only_the_response_is_heard(client: Client) -> None:
    client.call(unheard)
    assert answered(client.hear()) == "cannot ask"


def test_a_client_that_is_gone_is_not_asked(client: Client) -> None:
    client.connection.close()
    client.call()
    assert answered(client.hear()) is None


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_the_waiting_does_not_count_as_time_of_the_call(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    recorded: SimpleQueue[float] = SimpleQueue()
    monkeypatch.setattr(rpc, "time", clock)
    monkeypatch.setattr(client_requests, "time", clock)
    counters = type(client.connection.server.counters)
    monkeypatch.setattr(counters, "record", lambda self, seconds, **_: recorded.put(seconds))
    client.call()
    asked = client.hear()
    clock.now = 100.0
    response = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}
    client.connection.receive(json.dumps(response).encode())
    assert answered(client.hear()) is False
    assert recorded.get(timeout=_DEADLINE) == 0.0
