"""``python -m bench.clients.python``: a trivial call of our clients and of the official SDK's, to the same server."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from mcp.client.client import Client

from bench import peer, report
from bench.machine import facts
from bench.network.client import ready
from bench.result import Result, Table, Verdict
from bench.sides import polymnia, surroundings
from polymnia.client import AsyncMCPMemoryClient, MCPMemoryClient

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "clients")
CALLS, WARM, ROUNDS = 200, 200, 15
PLENTY = ["--rate-limit", "999999999", "--rate-limit-session", "999999999", "--rate-limit-heavy", "999999999"]
ENTITY = {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
OURS, SYNC, HTTP, SDK = "ours, WebSocket", "ours without asyncio, WebSocket", "ours, HTTP", "SDK, HTTP"

Call = Callable[[], Awaitable[Any]]


def main(arguments: list[str] | None = None) -> int:
    """Measure; answers 0 when no target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.clients.python", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="clients-", dir=CACHE)
    try:
        machine = facts(folder)
        begun = time.perf_counter()
        with _serving(folder) as port:
            result = asyncio.run(_measure(port, given.rounds))
        took = time.perf_counter() - begun
        kept = report.save(result, given.results, "full", took, "python -m bench.clients.python", machine)
        print(report.show(kept))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if any(verdict.met is False for verdict in result.verdicts) else 0


@contextmanager
def _serving(folder: str) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    store = os.path.join(folder, "memory.db")
    command = [*polymnia(), "serve", "--port", str(port), "--store", store, "--embedder", "none", *PLENTY]
    process = subprocess.Popen(command, env=surroundings(XDG_CONFIG_HOME=folder, OMP_NUM_THREADS="1"), cwd=peer.ROOT)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(60)


async def _measure(port: int, rounds: int) -> Result:
    await ready(port)
    socket_url, http_url = f"ws://127.0.0.1:{port}/ws", f"http://127.0.0.1:{port}/mcp"
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (OURS, SYNC, HTTP, SDK)}
    sync = MCPMemoryClient(socket_url)
    async with (
        AsyncMCPMemoryClient(socket_url) as ours,
        AsyncMCPMemoryClient(http_url) as http,
        Client(http_url, mode="legacy") as sdk,
    ):
        await ours.create_entities([ENTITY])
        sides: dict[str, Call] = {
            OURS: lambda: ours.open_nodes(["Ann"]),
            HTTP: lambda: http.open_nodes(["Ann"]),
            SDK: lambda: sdk.call_tool("open_nodes", {"names": ["Ann"]}),
        }
        for call in sides.values():
            await _called(call, WARM)
        await asyncio.to_thread(_called_sync, sync, WARM)
        for _ in range(rounds):
            for name, call in sides.items():
                found[name].append(await _called(call, CALLS))
            found[SYNC].append(await asyncio.to_thread(_called_sync, sync, CALLS))
    sync.close()
    medians = {name: [statistics.median(one) for one in zip(*rows, strict=True)] for name, rows in found.items()}
    verdicts = []
    for column, what in enumerate(("p50", "CPU of the client")):
        for name in (OURS, SYNC):
            pairs = zip(found[name], found[SDK], strict=True)
            share = statistics.median(mine[column] / theirs[column] for mine, theirs in pairs)
            target = f"{what} of a call ({name}): at most 0.5 of the SDK's client"
            verdicts.append(Verdict(target, f"{share:.2f} of it", share <= 0.5))
    summary = (
        f"`open_nodes` of one entity, one call after another, to one server: {rounds} rounds of {CALLS} calls of each "
        f"client in turn after {WARM}; medians of the rounds, shares too are taken round by round. The SDK is `mcp` "
        f"{version('mcp')}, which has no WebSocket, so its client speaks Streamable HTTP; ours over HTTP stands beside "
        "it."
    )
    rows = [[name, f"{p50:.0f}", f"{cpu:.0f}"] for name, (p50, cpu) in medians.items()]
    table = Table("A trivial call", ["client", "p50 µs", "CPU µs"], rows)
    return Result("python", "What a call costs the Python client", summary, verdicts, [table], {"rounds": found})


async def _called(call: Call, times: int) -> tuple[float, float]:
    """Call so often; answers the p50 and the CPU of one call in microseconds."""
    seconds = []
    before = time.process_time()
    for _ in range(times):
        begun = time.perf_counter()
        answer = await call()
        seconds.append(time.perf_counter() - begun)
    spent = time.process_time() - before
    if "Likes tea" not in str(answer):
        raise RuntimeError(str(answer)[:200])
    return statistics.median(seconds) * 1e6, spent / times * 1e6


def _called_sync(client: MCPMemoryClient, times: int) -> tuple[float, float]:
    seconds = []
    before = time.process_time()
    for _ in range(times):
        begun = time.perf_counter()
        client.open_nodes(["Ann"])
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds) * 1e6, (time.process_time() - before) / times * 1e6


if __name__ == "__main__":
    sys.exit(main())
