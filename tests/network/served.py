"""A real server process of the network, and small clients for every way to speak to it, the wrong ones included."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

import forked
import postgres
from polymnia.keys import KeyFile
from stdio_client import DEADLINE, LATEST_HANDSHAKE, STORE, envelope

__all__ = ["DOORS", "Answer", "Door", "Events", "Refused", "Served", "free_port"]

Message = dict[str, Any]
_START = """
import importlib, sys
for name, value in {changes!r}.items():
    module, _, attribute = name.rpartition(".")
    before = getattr(importlib.import_module(module), attribute)
    for one in [one for name, one in sys.modules.items() if name.startswith("polymnia.")]:
        if vars(one).get(attribute) is before:  # where it was imported by its name too
            setattr(one, attribute, value)
{before}
from polymnia.cli import main
sys.exit(main())
"""


def free_port() -> int:
    """A port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@dataclass(frozen=True)
class Answer:
    """An answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def value(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


class Refused(Exception):
    """A door that did not open: the status it was refused with, and the error beside it."""

    def __init__(self, status: int, error: Any = None) -> None:
        super().__init__(str(status))
        self.status = status
        self.error = error


class Served:
    """One server. ``changes`` are constants of the product that are other here, by their full names.

    ``before`` is run in its process before it starts.
    """

    def __init__(self, folder: Path, *flags: str, changes: Mapping[str, Any] | None = None, before: str = "") -> None:
        self.folder = folder
        self.store = folder / "memory.db"
        self._database = ExitStack()
        given = next((flag for flag in flags if flag.startswith("postgresql://")), None)
        if given is None and STORE == "postgres":
            given = self._database.enter_context(postgres.store())
        self.address = given or str(self.store)
        """Where it keeps its memory: the file ``store``, or a database."""
        self.database = given and given.partition("?")[0]
        self.config = folder / "config"
        self.keys = KeyFile(str(self.config / "polymnia" / "keys.json"))
        self.port = free_port()
        self.tls: ssl.SSLContext | None = None
        """What its certificate is checked with, where it has one."""
        self.lines: list[str] = []
        self.last: Mapping[str, str] = {}
        """The headers of what ``status`` asked for last."""
        self._news = threading.Condition()
        self._silent = False  # it has closed its stderr
        variables = {name: value for name, value in os.environ.items() if not name.startswith("POLYMNIA_")}
        self.process = forked.start(
            [sys.executable, "-c", _START.format(changes=dict(changes or {}), before=before), "serve",
             "--store", self.address, "--embedder", "none", "--port", str(self.port), *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder,
            env={**variables, "XDG_CONFIG_HOME": str(self.config), "XDG_DATA_HOME": str(folder / "data")},
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # The process

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            for line in self.process.stderr:
                with self._news:
                    self.lines.append(line.decode(errors="replace"))
                    self._news.notify_all()
        with self._news:
            self._silent = True
            self._news.notify_all()

    @property
    def log(self) -> str:
        """Everything it has told on stderr."""
        return "".join(self.lines)

    def wait_for_line(self, part: str) -> str:
        """The first line of its log with this part in it, which may be still to come."""

        def found() -> str | None:
            return next((line for line in self.lines if part in line), None)

        with self._news:
            self._news.wait_for(lambda: found() or self._silent, DEADLINE)
            if found() is None:
                pytest.fail(f"the server never said {part!r}:\n{self.log}")
            return str(found())

    def code(self) -> int:
        """Its exit code, once it has ended."""
        code = self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        self._database.close()
        return code

    def ask_to_stop(self) -> None:
        """Ask it to end as an operator does, and do not wait for it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """End it as an operator does; answers its exit code."""
        self.ask_to_stop()
        return self.code()

    def is_well(self) -> bool:
        """Whether it lives and answers."""
        return self.process.poll() is None and self.request("GET", "/healthz").status == 200

    def at(self, port: int, tls: ssl.SSLContext | None) -> Served:
        """The same server as it is reached by another port."""
        other = copy(self)
        other.port, other.tls = port, tls
        return other

    # HTTP

    @contextmanager
    def connection(self) -> Iterator[http.client.HTTPConnection]:
        """A connection of its own."""
        if self.tls is None:
            made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        else:
            made = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=DEADLINE, context=self.tls)
        try:
            yield made
        finally:
            made.close()

    def request(
        self, method: str, path: str, body: bytes | str | None = None, *, key: str | None = None, **headers: str
    ) -> Answer:
        """One request; ``Mcp_Session_Id="x"`` is a header."""
        with self.connection() as made:
            return ask(made, method, path, body, key=key, **headers)

    def post(self, message: Any, path: str = "/mcp", *, key: str | None = None, **headers: str) -> Answer:
        """One message to an address of Streamable HTTP."""
        given = {"Content_Type": "application/json", "Accept": "application/json", **headers}
        return self.request("POST", path, json.dumps(message), key=key, **given)

    def begin(self, path: str = "/mcp", *, key: str | None = None, **headers: str) -> str:
        """Shake hands; answers the id of the session."""
        answer = self.post(initialize(), path, key=key, **headers)
        assert answer.status == 200, answer
        return answer.headers["mcp-session-id"]

    # Others

    @contextmanager
    def raw(self, data: bytes = b"") -> Iterator[socket.socket]:
        """A bare connection, and what is said first."""
        with socket.create_connection(("127.0.0.1", self.port), DEADLINE) as made:
            made.sendall(data)
            yield made

    def exchange(self, data: bytes) -> bytes:
        """Say something and hear everything until the server closes the connection."""
        with self.raw(data) as made:
            return heard(made)

    def socket(self, path: str = "/ws", *, key: str | None = None, **options: Any) -> ClientConnection:
        """A WebSocket; close it, or use it in a ``with``."""
        headers = {**options.pop("headers", {}), **({"Authorization": f"Bearer {key}"} if key else {})}
        scheme = "ws" if self.tls is None else "wss"
        return connect(
            f"{scheme}://127.0.0.1:{self.port}{path}", additional_headers=headers, open_timeout=DEADLINE, max_size=None,
            ssl=self.tls, **options,
        )  # fmt: skip

    def status(self, method: str, path: str, *, key: str | None = None, **headers: str) -> int:
        """With what status an address answers to a method, or to a WebSocket that wants to open (``WS``)."""
        if method == "WS":
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
                       "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
            method, headers = "GET", {**upgrade, **headers}
        with self.connection() as made:
            made.putrequest(method, path, skip_host="Host" in headers)
            if method == "POST":
                headers = {"Content_Type": "application/json", "Content_Length": "2", **headers}
            for name, value in _headers(key, {"Accept": "application/json, text/event-stream", **headers}).items():
                made.putheader(name, value)
            made.endheaders(b"{}" if method == "POST" else None)
            with made.getresponse() as answer:
                self.last = {name.lower(): value for name, value in answer.getheaders()}
                return answer.status

    @contextmanager
    def events(self, path: str = "/sse", *, key: str | None = None, **headers: str) -> Iterator[Events]:
        """An open stream of events."""
        with self.connection() as made:
            made.request("GET", path, headers=_headers(key, {"Accept": "text/event-stream", **headers}))
            with made.getresponse() as answer:
                if answer.status != 200:
                    raise Refused(answer.status, json.loads(answer.read())["error"])
                yield Events(answer)

    @contextmanager
    def door(self, kind: str, dialect: str = "", key: str | None = None) -> Iterator[Door]:
        """One of the ways in, opened: something to send messages to, each of which is answered."""
        below = f"/{dialect}" if dialect else ""
        with DOORS[kind](self, below, key) as door:
            yield door


