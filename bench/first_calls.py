"""``python -m bench.first_calls``: internal errors of fresh servers and of crowded ones.

Fresh servers get several calls at one moment as their first ones, over stdio and HTTP, for each embedder that can be
had. The calls are chosen so that every two operations, and every one and itself, meet; with ``--pairs`` each pair
has a server of its own, for the given share of all pairs. Then 50 clients call every operation of one server. The
figure is how many calls ended in an internal error, got no answer, or left a server that cannot search: it has to
be 0. Run it in an environment with every extra (``make test-extras`` makes one) to have all embedders.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import every_call  # noqa: E402 - the table of operations is the tests'
from bench.machine import facts  # noqa: E402
from every_call import TRANSPORTS, Outcome, Seed  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "first_calls.json"
LIBRARIES = ("numpy", "onnxruntime", "PyJWT", "tokenizers")


def main() -> int:
    """Run, print and keep the figure; answers 0 when it is 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_calls", description=__doc__)
    parser.add_argument("--embedder", action="append", help="only these (default: all that can be had)")
    parser.add_argument("--transport", action="append", choices=TRANSPORTS, help="only these")
    parser.add_argument("--pairs", type=float, default=0.0, metavar="SHARE", help="pairs alone: 1 for all of them")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    runs: list[dict[str, Any]] = []
    machine = {name: value for name, value in facts(".").items() if name not in ("Node", "reference")}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for embedder in given.embedder or every_call.embedders():
            seed = every_call.seeded(folder / f"seed-{embedder}", embedder)
            for transport in given.transport or TRANSPORTS:
                together = every_call.groups(TRANSPORTS[transport])
                pairs = every_call.pairs()
                drawn = random.Random(13).sample(pairs, round(len(pairs) * given.pairs))
                for what, chosen, of in (("groups", together, len(together)), ("pairs", drawn, len(pairs))):
                    if not chosen:
                        continue
                    begun = time.perf_counter()
                    with ThreadPoolExecutor(given.workers) as pool:
                        found = list(pool.map(_fresh(seed, folder, transport, embedder), chosen))
                    runs.append(_told(what, transport, embedder, len(chosen), of, found, begun))
                    _keep(given.results, runs, machine)
                if given.clients:
                    begun = time.perf_counter()
                    crowd = every_call.check_crowd(given.clients, seed, folder, transport=transport, embedder=embedder)
                    runs.append(_told("clients", transport, embedder, given.clients, given.clients, [crowd], begun))
                    _keep(given.results, runs, machine)
    failures = sum(len(run["failures"]) for run in runs)
    print(f"{failures} failures in {sum(run['calls'] for run in runs):,} calls")
    return 1 if failures else 0


def _keep(results: Path, runs: list[dict[str, Any]], machine: dict[str, str]) -> None:
    told = {
        "failures": sum(len(run["failures"]) for run in runs),
        "operations": len(every_call.labels()),
        "libraries": _versions(),
        "machine": machine,
        "runs": runs,
    }
    results.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def _fresh(seed: Seed, folder: Path, transport: str, embedder: str) -> Any:
    return lambda pair: every_call.check_together(pair, seed, folder, transport=transport, embedder=embedder)


def _told(
    what: str, transport: str, embedder: str, count: int, of: int, found: list[Outcome], begun: float
) -> dict[str, Any]:
    total = Outcome()
    for one in found:
        total.add(one)
    seconds = time.perf_counter() - begun
    counted = f"{count} of {of} {what}: {total.calls:,} calls, {len(total.failures)} failures, {seconds:.0f} s"
    print(f"{transport:5} {embedder:5} {counted}", flush=True)
    return {
        "what": what, "transport": transport, "embedder": embedder, "count": count, "of": of, "calls": total.calls,
        "failures": total.failures, "seconds": round(seconds, 1),
    }  # fmt: skip


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


if __name__ == "__main__":
    sys.exit(main())
