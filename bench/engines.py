"""``python -m bench.engines``: the same memory in SQLite and in PostgreSQL, side by side.

calls      store, search and get through one server process at so many memories, and the bytes of each on disk
processes  how many reads a second one server process answers, and two on the same store; who used the CPU meanwhile
projects   a search in one project of a thousand memories, alone and among many such projects
answers    whether both find the same: the question sets in --data, stored in both engines with the models' vectors

PostgreSQL is started for the run (or named: --postgres URL of an empty database on this machine). But for the answers,
texts and vectors are made up, the same for both engines; searches go by words and meaning without the reranker, which
costs the same on both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from statistics import median
from typing import Any

from bench import peer
from bench.client import Server
from bench.machine import facts
from bench.probe import cpu_seconds
from bench.search.metrics import figures

__all__ = ["main"]

RESULTS = os.path.join(peer.ROOT, "bench", "results", "engines.json")
MODEL, DIMENSIONS = "polymnia-en-1", 384
SEED = 20_261_118
TIMES = 200
SECONDS = 4.0
PARTS = ("calls", "processes", "projects", "answers")
# Of each set so many questions and texts: LoCoMo's groups are projects, the others one each.
SAMPLES = {"locomo": (600, None), "scifact": (200, 500), "korquad": (200, 400)}
TURNS = 3


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.engines", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=1_000, help="how many projects of a thousand memories")
    parser.add_argument("--data", help="the folder of question sets, for the answers")
    parser.add_argument("--postgres", help="the address of an empty database on this machine")
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    cache = os.path.join(peer.ROOT, ".cache")
    os.makedirs(cache, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="engines-", dir=cache)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        url = given.postgres or stack.enter_context(_server()).url()
        found: dict[str, Any] = {"machine": facts(folder), "memories": given.memories}
        if os.path.exists(given.results):
            with open(given.results, encoding="utf-8") as file:
                found = {**json.load(file), **found}
        wanted = given.only or [part for part in PARTS if part != "answers" or given.data]
        large = {"sqlite": os.path.join(folder, "large.db"), "postgres": f"{url}?schema=large"}
        if {"calls", "processes"} & set(wanted):
            found["fill s"] = {name: _fill(place, ["default"], given.memories) for name, place in large.items()}
            found["bytes a memory"] = _sizes(large, given.memories)
        if "calls" in wanted:
            found["calls"] = _calls(large, given.memories)
        if "processes" in wanted:
            found["processes"] = {name: _processes(place, given.memories) for name, place in large.items()}
        if "projects" in wanted:
            found["projects"] = {
                name: _projects(name, folder, url, given.projects) for name in ("sqlite", "postgres")
            } | {"count": given.projects}
        if "answers" in wanted:
            found["answers"] = _answers(given.data, folder, url)
        with open(given.results, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1, ensure_ascii=False)
            file.write("\n")
        print(json.dumps({key: value for key, value in found.items() if key != "machine"}, indent=1))
    return 0


def _server() -> Any:
    sys.path.insert(0, os.path.join(peer.ROOT, "tests"))
    import postgres

    # As large a cache as SQLite gets from the system, and commits on disk.
    return postgres.Server(postgres.VERSION, shared_buffers="1GB", max_wal_size="4GB")


# ── filling ──────────────────────────────────────────────────────────────────────────────────────────────


def _text(draw: random.Random, number: int) -> str:
    return f"{number}: " + " ".join(f"word{int(draw.paretovariate(0.6)) % 5000}" for _ in range(14))


def _fill(place: str, projects: Iterable[str], count: int, *, vectors: bool = True) -> float:
    """Store so many memories in each project, with made-up vectors, as the library does it; returns the seconds."""
    from polymnia.app import open_store

    store = open_store(place)
    begun = time.perf_counter()
    for project in projects:
        _fill_project(store, project, count, vectors)
    store.close()
    return round(time.perf_counter() - begun, 1)


def _fill_project(store: Any, project: str, count: int, vectors: bool) -> None:
    import numpy as np

    from polymnia.engine.search import Analysis
    from polymnia.models import EntityDraft

    draw, numbers = random.Random(f"{SEED} {project}"), np.random.default_rng(SEED)
    for start in range(0, count, 5000):
        batch = range(start, min(start + 5000, count))
        with store.write(project, "bench", "fill") as tx:
            before = tx.numbers[1]
            tx.add_records([EntityDraft(f"memory {n}", "note", (_text(draw, n),)) for n in batch])
            if vectors:
                parts = [
                    (one.text, one.part) for one in Analysis()(tx.texts(before, before + 2 * len(batch))) if one.embeds
                ]
                made = numbers.standard_normal((len(parts), DIMENSIONS)).astype(np.float32)
                made /= np.linalg.norm(made, axis=1, keepdims=True)
                halves, bits = made.astype(np.float16), np.packbits(made > 0, axis=1)
                tx.put_vectors(
                    MODEL,
                    DIMENSIONS,
                    [(t, p, h.tobytes(), b.tobytes()) for (t, p), h, b in zip(parts, halves, bits, strict=True)],
                )


_KINDS = {
    "rows": ("memory", "observation", "tag", "scope"),
    "substrings": ("gram",),
    "words": ("posting", "passage"),
    "vectors": ("vector",),
    "journal": ("change",),
}


def _sizes(places: dict[str, str], memories: int) -> dict[str, Any]:
    """The bytes of a memory on disk, and on PostgreSQL of which tables, their indexes included."""
    import psycopg

    url, _, schema = places["postgres"].partition("?schema=")
    with psycopg.connect(url, autocommit=True) as connection:
        for (table,) in connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)
        ).fetchall():
            connection.execute(
                f'VACUUM "{schema}"."{table}"'
            )  # as autovacuum would; pending lists become index entries
        sized = connection.execute(
            "SELECT relname, pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
            "WHERE nspname = %s AND relkind = 'r'",
            (schema,),
        ).fetchall()
    by_kind = dict.fromkeys((*_KINDS, "other"), 0)
    for table, size in sized:
        kind = next((kind for kind, names in _KINDS.items() if table.startswith(names)), "other")
        by_kind[kind] += size
    return {
        "sqlite": round(os.path.getsize(places["sqlite"]) / memories),
        "postgres": round(sum(by_kind.values()) / memories),
        "of that": {kind: round(size / memories) for kind, size in by_kind.items()},
    }


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────


def _open(place: str, *more: str) -> Server:
    environment = {**os.environ, "POLYMNIA_STORE": place, "POLYMNIA_EFFORT": "quick"}
    server = Server([sys.executable, "-m", "polymnia", "stdio", *more], environment)
    server.__enter__()
    server.hello()
    return server


def _calls(places: dict[str, str], memories: int) -> dict[str, Any]:
    """The median of each call, both engines in turn."""
    servers = {name: _open(place) for name, place in places.items()}
    asked = {name: _asked(memories) for name in places}
    times: dict[str, dict[str, list[float]]] = {name: {} for name in places}
    try:
        for _ in range(TIMES + 20):
            for name, server in servers.items():
                for call, (tool, arguments) in next(asked[name]).items():
                    answer = server.call(tool, arguments)
                    if answer.failed:
                        raise RuntimeError(answer.line[:400])
                    times[name].setdefault(call, []).append(answer.seconds)
    finally:
        for server in servers.values():
            server.__exit__(None, None, None)
    found: dict[str, Any] = {
        call: {
            **{f"{name} p50 ms": round(median(times[name][call][20:]) * 1e3, 2) for name in places},
            **{f"{name} p95 ms": round(sorted(times[name][call][20:])[int(TIMES * 0.95)] * 1e3, 2) for name in places},
        }
        for call in ("store", "search", "get", "substring")
    }
    for one in found.values():
        one["times"] = round(one["postgres p50 ms"] / one["sqlite p50 ms"], 2)
    return found


def _asked(memories: int) -> Iterator[dict[str, tuple[str, dict[str, Any]]]]:
    draw = random.Random(SEED)
    number = 0
    while True:
        number += 1
        words = " ".join(f"word{int(draw.paretovariate(0.6)) % 5000}" for _ in range(3))
        yield {
            "store": ("memory_store", {"content": f"new {number}: {_text(draw, number)}"}),
            "search": ("memory_search", {"query": words}),
            "get": ("open_nodes", {"names": [f"memory {draw.randrange(memories)}"]}),
            "substring": ("search_nodes", {"query": f"ord{draw.randrange(1000, 5000)}"}),
        }


# ── processes ────────────────────────────────────────────────────────────────────────────────────────────


def _processes(place: str, memories: int) -> dict[str, Any]:
    """Reads a second through one server process and through two, each with a client of its own.

    Each number of processes has its turn before anything is counted, so neither meets a cold cache, and then three
    more; the best of them counts. What a read costs whom is its CPU; what the machine did besides limits both.
    """
    found: dict[int, list[tuple[float, dict[str, Any]]]] = {1: [], 2: []}
    for _ in range(TURNS + 1):
        for count, rates in found.items():
            rates.append(_rate(place, memories, count))
    (one, costs_one), (two, costs_two) = (max(rates[1:], key=lambda rate: rate[0]) for rates in found.values())
    return {
        "one process, reads/s": one,
        "two processes, reads/s": two,
        "times": round(two / one, 2),
        "one process": costs_one,
        "two processes": costs_two,
        "cores": os.cpu_count(),
    }


class _Used:
    """The CPU seconds until now of the clients (this process), the servers, the database's processes, and all."""

    def __init__(self, servers: list[Server], database: list[int]) -> None:
        import psutil

        self._idle = psutil.cpu_times().idle
        self._parts = {
            "client": time.process_time(),
            "server": sum(cpu_seconds(server.pid) for server in servers),
            "database": sum(map(cpu_seconds, database)),
        }

    def since(self, before: _Used, reads: int) -> dict[str, Any]:
        """Microseconds a read of each, and how many cores they and others kept busy."""
        parts = {name: self._parts[name] - before._parts[name] for name in self._parts}
        busy = (os.cpu_count() or 1) - (self._idle - before._idle) / SECONDS
        ours = sum(parts.values()) / SECONDS
        return {
            "CPU of a read, µs": {name: round(used / max(reads, 1) * 1e6) for name, used in parts.items()},
            "cores busy with it": round(ours, 2),
            "cores busy with others": round(max(0.0, busy - ours), 2),
        }


