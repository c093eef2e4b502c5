"""What cannot work fails at once and says why; what can heal is tried until the time is over."""

from __future__ import annotations

import asyncio
import itertools
import math
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from polymnia.client import (
    AsyncMCPMemoryClient,
    ConnectionFailedError,
    ForbiddenError,
    InternalError,
    MCPMemoryClient,
    MCPMemoryError,
    NotFoundError,
    RateLimitedError,
    UnauthorizedError,
)
from stdio_client import DEADLINE

from .serving import Serving
from .tls import AUTHORITY, tls_before


def _at_once(endpoint: str, **options: Any) -> ConnectionFailedError:
    """The error of a call that would be retried for as long as the deadline if it were retried at all."""
    begun = time.monotonic()
    with MCPMemoryClient(endpoint, timeout=DEADLINE, **options) as client, pytest.raises(ConnectionFailedError) as told:
        client.ping()
    assert time.monotonic() - begun < DEADLINE
    error = told.value
    assert not isinstance(error, NotFoundError)
    assert error.data["error_type"] == "connection_error"
    assert error.data["suggestions"] == error.suggestions
    assert error.suggestions
    return error


@contextmanager
def _answering(*answers: bytes) -> Iterator[int]:
    """A port where each connection gets the next of these answers to whatever it sends; the last one from then on."""
    door = socket.create_server(("127.0.0.1", 0))
    following = itertools.chain(answers, itertools.repeat(answers[-1]))

    def serve() -> None:
        while True:
            try:
                connection, _ = door.accept()
            except OSError:
                return
            with connection, suppress(OSError):  # whoever asked may have hung up
                connection.recv(65536)
                connection.sendall(next(following))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(door.getsockname()[1])
    finally:
        door.shutdown(socket.SHUT_RDWR)
        door.close()
        thread.join(DEADLINE)


def _status(line: str, body: str = "", *headers: str) -> bytes:
    head = [f"HTTP/1.1 {line}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


@pytest.mark.promise("clients.python.failing")
def test_an_endpoint_that_is_malformed_is_refused_by_the_constructor() -> None:
    cases = {
        "garbage": "begin with ws://",
        "ftp://127.0.0.1": "begin with ws://",
        "ws://": "no host",
        "ws:localhost": "no host",
        "http:///mcp": "no host",
        "ws://localhost:99999/ws": "its port",
        "http://localhost:0/mcp": "its port",
        "ws://localhost:port/ws": "its port",
        "ws://[::1/ws": "Invalid IPv6 URL",
        "stdio:polymnia 'stdio": "No closing quotation",
    }
    for endpoint, why in cases.items():
        for client in (MCPMemoryClient, AsyncMCPMemoryClient):
            with pytest.raises(ConnectionFailedError, match="is not an endpoint") as told:
                client(endpoint)
            assert why in str(told.value)
            assert told.value.suggestions
    assert "meaningless" in str(_at_once("ws://localhost/ws#part"))


def test_arguments_that_make_no_sense_are_refused_by_the_constructor(url: str) -> None:
    cases: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (ValueError, "timeout must be more than 0", {"timeout": 0}),
        (TypeError, "ssl must be an ssl.SSLContext, not str", {"ssl": "ca.pem"}),
        (TypeError, "endpoint must be a string", {"endpoint": None}),
        (ValueError, "command is only for the endpoint stdio", {"command": ["polymnia", "stdio"]}),
        (ValueError, "command is empty", {"endpoint": "stdio", "command": []}),
        (ValueError, "headers: 'X-Name'", {"headers": {"X-Name": "a\r\nX-Other: b"}}),
        (ValueError, "headers: 'X-Name'", {"headers": {"X-Name": "이름"}}),
    ]
    for kind, why, options in cases:
        with pytest.raises(kind, match=why):
            MCPMemoryClient(**{"endpoint": url, **options})
    with MCPMemoryClient(url) as client, pytest.raises(ValueError, match="timeout must be more than 0"):
        client.ping(timeout=0)
    with MCPMemoryClient(url, timeout=math.inf) as client:
        client.ping(timeout=math.inf)


