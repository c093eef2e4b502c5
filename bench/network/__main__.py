"""``python -m bench.network``: what a call over HTTP costs, many clients at once, a minute of load, and the start."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from bench import peer, probe, report
from bench.machine import facts
from bench.network.client import Client, ready
from bench.result import Result, Table, Verdict
from bench.search.memories import Maker
from bench.sides import polymnia, surroundings

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "network")
CALLS, WARM, ROUNDS = 200, 300, 15
CLIENTS, EACH = 200, 25
MEMORIES, SECONDS, WORKERS = 100_000, 60, 8
SEED = 20_261_115
PLENTY = ["--rate-limit", "999999999", "--rate-limit-session", "999999999", "--rate-limit-heavy", "999999999"]


def main(arguments: list[str] | None = None) -> int:
    """Measure; answers 0 when no target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.network", description=__doc__)
    parser.add_argument("--only", action="append", choices=("calls", "clients", "load", "start"))
    parser.add_argument("--store", help="a store with many memories for the load (one is filled when none is given)")
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="network-", dir=CACHE)
    missed = 0
    try:
        machine = facts(folder)
        for name in given.only or ("calls", "clients", "start", "load"):
            begun = time.perf_counter()
            result = asyncio.run(_MEASURES[name](folder, given.store))
            took = time.perf_counter() - begun
            kept = report.save(result, given.results, "full", took, f"python -m bench.network --only {name}", machine)
            print(report.show(kept), flush=True)
            missed += sum(verdict.met is False for verdict in result.verdicts)
        intro = "The network, beside the official Python SDK's server on the same machine in the same run."
        found = report.load(given.results, ("calls", "clients", "start", "load"))
        report.write_page(given.results, found, "The network, measured", intro, plot=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


@contextmanager
def _serving(command: list[str], folder: str) -> Iterator[tuple[int, int]]:
    """A server of a command that is given its port: (port, pid)."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = surroundings(XDG_CONFIG_HOME=folder, OMP_NUM_THREADS="1")
    process = subprocess.Popen([part.replace("PORT", str(port)) for part in command], env=environment, cwd=peer.ROOT)
    try:
        asyncio.get_running_loop()
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)


def _ours(store: str, *more: str) -> list[str]:
    return [*polymnia(), "serve", "--port", "PORT", "--store", store, *PLENTY, *more]


def _theirs(form: str) -> list[str]:
    return [sys.executable, "-m", "bench.network.peer", "PORT", form]


# ── what a call costs ────────────────────────────────────────────────────────────────────────────────────


async def _calls(folder: str, _: str | None) -> Result:
    store = os.path.join(folder, "calls.db")
    sides = {
        "Polymnia, official dialect": (_ours(store, "--embedder", "none"), "/mcp/official"),
        "SDK, JSON": (_theirs("json"), "/mcp"),
        "SDK, events": (_theirs("sse"), "/mcp"),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    with ExitStack() as stack:
        open_sides: dict[str, tuple[Client, int]] = {}
        for name, (command, path) in sides.items():
            port, pid = stack.enter_context(_serving(command, folder))
            await ready(port)
            client = Client(port, path)
            await client.open()
            stack.callback(client.close)
            await client.hello()
            if name.startswith("Polymnia"):
                entity = {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
                await client.call("create_entities", {"entities": [entity]})
            await _called(client, WARM)
            open_sides[name] = client, pid
        for _round in range(ROUNDS):
            for name, (client, pid) in open_sides.items():
                probe.settle(pid)
                before = probe.cpu_seconds(pid)
                seconds = await _called(client, CALLS)
                probe.settle(pid)
                spent = (probe.cpu_seconds(pid) - before) / CALLS
                found[name].append((spent * 1e6, statistics.median(seconds) * 1e6))
    medians = {
        name: tuple(statistics.median(column) for column in zip(*rows, strict=True)) for name, rows in found.items()
    }
    ours = medians["Polymnia, official dialect"]
    rows = [[name, f"{cpu:.0f}", f"{p50:.0f}"] for name, (cpu, p50) in medians.items()]
    verdicts = []
    for form, about in (
        ("SDK, events", "as it answers by default"),
        ("SDK, JSON", "answering as JSON, which is cheaper"),
    ):
        rival = medians[form]
        pairs = zip(found["Polymnia, official dialect"], found[form], strict=True)
        share = statistics.median(mine[0] / their[0] for mine, their in pairs)  # of the same moment, round by round
        verdicts.append(
            Verdict(f"CPU a call: at most 0.25 of the SDK's server {about}", f"{share:.2f} of it", share <= 0.25)
        )
        text = f"{ours[1]:.0f} and {rival[1]:.0f} µs"
        verdicts.append(Verdict(f"p50 under that of the SDK's server {about}", text, ours[1] < rival[1]))
    summary = (
        f"`open_nodes` of one entity over one open connection to each server, all of them running: {ROUNDS} rounds of "
        f"{CALLS} calls to each in turn after {WARM}, medians of the rounds (shares too are taken round by round). The "
        "SDK's tool reads a dictionary; ours reads the store."
    )
    table = Table("A call", ["server", "CPU µs", "p50 µs"], rows)
    return Result("calls", "What a call over HTTP costs", summary, verdicts, [table], {"rounds": found})


async def _called(client: Client, times: int) -> list[float]:
    """Call so often, and see that each answer is the right one."""
    seconds = []
    for _ in range(times):
        took, status, data = await client.call("open_nodes", {"names": ["Ann"]})
        if status != 200 or b"Likes tea" not in data:
            raise RuntimeError(f"{client.path}: {status} {data[:200]!r}")
        seconds.append(took)
    return seconds


# ── many clients ─────────────────────────────────────────────────────────────────────────────────────────


async def _clients(folder: str, _: str | None) -> Result:
    store = os.path.join(folder, "clients.db")
    with _serving(_ours(store, "--embedder", "none"), folder) as (port, pid):
        await ready(port)
        first = Client(port, "/mcp/official")
        await first.open()
        await first.hello()
        entity = {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
        await first.call("create_entities", {"entities": [entity]})
        clients = [Client(port, "/mcp/official") for _ in range(CLIENTS)]
        for client in clients:
            await client.open()
            await client.hello()
        errors = 0
        seconds: list[float] = []

        async def work(client: Client) -> None:
            nonlocal errors
            for _ in range(EACH):
                took, status, data = await client.call("open_nodes", {"names": ["Ann"]})
                errors += status != 200 or b"Likes tea" not in data
                seconds.append(took)

        begun = time.perf_counter()
        await asyncio.gather(*map(work, clients))
        took = time.perf_counter() - begun
        resident = probe.memory(pid)[0] / 1024
        for client in (first, *clients):
            client.close()
    p50, p99 = statistics.median(seconds) * 1e3, statistics.quantiles(seconds, n=100)[-1] * 1e3
    verdicts = [
        Verdict(f"{CLIENTS} connections at once: no error", f"{errors} errors of {len(seconds):,}", errors == 0),
        Verdict("p99 under 50 times p50", f"{p99 / p50:.1f} times ({p99:.1f} and {p50:.1f} ms)", p99 < 50 * p50),
    ]
    rows = [[str(CLIENTS), f"{len(seconds) / took:,.0f}", f"{p50:.1f}", f"{p99:.1f}", f"{resident:.0f}"]]
    table = Table("Clients at once", ["clients", "calls a second", "p50 ms", "p99 ms", "resident MB"], rows)
    summary = f"{CLIENTS} sessions, each on its own connection, {EACH} calls of each, all at once."
    return Result("clients", "Many clients at once", summary, verdicts, [table])


# ── a minute of load ─────────────────────────────────────────────────────────────────────────────────────


async def _load(folder: str, given: str | None) -> Result:
    store = given or os.path.join(folder, "load.db")
    if not os.path.exists(store):
        filling = [sys.executable, "-m", "bench.analysis.speed", "--worker", store, "fill", str(MEMORIES)]
        subprocess.run(filling, check=True, cwd=peer.ROOT)
    questions = Maker().questions(500)
    with _serving(_ours(store), folder) as (port, pid):
        await ready(port)
        clients = [Client(port, "/mcp/content") for _ in range(WORKERS)]
        for client in clients:
            await client.open()
            await client.hello()
        found = await clients[0].call(
            "memory_retrieve", _asked("search_content", query=questions[0], options={"limit": 50})
        )
        ids = [one["content"]["content_id"] for one in json.loads(found[2])["result"]["structuredContent"]["results"]]
        begun = time.perf_counter()
        seconds: dict[str, list[float]] = {"search_content": [], "get_content": [], "store_content": []}
        errors, early, samples = 0, 0.0, []

        async def work(client: Client, draw: random.Random) -> None:
            nonlocal errors
            while time.perf_counter() - begun < SECONDS:
                chance = draw.random()
                if chance < 0.1:
                    name, tool = "store_content", "memory_store"
                    asked = _asked(name, content=f"{draw.choice(questions)} {draw.random()}", tags=["load"])
                elif chance < 0.4:
                    name, tool = "search_content", "memory_retrieve"
                    asked = _asked(name, query=draw.choice(questions))
                else:
                    name, tool = "get_content", "memory_retrieve"
                    asked = _asked(name, content_id=draw.choice(ids))
                took, status, data = await client.call(tool, asked)
                errors += status != 200 or b'"success":true' not in data
                seconds[name].append(took)

        async def look() -> None:
            nonlocal early
            while (passed := time.perf_counter() - begun) < SECONDS:
                samples.append((passed, probe.memory(pid)[0] / 1024))
                if passed <= 10:
                    early = max(early, samples[-1][1])
                await asyncio.sleep(1)

        await asyncio.gather(look(), *(work(client, random.Random(SEED + n)) for n, client in enumerate(clients)))
        late = max(size for passed, size in samples if passed > 10)
        for client in clients:
            client.close()
    rows = [
        [
            name,
            f"{len(some):,}",
            f"{statistics.median(some) * 1e3:.1f}",
            f"{statistics.quantiles(some, n=100)[-1] * 1e3:.1f}",
        ]
        for name, some in seconds.items()
    ]
    growth = late / early - 1
    calls = sum(map(len, seconds.values()))
    search = statistics.median(seconds["search_content"]) * 1e3
    verdicts = [
        Verdict(f"{SECONDS} s of load: no error", f"{errors} errors of {calls:,}", errors == 0),
        Verdict(f"search of {WORKERS} clients at once: p50 at most 80 ms", f"{search:.0f} ms", search <= 80),
        Verdict(
            "memory grows by at most 5 % after the first 10 s",
            f"{growth:+.1%} ({early:.0f} to {late:.0f} MB)",
            growth <= 0.05,
        ),
    ]
    summary = (
        f"{WORKERS} clients for {SECONDS} s at {MEMORIES:,} memories: 60 % get_content, 30 % search_content, 10 % "
        "store_content."
    )
    table = Table("Calls under load", ["operation", "calls", "p50 ms", "p99 ms"], rows)
    return Result("load", "A minute of load", summary, verdicts, [table], {"resident": samples})


def _asked(operation: str, **more: Any) -> dict[str, Any]:
    return {"operation": operation, "project_id": "default", **more}


# ── the start ────────────────────────────────────────────────────────────────────────────────────────────


async def _start(folder: str, _: str | None) -> Result:
    found = []
    for number in range(10):
        store = os.path.join(folder, f"start-{number}.db")
        begun = time.perf_counter()
        with _serving(_ours(store), folder) as (port, _pid):
            await ready(port)
            client = Client(port)
            await client.open()
            _, status, _ = await client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
            found.append(time.perf_counter() - begun)
            assert status == 200
            client.close()
    median = statistics.median(found)
    verdict = Verdict(
        "start to first answer: at most 0.5 s",
        f"{median:.2f} s (of 10: {min(found):.2f} to {max(found):.2f})",
        median <= 0.5,
    )
    table = Table("The start", ["starts", "median s", "longest s"], [["10", f"{median:.3f}", f"{max(found):.3f}"]])
    return Result(
        "start",
        "From the command to the first answer",
        "A new store each time; `tools/list` of every tool.",
        [verdict],
        [table],
    )


_MEASURES = {"calls": _calls, "clients": _clients, "load": _load, "start": _start}


if __name__ == "__main__":
    sys.exit(main())
