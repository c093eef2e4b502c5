"""How the cost of a call changes with the size of the graph."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from bench.client import Answer, Server
from bench.probe import Spread, spread
from bench.result import Result, Table, Verdict, at_least, ratio
from bench.sides import OURS, THEIRS
from bench.stage import Stage

__all__ = ["run"]

WRITES = ("create_entities", "add_observations")
READS = ("search_nodes", "open_nodes")
BOUNDS = {"create_entities": 50, "add_observations": 50, "search_nodes": 20, "open_nodes": 100}
JUDGED = 10_000
FLAT = 1.5
# Many short rounds: on a shared disk the price of an fsync changes from second to second.
ROUNDS = 24
# Calls of each tool in a round, and how many rounds apart the reference, which takes more than a second
# for a call at 100,000 entities, is asked.
OUR_CALLS = 10
THEIR_CALLS = {10: (5, 1), 1_000: (4, 1), 10_000: (1, 1), 100_000: (1, 6)}


@dataclass(slots=True)
class _Work:
    """What is asked at one size, the same for both sides, and the servers that are asked."""

    size: int
    names: list[str]
    words: list[str]
    servers: dict[str, Server]
    numbers: Counter[tuple[str, str]] = field(default_factory=Counter)

    def next(self, tool: str, side: str) -> float:
        """Make the next call of the tool; answers its wall-clock."""
        number = self.numbers[tool, side]
        self.numbers[tool, side] += 1
        answer = self.servers[side].call(tool, self._arguments(tool, number))
        if answer.failed:
            raise RuntimeError(f"{side}: {tool} failed at {self.size} entities: {answer.line[:300]!r}")
        return answer.seconds

    def warm(self) -> tuple[int, int]:
        """Calls before the first measured ones; answers how many searches were compared, and how many differed."""
        count = 4 if self.size > JUDGED else 30
        for server in self.servers.values():
            server.hello()
            for number in range(count):
                server.call("open_nodes", self._arguments("open_nodes", number))
        different = 0
        for number in range(count):
            arguments = self._arguments("search_nodes", number)
            ours, theirs = (_found(server.call("search_nodes", arguments)) for server in self.servers.values())
            different += ours != theirs
        return count, different

    def _arguments(self, tool: str, number: int) -> dict[str, Any]:
        if tool == "create_entities":
            text = f"noted on visit {number} to the {number * 7} gardens of the town"
            return {"entities": [{"name": f"visit {number}", "entityType": "visit", "observations": [text]}]}
        name = self.names[number % len(self.names)]
        if tool == "add_observations":
            text = f"remark {number} about {name} after a second look"
            return {"observations": [{"entityName": name, "contents": [text]}]}
        return {"query": self.words[number % len(self.words)]} if tool == "search_nodes" else {"names": [name]}


def run(stage: Stage) -> Result:
    """All sizes at once, sizes and sides in turn, so that a busy moment does not look like growth."""
    sizes = [size for size in THEIR_CALLS if not (stage.quick and size > JUDGED)]
    samples: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    works = [_work(stage, size) for size in sizes]
    try:
        compared = [work.warm() for work in works]
        for turn in range(ROUNDS // 2 if stage.quick else ROUNDS):
            for tool in (*READS, *WRITES):
                for work in works:
                    calls, apart = THEIR_CALLS[work.size]
                    counts = {OURS: OUR_CALLS, THEIRS: 0 if turn % apart else calls}
                    for side in (OURS, THEIRS) if turn % 2 else (THEIRS, OURS):
                        for _ in range(counts[side]):
                            samples[work.size, tool, side].append(work.next(tool, side))
    finally:
        for work in works:
            for server in work.servers.values():
                server.close()
    unequal = {"compared": sum(c for c, _ in compared), "different": sum(d for _, d in compared)}
    return _result(sizes, {key: spread(values) for key, values in samples.items()}, unequal, stage)


def _work(stage: Stage, size: int) -> _Work:
    part = stage.graph.first(size)
    draw = random.Random(stage.seed + size)
    names = [name for name, _, _ in draw.sample(part.entities, min(200, size))]
    words = part.queries(60).words() if size >= 1_000 else [o[0].split()[-1] for _, _, o in part.entities]
    return _Work(size, names, words, {side.name: side.start() for side in stage.pair(size)})


def _found(answer: Answer) -> tuple[list[str], int]:
    graph = answer.structured
    return [entity["name"] for entity in graph["entities"]], len(graph["relations"])


def _result(
    sizes: list[int], spreads: dict[tuple[int, str, str], Spread], unequal: dict[str, int], stage: Stage
) -> Result:
    def middle(size: int, tool: str, side: str) -> float:
        return spreads[size, tool, side].p50

    faster = {tool: middle(JUDGED, tool, THEIRS) / middle(JUDGED, tool, OURS) for tool in BOUNDS}
    verdicts = [at_least(f"{tool} at 10,000 entities", faster[tool], bound) for tool, bound in BOUNDS.items()]
    for tool in WRITES:
        grown = middle(sizes[-1], tool, OURS) / middle(sizes[0], tool, OURS)
        verdicts.append(
            Verdict(
                f"{tool} does not grow: at {sizes[-1]:,} entities at most {FLAT:g} times its cost at 10",
                f"{ratio(grown)} times",
                grown <= FLAT,
            )
        )
    rows = []
    for tool in (*WRITES, *READS):
        for size in sizes:
            ours, theirs = (spreads[size, tool, side] for side in (OURS, THEIRS))
            rows.append(
                [
                    tool,
                    f"{size:,}",
                    f"{ours.p50 * 1e3:.2f} ({ours.p95 * 1e3:.2f})",
                    f"{theirs.p50 * 1e3:.2f} ({theirs.p95 * 1e3:.2f})",
                    ratio(theirs.p50 / ours.p50),
                ]
            )
    return Result(
        "growth",
        "The same calls in growing graphs",
        f"Sequential calls, sizes and sides in turn, one entity or one observation a write. Graph: "
        f"{stage.graph.origin}; a size means its first entities and the relations among them. Search words "
        f"are rare, medium, common and frequent in equal parts. {unequal['compared']} searches were compared "
        f"between the sides before any write: {unequal['different']} answers differed.",
        verdicts=verdicts,
        tables=[
            Table(
                "Wall-clock, ms: p50 (p95)",
                ["tool", "entities", OURS, THEIRS, "times faster"],
                rows,
                "Polymnia's writes are on disk (fsync) when they are answered, the reference's are not.",
            )
        ],
        numbers={
            "sizes": sizes,
            "faster": faster,
            "bounds": BOUNDS,
            "p50": {
                f"{tool}/{side}": [middle(s, tool, side) for s in sizes] for tool in BOUNDS for side in (OURS, THEIRS)
            },
            "compared": unequal,
        },
    )
