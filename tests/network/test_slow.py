"""Slow and half-open clients: they are dropped, and hold up nobody meanwhile."""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import pytest
from websockets.sync.client import ClientConnection

from stdio_client import DEADLINE

from .conftest import MANY
from .served import Served, eventually, heard, request
from .waiting import create, held

HOST = b"Host: 127.0.0.1\r\n"
POST = b"POST /mcp HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
SHORT = {
    "polymnia.transports.web.connection._HEAD_SECONDS": 0.3,
    "polymnia.transports.web.connection._REST_SECONDS": 0.3,
    "polymnia.transports.web.connection.IDLE_SECONDS": 0.3,
    "polymnia.transports.web.state.BODY_SECONDS": 0.3,
}


@pytest.fixture(scope="module")
def hasty(serving: Callable[..., Served]) -> Served:
    """A server with little patience."""
    return serving(*MANY, changes=SHORT)


def dropped(made: socket.socket) -> bytes:
    """What is said until the connection is closed, which must not take long."""
    begun = time.monotonic()
    said = heard(made)
    assert time.monotonic() - begun < 10
    return said


@pytest.mark.long
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


@pytest.mark.long
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
@pytest.mark.parametrize("change", [{"web.serving._GONE_SECONDS": 1}, {"web.connection._UNREAD_SECONDS": 0.3}], ids=str)
def test_who_reads_none_of_their_answers_is_dropped(serving: Callable[..., Served], change: dict[str, float]) -> None:
    served = serving(*MANY, changes={f"polymnia.transports.{name}": value for name, value in change.items()})
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


