"""A request from its arrival to its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polymnia import app
from polymnia.transports.rpc import Connection, Request


class Eager:
    """A client that uses the id of a call again in the very moment it hears of it."""

    def __init__(self, again: bytes, times: int) -> None:
        self.connection: Connection | None = None
        self.heard: list[dict[str, Any]] = []
        self._again = again
        self._left = times

    def send(self, data: bytes, error: object = None) -> None:
        self.heard.append(json.loads(data))
        if self._left and self.connection is not None:
            self._left -= 1
            self.connection.receive(self._again)

    def run(self, call: Request) -> None:
        call.run()

    def log(self, level: str, text: str) -> None:
        raise AssertionError(text)


@pytest.mark.parametrize("tool", ["no such tool", "read_graph"])
def test_an_id_is_free_when_its_answer_or_its_error_arrives(tool: str, tmp_path: Any) -> None:
    chosen = app.settings({"dialect": "all", "store": str(tmp_path / "memory.db"), "embedder": "none"}, {})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    client = Eager(json.dumps(call).encode(), 3)
    client.connection = Connection(app.server(chosen, app.open_memory(chosen, "nobody")), client)
    client.connection.receive(json.dumps(call).encode())
    assert len(client.heard) == 4
    assert client.heard == client.heard[:1] * 4
    assert ("error" in client.heard[0]) == (tool == "no such tool")
