"""``python -m bench.clients.typescript``: a trivial call of our client and of the SDK's, to the same server."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from bench import peer, report
from bench.machine import facts
from bench.result import Result, Table, Verdict
from bench.sides import polymnia, surroundings

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "clients")
CLIENT = os.path.join(peer.ROOT, "clients", "typescript")
SCRIPT = os.path.join(peer.ROOT, "bench", "clients", "typescript")
CALLS, ROUNDS = 300, 15
_NAMED = {"polymnia": "ours", "sdk": "SDK", "ws": "WebSocket", "http": "HTTP"}


def main(arguments: list[str] | None = None) -> int:
    """Measure; answers 0 when no target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.clients.typescript", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="clients-", dir=CACHE)
    try:
        machine = facts(folder)
        for place in (CLIENT, SCRIPT):
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=place, check=True)
        subprocess.run(["npm", "run", "build"], cwd=CLIENT, check=True)
        begun = time.perf_counter()
        result = _read(_measured(given.rounds))
        took = time.perf_counter() - begun
        kept = report.save(result, given.results, "full", took, "python -m bench.clients.typescript", machine)
        print(report.show(kept))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if any(verdict.met is False for verdict in result.verdicts) else 0


def _measured(rounds: int) -> dict[str, Any]:
    command = ["node", "bench.mjs", "--calls", str(CALLS), "--rounds", str(rounds)]
    environment = surroundings(POLYMNIA=shlex.join(polymnia()), OMP_NUM_THREADS="1")
    done = subprocess.run(command, cwd=SCRIPT, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _read(found: dict[str, Any]) -> Result:
    sides = {(one["client"], one["transport"]): one for one in found["sides"]}
    verdicts = []
    for transport in ("ws", "http"):
        pairs = list(
            zip(sides["polymnia", transport]["rounds"], sides["sdk", transport]["rounds"], strict=True)
        )  # of the same moment, round by round
        for place, what in ((1, "p50 of a call"), (0, "CPU of the client of a call")):
            share = statistics.median(mine[place] / their[place] for mine, their in pairs)
            target = f"{what} over {_NAMED[transport]}: not more than that of the SDK's client"
            verdicts.append(Verdict(target, f"{share:.2f} of it", share <= 1.0))
    rows = [
        [f"{_NAMED[one['client']]}, {_NAMED[one['transport']]}"]
        + [f"{one[key]:,}" for key in ("cpu_us", "p50_us", "p95_us")]
        for one in found["sides"]
    ]
    summary = (
        f"`open_nodes` of one entity, one call after another, to one server: rounds of {CALLS} calls of each client in "
        f"turn ({found['calls']:,} calls each) after three to warm up, each client in a process of its own; shares are "
        f"taken round by round. The SDK is `@modelcontextprotocol/sdk` {found['sdk']} on {found['runtime']}; its "
        "WebSocket is that of the package `ws` where Node has none, as ours."
    )
    table = Table("A trivial call", ["client", "CPU µs", "p50 µs", "p95 µs"], rows)
    return Result(
        "typescript", "What a call costs the TypeScript client", summary, verdicts, [table], {"sides": found["sides"]}
    )


if __name__ == "__main__":
    sys.exit(main())
