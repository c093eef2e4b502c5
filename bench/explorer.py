"""``python -m bench.explorer``: what each screen of the explorer waits for, over HTTP, at so many memories.

The store has made-up texts and vectors in four projects, one of them with nine tenths of the memories, with tags,
scopes and relations. Each call is made again and again on one connection. ``first search`` is the time from the start
of the server's process to its first answer to a search of all projects, ``first answer`` that answer alone.
Then the page itself is opened in a browser, where there is one (``bench/explorer_page.py``).
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from bench import peer
from bench.machine import facts

__all__ = ["main"]

RESULTS = os.path.join(peer.ROOT, "bench", "results", "explorer.json")
MODEL, DIMENSIONS = "polymnia-en-1", 384
SEED = 20_261_118
PROJECTS = {"main": 0.9, "work": 0.05, "home": 0.04, "notes": 0.01}
MANY = ("--rate-limit", "1000000", "--rate-limit-explorer", "1000000", "--rate-limit-heavy", "1000000")
TIMES = 50


def main(arguments: list[str] | None = None) -> int:
    """Measure, and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.explorer", description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("--only", choices=("calls", "page"), help="leave the other figures as they are")
    given = parser.parse_args(arguments)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    cache = os.path.join(peer.ROOT, ".cache")
    os.makedirs(cache, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="explorer-", dir=cache)
    try:
        found: dict[str, Any] = {}
        if given.only:
            with open(given.results, encoding="utf-8") as file:
                found = json.load(file)
        store = os.path.join(folder, "memory.db")
        begun = time.perf_counter()
        for project, share in PROJECTS.items():
            _fill(store, project, int(given.memories * share))
        filled = round(time.perf_counter() - begun, 1)
        if given.only != "page":
            found |= {"machine": facts(folder), "memories": given.memories, "times": given.times, "fill s": filled}
            found["start"] = _start(store)
            with _serving(store) as made:
                found["calls"] = _calls(made, given.times)
        if given.only != "calls":
            found["page"] = _page(store, max(5, given.times // 4))
        with open(given.results, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1, ensure_ascii=False)
            file.write("\n")
        print(json.dumps({key: value for key, value in found.items() if key != "machine"}, indent=1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _fill(place: str, project: str, count: int) -> None:
    import numpy as np

    from polymnia.app import open_store
    from polymnia.engine.search import Analysis
    from polymnia.models import EntityDraft, RelationDraft

    draw, numbers = random.Random(f"{SEED} {project}"), np.random.default_rng(SEED)
    store = open_store(place)
    for start in range(0, count, 5000):
        batch = range(start, min(start + 5000, count))
        with store.write(project, "bench", "fill") as tx:
            before = tx.numbers[1]
            tx.add_records(
                [
                    EntityDraft(
                        f"memory {n}", draw.choice(("note", "decision", "person", "task")), (_text(draw, n),),
                        scope=f"area{n % 20}/part{n % 7}", tags=(f"tag{n % 50}", f"mark{n % 3}"),
                    )
                    for n in batch
                ]
            )  # fmt: skip
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
            tx.relate(
                RelationDraft(f"memory {n}", f"memory {draw.randrange(max(1, n))}", draw.choice(("uses", "knows")))
                for n in batch
                if n
            )
    store.close()


def _text(draw: random.Random, number: int) -> str:
    return f"{number}: " + " ".join(f"word{int(draw.paretovariate(0.6)) % 5000}" for _ in range(14))


@contextmanager
def _serving(store: str) -> Iterator[http.client.HTTPConnection]:
    """A connection to a server of the store that answers."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "polymnia", "serve", "--store", store, "--port", "0", *MANY]
        environment = {**os.environ, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
        server = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment)
        assert server.stderr is not None
        line = server.stderr.readline().decode()
        made = http.client.HTTPConnection(line.partition("http://")[2].partition("/")[0], timeout=600)
        try:
            yield made
        finally:
            made.close()
            server.terminate()
            server.stderr.close()
            server.wait()


def _ask(made: http.client.HTTPConnection, name: str, given: dict[str, Any]) -> tuple[Any, float, int]:
    begun = time.perf_counter()
    made.request("POST", f"/api/{name}", json.dumps(given), {"Content-Type": "application/json"})
    answer = made.getresponse()
    body = answer.read()
    seconds = time.perf_counter() - begun
    if answer.status != 200:
        raise RuntimeError(f"{name}: {answer.status} {body[:300]!r}")
    return json.loads(body), seconds, len(body)


def _start(store: str) -> dict[str, Any]:
    begun = time.perf_counter()
    with _serving(store) as made:
        _, first, _ = _ask(made, "search", {"query": "word17 word23", "effort": "quick"})
        whole = time.perf_counter() - begun
        _, second, _ = _ask(made, "search", {"query": "word29 word31", "effort": "quick"})
    return {
        "first search s": round(whole, 2),
        "first answer ms": round(first * 1e3, 1),
        "second answer ms": round(second * 1e3, 1),
    }


def _calls(made: http.client.HTTPConnection, times: int) -> dict[str, Any]:
    draw = random.Random(SEED)

    def words(count: int) -> str:
        return " ".join(f"word{int(draw.paretovariate(0.6)) % 5000}" for _ in range(count))

    def memory() -> str:
        return f"memory {draw.randrange(50_000)}"

    screens: dict[str, Any] = {
        "search, quick, all projects": lambda: ("search", {"query": words(2), "effort": "quick"}),
        "search, quick, no facets": lambda: ("search", {"query": words(2), "effort": "quick", "facets": False}),
        "search, balanced, one project": lambda: ("search", {"query": words(3), "project": "main"}),
        "search, filtered": lambda: (
            "search",
            {"query": words(2), "effort": "quick", "tags": ["tag7"], "scope": "area3"},
        ),
        "search, nothing typed": lambda: ("search", {"query": ""}),
        "names": lambda: ("names", {"prefix": "memory 12", "project": "main"}),
        "memory": lambda: ("memory", {"id": memory(), "project": "main"}),
        "versions": lambda: ("versions", {"id": memory(), "project": "main"}),
        "timeline, all projects": lambda: ("timeline", {}),
        "timeline, one client": lambda: ("timeline", {"client": "explorer"}),
        "graph around a memory": lambda: ("graph", {"id": memory(), "project": "main", "depth": 2}),
        "tree": lambda: ("tree", {}),
        "health": lambda: ("health", {}),
        "edit": lambda: ("edit", {"id": memory(), "project": "main", "tags": [words(1)]}),
        "store": lambda: ("store", {"text": words(12), "project": "main"}),
    }
    rare: dict[str, Any] = {
        "graph of a project, 5,000 nodes": lambda: ("graph", {"project": "main"}),
        "graph, most connected": lambda: ("graph", {"project": "main", "choose": "connected"}),
        "review, noted conflicts": lambda: ("review", {"kind": "conflicts", "project": "main"}),
        "compare with an hour ago": lambda: ("compare", {"from": _hour_ago(), "project": "notes"}),
    }
    once: dict[str, Any] = {
        f"review, {kind}": lambda kind=kind: ("review", {"kind": kind, "project": "main"})
        for kind in ("stale", "duplicates", "questions")
    }
    found = {}
    for some, count in ((screens, times), (rare, max(3, times // 10)), (once, 1)):
        for title, make in some.items():
            measured = []
            for _ in range(count + (2 if count > 1 else 0)):
                name, given = make()
                _, seconds, size = _ask(made, name, given)
                measured.append(seconds)
            kept = sorted(measured[2:] or measured)
            found[title] = {
                "p50 ms": round(median(kept) * 1e3, 1),
                "p95 ms": round(kept[min(len(kept) - 1, int(len(kept) * 0.95))] * 1e3, 1),
                "bytes": size,
            }
            print(title, found[title], flush=True)
    return found


def _page(store: str, times: int) -> dict[str, Any] | str:
    """What a person waits for in a browser."""
    if shutil.which("chromium") is None:
        return "there is no chromium here"
    from bench import explorer_page

    draw = random.Random(SEED)
    with _serving(store) as made:
        return explorer_page.measure(
            f"http://{made.host}:{made.port}/",
            lambda count: " ".join(f"word{int(draw.paretovariate(0.6)) % 5000}" for _ in range(count)),
            times,
        )


def _hour_ago() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))


if __name__ == "__main__":
    sys.exit(main())
