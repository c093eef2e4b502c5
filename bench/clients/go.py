"""``python -m bench.clients.go``: a trivial call of our Go client and of the official SDK's, to the same server."""

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
from bench.sides import polymnia

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "clients")
MODULE = os.path.join(peer.ROOT, "bench", "clients", "go")
ROUNDS = 15


def main(arguments: list[str] | None = None) -> int:
    """Measure; returns 0 when no target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.clients.go", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="clients-", dir=CACHE)
    try:
        machine = facts(folder)
        program = os.path.join(folder, "measure")
        subprocess.run(["go", "build", "-o", program, "."], cwd=MODULE, check=True)
        begun = time.perf_counter()
        environment = {**os.environ, "POLYMNIA": shlex.join(polymnia())}
        command = [program, "-rounds", str(given.rounds)]
        told = subprocess.run(command, cwd=MODULE, env=environment, stdout=subprocess.PIPE, check=True).stdout
        took = time.perf_counter() - begun
        result = _result(json.loads(told), given.rounds)
        kept = report.save(result, given.results, "full", took, "python -m bench.clients.go", machine)
        print(report.show(kept))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if any(verdict.met is False for verdict in result.verdicts) else 0


def _result(found: dict[str, Any], rounds: int) -> Result:
    ours, _, sdk = found["sides"]
    verdicts = []
    for key, what in (("p50_us", "p50"), ("cpu_us", "CPU of the client")):
        pairs = zip(ours["rounds"], sdk["rounds"], strict=True)
        share = statistics.median(mine[key] / theirs[key] for mine, theirs in pairs)
        target = f"{what} of a call (ours, WebSocket): not more than the SDK's client"
        verdicts.append(Verdict(target, f"{share:.2f} of it", share <= 1))
    summary = (
        f"`open_nodes` of one entity, one call after another, to one server: {rounds} rounds of {found['calls']} calls "
        "of each client in turn after as many; medians of the rounds, shares are taken round by round. "
        f"{found['runtime']}; the SDK is `github.com/modelcontextprotocol/go-sdk` {found['sdk']}, whose client has no "
        "WebSocket and speaks Streamable HTTP; ours over HTTP is measured beside it."
    )
    rows = [[f"{one['client']}, {one['transport']}", f"{one['p50_us']:.0f}", f"{one['cpu_us']:.0f}"]
            for one in found["sides"]]  # fmt: skip
    table = Table("A trivial call", ["client", "p50 µs", "CPU µs"], rows)
    return Result("go", "What a call costs the Go client", summary, verdicts, [table], found)


if __name__ == "__main__":
    sys.exit(main())
