"""Input nobody should send: each is refused with its own status, and the server goes on."""

from __future__ import annotations

import json
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from form import each
from stdio_client import DEADLINE

from .conftest import MANY
from .served import DOORS, Served, eventually, heard, request

HOST = b"Host: 127.0.0.1\r\n"
JSON = b"Content-Type: application/json\r\n"
PING = json.dumps(request("ping")).encode()


@pytest.fixture(scope="module")
def server(serving: Callable[..., Served]) -> Served:
    """A server that takes messages of a million bytes."""
    return serving(*MANY, "--max-message-bytes", "1000000")


@pytest.fixture(autouse=True)
def lives_on(server: Served) -> Iterator[None]:
    """Nothing here ends the server or is told in its answers or its log but by name."""
    yield
    assert server.is_well()
    assert "Traceback" not in server.log


def status(said: bytes) -> int:
    """The status of what was heard; 0 where nothing was."""
    return int(said.split()[1]) if said.startswith(b"HTTP/1.1 ") else 0


@pytest.mark.promise("network.input.body")
def test_a_message_over_the_limit_is_413(server: Served) -> None:
    with server.events() as stream:
        opened = stream.next()
        assert opened is not None
        for path in ("/mcp", opened["data"]):
            answer = server.request("POST", path, b'"' + b"x" * 1_000_000 + b'"', Content_Type="application/json")
            assert (answer.status, answer.value["id"]) == (413, None)
            assert answer.value["error"]["code"] == -32600
            assert "1,000,000 bytes, the limit max_message_bytes" in answer.value["error"]["message"]
    declared = b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 99999999999999999999\r\n\r\n{"
    with server.raw(declared) as made:
        assert status(made.recv(4096)) in (400, 413)


@pytest.mark.promise("network.input.body")
def test_a_message_in_pieces_over_the_limit_is_413(server: Served) -> None:
    head = b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    piece = b"186a0\r\n" + b" " * 100_000 + b"\r\n"
    with server.raw(head + piece * 11 + b"0\r\n\r\n") as made:
        assert status(made.recv(4096)) == 413


@pytest.mark.promise("network.input.head")
@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 20_000 + b"\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Never-Ends: " + b"a" * 200_000,
    ],
    ids=["one header", "many headers", "an address", "no end"],
)
def test_a_head_over_the_limit_is_431(server: Served, head: bytes) -> None:
    with server.raw() as made:
        said = b""
        try:
            made.sendall(head)
            said = heard(made)
        except (ConnectionResetError, BrokenPipeError):
            pass  # closed while it was still speaking, and the answer went with it
        assert status(said) in (431, 0)
    short = head[:66_000]
    if b"\r\n\r\n" not in short:
        assert status(server.exchange(short)) == 431


@pytest.mark.promise("network.input.head")
@each(
    ("first", "rest", "expected"),
    [
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 10_000, b"X: y\r\n" * 10_000 + b"\r\n", 431),
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 60_000, b"y" * 6_000 + b"\r\n\r\n", 431),
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 60_000, b"y" * 5_000 + b"\r\n\r\n", 200),
        # What follows a short head is its body, however large, wherever the head is cut.
        (b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: %d\r\n" % (len(PING) + 100_000),
         b"\r\n" + PING + b" " * 100_000, 200),
    ],
)  # fmt: skip
def test_a_head_counts_as_a_whole_however_it_arrives(server: Served, first: bytes, rest: bytes, expected: int) -> None:
    with server.raw(first) as made:
        assert server.is_well()  # so it has read the first piece
        with suppress(ConnectionResetError, BrokenPipeError):
            made.sendall(rest)
            assert status(made.recv(4096)) == expected


@pytest.mark.promise("network.input.http")
@each(
    "data",
    [
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    ",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 0x10\r\n\r\n0123456789abcdef",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: +2\r\n\r\n{}",
        b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + b" folded: x\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + b"no colon\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n",
        b"NONSENSE /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET \xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
        bytes(range(256)) * 16,
        b"\r\n" * 3 + b"\x00" * 5000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    ],
)
def test_what_is_no_proper_request_is_answered_once_and_closed(server: Served, data: bytes) -> None:
    with server.raw(data) as made:
        made.shutdown(socket.SHUT_WR)
        said = heard(made)
    assert said.count(b"HTTP/1.1 ") <= 1
    assert status(said) in (0, 400, 404, 405, 413, 421, 501, 505), said
    assert b"jsonrpc" not in said or status(said) == 400


