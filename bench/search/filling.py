"""A million passages with vectors of the right shape, without embedding a million texts."""

from __future__ import annotations

from typing import Any

from bench.search import door

__all__ = ["fill_vectors"]

BATCH = 20_000
CENTRES = 400
SEED = 20_260_831


def fill_vectors(store: str, path: str) -> int:
    """Import a graph file, then write a random unit vector for each passage; answers how many there are.

    The vectors are drawn around some hundred centres, so that near and far exist as they do among real texts.
    """
    import numpy as np

    from polymnia import app, inference
    from polymnia.engine.search import Analysis
    from polymnia.engine.search.index import packed

    door.fill_plain(store, path)
    (model,) = inference.choose(door.PLAIN)
    draw = np.random.default_rng(SEED)
    centres = draw.standard_normal((CENTRES, model.dimensions), np.float32)
    memory = app.open_memory(app.settings({"store": store, "embedder": "none"}), "bench")

    def keep(passages: list[Any]) -> int:
        around = centres[draw.integers(0, CENTRES, len(passages))]
        vectors = around + 1.2 * draw.standard_normal((len(passages), model.dimensions), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = [(one.text, one.part, *pair) for one, pair in zip(passages, packed(vectors), strict=True)]
        with memory.store.write(memory.project, "bench", "embed") as tx:
            return tx.put_vectors(model.id, model.dimensions, rows)

    kept = 0
    with memory:
        with memory.store.read(memory.project) as snapshot:
            _, last, _, _ = snapshot.numbers
            waiting: list[Any] = []
            for start in range(0, last, BATCH):
                read = snapshot.texts(start, min(start + BATCH, last))
                waiting += [passage for passage in Analysis()(read) if passage.embeds]
                if len(waiting) >= BATCH:
                    kept += keep(waiting)
                    waiting = []
        kept += keep(waiting) if waiting else 0
    return kept