def _rate(place: str, memories: int, count: int) -> tuple[float, dict[str, Any]]:
    """Reads a second, and who used how much CPU for them."""
    servers = [_open(place, "--embedder", "none") for _ in range(count)]  # nothing is done in the background
    done = [0] * count
    start = end = 0.0

    def read(at: int) -> None:
        draw = random.Random(SEED + at)
        while (now := time.perf_counter()) < end:
            servers[at].call("open_nodes", {"names": [f"memory {draw.randrange(memories)}"]})
            done[at] += now >= start

    start = time.perf_counter() + SECONDS / 4  # until then a server imports, connects and plans
    end = start + SECONDS
    threads = [threading.Thread(target=read, args=(at,)) for at in range(count)]
    for thread in threads:
        thread.start()
    time.sleep(max(0.0, start - time.perf_counter()))
    database = _backends(place)
    before = _Used(servers, database)
    time.sleep(max(0.0, end - time.perf_counter()))
    costs = _Used(servers, database).since(before, sum(done))
    for thread in threads:
        thread.join()
    for server in servers:
        server.__exit__(None, None, None)
    return round(sum(done) / SECONDS, 1), costs


def _backends(place: str) -> list[int]:
    """The processes of the database that serve us; a file has none."""
    if not place.startswith("postgresql://"):
        return []
    import psycopg

    with psycopg.connect(place.partition("?")[0]) as connection:
        found = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'polymnia'").fetchall()
    return [int(pid) for (pid,) in found]


