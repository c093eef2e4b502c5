"""``python -m bench.associative``: the associative dialect as the memory grows, and archives there and back.

Everything goes through a server over stdio, except the filling and the large archive, which go through the library in
processes of their own. The texts are made up; their vectors are real.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench import peer, probe, report
from bench.client import Answer, Server
from bench.machine import facts
from bench.result import Result, Table, Verdict
from bench.search.memories import Maker
from bench.sides import surroundings

__all__ = ["main"]

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "associative")
SIZES = (10_000, 100_000)
LIMITS = {"memory_store": 15.0, "memory_search": 25.0, "memory_discover_associations": 25.0, "scope_list": 10.0}
CONTENT_LIMITS = {"store_content": 10.0, "search_content": 25.0, "get_content": 2.0}
GROWTH = 3.0
SCOPES = 300
ROUND_TRIP = 10_000
LARGE_MB, MOST_MB = 200, 300
FORMS = (("json", False), ("json", True), ("yaml", False), ("yaml", True))
SEED = 20_260_831


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; answers 0 when no target was missed."""
    given = _parser().parse_args(arguments)
    if given.worker:
        print(json.dumps(_WORKERS[given.worker[0]](*given.worker[1:])))
        return 0
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="associative-", dir=CACHE)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    missed = 0
    try:
        machine = facts(folder)
        for name in given.only or ("speed", "archives"):
            begun = time.perf_counter()
            result = _speed(folder, given.size or SIZES) if name == "speed" else _archives(folder)
            took = time.perf_counter() - begun
            command = f"python -m bench.associative --only {name}"
            kept = report.save(result, given.results, "full", took, command, machine)
            print(report.show(kept), flush=True)
            missed += sum(verdict.met is False for verdict in result.verdicts)
            _page(given.results)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.associative", description=__doc__)
    parser.add_argument("--only", action="append", choices=("speed", "archives"))
    parser.add_argument("--size", action="append", type=int, help="how many memories; may be given several times")
    parser.add_argument("--results", default=RESULTS, help="where the results are kept")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    return parser


def _page(folder: str) -> None:
    """The results as a page for people."""
    intro = (
        "The associative tools, measured through a server. How well duplicates are told apart is in "
        "[duplicates.md](duplicates.md), how often a suggested scope is right in [suggesting.md](suggesting.md), what "
        "associations are drawn in [associations.md](associations.md)."
    )
    results = report.load(folder, ("speed", "archives"))
    report.write_page(folder, results, "The associative dialect, measured", intro, plot=False)


# ── speed ────────────────────────────────────────────────────────────────────────────────────────────────


def _speed(folder: str, sizes: tuple[int, ...]) -> Result:
    found = {size: _measured(folder, size) for size in sizes}
    rows = [
        [f"{size:,}", tool, *(f"{one[key]:.2f}" for key in ("p50", "p95", "cpu"))]
        for size, tools in found.items()
        for tool, one in tools.items()
        if isinstance(one, dict) and "p50" in one
    ]
    verdicts = []
    largest, smallest = max(found), min(found)
    for tool, limit in (LIMITS | CONTENT_LIMITS).items():
        p50 = found[largest][tool]["p50"]
        verdicts.append(Verdict(f"{tool} p50 at {largest:,}: under {limit:g} ms", f"{p50:.2f} ms", p50 < limit))
        if largest > smallest and tool in LIMITS:
            growth = p50 / found[smallest][tool]["p50"]
            text = f"{tool}, growth from {smallest:,} to {largest:,}: below {GROWTH:g} times"
            verdicts.append(Verdict(text, f"{growth:.2f} times", growth < GROWTH))
    peak = found[largest]["project_export"]["peak_mb"]
    text = f"export_project_data of {largest:,} items: less than {MOST_MB} MB of memory"
    verdicts.append(Verdict(text, f"{peak:.0f} MB", peak < MOST_MB))
    resident = ", ".join(f"{size:,}: {one['resident_mb']:.0f} MB" for size, one in found.items())
    summary = (
        f"Made-up memories of a sentence or two in {SCOPES} scopes, with tags; vectors of the default model. "
        "Wall-clock from the first byte of a request to the last byte of its answer, CPU of the server until it is "
        "idle. Every text stored is new and similar to many; it is compared, linked and on disk when the answer comes. "
        f"Resident: {resident}."
    )
    table = Table("A call", ["memories", "tool", "p50 ms", "p95 ms", "CPU ms"], rows)
    return Result(
        "speed",
        "How fast the associative and the content tools are",
        summary,
        verdicts,
        [table],
        {str(k): v for k, v in found.items()},
    )


