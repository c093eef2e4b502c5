"""A newline JSON-RPC client over the pipes of one server process; no SDK, the same cost for both sides."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Answer", "GoneError", "Server", "request"]

PROTOCOL = "2025-06-18"
PATIENCE = 120.0
CHUNK = 1 << 20


class GoneError(Exception):
    """The server ended, or gave no answer in the time a client would wait."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it came over the pipe, and the time from the first byte out to the last byte in."""

    line: bytes
    seconds: float

    @property
    def message(self) -> dict[str, Any]:
        """The whole JSON-RPC message."""
        return dict(json.loads(self.line))

    @property
    def failed(self) -> bool:
        """Whether the user of the tool would see an error."""
        message = self.message
        return "error" in message or bool(message["result"].get("isError"))

    @property
    def structured(self) -> dict[str, Any]:
        """A tool's answer: its structured content, or the text where that is all there is."""
        message = self.message
        if "error" in message or message["result"].get("isError"):
            raise RuntimeError(f"the server refused: {self.line[:400]!r}")
        result = message["result"]
        return dict(result.get("structuredContent") or json.loads(result["content"][0]["text"]))


def request(number: int, method: str, params: Mapping[str, Any] | None = None) -> bytes:
    """One request as a line of bytes."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Server:
    """A server process and the two pipes that lead to it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.spawned = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin.fileno()
        self.out = self._process.stdout.fileno()
        self._ready = select.poll()
        self._ready.register(self.out, select.POLLIN)
        self._chunks: list[bytes] = []
        self._lines: list[bytes] = []
        self._number = 0

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def number(self) -> int:
        """A request id that this connection has not used."""
        self._number += 1
        return self._number

    def write(self, line: bytes) -> None:
        """Send a line. Raises :class:`GoneError` when nobody reads any more."""
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._in, view) :]
        except BrokenPipeError:
            raise GoneError("the server closed its input") from None

    def line(self, patience: float = PATIENCE) -> bytes:
        """The next line the server wrote."""
        while not self._lines:
            if not self._ready.poll(patience * 1000):
                raise GoneError(f"no answer in {patience:.0f} s")
            self.absorb()
        return self._lines.pop(0)

    def absorb(self) -> None:
        """Take what the pipe holds right now. Raises :class:`GoneError` at its end."""
        chunk = os.read(self.out, CHUNK)
        if not chunk:
            raise GoneError("the server ended")
        if b"\n" not in chunk:
            self._chunks.append(chunk)
            return
        *whole, rest = (b"".join(self._chunks) + chunk).split(b"\n")
        self._chunks = [rest] if rest else []
        self._lines.extend(line for line in whole if line.strip())

    def taken(self) -> list[bytes]:
        """Every whole line already absorbed."""
        lines, self._lines = self._lines, []
        return lines

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Send one request and wait for its answer; notifications on the way are passed over."""
        number = self.number()
        line = request(number, method, params)
        begun = time.perf_counter()
        self.write(line)
        while True:
            received = self.line()
            ended = time.perf_counter()
            # The clock has stopped before the line is parsed: that work is the reader's, not the server's.
            if json.loads(received).get("id") == number:
                return Answer(received, ended - begun)

    def hello(self) -> None:
        """The handshake."""
        self.ask(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        )
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def expect(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool that must succeed; answers its structured content."""
        return self.call(tool, arguments).structured

    def kill(self) -> list[bytes]:
        """End the process with SIGKILL; answers the lines it had written and a client would still read."""
        self._process.send_signal(signal.SIGKILL)
        try:
            while True:
                self.absorb()
        except GoneError:
            pass
        self._let_go()
        return self.taken()

    def close(self) -> None:
        """Close the input as a client does and wait for the end."""
        assert self._process.stdin is not None
        self._process.stdin.close()  # and not its number alone, which another thread may have by the time it is let go
        self._process.stdin = None
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._let_go()

    def _let_go(self) -> None:
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self.close()
