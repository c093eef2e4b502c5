"""How long a client waits for a new server, and how much memory the waiting leaves resident."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import replace

from bench import probe
from bench.probe import spread
from bench.result import Result, Table, at_most, ratio
from bench.sides import OURS, THEIRS, Side
from bench.stage import Stage

__all__ = ["run"]

SIZE = 10
EXISTING = "a store that exists"
FIRST = "no store yet"
OTHERS = ("native", "all")
"""Our other dialects that are measured, beside the one that is the same as the reference."""


def run(stage: Stage) -> Result:
    """Spawn, handshake, ``tools/list``; the sides take turns."""
    rounds = 6 if stage.quick else 25
    samples: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    ours, reference = stage.pair(SIZE)
    others = [replace(ours, dialect=dialect, name=dialect) for dialect in OTHERS]
    for turn in range(-2, rounds):
        for case in (EXISTING, FIRST):
            sides = [ours, reference, *others] if case == EXISTING else list(stage.empty_pair())
            for side in sides if turn % 2 else reversed(sides):
                name = stage.graph.entities[0][0] if case == EXISTING and side not in others else None
                sample = _start(side, name)
                if turn >= 0:
                    samples[case, side.name].append(sample)
    return _result(samples, rounds)


def _start(side: Side, name: str | None) -> dict[str, float]:
    with side.start() as server:
        server.hello()
        tools = server.ask("tools/list")
        waited = time.perf_counter() - server.spawned
        listed = len(tools.message["result"]["tools"])
        if listed != 9 and side.name not in OTHERS:
            raise RuntimeError(f"{side.name} lists {listed} tools, not nine")
        probe.settle(server.pid)
        computed = probe.cpu_seconds(server.pid)
        rss, pss = probe.memory(server.pid)
        if name is not None:
            server.expect("open_nodes", {"names": [name]})
            server.expect("search_nodes", {"query": name})
            probe.settle(server.pid)
        used_rss, used_pss = probe.memory(server.pid)
    return {
        "wait": waited,
        "cpu": computed,
        "rss": rss,
        "pss": pss,
        "used_rss": used_rss,
        "used_pss": used_pss,
    }


def _result(samples: dict[tuple[str, str], list[dict[str, float]]], rounds: int) -> Result:
    def middle(case: str, side: str, what: str) -> float:
        return spread([sample[what] for sample in samples[case, side]]).p50

    def tail(case: str, side: str, what: str) -> float:
        return spread([sample[what] for sample in samples[case, side]]).p95

    def share(case: str, what: str) -> float:
        return middle(case, OURS, what) / middle(case, THEIRS, what)

    times, sizes, dialects = [], [], []
    for case in (EXISTING, FIRST):
        for what, label in (("wait", "wall-clock"), ("cpu", "CPU")):
            row = [case, label]
            for side in (OURS, THEIRS):
                row.append(f"{middle(case, side, what) * 1e3:.0f} ({tail(case, side, what) * 1e3:.0f})")
            times.append([*row, ratio(share(case, what))])
    for dialect in OTHERS:
        row = [
            f"{middle(EXISTING, dialect, what) * 1e3:.0f} ({tail(EXISTING, dialect, what) * 1e3:.0f})"
            for what in ("wait", "cpu")
        ]
        dialects.append([dialect, *row, f"{middle(EXISTING, dialect, 'rss') / 1024:.1f}"])
    for what, label in (
        ("rss", "VmRSS after tools/list"),
        ("pss", "PSS after tools/list"),
        ("used_rss", "VmRSS after a first read and search"),
        ("used_pss", "PSS after a first read and search"),
    ):
        row = [label, *(f"{middle(EXISTING, side, what) / 1024:.1f}" for side in (OURS, THEIRS))]
        sizes.append([*row, ratio(share(EXISTING, what))])
    return Result(
        "cold",
        "Cold start and resident memory",
        f"From spawning the process to the answer of `tools/list`, {rounds} rounds, the sides in turn. "
        "The reference is started as `node dist/index.js`, without npx in front of it.",
        verdicts=[
            at_most("Cold start, a store that exists", share(EXISTING, "wait"), 0.3),
            at_most("Cold start, no store yet", share(FIRST, "wait"), 0.3),
            at_most("Resident memory (VmRSS) after it", share(EXISTING, "rss"), 0.25),
        ],
        tables=[
            Table("Time to `tools/list`, ms: median (p95)", ["start on", "", OURS, THEIRS, "ratio"], times),
            Table(
                "Our other dialects, a store that exists",
                ["dialect", "wall-clock, ms: median (p95)", "CPU, ms", "VmRSS, MiB"],
                dialects,
            ),
            Table("Memory, MiB (median)", ["", OURS, THEIRS, "ratio"], sizes),
        ],
        numbers={
            "wait_ratio": share(EXISTING, "wait"),
            "rss_ratio": share(EXISTING, "rss"),
            "samples": {f"{case}/{side}": rows for (case, side), rows in samples.items()},
        },
    )