@pytest.mark.promise("clients.python.keys")
def test_a_key_loses_the_space_around_it_and_one_that_no_header_can_carry_is_refused_unseen(serving: Serving) -> None:
    _, key = serving.keys.add("writer", projects=("atlas",))
    for kind in ("ws", "http"):
        with MCPMemoryClient(serving.url(kind), api_key=f" {key}\r\n") as client:
            assert client.store_content("atlas", f"by {kind}")["success"]
    for wrong in ("열쇠", "key\nX-Other: b", "key\x00"):
        with pytest.raises(ValueError, match="api_key") as told:
            MCPMemoryClient(serving.url("ws"), api_key=wrong)
        assert wrong not in str(told.value)
    with pytest.raises(ValueError, match="api_key is empty"):
        MCPMemoryClient(serving.url("ws"), api_key=" \n")
    with pytest.raises(TypeError, match="api_key must be a string, not bytes"):
        MCPMemoryClient(serving.url("ws"), api_key=b"key")  # type: ignore[arg-type]


@pytest.mark.promise("clients.python.tls")
def test_a_private_authority_is_accepted_where_it_is_named_and_refused_at_once_where_not(shared: Serving) -> None:
    context = ssl.create_default_context(cafile=str(AUTHORITY))
    with tls_before(shared.port) as port:
        for endpoint in (f"wss://localhost:{port}/ws", f"https://localhost:{port}/mcp"):
            with MCPMemoryClient(endpoint, ssl=context) as client:
                assert client.store_content("tls", f"by {endpoint}")["success"]
            error = _at_once(endpoint)
            assert endpoint in error.message
            assert "certificate is not accepted" in error.message
            assert "cafile" in error.suggestions[0]
    for endpoint in (f"wss://localhost:{shared.port}/ws", f"https://localhost:{shared.port}/mcp"):
        assert "TLS failed" in _at_once(endpoint, ssl=context).message


@pytest.mark.promise("clients.python.failing")
def test_an_address_without_an_endpoint_says_so_and_where_one_is(shared: Serving) -> None:
    for path in ("ws://127.0.0.1:{}/nope", "ws://127.0.0.1:{}/mcp", "http://127.0.0.1:{}/nope",
                 "http://127.0.0.1:{}/sse", "http://127.0.0.1:{}/ws"):  # fmt: skip
        endpoint = path.format(shared.port)
        error = _at_once(endpoint)
        assert endpoint in error.message
        assert "no MCP endpoint" in error.message
        assert "/ws" in error.message
        assert "/mcp" in error.message


@pytest.mark.promise("clients.python.failing")
def test_what_is_no_mcp_server_is_known_by_its_answer() -> None:
    html = _status("200 OK", "<html></html>", "Content-Type: text/html")
    cases = {
        html: "no MCP endpoint",
        _status("200 OK", '{"hello": "world"}', "Content-Type: application/json"): "no MCP endpoint",
        _status("202 Accepted"): "no MCP endpoint",
        _status("301 Moved", "", "Location: https://elsewhere.example/"): "redirects to https://elsewhere.example/",
        b"220 mail.example ESMTP\r\n": "is not",
    }
    for answer, why in cases.items():
        with _answering(answer) as port:
            for endpoint in (f"ws://127.0.0.1:{port}/ws", f"http://127.0.0.1:{port}/mcp"):
                assert why in _at_once(endpoint).message


def test_refusals_without_a_message_of_the_protocol_go_by_their_status() -> None:
    kinds: dict[str, type[MCPMemoryError]] = {
        "401 Unauthorized": UnauthorizedError, "403 Forbidden": ForbiddenError, "500 Internal": InternalError,
    }  # fmt: skip
    for line, kind in kinds.items():
        with _answering(_status(line)) as port:
            for endpoint in (f"ws://127.0.0.1:{port}/ws", f"http://127.0.0.1:{port}/mcp"):
                with MCPMemoryClient(endpoint) as client, pytest.raises(kind) as told:
                    client.ping()
                assert told.value.data["details"] == {"status": int(line[:3])}
                assert told.value.data["suggestions"] == []
    with _answering(_status("429 Too Many Requests", "", "Retry-After: 3600")) as port:
        with MCPMemoryClient(f"http://127.0.0.1:{port}/mcp") as client, pytest.raises(RateLimitedError) as limited:
            client.ping(timeout=DEADLINE)
        assert limited.value.retry_after == 3600


