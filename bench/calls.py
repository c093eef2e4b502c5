"""What one call costs in a small graph, where the protocol and not the data is the work."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from bench import probe
from bench.client import Server
from bench.probe import spread
from bench.result import Result, Table, at_most, ratio
from bench.sides import OURS, THEIRS, Polymnia, Side
from bench.stage import Stage

__all__ = ["run"]

TOOLS = {"open_nodes": 0.2, "search_nodes": 0.2, "add_observations": 0.35}  # and the share of the reference to reach
FILE = "Polymnia --file"
FIRST = 20
Samples = dict[tuple[str, str], list[float]]
ENTITIES = [
    (
        f"service-{number}",
        "service",
        [f"runs on port {8000 + number}", "written in Python", f"owned by team {number % 3}"],
    )
    for number in range(10)
]


def run(stage: Stage) -> Result:
    """Blocks of sequential calls, the sides in turn; what a block adds is removed again outside the clock."""
    rounds, block, warm = (6, 40, 800) if stage.quick else (30, 40, 1200)
    ours, theirs = stage.empty_pair()
    file = stage.place("memory.jsonl")
    sides: list[Side] = [
        ours,
        theirs,
        Polymnia(os.path.join(os.path.dirname(file), "store.db"), file=file, name=FILE),
    ]
    cpu: Samples = defaultdict(list)
    wall: Samples = defaultdict(list)
    servers = {side.name: side.start() for side in sides}
    try:
        for server in servers.values():
            _fill(server)
            for tool in TOOLS:
                for _ in range(0, warm, block):
                    _block(server, tool, block)
        for turn in range(rounds):
            for tool in TOOLS:
                for name in list(servers) if turn % 2 else reversed(list(servers)):
                    computed, waited = _block(servers[name], tool, block)
                    cpu[tool, name].append(computed)
                    wall[tool, name].extend(waited)
    finally:
        for server in servers.values():
            server.close()
    fresh: Samples = defaultdict(list)
    for _ in range(2 if stage.quick else 7):
        for side in stage.empty_pair():
            with side.start() as server:
                _fill(server)
                for tool in TOOLS:
                    fresh[tool, side.name].append(_block(server, tool, FIRST)[0])
    return _result(cpu, wall, fresh, rounds, block)


def _fill(server: Server) -> None:
    server.hello()
    entities = [{"name": n, "entityType": t, "observations": o} for n, t, o in ENTITIES]
    server.expect("create_entities", {"entities": entities})
    relations = [
        {"from": f"service-{a}", "to": f"service-{(a * 3 + 1) % 10}", "relationType": "calls"} for a in range(10)
    ]
    server.expect("create_relations", {"relations": relations})


def _arguments(tool: str, number: int) -> dict[str, Any]:
    name = f"service-{number % 10}"
    if tool == "open_nodes":
        return {"names": [name]}
    if tool == "search_nodes":
        return {"query": f"team {number % 3}"}
    return {"observations": [{"entityName": name, "contents": [f"deployed build {number} without an incident"]}]}


def _block(server: Server, tool: str, size: int) -> tuple[float, list[float]]:
    """CPU seconds a call and the wall-clock of each call."""
    arguments = [_arguments(tool, number) for number in range(size)]
    probe.settle(server.pid)
    before = probe.cpu_seconds(server.pid)
    answers = [server.call(tool, given) for given in arguments]
    probe.settle(server.pid)
    computed = (probe.cpu_seconds(server.pid) - before) / size
    if any(answer.failed for answer in answers):
        raise RuntimeError(f"{tool} failed while it was measured")
    if tool == "add_observations":
        for deletion in _deletions(size):
            server.call("delete_observations", {"deletions": deletion})
    return computed, [answer.seconds for answer in answers]


def _deletions(size: int) -> Iterator[list[dict[str, Any]]]:
    yield [
        {"entityName": item["entityName"], "observations": item["contents"]}
        for number in range(size)
        for item in _arguments("add_observations", number)["observations"]
    ]


def _result(
    cpu: Samples,
    wall: Samples,
    fresh: Samples,
    rounds: int,
    block: int,
) -> Result:
    shares, costs, waits = {}, [], []
    for tool in TOOLS:
        shares[tool] = spread(cpu[tool, OURS]).p50 / spread(cpu[tool, THEIRS]).p50
        rounded = {
            side: f"{spread(cpu[tool, side]).p50 * 1e6:.0f} ({min(cpu[tool, side]) * 1e6:.0f})"
            for side in (OURS, THEIRS, FILE)
        }
        costs.append([tool, rounded[OURS], rounded[THEIRS], ratio(shares[tool]), rounded[FILE]])
        spreads = {side: spread(wall[tool, side]) for side in (OURS, THEIRS, FILE)}
        cells = {side: f"{s.p50 * 1e6:.0f} ({s.p95 * 1e6:.0f})" for side, s in spreads.items()}
        share = spreads[OURS].p50 / spreads[THEIRS].p50
        waits.append([tool, cells[OURS], cells[THEIRS], ratio(share), cells[FILE]])
    columns = ["tool", OURS, THEIRS, "ratio", FILE]
    begun = []
    for tool in TOOLS:
        ours, theirs = (spread(fresh[tool, side]).p50 for side in (OURS, THEIRS))
        begun.append([tool, f"{ours * 1e6:.0f}", f"{theirs * 1e6:.0f}", ratio(ours / theirs)])
    return Result(
        "calls",
        "One call at 10 entities",
        f"{rounds} rounds of {block} sequential calls a tool and side after a warm-up, the sides in turn. "
        "CPU is that of the server process, all threads, read once it has become idle again.",
        verdicts=[at_most(f"CPU of {tool} at 10 entities", shares[tool], share) for tool, share in TOOLS.items()],
        tables=[
            Table("Server CPU a call, µs: median (lowest) of the rounds", columns, costs),
            Table(
                f"The same over the first {FIRST} calls of a new process, µs",
                columns[:4],
                begun,
                "No target: what a short session meets, before the reference's code is compiled and "
                "Polymnia's statements are prepared.",
            ),
            Table(
                "Wall-clock a call, µs: p50 (p95)",
                columns,
                waits,
                "Polymnia answers a write after it has reached the disk (fsync); the reference answers "
                "after a rename without fsync, so that a power failure can take an acknowledged write. "
                "`Polymnia --file` keeps a JSON Lines file as the visible truth besides: no target, shown "
                "for those who switch and keep their file.",
            ),
        ],
        numbers={
            "cpu_ratio": shares,
            "cpu": {f"{t}/{s}": values for (t, s), values in cpu.items()},
            "wall": {f"{t}/{s}": asdict(spread(values)) for (t, s), values in wall.items()},
        },
    )
