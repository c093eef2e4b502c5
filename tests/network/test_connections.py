"""One connection and many requests: in order, in pieces, all at once, and of older kinds."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from .conftest import MANY
from .served import Served, eventually, heard, request
from .waiting import create, held, under_way

HOST = b"Host: 127.0.0.1\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST


def posted(message: Any, *more: bytes) -> bytes:
    """A message as it goes over the wire."""
    body = json.dumps(message).encode()
    lines = [b"POST /mcp HTTP/1.1", b"Host: 127.0.0.1", b"Content-Type: application/json", b"Accept: application/json"]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), *more, b"", body])


def answers(made: socket.socket) -> list[Any]:
    """The bodies of what is answered until the connection is closed."""
    found, rest = [], heard(made)
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        found.append(json.loads(rest[:size]))
        rest = rest[size:]
    return found


def test_requests_that_come_together_are_answered_in_order_though_the_first_waits(served: Served, mine: str) -> None:
    pings = b"".join(posted(request("ping", id=number)) for number in range(20))
    with ExitStack() as lock:
        lock.enter_context(held(served))
        with served.raw(
            posted(create(mine, 100)) + pings + posted(request("ping", id=20), b"Connection: close")
        ) as made:
            eventually(lambda: under_way(served), "the call never began")
            lock.close()
            found = answers(made)
    assert [one["id"] for one in found] == [100, *range(21)]
    assert all("result" in one for one in found)


def test_a_request_may_come_in_any_pieces(served: Served) -> None:
    whole = posted(request("ping"), b"Connection: close")
    for at in (1, 20, whole.index(b"\r\n\r\n") + 2, whole.index(b"\r\n\r\n") + 4, len(whole) - 1):
        with served.raw(HEALTH + b"\r\n" + whole[:at]) as made:
            assert made.recv(65536).startswith(b"HTTP/1.1 200 ")  # so the rest comes by itself
            made.sendall(whole[at:])
            assert b'"result":{}' in heard(made)


def test_the_head_of_a_later_request_may_be_no_longer_than_that_of_the_first(served: Served) -> None:
    with served.raw(HEALTH + b"\r\n") as made:
        assert made.recv(65536).startswith(b"HTTP/1.1 200 ")
        made.sendall(HEALTH + b"X: " + b"y" * 70_000)
        assert heard(made).startswith(b"HTTP/1.1 431 ")


def test_a_stream_of_an_old_client_ends_with_its_connection_and_has_no_chunks(served: Served) -> None:
    with served.raw(b"GET /sse HTTP/1.0\r\n" + HOST + b"\r\n") as made:
        said = b""
        while b"session_id" not in said:
            said += made.recv(65536)
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"chunked" not in head.lower()
    assert body.startswith(b"event: endpoint\n")


def test_who_asks_for_the_head_alone_gets_no_body(served: Served) -> None:
    said = served.exchange(b"HEAD /mcp HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 405 ")
    assert said.endswith(b"\r\n\r\n")


def test_a_batch_without_requests_is_taken_and_not_answered(served: Served) -> None:
    told = served.post([{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 2)
    assert (told.status, told.body) == (202, b"")


@pytest.mark.long
def test_a_stream_is_not_idle_though_the_connection_was_used_before(serving: Callable[..., Served]) -> None:
    web = "polymnia.transports.web"
    served = serving(*MANY, changes={f"{web}.connection.IDLE_SECONDS": 0.2, f"{web}.streams.SILENCE": 0.5})
    with served.raw(HEALTH + b"\r\n") as made:
        assert made.recv(65536).startswith(b"HTTP/1.1 200 ")
        made.sendall(b"GET /sse HTTP/1.1\r\n" + HOST + b"\r\n")
        said = b""
        while said.count(b": still here") < 2:
            more = made.recv(65536)
            assert more, "the stream was ended"
            said += more
