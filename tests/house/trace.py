"""The trace of a call: the files of the package it enters, their order, and how often it switches files.

    python -m tests.house.trace [memory_search | search_nodes | open_nodes]

A separate server handles the same call twice; the second time every Python call in all of its threads is recorded with
``sys.setprofile``.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

__all__ = ["CALLS", "Trace", "trace"]

_PACKAGE = str(Path(__file__).resolve().parent.parent.parent / "src" / "polymnia") + os.sep
_ENTITIES = [
    {"name": "Ann", "entityType": "person", "observations": ["Drives an old car to work", "Likes green tea"]},
    {"name": "Bob", "entityType": "person", "observations": ["Saw a film about whales"]},
    {"name": "Rex", "entityType": "pet", "observations": ["Barks at the postman"]},
]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "memory_search": ("stdio", {"query": "who drives a car?"}),
    "search_nodes": ("stdio", {"query": "who drives a car?"}),
    "open_nodes": ("http", {"names": ["Ann"]}),
}
"""The traced calls, each with its transport and arguments."""
_PAUSE = 0.5  # seconds, for background work of the previous calls


class Trace(NamedTuple):
    """The files a call entered, in order; how often it switched files; and the maximum call depth."""

    files: list[str]
    switches: int
    depth: int


def trace(tool: str) -> Trace:
    """Trace the second of two equal calls of a tool."""
    transport, arguments = CALLS[tool]
    commands, results = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        # Without a model over HTTP: its work in the background would be counted with the call.
        flags = ["serve", "--port", "0", "--embedder", "none"] if transport == "http" else ["stdio"]
        command = [
            sys.executable,
            __file__,
            str(commands[0]),
            str(results[1]),
            *flags,
            "--store",
            f"{folder}/memory.db",
        ]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, **pipes, pass_fds=(commands[0], results[1])) as server:  # type: ignore[call-overload]
            client: _Http | _Stdio | None = None
            try:
                client = _Http(server) if transport == "http" else _Stdio(server)
                client.request("tools/call", {"name": "create_entities", "arguments": {"entities": _ENTITIES}})
                for _ in range(3):
                    client.request("tools/call", {"name": tool, "arguments": arguments})
                time.sleep(_PAUSE)
                os.write(commands[1], b"\n")
                os.read(results[0], 1)
                answer = client.request("tools/call", {"name": tool, "arguments": arguments})
                client.close()
                assert "Ann" in json.dumps(answer), answer
                os.write(commands[1], b"\n")
                with os.fdopen(os.dup(results[0])) as lines:
                    return Trace(*json.loads(lines.readline()))
            finally:
                server.kill()
                if isinstance(client, _Http):
                    client.close()
                for end in (*commands, *results):
                    os.close(end)


class _Stdio:
    """A client over stdio."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._in, self._out = server.stdin, server.stdout
        self._id = 0
        self.request("initialize", _INITIALIZE)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request."""
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while (answer := json.loads(self._out.readline())).get("id") != self._id:
            pass
        return answer["result"]

    def close(self) -> None:
        """Do nothing: the pipes end with the server."""

    def _send(self, message: dict[str, Any]) -> None:
        self._in.write(json.dumps(message).encode() + b"\n")
        self._in.flush()


class _Http:
    """A client over HTTP."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stderr is not None
        line = next(line for line in server.stderr if b"http://" in line).decode()
        self._http = http.client.HTTPConnection(line.partition("http://")[2].partition("/")[0])
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        _, self._session = self._post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": _INITIALIZE})
        if self._session is not None:
            self._headers["Mcp-Session-Id"] = self._session
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request."""
        body, _ = self._post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return json.loads(body[body.index(b"{") :].splitlines()[0])["result"]

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def _post(self, message: dict[str, Any]) -> tuple[bytes, str | None]:
        self._http.request("POST", "/mcp", json.dumps(message), self._headers)
        answer = self._http.getresponse()
        return answer.read(), answer.getheader("Mcp-Session-Id")


_INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "trace", "version": "1"}}


class _Profile:
    """Records the calls of a server, between two lines on a pipe."""

    def __init__(self) -> None:
        self._on = False
        self._files: dict[str, None] = {}
        self._switches = 0
        self._deepest = 0
        self._threads = threading.local()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if not self._on or event not in ("call", "return"):
            return
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            return
        mine = self._threads.__dict__
        mine["depth"] = max(0, mine.get("depth", 0) + (1 if event == "call" else -1))
        if event == "call":
            self._files[file.removeprefix(_PACKAGE)] = None
            self._deepest = max(self._deepest, mine["depth"])
            self._switches += file != mine.get("last")
            mine["last"] = file

    def follow(self, commands: int, results: int) -> None:
        """Start at a line, stop at the next, and write the result."""
        os.read(commands, 1)
        self._on = True
        os.write(results, b"\n")
        os.read(commands, 1)
        self._on = False
        os.write(results, json.dumps([list(self._files), self._switches, self._deepest]).encode() + b"\n")


def _serve(commands: int, results: int, flags: list[str]) -> None:
    profile = _Profile()
    threading.Thread(target=profile.follow, args=(commands, results), daemon=True).start()
    threading.setprofile(profile)
    sys.setprofile(profile)
    from polymnia.cli import main

    sys.argv = ["polymnia", *flags]
    sys.exit(main())


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1].isdigit():
        _serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    for name in sys.argv[1:] or CALLS:
        found = trace(name)
        print(f"{name}: {len(found.files)} files, {found.switches} switches, depth {found.depth}")
        for path in found.files:
            print("   ", path)
