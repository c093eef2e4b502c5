"""The end of a server: what is under way is finished and told, and nothing new begins."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from threading import Thread

import pytest
from websockets.exceptions import ConnectionClosed

from stdio_client import DEADLINE, entity

from .conftest import MANY
from .served import DOORS, Served, eventually, heard, request
from .waiting import held, under_way

WRITE = request("tools/call", {"name": "create_entities", "arguments": {"entities": [entity("last", "words")]}})


@pytest.mark.promise("network.stopping.calls")
def test_a_call_under_way_is_finished_and_answered(serving: Callable[..., Served], kind: str) -> None:
    served = serving(*MANY, "--log-level", "info")
    served.post(request("tools/call", {"name": "create_entities", "arguments": {"entities": [entity("first", "x")]}}))
    answers: list[dict[str, object]] = []
    opened = []

    def call() -> None:
        with served.door(kind) as door:
            opened.append(True)
            answers.append(door.send(WRITE))

    with held(served), ExitStack() as stack:
        others = [stack.enter_context(served.raw(b"GET /readyz HTTP/1.1\r\n")) for _ in range(5)]
        caller = Thread(target=call)
        caller.start()
        eventually(lambda: opened, "the door never opened")
        eventually(lambda: under_way(served) >= 1, "the call never began")
        served.process.send_signal(signal.SIGTERM)
        eventually(lambda: refused(served.port), "new clients are still taken")
        for made in others:  # the server goes on while it waits for the call
            made.sendall(b"Host: 127.0.0.1\r\n\r\n")
            assert heard(made).startswith(b"HTTP/1.1 503 ")
        assert caller.is_alive(), "the call was cut off"
        assert served.process.poll() is None
    caller.join(DEADLINE)
    assert served.code() == 0
    assert answers
    assert "result" in answers[0]


def refused(port: int) -> bool:
    """Whether nobody listens any more."""
    try:
        socket.create_connection(("127.0.0.1", port), DEADLINE).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.long
@pytest.mark.promise("network.stopping.ends")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_streams_and_sockets_are_ended_and_the_exit_is_clean(serving: Callable[..., Served], sign: int) -> None:
    served = serving(*MANY)
    session = served.begin()
    with served.socket() as made, served.events() as sse, served.events("/mcp", Mcp_Session_Id=session) as stream:
        assert sse.next() is not None
        served.process.send_signal(sign)
        with pytest.raises(ConnectionClosed) as closed:
            made.recv(DEADLINE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code in (1001, 1012)
        for events in (sse, stream):
            while events.next() is not None:
                pass
    assert served.code() == 0
    assert "Traceback" not in served.log
    for line in served.lines:
        if not line.startswith("Serving"):
            json.loads(line)


@pytest.mark.promise("network.stopping.ends")
def test_an_idle_server_ends_at_once(serving: Callable[..., Served]) -> None:
    served = serving()
    with served.raw(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as made:
        assert made.recv(4096).startswith(b"HTTP/1.1 200")
        assert served.stop() == 0


@pytest.mark.long
@pytest.mark.promise("network.stopping.ends")
@pytest.mark.parametrize("path", ["/mcp", "/sse/messages"])
def test_half_a_message_keeps_no_server_from_ending(serving: Callable[..., Served], path: str) -> None:
    served = serving()
    with served.events() as events:
        opened = events.next()
        assert opened is not None
        where = opened["data"] if path.startswith("/sse") else path
        head = f"POST {where} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n"
        with served.raw(head.encode() + b"\r\n{") as made:
            assert served.is_well()
            begun = time.monotonic()
            assert served.stop() == 0
            assert time.monotonic() - begun < 10
            assert heard(made).startswith(b"HTTP/1.1 503 ")


def test_every_way_in_is_tried() -> None:
    assert set(DOORS) == {"bare", "stateless", "session", "sse", "ws"}