@pytest.mark.long
@pytest.mark.promise("clients.python.failing")
def test_what_can_heal_is_tried_until_the_time_is_over_and_the_reason_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = socket.getaddrinfo

    def look_up(host: Any, *details: Any, **others: Any) -> Any:
        if host == "nowhere.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known(host, *details, **others)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # and nobody listens
        port = reserved.getsockname()[1]
        cases = {f"127.0.0.1:{port}": "connection refused (ECONNREFUSED)", "nowhere.invalid": "host was not found"}
        for host, why in cases.items():
            for endpoint in (f"ws://{host}/ws", f"http://{host}/mcp"):
                with MCPMemoryClient(endpoint, timeout=0.3) as client, pytest.raises(ConnectionFailedError) as told:
                    client.ping()
                assert "was not reached within 0.3 seconds" in told.value.message
                assert why in told.value.message
                assert told.value.suggestions
    for status in ("502 Bad Gateway", "503 Service Unavailable"):
        with _answering(_status(status)) as port:
            for endpoint in (f"ws://127.0.0.1:{port}/ws", f"http://127.0.0.1:{port}/mcp"):
                with MCPMemoryClient(endpoint, timeout=1) as client, pytest.raises(ConnectionFailedError) as told:
                    client.ping()
                assert f"status {status[:3]}" in told.value.message
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for endpoint in (f"ws://127.0.0.1:{port}/ws", f"http://127.0.0.1:{port}/mcp"):
            with MCPMemoryClient(endpoint, timeout=0.3) as client, pytest.raises(ConnectionFailedError) as told:
                client.ping()
            assert "did not answer" in told.value.message


@pytest.mark.promise("clients.python.failing")
def test_a_command_that_ends_before_it_answers_is_started_once_and_quoted(
    tmp_path: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    counted = tmp_path / "starts"
    code = f"""if True:
        import sys
        open({str(counted)!r}, "a").write("x")
        print("no such option: --bogus", file=sys.stderr)
        sys.exit(2)
    """
    error = _at_once("stdio", command=[sys.executable, "-c", code])
    assert "ended with exit code 2 before it answered" in error.message
    assert "no such option: --bogus" in error.message
    assert counted.read_text() == "x"
    assert "no such option: --bogus" in capfd.readouterr().err  # it is passed on as well
    assert "ENOENT" in _at_once("stdio", command=["/no/such/program"]).message
    assert "exit code 0" in _at_once("stdio", command=[sys.executable, "-c", ""]).message


def test_a_failure_inside_the_connection_reaches_the_call(shared: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault of the client itself")

    from polymnia.client.http import HttpLink
    from polymnia.client.websocket import WebSocketLink

    monkeypatch.setattr(HttpLink, "_request", broken)
    monkeypatch.setattr(WebSocketLink, "_flush", broken)
    for kind in ("ws", "http"):
        with MCPMemoryClient(shared.url(kind)) as client, pytest.raises(ZeroDivisionError):
            client.ping()


@pytest.mark.promise("clients.python.arguments")
def test_arguments_that_are_not_json_fail_at_once_and_nothing_is_sent(url: str) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    cases: list[tuple[object, type[Exception]]] = [
        (object(), TypeError), (cycle, RecursionError), (float("nan"), ValueError), ([{"a": float("inf")}], ValueError),
    ]  # fmt: skip
    with MCPMemoryClient(url) as client:
        for value, kind in cases:
            calls: list[Callable[[], object]] = [
                lambda value=value: client.call_tool("memory_store", {"operation": "store_content", "content": value}),
                lambda value=value: client.search_content("p", "x", options={"limit": value}, on_progress=print),
            ]
            for call in calls:
                with pytest.raises(kind):
                    call()
        assert client._client._link is None  # not even a connection was made
        assert not client._client._progress
        assert client.store_content("p", "null and NaN are words", metadata={"a": None})["success"]


def test_a_client_in_another_event_loop_is_refused_at_once_and_can_be_closed(url: str) -> None:
    client = AsyncMCPMemoryClient(url)

    async def first() -> None:
        await client.ping()
        link = client._link
        assert link is not None
        await link.close()  # so that nothing of it is left open here

    async def second() -> None:
        with pytest.raises(RuntimeError, match="belongs to the event loop it was first used in"):
            await client.ping()
        await client.close()
        await client.close()

    asyncio.run(first())
    asyncio.run(second())
    assert client.is_closed


def test_a_scheme_in_capitals_is_one(shared: Serving) -> None:
    for kind in ("ws", "http"):
        with MCPMemoryClient(f" {shared.url(kind).replace(kind, kind.upper(), 1)}\n") as client:
            client.ping()