def _measured(folder: str, size: int) -> dict[str, Any]:
    store = os.path.join(tempfile.mkdtemp(prefix="speed-", dir=folder), "memory.db")
    filled = _apart("fill", store, str(size))
    maker = Maker()
    fresh = [texts[0] for _, _, texts in maker.memories(size + 400)][size:]
    questions = maker.questions(400)
    with Server(_serve(store), surroundings()) as server:
        server.hello()
        server.call("memory_search", {"query": questions[0]})
        ids: list[str] = []

        def kept(answer: Answer) -> None:
            ids.append(answer.structured["memory_id"])

        draw = random.Random(SEED)
        scopes = filled["scopes"]
        measured: dict[str, Any] = {
            "memory_store": _block(
                server,
                "memory_store",
                [{"content": text, "scope": draw.choice(scopes), "tags": ["new"]} for text in fresh[:200]],
                kept,
            ),
            "memory_search": _block(server, "memory_search", [{"query": text} for text in questions[1:201]]),
            "memory_search in a scope and below": _block(
                server,
                "memory_search",
                [{"query": text, "scope": "work", "include_child_scopes": True} for text in questions[201:300]],
            ),
            "memory_discover_associations": _block(
                server, "memory_discover_associations", [{"memory_id": id} for id in filled["ids"][:200]]
            ),
            "memory_get": _block(server, "memory_get", [{"memory_id": id} for id in filled["ids"][:200]]),
            "scope_list": _block(server, "scope_list", [{} for _ in range(100)]),
            "scope_suggest": _block(server, "scope_suggest", [{"content": text} for text in fresh[200:300]]),
            "memory_list_all": _block(server, "memory_list_all", [{"page": n + 1} for n in range(100)]),
            "memory_update": _block(
                server,
                "memory_update",
                [{"memory_id": id, "content": text} for id, text in zip(ids, fresh[300:], strict=False)],
            ),
            "memory_delete": _block(server, "memory_delete", [{"memory_id": id} for id in ids[:20]]),
        }
        measured["resident_mb"] = probe.memory(server.pid)[0] / 1024
    measured |= _content(store, fresh, questions, filled["ids"])
    measured["project_export"] = _apart("export_project", store)
    return measured


def _content(store: str, fresh: list[str], questions: list[str], ids: list[str]) -> dict[str, Any]:
    """The tools of the content dialect on the same store."""
    project = {"project_id": "default"}
    with Server(_serve(store, "content"), surroundings()) as server:
        server.hello()
        server.call("memory_retrieve", {"operation": "search_content", **project, "query": questions[0]})
        store_calls = [
            {"operation": "store_content", **project, "content": f"{text} Once more.", "tags": ["bench"]}
            for text in fresh[:200]
        ]
        search_calls = [{"operation": "search_content", **project, "query": text} for text in questions[1:201]]
        get_calls = [{"operation": "get_content", **project, "content_id": id} for id in ids[:200]]
        return {
            "store_content": _block(server, "memory_store", store_calls),
            "search_content": _block(server, "memory_retrieve", search_calls),
            "get_content": _block(server, "memory_retrieve", get_calls),
        }


def _serve(store: str, dialect: str = "associative") -> list[str]:
    return [sys.executable, "-m", "polymnia", "stdio", "--dialect", dialect, "--store", store]