@pytest.mark.promise("network.input.http")
@each(
    "path",
    [
        "/../../etc/passwd", "/mcp/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/mcp%00", "/mcp%0d%0aX: y", "//mcp",
        "/mcp/", "/MCP", "/mcp/nothing", "/mcp?" + "a=b&" * 5000, "/" + "%ff" * 50, "/mcp#x", "/sse/messages", "*",
        "http://evil.example/mcp", "/;", "/\\mcp", "/.well-known/oauth-protected-resource", "/docs", "/openapi.json",
    ],
)  # fmt: skip
def test_absurd_addresses_lead_nowhere(server: Served, path: str) -> None:
    said = server.exchange(b"GET %s HTTP/1.1\r\n" % path.encode() + HOST + b"Connection: close\r\n\r\n")
    assert status(said) in (400, 404, 405, 406, 421), said
    assert b"root:" not in said
    assert str(server.folder).encode() not in said


@pytest.mark.promise("network.input.message")
@each(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\x00", -32700),
        (b"\xff\xfe{}", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}", None),
        (b"[" * 50_000 + b"]" * 50_000, None),
        (b'{"a":' * 50_000, None),
        (b"[]", -32600),
        (b"17", -32600),
        (b"null", -32600),
        (b'"text"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', None),
        (bytes(range(256)) * 200, -32700),
    ],
)
def test_a_message_that_cannot_be_read_is_an_error(server: Served, body: bytes, code: int | None) -> None:
    answer = server.request("POST", "/mcp", body, Content_Type="application/json")
    assert answer.status == (400 if isinstance(answer.value, dict) else 200)
    errors = [part["error"] for part in ([answer.value] if isinstance(answer.value, dict) else answer.value)]
    assert errors
    for error in errors:
        assert error["code"] in ((code,) if code else (-32700, -32600, -32602))
        assert "/" not in error["message"].replace("and/or", "")
    with server.socket() as made:
        if body:
            made.send(body)
            said = json.loads(made.recv(DEADLINE))
            assert "error" in (said if isinstance(said, dict) else said[0])


@pytest.mark.promise("network.input.message")
@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_of_a_page_can_send_is_415(server: Served, type: str) -> None:
    answer = server.request("POST", "/mcp", PING, Content_Type=type)
    assert (answer.status, answer.value["error"]["code"]) == (415, -32600)
    assert server.request("POST", "/sse/messages?session_id=x", PING, Content_Type=type).status in (404, 415)