# ── projects ─────────────────────────────────────────────────────────────────────────────────────────────


def _projects(name: str, folder: str, url: str, count: int) -> dict[str, Any]:
    """A search in a project of 1,000 memories: alone in its store, and among so many like it."""

    def place(which: str) -> str:
        return os.path.join(folder, f"{which}.db") if name == "sqlite" else f"{url}?schema={which}"

    begun = time.perf_counter()
    _fill(place("alone"), ["project 0"], 1000, vectors=False)
    _fill(place("many"), (f"project {number}" for number in range(count)), 1000, vectors=False)
    filled = time.perf_counter() - begun
    found: dict[str, Any] = {"fill s": round(filled, 1)}
    for call, (alone, among) in _search_both(place("alone"), place("many")).items():
        found |= {
            f"{call} alone p50 ms": alone,
            f"{call} among p50 ms": among,
            f"{call} times": round(among / alone, 2),
        }
    return found


def _search_both(*places: str) -> dict[str, list[float]]:
    """The median milliseconds of each call in each store, which take turns."""
    servers = [_open(place, "--project", "project 0", "--embedder", "none") for place in places]
    calls: dict[str, Callable[[random.Random], tuple[str, dict[str, Any]]]] = {
        "search": lambda draw: (
            "memory_search",
            {"query": " ".join(f"word{int(draw.paretovariate(0.6)) % 5000}" for _ in range(3))},
        ),
        "substring": lambda draw: ("search_nodes", {"query": f"ord{draw.randrange(1000, 5000)}"}),
    }
    found = {}
    for name, make in calls.items():
        draw = random.Random(SEED)
        asked = [make(draw) for _ in range(TIMES + 20)]
        times = [[server.call(*one).seconds for server in servers] for one in asked][20:]
        found[name] = [round(median(one) * 1e3, 3) for one in zip(*times, strict=True)]
    for server in servers:
        server.__exit__(None, None, None)
    return found


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