def _block(
    server: Server, tool: str, calls: list[dict[str, Any]], look: Callable[[Answer], None] | None = None
) -> dict[str, float]:
    probe.settle(server.pid)
    before, seconds = probe.cpu_seconds(server.pid), []
    for arguments in calls:
        answer = server.call(tool, arguments)
        if answer.failed:
            raise RuntimeError(f"{tool} failed: {answer.line[:400]!r}")
        if look is not None:
            look(answer)
        seconds.append(answer.seconds)
    probe.settle(server.pid)
    wall = probe.spread(seconds)
    spent = (probe.cpu_seconds(server.pid) - before) / len(calls)
    return {"p50": wall.p50 * 1e3, "p95": wall.p95 * 1e3, "cpu": spent * 1e3}


# ── archives ─────────────────────────────────────────────────────────────────────────────────────────────


def _archives(folder: str) -> Result:
    work = tempfile.mkdtemp(prefix="archives-", dir=folder)
    store = os.path.join(work, "memory.db")
    _apart("fill", store, str(ROUND_TRIP), "plain")
    rows, verdicts = [], []
    for form, gzip in FORMS:
        name = f"first.{form}" + (".gz" if gzip else "")
        one = _apart("round_trip", store, os.path.join(work, f"again-{form}-{gzip}.db"), name, form, str(int(gzip)))
        rows.append(
            [name, f"{one['bytes'] / 2**20:.1f}", f"{one['export']:.2f}", f"{one['import']:.2f}", str(one["equal"])]
        )
        verdicts.append(
            Verdict(f"{form}{', gzip' if gzip else ''}: byte-equal second export", str(one["equal"]), one["equal"])
        )
    large = []
    for form in ("json", "yaml"):
        source = os.path.join(work, f"large-{form}.db")
        _apart("fill_large", source, str(LARGE_MB))
        name = f"large.{form}"
        out = _apart("export", source, name, form)
        back = _apart("import", os.path.join(work, f"large-again-{form}.db"), name)
        large.append(
            [
                name, f"{out['bytes'] / 2**20:.0f}", f"{out['seconds']:.1f}", f"{out['peak_mb']:.0f}",
                f"{back['seconds']:.1f}", f"{back['peak_mb']:.0f}",
            ]
        )  # fmt: skip
        for what, one in (("export", out), ("import", back)):
            text = f"{what} of a {LARGE_MB} MB {form} archive: less than {MOST_MB} MB of memory"
            verdicts.append(Verdict(text, f"{one['peak_mb']:.0f} MB", one["peak_mb"] < MOST_MB))
    tables = [
        Table(f"{ROUND_TRIP:,} memories there and back", ["archive", "MB", "export s", "import s", "equal"], rows),
        Table("A large archive", ["archive", "MB", "export s", "peak MB", "import s", "peak MB"], large),
    ]
    summary = (
        "A store is exported, imported into an empty one, and exported again; the two archives are compared byte by "
        "byte. Peak memory is that of a process that does nothing else, all of it counted."
    )
    return Result("archives", "Archives", summary, verdicts, tables)


# ── processes of their own ───────────────────────────────────────────────────────────────────────────────


def _apart(*worker: str) -> Any:
    command = [sys.executable, "-m", "bench.associative", "--worker", *worker]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def _memory(store: str, embedder: str = "none") -> Any:
    from polymnia import app

    return app.open_memory(app.settings({"store": store, "embedder": embedder}), "bench")


def _drafts(size: int) -> Iterator[Any]:
    from polymnia import EntityDraft
    from polymnia.models import new_id

    draw = random.Random(SEED)
    scopes = _scopes()
    for number, (_, kind, texts) in enumerate(Maker().memories(size)):
        uid = new_id()
        yield EntityDraft(
            uid, "memory", (texts[0],), scope=draw.choice(scopes), category=kind, uid=uid,
            tags=tuple(dict.fromkeys(draw.choices(("red", "green", "blue", "late", "draft", "api"), k=2))),
            metadata={"number": number},
        )  # fmt: skip


