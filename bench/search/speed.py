"""``speed``: how long a search takes as the memory grows, what storing costs, and how soon a start answers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench import probe
from bench.client import Server
from bench.result import Result, Table, Verdict
from bench.search import door
from bench.search.filling import fill_vectors
from bench.search.memories import Maker
from bench.search.plan import Plan
from bench.search.side import Clock, Found
from bench.sides import surroundings

__all__ = ["run"]

LIMIT = 10
SEARCH = {10_000: 5.0, 100_000: 20.0, 1_000_000: 120.0}
STORE_MS, FIRST_SECONDS, RESIDENT_MB = 10.0, 2.0, 250.0
EMBEDDED = 10_000

Find = Callable[[str, int], Found]


def run(plan: Plan) -> Result:
    """Measure each size on a store of its own."""
    maker = Maker()
    sizes = {size: _measure(plan, maker, size) for size in plan.sizes}
    tables = [_searches(sizes), _starts(sizes), _stores(sizes)]
    judged = [verdict for size in plan.sizes for verdict in _judge(plan, size, sizes[size])]
    summary = (
        "Made-up memories of one or two sentences, and natural questions in their words, never the same one twice. "
        "Wall-clock from the first byte of a request to the last byte of its answer, over stdio; CPU of the server "
        "until it is idle. A filtered search goes through the library in a process of its own, without reasons, as "
        "`search_nodes` gives none. Above "
        f"{EMBEDDED:,} memories the vectors are random ones, written through the store's own transaction: embedding "
        "a million texts says nothing about searching them."
    )
    return Result("speed", "How fast", summary, judged, tables, {str(size): found for size, found in sizes.items()})


def _measure(plan: Plan, maker: Maker, size: int) -> dict[str, Any]:
    folder = plan.scratch("speed")
    store, path = os.path.join(folder, door.STORE), os.path.join(folder, "memories.jsonl")
    observations = maker.write(path, size)
    begun = time.perf_counter()
    if size <= EMBEDDED:
        door.fill(store, path)
    else:
        fill_vectors(store, path)
    filled = time.perf_counter() - begun
    os.remove(path)
    count = 60 if plan.quick else 300
    questions = maker.questions(6 * count)
    found: dict[str, Any] = {"observations": observations, "fill_seconds": filled}
    found["size_mb"] = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)) / 2**20
    found["first"] = _first(store, "all", questions[0])
    if "lanes" in door.KNOWN:
        found["first_words"] = _first(store, "words", questions[0])
    for variant in door.Polymnia(wanted=("all", "words", "meaning")).variants:
        with Server(door.serve(store, variant), surroundings()) as server:
            server.hello()
            found[variant] = _block(server, door.Stdio(server).find, questions[count : 2 * count])
            if variant == "all":
                found["stored"] = _store_some(server, maker, size, 20 if plan.quick else 60)
    if door.Polymnia().filters:
        found["filtered"] = {name: _filtered(folder, name, questions[2 * count : 3 * count]) for name in door.FILTERS}
    return found


def _filtered(folder: str, name: str, questions: Sequence[str]) -> dict[str, float]:
    asker = door.Polymnia().ask_within(folder, "all")
    try:
        return _block(asker.server, lambda question, n: asker.find_by(question, n, door.FILTERS[name]), questions)
    finally:
        asker.close()


def _first(store: str, variant: str, question: str) -> dict[str, float]:
    """A new process: when the handshake is done, when the first search is answered, both from the spawn."""
    with Server(door.serve(store, variant), surroundings()) as server:
        server.hello()
        shaken = time.perf_counter() - server.spawned
        found = door.Stdio(server).find(question, LIMIT)
        answered = time.perf_counter() - server.spawned
        again = door.Stdio(server).find(question, LIMIT).seconds
        return {
            "handshake": shaken,
            "answered": answered,
            "search": found.seconds,
            "hits": len(found.ids),
            "again": again,
        }


def _block(server: Server, find: Find, questions: Sequence[str]) -> dict[str, float]:
    for question in questions[:10]:
        find(question + " ?", LIMIT)
    probe.settle(server.pid)
    clock, answers = Clock(server.pid), []
    for question in questions:
        answers.append(find(question, LIMIT))
    spent = clock.stop() / len(questions)
    wall = probe.spread([answer.seconds for answer in answers])
    return {
        "p50_ms": wall.p50 * 1e3,
        "p95_ms": wall.p95 * 1e3,
        "cpu_ms": spent * 1e3,
        "hits": sum(len(answer.ids) for answer in answers) / len(answers),
        "tokens": sum(answer.characters for answer in answers) / len(answers) / 4,
        "resident_mb": probe.memory(server.pid)[0] / 1024,
    }


def _store_some(server: Server, maker: Maker, size: int, count: int) -> dict[str, float]:
    """Memories one by one into the filled store; CPU until the server is idle, so that late vectors are counted."""
    probe.settle(server.pid)
    clock, samples = Clock(server.pid), []
    for name, kind, texts in maker.memories(count):
        entity = {"name": f"new {name}", "entityType": kind, "observations": texts[:1]}
        samples.append(server.call("create_entities", {"entities": [entity]}).seconds)
    spent = clock.stop() / count
    wall = probe.spread(samples)
    return {"p50_ms": wall.p50 * 1e3, "p95_ms": wall.p95 * 1e3, "cpu_ms": spent * 1e3}


def _searches(sizes: dict[int, dict[str, Any]]) -> Table:
    rows = []
    for size, found in sizes.items():
        blocks: dict[str, Any] = {lane: found[lane] for lane in ("all", "words", "meaning") if lane in found}
        blocks |= {f"all, {name}": block for name, block in found.get("filtered", {}).items()}
        for name, block in blocks.items():
            figures = [f"{block[key]:.2f}" for key in ("p50_ms", "p95_ms", "cpu_ms")]
            rest = [f"{block['hits']:.1f}", f"{block['tokens']:.0f}", f"{block['resident_mb']:.0f}"]
            rows.append([f"{size:,}", name, *figures, *rest])
    return Table("A search", ["memories", "", "p50 ms", "p95 ms", "CPU ms", "hits", "tokens", "resident MB"], rows)


def _starts(sizes: dict[int, dict[str, Any]]) -> Table:
    rows = [
        [f"{size:,}", name, *(f"{one[key] * 1e3:,.0f}" for key in ("handshake", "answered", "search", "again"))]
        for size, found in sizes.items()
        for name, key in (("all", "first"), ("words", "first_words"))
        if (one := found.get(key))
    ]
    columns = ["memories", "", "handshake ms", "first answer ms", "the search itself ms", "the second time ms"]
    return Table("A new process, from its spawn", columns, rows)


def _stores(sizes: dict[int, dict[str, Any]]) -> Table:
    rows = [
        [
            f"{size:,}",
            *(f"{found['stored'][key]:.2f}" for key in ("p50_ms", "p95_ms", "cpu_ms")),
            f"{found['fill_seconds']:.1f}",
            f"{found['fill_seconds'] / size * 1e3:.2f}",
            f"{found['size_mb']:.0f}",
        ]
        for size, found in sizes.items()
    ]
    columns = ["memories", "one more: p50 ms", "p95 ms", "CPU ms", "import of all s", "ms each", "store MB"]
    return Table("Storing", columns, rows)


def _judge(plan: Plan, size: int, found: dict[str, Any]) -> list[Verdict]:
    judged = []

    def at_most(what: str, value: float, bound: float, unit: str) -> None:
        judged.append(
            Verdict(f"{size:,} memories, {what}: at most {bound:g} {unit}", f"{value:.2f} {unit}", value <= bound)
        )

    if size in SEARCH:
        at_most("search p50", found["all"]["p50_ms"], SEARCH[size], "ms")
        for name, block in found.get("filtered", {}).items():
            at_most(f"search with a filter ({name}) p50", block["p50_ms"], SEARCH[size], "ms")
    if size == 10_000:
        at_most("one more stored, CPU with its vectors", found["stored"]["cpu_ms"], STORE_MS, "ms")
        at_most("one more stored, p50", found["stored"]["p50_ms"], STORE_MS, "ms")
        at_most("first search after the spawn, model included", found["first"]["answered"], FIRST_SECONDS, "s")
        at_most("resident", found["all"]["resident_mb"], RESIDENT_MB, "MB")
        if words := found.get("first_words"):
            said = f"{words['hits']} hits {words['search'] * 1e3:.0f} ms after it"
            judged.append(Verdict("keyword search ready with the handshake", said, words["hits"] > 0))
    return judged
