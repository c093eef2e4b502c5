"""A network server behind a pipe: ``python tests/bridge.py http|sse|ws [--dialect D] [settings]``.

What comes on stdin, a message a line, goes to the server over the transport; what comes back goes to stdout, a message
a line. So everything that talks to ``polymnia stdio`` can talk to the network instead. Server and bridge are one
process.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from polymnia import app
from polymnia.app.network import serve_http
from polymnia.settings import read
from polymnia.transports.rpc import Connection

_PLENTY = 10**9  # no test of a dialect is about rates


class Pipe:
    """Stdout, a message a line, whoever writes."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def __call__(self, data: bytes) -> None:
        with self._lock:
            rest = memoryview(data.replace(b"\n", b" ") + b"\n")
            while rest:
                rest = rest[os.write(self._out, rest) :]


def _lines() -> Iterator[bytes]:
    for line in sys.stdin.buffer:
        if text := line.strip():
            yield text


def _events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, bytes]]:
    """The events of a stream: kind and data."""
    kind, data = "message", b""
    for raw in answer:
        line = raw.rstrip(b"\r\n")
        if line.startswith(b"event:"):
            kind = line[6:].strip().decode()
        elif line.startswith(b"data:"):
            data += line[5:].strip()
        elif not line and data:
            yield kind, data
            kind, data = "message", b""


def over_http(port: int, dialect: str, pipe: Pipe) -> None:
    """Each line is a POST; what is told unasked comes by a GET."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    taken = [threading.Event()]  # the last one is that of the line at hand
    _tell_of_arrivals(taken)
    free: list[http.client.HTTPConnection] = []

    def listen() -> None:
        stream = http.client.HTTPConnection("127.0.0.1", port)
        stream.request("GET", f"/mcp/{dialect}", headers={**headers, "Accept": "text/event-stream"})
        for _, data in _events(stream.getresponse()):
            pipe(data)

    def post(line: bytes, over: threading.Event) -> None:
        connection = free.pop() if free else http.client.HTTPConnection("127.0.0.1", port)
        connection.request("POST", f"/mcp/{dialect}", line, {**headers, **_routing(line)})
        answer = connection.getresponse()
        if answer.getheader("Content-Type", "").startswith("text/event-stream"):
            for _, data in _events(answer):
                pipe(data)
        elif data := answer.read():
            pipe(data)
        if (session := answer.getheader("Mcp-Session-Id")) is not None:
            headers["Mcp-Session-Id"] = session
            threading.Thread(target=listen, daemon=True).start()
        free.append(connection)
        over.set()

    for line in _lines():
        over = threading.Event()
        # The next one follows when the server has taken this one, or has answered it where that begins a session.
        taken[0] = threading.Event() if b'"initialize"' in line else over
        threading.Thread(target=post, args=(line, over), daemon=True).start()
        over.wait()


def _tell_of_arrivals(taken: list[threading.Event]) -> None:
    """Have an event set whenever a message has reached the protocol, which is in this process."""
    receive = Connection.receive

    def told(self: Connection, *given: Any) -> None:
        try:
            receive(self, *given)
        finally:
            taken[0].set()

    Connection.receive = told  # type: ignore[method-assign]


def _routing(line: bytes) -> dict[str, str]:
    """The headers the stateless era wants."""
    try:
        message = json.loads(line)
        params = message["params"]
        version = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
    except (ValueError, KeyError, TypeError):
        return {}
    named = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(message.get("method"))
    told = {"MCP-Protocol-Version": str(version), "Mcp-Method": str(message.get("method"))}
    return told | ({"Mcp-Name": str(params.get(named))} if named else {})


def over_sse(port: int, dialect: str, pipe: Pipe) -> None:
    """Everything comes by one stream; each line is a POST to where that says."""
    stream = http.client.HTTPConnection("127.0.0.1", port)
    stream.request("GET", f"/sse/{dialect}", headers={"Accept": "text/event-stream"})
    events = _events(stream.getresponse())
    _, where = next(events)

    def listen() -> None:
        for _, data in events:
            pipe(data)

    threading.Thread(target=listen, daemon=True).start()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for line in _lines():
        connection.request("POST", where.decode(), line, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 202:  # a message that was not taken
            pipe(said)


def over_ws(port: int, dialect: str, pipe: Pipe) -> None:
    """Each line is a frame."""
    from websockets.sync.client import connect

    with connect(f"ws://127.0.0.1:{port}/ws/{dialect}", max_size=None) as socket:

        def listen() -> None:
            for frame in socket:
                pipe(frame.encode() if isinstance(frame, str) else frame)

        threading.Thread(target=listen, daemon=True).start()
        for line in _lines():
            socket.send(line.decode("utf-8", "replace"))


_WAYS: dict[str, Callable[[int, str, Pipe], None]] = {"http": over_http, "sse": over_sse, "ws": over_ws}


def main() -> None:
    """Serve, and carry lines to and fro until stdin ends."""
    way, flags = sys.argv[1], sys.argv[2:]
    pipe = Pipe()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    values: dict[str, Any] = {
        "port": port,
        "rate_limit": _PLENTY,
        "rate_limit_session": _PLENTY,
        "rate_limit_heavy": _PLENTY,
    }
    chosen = app.settings({**read(flags), **values})

    def carry() -> None:
        _WAYS[way](port, chosen.dialect, pipe)
        os.kill(os.getpid(), signal.SIGTERM)

    serve_http(chosen, lambda _: threading.Thread(target=carry, daemon=True).start())


if __name__ == "__main__":
    main()