def _answers(data: str, folder: str, url: str) -> dict[str, Any]:
    """nDCG@10 of the same questions on both engines, and how many lists of ten are the same."""
    from bench.search import sets

    found = {}
    for name, (questions, texts) in SAMPLES.items():
        part = sets.read(data, name).sample(questions, texts)
        places = {"sqlite": os.path.join(folder, f"{name}.db"), "postgres": f"{url}?schema={name}"}
        lists = {engine: _ranked(place, part) for engine, place in places.items()}
        scores = {
            engine: sum(figures(ranked[q.id], q.relevant)["ndcg@10"] for q in part.questions) / len(part.questions)
            for engine, ranked in lists.items()
        }
        same = sum(lists["sqlite"][q.id] == lists["postgres"][q.id] for q in part.questions)
        found[name] = {
            "texts": len(part.texts),
            "questions": len(part.questions),
            **{f"{engine} nDCG@10": round(score, 4) for engine, score in scores.items()},
            "difference": round(abs(scores["sqlite"] - scores["postgres"]), 4),
            "the same ten in the same order": round(same / len(part.questions), 4),
        }
    return found


def _ranked(place: str, part: Any) -> dict[str, list[str]]:
    """The ids that each question finds, best first."""
    from polymnia import EntityDraft, connect

    ranked = {}
    for batch in part.batches(apart=False):
        with connect(place, project=batch.group or "default") as memory:
            drafts = [EntityDraft(text.id, text.kind, (text.text,)) for text in batch.texts]
            for start in range(0, len(drafts), 500):
                memory.create_entities(drafts[start : start + 500])
            memory.finding().catch_up(batch.group or "default", lambda *step: None)
            for question in batch.questions:
                hits = memory.search(question.text, limit=10, effort="quick").hits
                ranked[question.id] = [hit.record.name for hit in hits]
    return ranked


if __name__ == "__main__":
    sys.exit(main())
