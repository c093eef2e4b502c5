"""``python -m bench.analysis.graphs --data FOLDER``: patterns among relations and connections, measured.

The graph is WordNet: 117,659 records, 364,552 relations. It is loaded into a store as it is, and once more rewired at
random with the same degrees, where nothing should be found. Times are of one process; cpu is what it used itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

__all__ = ["main"]

SEED = 20_261_115
BATCH = 10_000
ASKED = 300  # records whose connections are measured
DEPTHS = (1, 2, 3, 5)
NULLS = 40  # random networks of each kind
BANDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01)
SOME = 12_000  # records that get vectors for the measure of missing links


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep the figures with --out; 0 when the targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.graphs", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--out", help="a JSON file to write")
    parser.add_argument("--only", choices=["patterns", "missing", "chance", "connections", "trust"], action="append")
    given = parser.parse_args(arguments)
    parts = given.only or ["patterns", "missing", "chance", "connections", "trust"]
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        nodes, edges = _graph(given.data)
        if {"patterns", "connections"} & set(parts):
            _load(os.path.join(folder, "real.db"), nodes, edges)
        if "connections" in parts:
            figures["connections"] = _connections(os.path.join(folder, "real.db"))
        if "patterns" in parts:
            figures["patterns"] = _patterns(os.path.join(folder, "real.db"))
            _load(os.path.join(folder, "twin.db"), nodes, _rewired(nodes, edges))
            figures["patterns_of_a_twin"] = _patterns(os.path.join(folder, "twin.db"))
    if "missing" in parts:
        figures["missing"] = _missing(nodes, edges)
    if "chance" in parts:
        figures["chance"] = _chance()
    if "trust" in parts:
        figures["trust"] = _trust(given.data)
    for name, value in figures.items():
        print(f"\n{name}")
        for row in value if isinstance(value, list) else [value]:
            print("  " + json.dumps(row, ensure_ascii=False))
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(figures, file, ensure_ascii=False, indent=1)
    return 0 if _met(figures) else 1


def _met(figures: dict[str, Any]) -> bool:
    patterns = figures.get("patterns", {"cpu_s": 0, "peak_mb": 0})
    steps = [row for row in figures.get("connections", []) if row["depth"] == 3]
    twin = figures.get("patterns_of_a_twin", {"found": {}})["found"]
    return (
        patterns["cpu_s"] < 60
        and patterns["peak_mb"] < 1500
        and all(row["p50_ms"] < 50 for row in steps)
        and not {"community", "missing_link"} & set(twin)
    )


def _graph(data: str) -> tuple[list[dict[str, Any]], list[tuple[str, str, str]]]:
    folder = os.path.join(data, "graph_wordnet")
    nodes = list(_rows(os.path.join(folder, "nodes.jsonl.gz")))
    often: Counter[str] = Counter()
    names = {}
    for node in nodes:
        often[node["name"]] += 1
        count = often[node["name"]]
        names[node["id"]] = node["title"] = node["name"] if count == 1 else f"{node['name']} ({count})"
    edges = [
        (names[row["from"]], names[row["to"]], row["rel"]) for row in _rows(os.path.join(folder, "edges.jsonl.gz"))
    ]
    return nodes, edges


def _rewired(nodes: list[dict[str, Any]], edges: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    from polymnia.engine.analysis.graph.structure import twin

    network = _network(nodes, edges)
    other = twin(network, SEED)
    titles = [node["title"] for node in nodes]
    return [(titles[a], titles[b], "related_to") for a, b in zip(other.low.tolist(), other.high.tolist(), strict=True)]


def _network(nodes: list[dict[str, Any]], edges: list[tuple[str, str, str]]) -> Any:
    from polymnia.engine.analysis.graph.structure import Network

    place = {node["title"]: at for at, node in enumerate(nodes)}
    return Network(len(nodes), [place[a] for a, _, _ in edges], [place[b] for _, b, _ in edges])


def _memory(path: str) -> Any:
    from polymnia import Memory
    from polymnia.engine.search import Analysis, LazySearch
    from polymnia.engine.search.finder import Finder
    from polymnia.storage.sqlite import SqliteStore

    store = SqliteStore(path, analyst=Analysis())
    return Memory(store, finding=LazySearch(lambda: Finder(store)))


def _load(path: str, nodes: list[dict[str, Any]], edges: list[tuple[str, str, str]]) -> None:
    from polymnia import EntityDraft

    memory = _memory(path)
    for at in range(0, len(nodes), BATCH):
        some = nodes[at : at + BATCH]
        memory.create_entities([EntityDraft(one["title"], one["type"], (one["text"],)) for one in some])
    for at in range(0, len(edges), BATCH):
        memory.create_relations(edges[at : at + BATCH])
    memory.close()


def _patterns(path: str) -> dict[str, Any]:
    """Through the library, in a process of its own: what is found, how long it takes, how much memory."""
    import subprocess

    told = subprocess.run(
        [sys.executable, "-c", f"from bench.analysis.graphs import _once; _once({path!r})"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found: dict[str, Any] = json.loads(told)
    return found


def _once(path: str) -> None:
    from polymnia import describe, remark
    from polymnia.engine.analysis.graph.patterns import relationship_patterns

    memory = _memory(path)
    begun, used = time.perf_counter(), time.process_time()
    found, _ = memory.analysed(relationship_patterns, key="bench")
    spent, cpu = time.perf_counter() - begun, time.process_time() - used
    print(
        json.dumps(
            {
                "seconds": round(spent, 1), "cpu_s": round(cpu, 1),
                "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
                "found": dict(Counter(one.name for one in found.patterns)),
                "looked_at": {key: value for key, value in found.looked_at.items() if key != "types"},
                "notes": [remark(one) for one in found.notes],
                "some": [f"{one.name} {one.confidence}: {describe(one).summary}" for one in found.patterns[::5]],
            }
        )
    )  # fmt: skip
    memory.close()


def _connections(path: str) -> list[dict[str, Any]]:
    from polymnia.engine.analysis.connections import connections
    from polymnia.engine.analysis.view import ProjectView
    from polymnia.engine.content import visible

    memory = _memory(path)
    with memory.store.read(memory.project) as snapshot:
        records = list(snapshot.records())
        chosen = random.Random(SEED).sample(records, ASKED)
        often = Counter(name for one in snapshot.relations() for name in (one.source, one.target))
    busiest = {name for name, _ in often.most_common(20)}
    chosen += [record for record in records if record.name in busiest]
    finder = memory.finding()
    told = []
    for depth in DEPTHS:
        times, cpu, found = [], [], 0
        for record in chosen:
            begun, used = time.perf_counter(), time.process_time()
            with finder.neighbours(memory.project) as look:
                view = ProjectView(look, filters=visible(None), now=0)
                answer = connections(view, record, max_depth=depth)
            times.append((time.perf_counter() - begun) * 1e3)
            cpu.append((time.process_time() - used) * 1e3)
            found += len(answer.found)
        told.append(
            {
                "depth": depth, "p50_ms": _at(times, 0.5), "p99_ms": _at(times, 0.99), "max_ms": _at(times, 1.0),
                "cpu_p50_ms": _at(cpu, 0.5), "cpu_p99_ms": _at(cpu, 0.99), "mean_found": round(found / len(chosen), 1),
            }
        )  # fmt: skip
    memory.close()
    return told


def _missing(nodes: list[dict[str, Any]], edges: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Hide a tenth of the links, ask which are missing, and count how many of each confidence were hidden."""
    whole = _network(nodes, edges)
    told = [_held_out(whole, None, "whole, links alone")]
    part, vectors = _part(nodes, whole)
    told.append(_held_out(part, None, f"{part.size} records, links alone"))
    if vectors is not None:
        told.append(_held_out(part, vectors, f"{part.size} records, links and meaning"))
    return told


