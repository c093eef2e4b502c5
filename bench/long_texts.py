"""Long texts: what a call on one takes, and how long other calls wait meanwhile.

    python -m bench.long_texts [--embedder use]

One server over HTTP, all dialects. Each line is a call that is given, or finds, a long text; beside it the longest time
that a read and a write of something small, each by another client, took while it was under way.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

_GIVE_UP = 300.0
_UNLIMITED = [f"--rate-limit{of}={10**7}" for of in ("", "-session", "-heavy")]
_SENTENCE = (
    "On day {n} the quick brown fox met Dr. Ada Smith of team {n} at http://example.org/{n} and left by 2024-03-01. "
)
Message = dict[str, Any]


class _Client:
    """One client with a session of its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._session: dict[str, str] = {}
        client = {"name": "bench", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self._ask("initialize", given)

    def _ask(self, method: str, params: Message) -> Message:
        made = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_GIVE_UP)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        try:
            made.request("POST", "/mcp", body, headers | self._session)
            answer = made.getresponse()
            said = answer.read().decode()
        finally:
            made.close()
        if session := answer.getheader("mcp-session-id"):
            self._session = {"Mcp-Session-Id": session}
        lines = [line[5:] for line in said.splitlines() if line.startswith("data:")]
        told: Message = json.loads(lines[-1] if lines else said)
        return told

    def call(self, tool: str, **arguments: Any) -> Message:
        return self._ask("tools/call", {"name": tool, "arguments": arguments})


def _waits(done: threading.Event, calls: Callable[[], object], longest: list[float]) -> None:
    while not done.is_set():
        start = time.perf_counter()
        calls()
        longest[0] = max(longest[0], time.perf_counter() - start)


def _measured(clients: list[_Client], name: str, tool: str, arguments: Message) -> str:
    busy, reader, writer = clients
    done, reads, writes = threading.Event(), [0.0], [0.0]

    def write() -> None:
        one = {"name": f"w{time.perf_counter()}", "entityType": "t", "observations": ["x"]}
        writer.call("create_entities", entities=[one])

    beside = [
        threading.Thread(target=_waits, args=(done, lambda: reader.call("open_nodes", names=["small"]), reads)),
        threading.Thread(target=_waits, args=(done, write, writes)),
    ]
    for one in beside:
        one.start()
    began = time.perf_counter()
    try:
        told = busy.call(tool, **arguments)
        bad = " (error)" if "error" in told or told["result"].get("isError") else ""
        took = f"{time.perf_counter() - began:.1f} s{bad}"
    except TimeoutError:
        took = f"> {_GIVE_UP:.0f} s"
    done.set()
    for one in beside:
        one.join()
    return f"| {name} | {took} | {reads[0]:.2f} s | {writes[0]:.2f} s |"


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--megabytes", type=float, default=5)
    chosen = parser.parse_args()
    long = "".join(_SENTENCE.format(n=n) for n in range(int(chosen.megabytes * 1e6) // len(_SENTENCE)))
    store = {"operation": "store_content", "project_id": "p"}
    print("| call | takes | longest read meanwhile | longest write meanwhile |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        flags = ["--store", f"{folder}/m.db", "--port", str(port), "--embedder", chosen.embedder, *_UNLIMITED]
        server = subprocess.Popen([sys.executable, "-m", "polymnia", "serve", *flags], stderr=subprocess.DEVNULL)
        clients = _clients(port)
        first = {"name": "small", "entityType": "t", "observations": ["A small thing."]}
        clients[0].call("create_entities", entities=[first])
        note = {**store, "content": "A short note about the budget of the team.", "content_type": "text/plain"}
        told = clients[0].call("memory_store", **note)
        uid = json.loads(told["result"]["content"][0]["text"])["content_id"]
        letters = {**store, "content": "a" * 160_000, "content_type": "text/plain"}
        quality = {"operation": "analyze_quality", "project_id": "p", "content_id": uid}
        similar = {"operation": "find_similar_content", "project_id": "p", "content": long}
        check = {"operation": "validate_data_integrity", "project_id": "p", "options": {"fix_issues": True}}
        for name, tool, arguments in (
            ("store 160,000 letters", "memory_store", letters),
            ("analyze_quality of a short item beside them", "memory_analyze", quality),
            (
                f"store {chosen.megabytes:g} MB",
                "memory_store",
                {**store, "content": long, "content_type": "text/plain"},
            ),
            (f"find_similar_content of {chosen.megabytes:g} MB", "memory_retrieve", similar),
            ("search_content", "memory_retrieve", {"operation": "search_content", "project_id": "p", "query": "fox"}),
            ("analyze_quality again", "memory_analyze", quality | {"quality_dimensions": ["clarity", "consistency"]}),
            ("detect_conflicts", "memory_analyze", {"operation": "detect_conflicts", "project_id": "p"}),
            ("generate_insights", "memory_analyze", {"operation": "generate_insights", "project_id": "p"}),
            ("validate_data_integrity with fix_issues", "memory_system", check),
        ):
            print(_measured(clients, name, tool, arguments), flush=True)
        server.terminate()
        server.wait()


def _clients(port: int) -> list[_Client]:
    end = time.monotonic() + 60
    while True:
        try:
            return [_Client(port) for _ in range(3)]
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    main()
