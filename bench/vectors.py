"""``python -m bench.vectors``: the ten nearest vectors on PostgreSQL, by pgvector's HNSW and by the scan of the server.

The texts are those our models learn from, with the vectors of the multilingual model; sizes beyond them take each text
again with noise. Both sides read the same database, started for the run, and are asked the same questions in turn:

scan N   the bits of all vectors in the server's memory, then the halves of the N nearest read from PostgreSQL;
         a search takes 140, and one more for each thousand vectors, up to 1,000
hnsw N   an index over halfvec, N candidates (``hnsw.ef_search``), with an iterative scan

Each with no filter and with filters that one in ten, or one in a hundred, passes. Recall is against exact comparison.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from bench import peer
from bench.machine import facts

__all__ = ["main"]

RESULTS = os.path.join(peer.ROOT, "bench", "results", "postgres", "vectors.json")
SEED = 20_261_119
QUESTIONS = 200
NEAREST = 10
SCANNED = (150, 200, 400, 1000)
CANDIDATES = (40, 100, 200, 400)
SHARES = {"no filter": 1, "one in ten": 10, "one in a hundred": 100}
LIKE_IT = 0.85  # the cosine of a text taken again to the text
BATCH = 5000


def main(arguments: list[str] | None = None) -> int:
    """Measure each size and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description=__doc__)
    parser.add_argument("--size", type=int, action="append", help="how many vectors; default 10000, 60000 and 250000")
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    sys.path.insert(0, os.path.join(peer.ROOT, "tests"))
    import numpy as np

    import postgres

    model, texts = _embedded(max(given.size or [0]) or None)
    draw = np.random.default_rng(SEED)
    draw.shuffle(texts)
    questions, texts = texts[:QUESTIONS], texts[QUESTIONS:]
    found: dict[str, Any] = {"machine": facts(peer.ROOT), "dimensions": texts.shape[1], "texts": len(texts)}
    with postgres.Server(postgres.VERSION, shared_buffers="2GB", max_wal_size="4GB", maintenance_work_mem="2GB") as one:
        for size in given.size or [10_000, 60_000, 250_000]:
            found[f"{size} vectors"] = _measure(one.url(), model, _as_many(texts, size, draw), questions)
            print(json.dumps({f"{size} vectors": found[f"{size} vectors"]}, indent=1), flush=True)
    os.makedirs(os.path.dirname(given.results), exist_ok=True)
    with open(given.results, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    return 0


def _embedded(most: int | None) -> tuple[str, Any]:
    """The model, and the vectors of the texts in ``training/data``, each once."""
    import numpy as np

    from polymnia import inference
    from training.texts import DATA

    texts = set[str]()

    def gather(value: Any) -> None:
        if isinstance(value, str):
            if 15 < len(value) < 600 and " " in value:
                texts.add(value)
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                gather(one)

    for path in sorted(DATA.glob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                gather(json.loads(line))
    (model,) = (one for one in inference.choose("auto") if one.id.startswith("polymnia-multi"))
    wanted = sorted(texts)[: most and most + QUESTIONS]
    parts = [model.embed(wanted[start : start + BATCH]) for start in range(0, len(wanted), BATCH)]
    return model.id, np.concatenate([np.asarray(part, np.float32) for part in parts])


def _as_many(texts: Any, size: int, draw: Any) -> Any:
    """So many vectors: the texts, and beyond them each again with noise."""
    import numpy as np

    again = texts[np.arange(size) % len(texts)]
    if size > len(texts):
        noise = draw.standard_normal((size - len(texts), texts.shape[1]), np.float32)
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        again[len(texts) :] = LIKE_IT * again[len(texts) :] + (1 - LIKE_IT**2) ** 0.5 * noise
    lengths: Any = np.linalg.norm(again, axis=1, keepdims=True)
    return again / lengths


def _measure(url: str, model: str, vectors: Any, questions: Any) -> dict[str, Any]:
    import numpy as np
    import psycopg

    groups = np.random.default_rng(SEED).permutation(len(vectors))
    with psycopg.connect(url, autocommit=True) as database:
        found: dict[str, Any] = {"hnsw, build": _build(database, vectors, groups)}
        sides = {f"hnsw {candidates}": _ask_index(database, candidates) for candidates in CANDIDATES}
        with _Scan(f"{url}?schema=of_{len(vectors)}", model, vectors, groups) as scan:
            found["scan, build"] = scan.built
            sides |= {f"scan {candidates}": partial(scan.ask, candidates) for candidates in SCANNED}
            for name, share in SHARES.items():
                found[name] = _compare(sides, vectors, groups, questions, share)
        database.execute("DROP TABLE item")
    return found


def _compare(
    sides: dict[str, Callable[[Any, int], list[int]]], vectors: Any, groups: Any, questions: Any, share: int
) -> dict[str, Any]:
    """Each side's milliseconds and recall, the sides in turn for each question."""
    import numpy as np

    allowed = np.flatnonzero(groups % share == 0)
    times: dict[str, list[float]] = {name: [] for name in sides}
    right = dict.fromkeys(sides, 0)
    for question in questions:
        exact = set(allowed[np.argsort(-(vectors[allowed] @ question))[:NEAREST]].tolist())
        for name, ask in sides.items():
            begun = time.perf_counter()
            answer = ask(question, share)
            times[name].append(time.perf_counter() - begun)
            right[name] += len(exact & set(answer))
    return {
        name: {
            "p50 ms": round(median(taken) * 1e3, 2),
            "p95 ms": round(sorted(taken)[int(len(taken) * 0.95)] * 1e3, 2),
            f"recall@{NEAREST}": round(right[name] / len(questions) / NEAREST, 4),
        }
        for name, taken in times.items()
    }


# ── pgvector ─────────────────────────────────────────────────────────────────────────────────────────────


def _build(database: Any, vectors: Any, groups: Any) -> dict[str, Any]:
    database.execute("CREATE EXTENSION IF NOT EXISTS vector")
    database.execute(f"CREATE TABLE item (id int, grp int, v halfvec({vectors.shape[1]}))")
    with database.cursor().copy("COPY item FROM STDIN") as copy:
        for number, vector in enumerate(vectors):
            copy.write_row((number, int(groups[number]), _written(vector)))
    begun = time.perf_counter()
    database.execute("CREATE INDEX item_v ON item USING hnsw (v halfvec_cosine_ops)")
    seconds = time.perf_counter() - begun
    database.execute("VACUUM ANALYZE item")
    ((size,),) = database.execute("SELECT pg_relation_size('item_v')").fetchall()
    begun = time.perf_counter()
    for number in range(100):
        database.execute("INSERT INTO item VALUES (%s, -1, %s)", (-number, _written(vectors[number])))
    insert = (time.perf_counter() - begun) * 10
    database.execute("DELETE FROM item WHERE grp = -1")
    return {"seconds": round(seconds, 1), "MB": round(size / 1e6), "an insert, ms": round(insert, 2)}


def _written(vector: Any) -> str:
    return "[" + ",".join(f"{number:.6g}" for number in vector.tolist()) + "]"


def _ask_index(database: Any, candidates: int) -> Callable[[Any, int], list[int]]:
    def ask(question: Any, share: int) -> list[int]:
        database.execute(
            f"SELECT set_config('hnsw.ef_search', '{candidates}', false), "
            "set_config('hnsw.iterative_scan', 'relaxed_order', false)"
        )
        rows = database.execute(
            f"SELECT id FROM item WHERE grp %% {share} = 0 AND grp >= 0 ORDER BY v <=> %s LIMIT {NEAREST}",
            (_written(question),),
        )
        return [number for (number,) in rows.fetchall()]

    return ask


# ── the scan ─────────────────────────────────────────────────────────────────────────────────────────────


class _Scan:
    """What the server does with a project of so many passages, one to a text."""

    def __init__(self, place: str, model: str, vectors: Any, groups: Any) -> None:
        import numpy as np

        from polymnia.app import open_store
        from polymnia.engine.search.index import Vectors, packed
        from polymnia.models import EntityDraft

        self._store = open_store(place)
        texts: list[int] = []
        for start in range(0, len(vectors), BATCH):
            batch = range(start, min(start + BATCH, len(vectors)))
            with self._store.write("default", "bench", "fill") as tx:
                before = tx.numbers[1]
                tx.add_records([EntityDraft(f"memory {number}", "note", (f"text {number}",)) for number in batch])
                added = [text.id for text in tx.texts(before, before + 2 * len(batch)) if text.body is not None]
                rows = zip(added, packed(vectors[start : start + BATCH]), strict=True)
                tx.put_vectors(model, vectors.shape[1], [(text, 0, *row) for text, row in rows])
            texts += added
        self._groups = np.concatenate(([1], groups))
        self._all = np.arange(len(vectors) + 1) > 0
        begun = time.perf_counter()
        self._vectors = Vectors(model, vectors.shape[1])
        with self._store.read("default") as snapshot:
            self._vectors.follow(snapshot, _Rows(texts))  # type: ignore[arg-type]
        self.built = {
            "seconds": round(time.perf_counter() - begun, 1),
            "MB in the server": round(self._vectors.bytes / 1e6),
        }

    def __enter__(self) -> _Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def ask(self, candidates: int, question: Any, share: int) -> list[int]:
        import numpy as np

        allowed = self._all & (self._groups % share == 0)
        with self._store.read("default") as snapshot:
            rows = self._vectors.nearest(question, len(allowed), allowed, candidates)
            cosines = self._vectors.cosines(snapshot, question, rows)
        found: list[int] = (rows[np.argsort(-cosines)[:NEAREST]] - 1).tolist()
        return found


class _Rows:
    """An index of passages, one for each of these texts."""

    def __init__(self, texts: list[int]) -> None:
        import numpy as np

        self._texts = np.array(texts)
        self.count = len(texts) + 1

    def rows(self, keys: Any) -> Any:
        return self._texts.searchsorted((keys >> 16).astype(self._texts.dtype)) + 1


if __name__ == "__main__":
    sys.exit(main())