class Events:
    """A stream of events as it comes."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self._answer = answer
        self.headers = {name.lower(): value for name, value in answer.getheaders()}

    def next(self) -> dict[str, str] | None:
        """The next event by its fields; None at the end of the stream."""
        event: dict[str, str] = {}
        end = time.monotonic() + DEADLINE
        while line := self._answer.readline():
            if time.monotonic() > end:
                pytest.fail("no event came, and the stream went on")
            text = line.decode().rstrip("\n").rstrip("\r")
            if not text and event:
                return event
            name, _, value = text.partition(":")
            if name:
                event[name] = value.removeprefix(" ")
        return None

    def message(self) -> Message | None:
        """The next event that is a message."""
        while (event := self.next()) is not None:
            if event.get("data") and event.get("event", "message") == "message":
                return dict(json.loads(event["data"]))
        return None


class Door:
    """One way in. ``send`` takes a message and answers what is answered; refused messages raise."""

    def __init__(self, send: Callable[[Message], Message]) -> None:
        self.send = send

    def call(self, tool: str, arguments: Message, id: int = 7) -> Message:
        """Call a tool; answers the result or the error as it came."""
        return self.send(request("tools/call", {"name": tool, "arguments": arguments}, id))


def request(method: str, params: Message | None = None, id: int | str = 7) -> Message:
    """A request as JSON-RPC writes it."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def initialize(version: str = LATEST_HANDSHAKE) -> Message:
    """The first message of a client that shakes hands."""
    client = {"name": "network tests", "version": "1"}
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}, 0)


