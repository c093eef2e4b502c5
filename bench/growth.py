"""How the cost of a call changes with the size of the graph."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from bench.client import Answer
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
# Calls a tool: ours, and theirs, whose writes at 100,000 entities take more than a second each.
CALLS = {10: (240, 120), 1_000: (240, 100), 10_000: (240, 32), 100_000: (240, 4)}
ROUNDS = 4


@dataclass(slots=True)
class _Work:
    """What is asked at one size, the same for both sides."""

    size: int
    names: list[str]
    words: list[str]

    def arguments(self, tool: str, number: int) -> dict[str, Any]:
        """The arguments of the numbered call."""
        if tool == "create_entities":
            text = f"noted on visit {number} to the {number * 7} gardens of the town"
            return {"entities": [{"name": f"visit {number}", "entityType": "visit", "observations": [text]}]}
        name = self.names[number % len(self.names)]
        if tool == "add_observations":
            text = f"remark {number} about {name} after a second look"
            return {"observations": [{"entityName": name, "contents": [text]}]}
        return (
            {"query": self.words[number % len(self.words)]} if tool == "search_nodes" else {"names": [name]}
        )


def run(stage: Stage) -> Result:
    """The same calls at every size, the sides in turn."""
    sizes = [size for size in CALLS if not (stage.quick and size > JUDGED)]
    samples: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    unequal = {"searched": 0, "compared": 0}
    for size in sizes:
        _measure(stage, size, samples, unequal)
    return _result(sizes, {key: spread(values) for key, values in samples.items()}, unequal, stage)


def _measure(
    stage: Stage, size: int, samples: dict[tuple[int, str, str], list[float]], unequal: dict[str, int]
) -> None:
    part = stage.graph.first(size)
    draw = random.Random(stage.seed + size)
    names = [name for name, _, _ in draw.sample(part.entities, min(200, size))]
    small = [texts[0].split()[-1] for _, _, texts in part.entities[:10]]
    work = _Work(size, names, part.queries(60).words() if size >= 1_000 else small)
    ours, theirs = stage.pair(size)
    counts = dict(zip((OURS, THEIRS), CALLS[size], strict=True))
    if stage.quick:
        counts = {side: max(4, count // 4) for side, count in counts.items()}
    with ours.start() as first, theirs.start() as second:
        servers = {OURS: first, THEIRS: second}
        for server in servers.values():
            server.hello()
            for number in range(3 if size > JUDGED else 30):
                for tool in READS:
                    server.call(tool, work.arguments(tool, number))
        numbers: dict[tuple[str, str], int] = defaultdict(int)
        found: dict[tuple[str, int], tuple[list[str], int]] = {}
        for turn in range(ROUNDS):
            for tool in (*READS, *WRITES):
                for side in (OURS, THEIRS) if turn % 2 else (THEIRS, OURS):
                    for _ in range(counts[side] // ROUNDS):
                        number = numbers[side, tool]
                        numbers[side, tool] += 1
                        answer = servers[side].call(tool, work.arguments(tool, number))
                        samples[size, tool, side].append(answer.seconds)
                        # The sides write different numbers of times: only answers before that are comparable.
                        if tool == "search_nodes" and turn == 0:
                            found[side, number] = _found(answer)
                        elif answer.failed:
                            raise RuntimeError(
                                f"{side}: {tool} failed at {size} entities: {answer.line[:300]!r}"
                            )
    for (side, number), hits in found.items():
        if side == THEIRS and (OURS, number) in found:
            unequal["compared"] += 1
            unequal["searched"] += hits != found[OURS, number]


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
        f"Sequential calls, the sides in turn, one entity or one observation a write. Graph: "
        f"{stage.graph.origin}; a size means its first entities and the relations among them. Search words are "
        f"rare, medium, common and frequent in equal parts. {unequal['compared']} searches were compared between "
        f"the sides before any write: {unequal['searched']} answers differed.",
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
                f"{tool}/{side}": [middle(s, tool, side) for s in sizes]
                for tool in BOUNDS
                for side in (OURS, THEIRS)
            },
            "compared": unequal,
        },
    )