def _scopes() -> list[str]:
    tops = ("work", "home", "learning", "travel")
    return [f"{tops[n % 4]}/part {n % 20}/{n}" for n in range(SCOPES)]


def _fill(store: str, size: str, how: str = "embedded") -> dict[str, Any]:
    memory = _memory(store, "none" if how == "plain" else "use")
    part: list[Any] = []
    ids: list[str] = []
    with memory:
        for draft in _drafts(int(size)):
            ids.append(draft.uid)
            part.append(draft)
            if len(part) == 5000:
                memory.create_entities(part)
                part = []
        if part:
            memory.create_entities(part)
        if how == "plain":
            # Links as they are drawn when memories come one by one.
            from polymnia.models import RelationDraft

            draw = random.Random(SEED)
            with memory.store.write(memory.project, "bench", "relate") as tx:
                for id in ids:
                    ends = draw.sample(ids, 3)
                    tx.relate(
                        [RelationDraft(id, end, "associated_with", round(draw.random(), 4), "near", origin="auto")
                         for end in ends]
                    )  # fmt: skip
        else:
            memory.finding().reindex(memory.project, lambda lane, done, total: None)
    random.Random(SEED).shuffle(ids)
    return {"scopes": _scopes(), "ids": ids[:1000]}


def _fill_large(store: str, megabytes: str) -> dict[str, Any]:
    from polymnia import EntityDraft
    from polymnia.models import new_id

    memory, maker = _memory(store), Maker()
    sentences = [texts[0] for _, _, texts in maker.memories(5000)]
    draw = random.Random(SEED)
    left = int(megabytes) * 2**20
    with memory:
        while left > 0:
            part = []
            for _ in range(2000):
                text = " ".join(draw.choices(sentences, k=10))
                left -= len(text) + 250
                uid = new_id()
                part.append(EntityDraft(uid, "memory", (text,), scope="work", uid=uid, tags=("large",)))
            memory.create_entities(part)
    return {}


def _round_trip(store: str, again: str, name: str, form: str, gzip: str) -> dict[str, Any]:
    first, second = _memory(store), _memory(again)
    with first, second:
        begun = time.perf_counter()
        out = first.export_memories(name=name, form=form, gzip=bool(int(gzip)))
        exported = time.perf_counter() - begun
        begun = time.perf_counter()
        second.import_memories(name=name)
        imported = time.perf_counter() - begun
        back = second.export_memories(name=f"second-{name}", form=form, gzip=bool(int(gzip)))
    with open(out.path, "rb") as one, open(back.path, "rb") as other:
        equal = one.read() == other.read()
    return {"bytes": out.bytes, "export": exported, "import": imported, "equal": equal}


def _export(store: str, name: str, form: str) -> dict[str, Any]:
    memory = _memory(store)
    begun = time.perf_counter()
    with memory:
        done = memory.export_memories(name=name, form=form)
    return {"bytes": done.bytes, "seconds": time.perf_counter() - begun, "peak_mb": _peak()}


def _export_project(store: str) -> dict[str, Any]:
    memory = _memory(store)
    begun = time.perf_counter()
    with memory:
        done = memory.export_project("json")
    return {"bytes": done.bytes, "seconds": time.perf_counter() - begun, "peak_mb": _peak()}


def _import(store: str, name: str) -> dict[str, Any]:
    memory = _memory(store)
    begun = time.perf_counter()
    with memory:
        memory.import_memories(name=name)
    return {"seconds": time.perf_counter() - begun, "peak_mb": _peak()}


def _peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


_WORKERS: dict[str, Callable[..., dict[str, Any]]] = {
    "fill": _fill,
    "fill_large": _fill_large,
    "round_trip": _round_trip,
    "export": _export,
    "export_project": _export_project,
    "import": _import,
}

if __name__ == "__main__":
    sys.exit(main())