@pytest.mark.promise("network.input.message")
@pytest.mark.parametrize(
    ("headers", "code", "part"),
    [
        (b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(PING), PING), 415, b"uncompressed"),
        (b"Content-Encoding: identity\r\nContent-Length: %d\r\n\r\n%b" % (len(PING), PING), 200, b'"result":{}'),
        (b"Transfer-Encoding: gzip, chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(PING), PING), 501, b"chunked"),
        (
            b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(PING), PING),
            501, b"chunked",
        ),
        (b"Transfer-Encoding: Chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(PING), PING), 200, b'"result":{}'),
        (b"Accept: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(PING), PING), 406, b"application/json or"),
    ],
    ids=["gzip", "identity", "gzip in chunks", "gzip and chunks", "chunks", "a page is wanted"],
)  # fmt: skip
def test_a_message_in_another_form_is_refused_as_json_rpc_has_it(
    server: Served, headers: bytes, code: int, part: bytes
) -> None:
    said = server.exchange(b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Connection: close\r\n" + headers)
    assert status(said) == code, said
    told = json.loads(said.partition(b"\r\n\r\n")[2])
    assert told["jsonrpc"] == "2.0"
    assert part in said
    assert code == 200 or (told["id"], told["error"]["code"]) == (None, -32600)


@pytest.mark.promise("network.input.addresses")
@pytest.mark.parametrize(
    ("method", "path", "code", "header", "says"),
    [
        ("GET", "/nowhere", 404, {}, "There is nothing at this address. Served are /mcp and /sse"),
        ("POST", "/mcp/nobody", 404, {}, "/official"),
        ("WS", "/nowhere", 404, {}, "There is nothing at this address"),
        ("WS", "/mcp", 404, {}, "There is no WebSocket at this address"),
        ("PUT", "/mcp", 405, {"allow": "DELETE, GET, POST"}, "This address takes DELETE, GET, POST"),
        ("POST", "/sse", 405, {"allow": "GET"}, "This address takes GET"),
        ("GET", "/ws", 426, {"upgrade": "websocket", "connection": "upgrade"}, "Sec-WebSocket-Key"),
        ("POST", "/ws/content", 426, {"sec-websocket-version": "13"}, "a WebSocket"),
    ],
)
def test_who_asks_for_what_there_is_not_is_told_what_there_is(
    server: Served, method: str, path: str, code: int, header: dict[str, str], says: str
) -> None:
    assert server.status(method, path) == code
    assert header.items() <= server.last.items()
    assert server.last["content-type"] == "application/json"
    lines = b"GET" if method == "WS" else method.encode()
    upgrade = UPGRADE.partition(b"\r\n" + HOST)[2] if method == "WS" else b"Connection: close\r\n"
    said = server.exchange(lines + b" %b HTTP/1.1\r\n" % path.encode() + HOST + upgrade + b"\r\n")
    assert says in json.loads(said.partition(b"\r\n\r\n")[2])["error"]["message"]


@pytest.mark.promise("network.input.pipelined")
def test_ten_thousand_requests_at_once_are_all_answered(server: Served) -> None:
    one = b"POST /mcp HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: %d\r\n\r\n" % len(PING) + PING
    last = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    from threading import Thread

    with server.raw() as made:
        writer = Thread(target=lambda: made.sendall(one * 10_000 + last))
        writer.start()
        said = heard(made)
        writer.join()
    assert said.count(b"HTTP/1.1 200") == 10_001
    assert said.count(b'"result":{}') == 10_000


def frame(
    opcode: int, data: bytes, *, fin: bool = True, mask: bool = True, rsv: int = 0, length: int | None = None
) -> bytes:
    """A frame as a client writes it, or should not."""
    size = len(data) if length is None else length
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    bit = 0x80 if mask else 0
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + struct.pack("!H", size)
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", size)
    return head + (b"\0\0\0\0" if mask else b"") + data


UPGRADE = (
    b"GET /ws HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def frames(server: Served, *sent: bytes, extra: bytes = b"") -> bytes:
    """Open a socket by hand, send frames, and hear what comes after the handshake until it is closed."""
    with server.raw(UPGRADE + extra + b"\r\n") as made:
        said = b""
        while b"\r\n\r\n" not in said:
            said += made.recv(4096)
        head, _, said = said.partition(b"\r\n\r\n")
        assert status(head) == 101
        assert b"permessage-deflate" not in head.lower()
        try:
            made.sendall(b"".join(sent))
        except (ConnectionResetError, BrokenPipeError):
            return said
        return said + heard(made)


@pytest.mark.promise("network.input.socket")
@each(
    ("sent", "code"),
    [
        ((frame(1, b"", length=1 << 40),), 1009),
        ((frame(1, b"", length=1_000_001),), 1009),
        ((frame(1, b"x" * 600_000, fin=False), frame(0, b"x" * 600_000)), 1009),
        (tuple(frame(1 if at == 0 else 0, b"x" * 1000, fin=False) for at in range(1100)), 1009),
        ((frame(1, b"{}", mask=False),), 1002),
        ((frame(1, zlib.compress(b"x" * 10_000_000), rsv=4),), 1002),
        ((frame(3, b"{}"),), 1002),
        ((frame(0, b"{}"),), 1002),
        ((frame(1, b"{", fin=False), frame(1, b"}")), 1002),
        ((frame(9, b"x" * 126),), 1002),
        ((frame(8, b"\x03"),), 1002),
        ((frame(1, b"\xff\xfe"),), 1007),
    ],
)  # fmt: skip
def test_a_frame_that_breaks_the_rules_closes_the_socket(server: Served, sent: tuple[bytes, ...], code: int) -> None:
    said = frames(server, *sent, extra=b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
    assert struct.pack("!H", code) in said, said[:100]


@pytest.mark.promise("network.input.socket")
def test_a_message_in_many_small_pieces_is_one_message(server: Served) -> None:
    sent = [frame(1 if at == 0 else 0, bytes([byte]), fin=at == len(PING) - 1) for at, byte in enumerate(PING)]
    with server.raw(UPGRADE + b"\r\n") as made:
        said = made.recv(4096)
        made.sendall(b"".join(sent))
        while b'"result":{}' not in said:
            data = made.recv(4096)
            assert data, said
            said += data


@pytest.mark.promise("network.input.message")
def test_text_that_is_no_utf_8_is_stored_nowhere(server: Served) -> None:
    named = b'{"entities":[{"name":"\xff\xfe","entityType":"t","observations":["x"]}]}'
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_entities","arguments":%s}}' % named
    answer = server.request("POST", "/mcp", body, Content_Type="application/json").value
    assert "error" in answer or answer["result"]["isError"]


@pytest.mark.promise("network.input.long")
@pytest.mark.parametrize("kind", ["http", "ws"])
def test_a_long_message_that_cannot_be_read_is_an_error_all_the_same(server: Served, kind: str) -> None:
    """They are looked at elsewhere than short ones, so that nobody waits for it."""
    call = b'{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"create_entities","arguments":%b}}'
    entity = b'{"entities":[{"name":"n","entityType":"t","observations":["%b\\ud800"]}],"more":[%b1]}'

    def told(body: bytes) -> dict[str, object]:
        if kind == "http":
            return dict(server.request("POST", "/mcp/official", body, Content_Type="application/json").value)
        with server.socket("/ws/official") as made:
            made.send(body)
            return dict(json.loads(made.recv(DEADLINE)))

    found = told(call % (entity % (b"x" * 600_000, b"")))
    assert found["id"] == "long"
    assert "observations" in str(found)
    assert "surrogate" in str(found)
    found = told(call % (entity % (b"x", b"")) + b" " * 10 + b"x" * 600_000)
    assert (found["id"], found["error"]["code"]) == (None, -32700)  # type: ignore[index]
    found = told(b'{"jsonrpc":"2.0","id":"deep","method":"ping","params":' + b"[" * 300_000 + b"]" * 300_000 + b"}")
    assert (found["id"], found["error"]["code"]) == ("deep", -32600)  # type: ignore[index]
    assert "more than 100 levels of nesting" in str(found)
    broad = b"[" + b'{"a":[{}]},' * 60_000 + b"1]"
    found = told(call.replace(b"tools/call", b"ping") % broad)
    assert (found["id"], found["result"]) == ("long", {})


@pytest.mark.promise("network.input.long")
def test_a_message_of_very_many_parts_with_half_a_character_is_refused(serving: Callable[..., Served]) -> None:
    served = serving(*MANY)
    for bad, code in ((b'"\\ud800"', -32600), (b'"\\ud83d\\ude00', -32700)):
        body = b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":[%b%b]}}' % (b"1," * 600_000, bad)
        answer = served.request("POST", "/mcp", body, Content_Type="application/json")
        assert (answer.status, answer.value["error"]["code"]) == (400, code)
        assert answer.value["id"] == (5 if code == -32600 else None)


@pytest.mark.promise("network.log.folders")
def test_who_guesses_a_folder_of_the_server_is_not_told_so(server: Served) -> None:
    def told(guess: str, below: str) -> str:
        given = {"operation": "import_project_data", "project_id": "p", "format": "json", "source": guess + below}
        call = request("tools/call", {"name": "memory_system", "arguments": given})
        return server.post(call, "/mcp/content").body.decode().replace(guess, "GUESS")

    for below in ("", "/x.json", "/../x.json", "/" + "x" * 300):
        said = told(f"{server.folder}/exports", below)
        assert "the export folder" in said
        assert said == told(f"{str(server.folder)[:-1]}%/exports", below)


@pytest.mark.promise("network.input.answered")
def test_a_call_whose_result_cannot_be_written_is_answered_with_an_error(serving: Callable[..., Served]) -> None:
    broken = "import polymnia.transports.rpc as r; r._result = lambda reply, notes: {'content': object()}"
    served = serving(*MANY, before=broken)
    for kind in DOORS:
        with served.door(kind) as door:
            error = door.call("open_nodes", {"names": ["x"]})["error"]
        assert error["code"] == -32603
        served.wait_for_line(error["data"]["incident"])


@pytest.mark.promise("network.input.socket")
def test_an_upgrade_that_is_none_is_refused(server: Served) -> None:
    for change in (
        (b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Version: 8"),
        (b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Sec-WebSocket-Key: short"),
        (b"GET /ws", b"GET /ws/nothing"),
        (b"GET /ws", b"GET /mcp"),
        (b"Upgrade: websocket", b"Upgrade: h2c"),
    ):
        with server.raw(UPGRADE.replace(*change) + b"Connection: close\r\n\r\n") as made:
            assert 400 <= status(made.recv(4096)) < 500, change


@pytest.mark.promise("network.input.socket")
@pytest.mark.parametrize(
    "change",
    [
        (b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Version: 8"),
        (b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Sec-WebSocket-Key: short"),
        (b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Nothing: at all"),
        (b"Sec-WebSocket-Key", b"Sec-WebSocket-Protocol: =\r\nSec-WebSocket-Key"),
        (b"Sec-WebSocket-Key", b"X: y\r\n" * 200 + b"Sec-WebSocket-Key"),
        (b"Sec-WebSocket-Key", b"X: " + b"y" * 10_000 + b"\r\nSec-WebSocket-Key"),
    ],
    ids=["its version", "a short key", "no key", "its protocol", "many headers", "a long header"],
)
def test_a_bad_handshake_is_answered_in_our_words_after_who_asks_was_looked_at(
    server: Served, change: tuple[bytes, bytes]
) -> None:
    bad = UPGRADE.replace(*change) + b"\r\n"
    with server.raw(bad) as made:
        said = made.recv(4096)
        assert status(said) == 426, said
        assert b"x-ratelimit-limit" in said
        assert b"x-request-id" in said
        assert "WebSocket" in json.loads(said.partition(b"\r\n\r\n")[2])["error"]["message"]
        made.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")  # the connection is of use all the same
        assert status(made.recv(4096)) == 200
    with server.raw(bad.replace(b"Host: 127.0.0.1", b"Host: evil.example")) as made:
        assert status(made.recv(4096)) == 421


@pytest.mark.promise("network.input.socket")
def test_binary_messages_are_read_as_text(server: Served) -> None:
    with server.socket() as made:
        made.send(PING)
        assert json.loads(made.recv(DEADLINE))["result"] == {}
        made.send(bytes(range(256)))
        assert json.loads(made.recv(DEADLINE))["error"]["code"] == -32700
        made.send(PING)  # what comes next is its answer, and nothing more of the other one
        assert json.loads(made.recv(DEADLINE))["result"] == {}


@pytest.mark.promise("network.input.connections")
def test_one_connection_too_many_is_503(serving: Callable[..., Served]) -> None:
    served = serving("--max-connections", "5")
    held = [socket.create_connection(("127.0.0.1", served.port), DEADLINE) for _ in range(5)]
    try:
        said = served.exchange(b"")
        assert status(said) == 503
        assert b"retry-after" in said
    finally:
        for made in held:
            made.close()
    health = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    eventually(lambda: status(served.exchange(health)) == 200, "there is never room again")


@pytest.mark.promise("network.input.batch")
@pytest.mark.parametrize("kind", ["http", "ws"])
def test_a_batch_of_too_many_messages_is_refused_whole(serving: Callable[..., Served], kind: str) -> None:
    served = serving(*MANY, "--max-batch", "5")
    new = {"entities": [{"name": "from a batch", "entityType": "thing", "observations": ["new"]}]}
    store = request("tools/call", {"name": "create_entities", "arguments": new})
    batch = [{**store, "id": at} for at in range(6)]
    if kind == "http":
        answer = served.post(batch)
        assert answer.status == 400
        error = answer.value["error"]
    else:
        with served.socket() as made:
            made.send(json.dumps(batch))
            error = json.loads(made.recv(DEADLINE))["error"]
    assert (error["code"], error["message"]) == (-32600, "A batch may have 5 messages, the limit max_batch")
    graph = served.post(request("tools/call", {"name": "read_graph", "arguments": {}})).body.decode()
    assert "from a batch" not in graph
    assert len(served.post([request("ping", id=at) for at in range(5)]).value) == 5