def _part(nodes: list[dict[str, Any]], whole: Any) -> tuple[Any, Any]:
    """A connected part of the graph, with vectors of its glosses where the default model is there."""
    import numpy as np

    from polymnia import inference
    from polymnia.engine.analysis.graph.structure import Network

    order, seen = [int(np.argmax(whole.degrees))], {int(np.argmax(whole.degrees))}
    for node in order:
        if len(order) >= SOME:
            break
        for other in whole.neighbours[whole.starts[node] : whole.starts[node + 1]].tolist():
            if other not in seen:
                seen.add(other)
                order.append(other)
    order = order[:SOME]
    place = np.full(whole.size, -1)
    place[order] = np.arange(len(order))
    low, high = place[whole.low], place[whole.high]
    inside = (low >= 0) & (high >= 0)
    network = Network(len(order), low[inside], high[inside])
    embedders = inference.choose("use")
    if not embedders:
        return network, None
    embedders[-1].load()
    texts = [f"{nodes[at]['name']}: {nodes[at]['text']}" for at in order]
    made = np.concatenate([embedders[-1].embed(texts[at : at + 64]) for at in range(0, len(texts), 64)])
    return network, (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def _held_out(whole: Any, vectors: Any, name: str) -> dict[str, Any]:
    import numpy as np

    from polymnia.engine.analysis.graph.missing import missing
    from polymnia.engine.analysis.graph.structure import Network

    hidden = np.sort(np.random.default_rng(SEED).choice(whole.links, whole.links // 10, replace=False))
    rest = Network.of_keys(whole.size, np.delete(whole.keys, hidden))
    found, measured = missing(rest, vectors, 50_000, 0.0)
    sure = np.array([one.confidence for one in found])
    right = np.isin(np.array([one.low * whole.size + one.high for one in found], np.int64), whole.keys[hidden])
    bands = {}
    for low, high in pairwise(BANDS):
        some = (sure >= low) & (sure < high)
        if some.any():
            bands[f"{low:g}-{min(1, high):g}"] = [
                int(some.sum()), round(float(sure[some].mean()), 3), round(float(right[some].mean()), 3)
            ]  # fmt: skip
    return {
        "graph": name, "links": whole.links, "tried": measured.tried if measured else 0,
        "said and right by confidence (pairs, said, right)": bands,
        "right_of_first": {str(n): round(float(right[:n].mean()), 3) for n in (10, 50, 100, 500)},
    }  # fmt: skip


def _chance() -> list[dict[str, Any]]:
    """How often networks made by chance, and planted ones, show something of each kind."""
    import numpy as np

    from polymnia.engine.analysis.graph import structure
    from polymnia.engine.analysis.graph.missing import missing
    from polymnia.engine.analysis.graph.structure import Network, twin

    def drawn(nodes: int, links: int, seed: int) -> Network:
        draw = np.random.default_rng(seed)
        return Network(nodes, draw.integers(0, nodes, links), draw.integers(0, nodes, links))

    def groups(count: int, size: int, seed: int) -> Network:
        draw = np.random.default_rng(seed)
        nodes = np.arange(count * size)
        a, b = np.meshgrid(nodes, nodes)
        inside = (a // size == b // size) & (a < b) & (draw.random(a.shape) < 0.8)
        joins = [(at * size, (at + 1) * size + 1) for at in range(count - 1)]
        low = np.concatenate([a[inside], [one for one, _ in joins]])
        return Network(count * size, low, np.concatenate([b[inside], [other for _, other in joins]]))

    made = {
        "60 nodes, 150 links by chance": lambda seed: drawn(60, 150, seed),
        "200 nodes, 300 links by chance": lambda seed: drawn(200, 300, seed),
        "four planted groups, rewired": lambda seed: twin(groups(4, 10, seed), seed + 999),
        "four planted groups": lambda seed: groups(4, 10, seed),
    }
    told = []
    for name, make in made.items():
        most = []
        for seed in range(NULLS):
            network = make(seed)
            by = structure.by_chance(network, lambda *_: None)
            nodes, links = structure.cuts(network)
            groups_found = structure.separate(network, structure.communities(network))[1]
            sure = [
                structure.certainty(groups_found, by.communities, by.twins),
                structure.certainty(structure.deep(links)[1], by.link_cuts, by.twins),
                structure.certainty(structure.deep(nodes)[1], by.node_cuts, by.twins),
                np.array([one.confidence for one in structure.hubs(network.degrees, 10, 0.0)]),
                np.array([one.confidence for one in missing(network, None, 10, 0.0)[0]]),
            ]
            most.append([one.max(initial=0.0) for one in sure])
        table = np.array(most)
        kinds = ("community", "bridging link", "bridging record", "hub", "missing link")
        told.append(
            {"networks": name}
            | {f"any of {border:g}": dict(zip(kinds, (table >= border).mean(axis=0).round(3).tolist(), strict=True))
               for border in (0.7, 0.9)}
        )  # fmt: skip
    return told


def _trust(data: str) -> list[dict[str, Any]]:
    """Of pairs of sentences of each similarity, the share that people place at about the same topic or closer."""
    import numpy as np

    from polymnia import inference
    from polymnia.engine.analysis.connections import trust
    from polymnia.engine.knowledge.similarity import similarities

    embedders = inference.choose("use")
    if not embedders:
        return []
    model = embedders[-1]
    model.load()
    alike, same = [], []
    for name in ("stsb_en", "korsts_ko"):
        rows = list(_rows(os.path.join(data, name, "pairs.jsonl.gz")))
        sides = [
            np.concatenate([model.embed([row[side] for row in rows[at : at + 64]]) for at in range(0, len(rows), 64)])
            for side in ("a", "b")
        ]
        alike.append(similarities((sides[0] * sides[1]).sum(axis=1), model.unrelated))
        same.append(np.array([row["score"] >= 2.5 for row in rows]))
    told = []
    for low in np.arange(0.0, 1.0, 0.1):
        row: dict[str, Any] = {"similarity": f"{low:.1f}-{low + 0.1:.1f}"}
        for name, values, right in zip(("en", "ko"), alike, same, strict=True):
            some = (values >= low) & (values < low + 0.1)
            said = np.mean([trust("similar_to", "auto", float(value)) for value in values[some]])
            row |= {f"{name}_pairs": int(some.sum()), f"{name}_agree": round(float(right[some].mean()), 3),
                    f"{name}_said": round(float(said), 3)}  # fmt: skip
        told.append(row)
    return told


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
