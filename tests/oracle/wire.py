"""A JSON-RPC connection over lines to any server process: ours or the reference."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import forked

__all__ = ["Wire"]

Message = dict[str, Any]

# Far above anything a healthy server needs: a server that is silent this long fails the test.
_PATIENCE = 30.0


class Wire:
    """One server process, shaken hands with, and its standard streams."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._process = forked.start(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._rest = b""
        self._last = 0
        self.heard: list[Message] = []
        try:
            client = {"name": "oracle", "version": "1"}
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
            self.request("initialize", hello)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise

    def request(self, method: str, params: Message | None = None) -> Message:
        """Send a request and give back the whole answer, letting notifications pass by."""
        self._last += 1
        message: Message = {"jsonrpc": "2.0", "id": self._last, "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)
        while True:
            answer = self.listen()
            if answer.get("id") == self._last:
                return answer

    def call(self, tool: str, arguments: Any) -> Message:
        """Call a tool and give back the whole answer."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def listen(self) -> Message:
        """Wait for whatever the server says next. Notifications are also kept in ``heard``."""
        message: Message = json.loads(self._line())
        if "method" in message:
            self.heard.append(message)
        return message

    def close(self) -> None:
        """End the server the way a client does: by closing its input."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
            self._process.wait(_PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()

    def _send(self, message: Message) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([pipe], [], [], _PATIENCE)[0]:
                raise TimeoutError(f"the server said nothing for {_PATIENCE:.0f} seconds")
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                raise EOFError(f"the server ended (code {self._process.wait()})")
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        return line
