"""Slow and half-open clients: they are dropped, and hold up nobody meanwhile."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from stdio_client import DEADLINE

from .conftest import MANY
from .served import Served, eventually, heard, request

HOST = b"Host: 127.0.0.1\r\n"
POST = b"POST /mcp HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
SHORT = {
    "polymnia.transports.web.punctual._HEAD_SECONDS": 0.3,
    "polymnia.transports.web.punctual._REST_SECONDS": 0.3,
    "polymnia.transports.web.punctual.IDLE_SECONDS": 0.3,
    "polymnia.transports.web.house._BODY_SECONDS": 0.3,
}


@pytest.fixture(scope="module")
def hasty(serving: Callable[..., Served]) -> Served:
    """A server with little patience."""
    return serving(*MANY, changes=SHORT)


def dropped(made: socket.socket) -> bytes:
    """What is said until the connection is closed, which must not take long."""
    begun = time.monotonic()
    said = heard(made)
    assert time.monotonic() - begun < DEADLINE / 3
    return said


@pytest.mark.promise("network.slow.head")
@pytest.mark.parametrize(
    "said", [b"", b"G", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: "]
)
def test_who_does_not_say_what_they_want_is_dropped(hasty: Served, said: bytes) -> None:
    with hasty.raw(said) as made:
        assert dropped(made) == b""


@pytest.mark.promise("network.slow.head")
def test_a_head_that_comes_byte_by_byte_is_dropped(hasty: Served) -> None:
    with hasty.raw(b"GET /healthz HTTP/1.1\r\n" + HOST) as made:
        made.settimeout(0.02)
        begun = time.monotonic()
        while True:
            assert time.monotonic() - begun < DEADLINE
            try:
                made.sendall(b"X: y\r\n")
                if made.recv(100) == b"":
                    break
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                break


@pytest.mark.promise("network.slow.head")
def test_a_second_request_must_come_as_fast_as_the_first(hasty: Served) -> None:
    whole = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    with hasty.raw(whole + b"GET /healthz HT") as made:
        said = dropped(made)
    assert said.count(b"HTTP/1.1 200") == 1


@pytest.mark.promise("network.slow.body")
@pytest.mark.parametrize(
    "said",
    [POST + b"Content-Length: 100\r\n\r\n", POST + b'Content-Length: 100\r\n\r\n{"json',
     POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"jso\r\n", POST + b"Transfer-Encoding: chunked\r\n\r\n"],
)  # fmt: skip
def test_a_message_that_never_becomes_whole_is_408(hasty: Served, said: bytes) -> None:
    with hasty.raw(said) as made:
        assert dropped(made).startswith(b"HTTP/1.1 408 ")


@pytest.mark.promise("network.slow.body")
def test_who_was_answered_and_goes_on_sending_is_dropped(hasty: Served) -> None:
    with hasty.raw(b"POST /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\nx") as made:
        assert dropped(made).startswith(b"HTTP/1.1 405 ")


@pytest.mark.promise("network.slow.idle")
def test_a_connection_nobody_uses_is_closed(hasty: Served) -> None:
    with hasty.raw(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n") as made:
        assert dropped(made).startswith(b"HTTP/1.1 200 ")


@pytest.mark.promise("network.slow.others")
def test_two_hundred_half_open_clients_hold_up_nobody_and_are_all_dropped(hasty: Served) -> None:
    with ExitStack() as stack:
        made = [stack.enter_context(hasty.raw(b"POST /mcp HTTP/1.1\r\nHost: 127")) for _ in range(200)]
        assert hasty.post(request("ping")).status == 200
        assert all(dropped(one) == b"" for one in made)
    assert hasty.is_well()


@pytest.mark.promise("network.slow.answers")
@pytest.mark.parametrize("change", [{"serving._GONE_SECONDS": 1}, {"taking._UNREAD_SECONDS": 0.3}], ids=str)
def test_who_reads_none_of_their_answers_is_dropped(serving: Callable[..., Served], change: dict[str, float]) -> None:
    served = serving(*MANY, changes={f"polymnia.transports.web.{name}": value for name, value in change.items()})
    listing = json.dumps(request("tools/list")).encode()
    one = POST + b"Content-Length: %d\r\n\r\n" % len(listing) + listing
    with socket.socket() as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(DEADLINE)
        made.connect(("127.0.0.1", served.port))
        made.sendall(one * 200)

        def connections() -> float:
            page = served.request("GET", "/metrics").body.decode()
            return float(
                next(line for line in page.splitlines() if line.startswith("polymnia_connections ")).split()[1]
            )

        eventually(lambda: connections() == 2, "the client is not there at all")
        eventually(lambda: connections() == 1, "the silent client is still there")


@pytest.mark.promise("network.slow.socket")
def test_a_socket_whose_client_answers_no_pings_is_dropped(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, changes={"polymnia.transports.web.serving._PING_SECONDS": 0.2})
    upgrade = (
        b"GET /ws HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with served.raw(upgrade) as made:
        assert b"101" in dropped(made)