UPGRADE = (
    b"GET /ws HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def frame(data: bytes, *, first: bool = True, last: bool = True) -> bytes:
    """A frame of a text as a client writes it."""
    return struct.pack("!BBQ", 0x80 * last | first, 0xFF, len(data)) + b"\0\0\0\0" + data


@pytest.mark.promise("network.slow.socket")
def test_a_socket_whose_client_answers_no_pings_is_dropped(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, changes={"polymnia.transports.web.serving._PING_SECONDS": 0.2})
    with served.raw(UPGRADE) as made:
        assert b"101" in dropped(made)


@pytest.mark.long
@pytest.mark.promise("network.slow.socket")
@pytest.mark.parametrize(
    "said",
    [frame(b"{" * 100)[:50], frame(b"{", last=False), frame(b"{", last=False) + frame(b"{}", first=False)[:5], b"\x81"],
    ids=["half a frame", "a piece", "a piece and half a frame", "a byte"],
)
def test_a_message_of_a_socket_that_never_becomes_whole_closes_it(hasty: Served, said: bytes) -> None:
    with hasty.raw(UPGRADE) as made:
        assert b"101" in made.recv(4096)
        made.sendall(said)
        assert struct.pack("!H", 1008) in dropped(made)


@pytest.mark.long
@pytest.mark.promise("network.slow.socket")
def test_a_socket_that_says_one_message_after_another_stays_open(hasty: Served) -> None:
    ping = json.dumps(request("ping")).encode()
    one = frame(ping)
    with hasty.raw(UPGRADE) as made:
        assert b"101" in made.recv(4096)
        end = time.monotonic() + 3 * SHORT["polymnia.transports.web.state.BODY_SECONDS"]
        made.sendall(one[:30])
        while time.monotonic() < end:  # some of the next one is always there
            made.sendall(one[30:] + one[:30])
            assert b'"result":{}' in made.recv(4096)


@pytest.mark.promise("network.slow.held")
def test_messages_that_are_not_whole_are_bounded_in_all(serving: Callable[..., Served]) -> None:
    little = "import polymnia.app.network as n; from functools import partial; "
    little += "n.ServerLimits = partial(n.ServerLimits, held_bytes=500_000)"
    served = serving(*MANY, before=little)
    ping = json.dumps(request("ping")).encode()
    with ExitStack() as stack:
        sockets = [stack.enter_context(served.raw(UPGRADE)) for _ in range(3)]
        for made in sockets:
            assert b"101" in made.recv(4096)
        said = [
            frame(b" " * 400_000, last=False),
            frame(b" " * 50_000, last=False) + frame(b" ", first=False, last=False),
        ]
        for made, pieces in zip(sockets, said, strict=False):
            made.sendall(pieces + b"\x89\x80\0\0\0\0")
            assert made.recv(4096) == b"\x8a\0"  # a ping is answered in between, when all before it was taken
        sockets[2].sendall(frame(b" " * 300_000)[: 14 + 50_000])  # the last of these bytes is one too many
        assert struct.pack("!H", 1013) in dropped(sockets[2])
        for made in sockets[:2]:
            made.sendall(frame(ping, first=False))
            assert b'"result":{}' in made.recv(4096)
        late = stack.enter_context(served.raw(UPGRADE))  # there is room again
        assert b"101" in late.recv(4096)
        late.sendall(frame(b" " * 300_000 + ping))
        assert b'"result":{}' in late.recv(4096)


@pytest.mark.long
@pytest.mark.promise("network.slow.held")
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is asked of Linux")
@pytest.mark.parametrize("last", [True, False], ids=["half a frame", "a piece"])
def test_what_a_socket_began_to_say_is_forgotten_when_it_leaves(serving: Callable[..., Served], last: bool) -> None:
    served = serving(*MANY)

    def megabytes() -> int:
        lines = Path(f"/proc/{served.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024

    assert served.is_well()
    before = megabytes()
    for _ in range(8):
        with served.raw(UPGRADE) as made:
            assert b"101" in made.recv(4096)
            made.sendall(frame(b" " * 12_000_000, last=last)[: -1 if last else None])
    assert served.is_well()
    eventually(lambda: megabytes() < before + 40, "what nobody will ever end is kept")


@pytest.mark.promise("network.slow.ahead")
def test_of_a_socket_far_ahead_of_its_answers_no_more_is_read_for_now(serving: Callable[..., Served]) -> None:
    changes = {"scheduler._MOST_BYTES": 2_000_000, "web.serving._PING_SECONDS": 0.2}
    served = serving(*MANY, changes={f"polymnia.transports.{name}": value for name, value in changes.items()})
    served.post(create("first"))
    many = 40
    messages = [json.dumps({**create(f"{at} {'x' * 1000}", at), "pad": "x" * 1_000_000}).encode() for at in range(many)]
    sent: list[int] = []

    def send(made: ClientConnection) -> None:
        for at, message in enumerate(messages):
            made.send(message.decode())
            sent.append(at)

    with served.socket(ping_interval=None) as made:
        writer = Thread(target=send, args=(made,))
        with held(served):
            writer.start()
            writer.join(1.5)  # longer than any ping is waited for
            assert writer.is_alive(), "everything was taken at once"
            assert len(sent) < many
        found = [json.loads(made.recv(DEADLINE)) for _ in range(many)]
        writer.join(DEADLINE)
    assert {one["id"] for one in found} == set(range(many))
    assert all("result" in one for one in found)


@pytest.mark.long
@pytest.mark.promise("network.slow.ahead")
def test_a_message_by_sse_waits_while_its_client_is_far_ahead(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, changes={"polymnia.transports.scheduler._MOST_CALLS": 3})
    served.post(create("first"))
    taken: list[int] = []

    def post(at: int) -> None:
        assert served.post(create(f"n{at}", at), where).status == 202
        taken.append(at)

    with served.events() as events, ExitStack() as stack:
        opened = events.next()
        assert opened is not None
        where = opened["data"]
        with held(served):
            posts = [Thread(target=post, args=(at,)) for at in range(5)]
            for one in posts:
                one.start()
            eventually(lambda: len(taken) >= 3, "messages are not taken")
            assert served.is_well()
            assert len(taken) == 3
        stack.callback(lambda: [one.join(DEADLINE) for one in posts])
        found = [events.message() for _ in range(5)]
    assert {one["id"] for one in found if one is not None and "result" in one} == set(range(5))
