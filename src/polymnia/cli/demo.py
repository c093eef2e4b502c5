"""A short visible tour: a real server process, a temporary store, four things an agent does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from typing import IO, Any

import msgspec

from polymnia.cli.console import dim, green, strong
from polymnia.models import JsonObject

_ENTITIES = [
    {
        "name": "authentication-strategy",
        "entityType": "decision",
        "observations": ["We use JWT tokens", "Access tokens expire after 1 hour", "Decided on 2026-03-02"],
    },
    {"name": "user-service", "entityType": "component", "observations": ["FastAPI service", "인증은 JWT로 처리한다"]},
]
_RELATION = {"from": "user-service", "to": "authentication-strategy", "relationType": "implements"}


class _Client:
    """A client as small as can be: one line out, one line back."""

    def __init__(self, to: IO[bytes], back: IO[bytes]) -> None:
        self._to = to
        self._back = back
        self._id = 0

    def ask(self, method: str, params: JsonObject) -> Any:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._to.write(msgspec.json.encode(message) + b"\n")
        self._to.flush()
        return msgspec.json.decode(self._back.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        print(f"\n{strong(tool)} {dim(msgspec.json.encode(arguments).decode())}")
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        print(green("  " + result["content"][0]["text"].replace("\n", "\n  ")))
        return result


def demo(arguments: Namespace, chosen: object) -> int:
    """Store, relate, search, show, and take one step back, over a real stdio server."""
    with tempfile.TemporaryDirectory(prefix="polymnia-demo-") as folder:
        store = os.path.join(folder, "memory.db")
        command = [sys.executable, "-m", "polymnia", "stdio", "--dialect", "strict", "--store", store]
        print(f"Starting {dim('polymnia stdio --dialect strict')} on a temporary store.")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            if server.stdin is None or server.stdout is None:
                return 1
            client = _Client(server.stdin, server.stdout)
            about = {"protocolVersion": "2025-11-25", "capabilities": {}}
            hello = client.ask("initialize", {**about, "clientInfo": {"name": "demo", "version": "1"}})
            print(f"Connected to {hello['serverInfo']['title']} {hello['serverInfo']['version']}.")
            client.call("create_entities", entities=_ENTITIES)
            client.call("create_relations", relations=[_RELATION])
            client.call("search_nodes", query="which tokens expire after an hour")
            client.call("search_nodes", query="인증")
            client.call("open_nodes", names=["user-service"])
            client.call("delete_entities", entityNames=["authentication-strategy"])
            server.stdin.close()
            server.wait()
        print(f"\n{strong('polymnia undo')}")
        subprocess.run([sys.executable, "-m", "polymnia", "undo", "--store", store], check=True)
        print(f"\n{strong('polymnia history authentication-strategy')}")
        subprocess.run(
            [sys.executable, "-m", "polymnia", "history", "authentication-strategy", "--store", store], check=True
        )
    print("\nThat was it. README.md shows how to give this memory to your AI client.")
    return 0