def ask(
    made: http.client.HTTPConnection, method: str, path: str, body: bytes | str | None = None, *,
    key: str | None = None, **headers: str,
) -> Answer:  # fmt: skip
    """One request on a connection that may be used again."""
    made.request(method, path, body, _headers(key, headers))
    answer = made.getresponse()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def heard(made: socket.socket) -> bytes:
    """Everything that is said on a connection until it is closed."""
    found = b""
    try:
        while data := made.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    except TimeoutError:
        pytest.fail(f"the connection stayed open; it said {found[:300]!r}")
    return found


def eventually(wanted: Callable[[], Any], what: str) -> Any:
    """Ask until there is something, but never past the deadline."""
    end = time.monotonic() + DEADLINE
    while not (found := wanted()):
        if time.monotonic() > end:
            pytest.fail(f"in vain: {what}")
        threading.Event().wait(0.02)
    return found


def _headers(key: str | None, headers: Mapping[str, str]) -> dict[str, str]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return {**({"Authorization": f"Bearer {key}"} if key else {}), **given}


def _taken(answer: Answer) -> Message:
    found = answer.value
    if found["id"] is None and found["error"]["code"] == answer.status:
        raise Refused(answer.status, found["error"])
    return dict(found)


@contextmanager
def _bare(served: Served, below: str, key: str | None) -> Iterator[Door]:
    yield Door(lambda message: _taken(served.post(message, f"/mcp{below}", key=key)))


@contextmanager
def _stateless(served: Served, below: str, key: str | None) -> Iterator[Door]:
    def send(message: Message) -> Message:
        params = {**message.get("params", {}), "_meta": envelope()}
        named = params.get("name") or params.get("uri")
        headers = {
            "MCP_Protocol_Version": envelope()["io.modelcontextprotocol/protocolVersion"],
            "Mcp_Method": message["method"], **({"Mcp_Name": named} if named else {}),
        }  # fmt: skip
        return _taken(served.post({**message, "params": params}, f"/mcp{below}", key=key, **headers))

    yield Door(send)


@contextmanager
def _session(served: Served, below: str, key: str | None) -> Iterator[Door]:
    path = f"/mcp{below}"
    begun = served.post(initialize(), path, key=key)
    _taken(begun)
    yield Door(
        lambda message: _taken(served.post(message, path, key=key, Mcp_Session_Id=begun.headers["mcp-session-id"]))
    )


@contextmanager
def _sse(served: Served, below: str, key: str | None) -> Iterator[Door]:
    with served.events(f"/sse{below}", key=key) as events:
        first = events.next()
        assert first is not None
        where = first["data"]

        def send(message: Message) -> Message:
            answer = served.post(message, where, key=key)
            if answer.status != 202:
                raise Refused(answer.status, answer.value["error"])
            while (found := events.message()) is not None:
                if found.get("id") == message["id"]:
                    return found
            raise Refused(0)

        send(initialize())
        yield Door(send)


@contextmanager
def _socket(served: Served, below: str, key: str | None) -> Iterator[Door]:
    from websockets.exceptions import InvalidStatus

    try:
        made = served.socket(f"/ws{below}", key=key)
    except InvalidStatus as e:
        raise Refused(e.response.status_code, json.loads(e.response.body or b"{}").get("error")) from None
    with made:

        def send(message: Message) -> Message:
            made.send(json.dumps(message))
            while True:
                found = json.loads(made.recv(DEADLINE))
                if found.get("id") == message["id"]:
                    return dict(found)

        yield Door(send)


DOORS: dict[str, Callable[[Served, str, str | None], Any]] = {
    "bare": _bare, "stateless": _stateless, "session": _session, "sse": _sse, "ws": _socket,
}  # fmt: skip
"""Every way in, by its name."""
