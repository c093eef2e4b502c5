"""``python -m bench.associations --data DIR``: what is linked at which similarity.

Two questions: of a store with two texts on each of many topics, how many links lead to another field, and how many
pairs of one topic are linked; and how people grade the pairs of sentences that would be linked (0: unrelated, 5: same).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from typing import Any

import numpy as np

from bench import peer
from polymnia import inference
from polymnia.engine.knowledge.associations import RELATED
from polymnia.engine.knowledge.similarity import similarities

__all__ = ["main"]

RESULTS = os.path.join(peer.ROOT, "bench", "results", "associative")
BORDERS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
ROUNDS = 10
SEED = 1


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.associations", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder with clinc150_en, stsb_en and korsts_ko")
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    (model,) = inference.choose("use")
    model.load()
    lines = [
        "# Associations",
        "",
        "Again with `python -m bench.associations --data DIR`; the default model. The border in use is "
        f"{RELATED:g} ([decision 0018](../../../docs/decisions/0018-associations.md)).",
        "",
        *_topics(given.data, model),
        "",
        *_grades(given.data, model),
    ]
    os.makedirs(given.results, exist_ok=True)
    with open(os.path.join(given.results, "associations.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 0


def _rows(*path: str) -> list[dict[str, Any]]:
    with gzip.open(os.path.join(*path), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _topics(data: str, model: Any) -> list[str]:
    rows = [row for row in _rows(data, "clinc150_en", "docs.jsonl.gz") if row["split"] == "train" and row.get("path")]
    paths = np.array([row["path"] for row in rows])
    draw = np.random.default_rng(SEED)
    counts = {border: np.zeros(4) for border in BORDERS}
    for _ in range(ROUNDS):
        chosen = np.concatenate([draw.choice(np.flatnonzero(paths == p), 2, replace=False) for p in np.unique(paths)])
        vectors = model.embed([rows[i]["text"] for i in chosen])
        alike = similarities(vectors @ vectors.T, model.unrelated)
        np.fill_diagonal(alike, -1)
        topic = paths[chosen]
        field = np.array([path.rpartition("/")[0] for path in topic])
        same = (topic[:, None] == topic[None]) & ~np.eye(len(topic), dtype=bool)
        for border, count in counts.items():
            links = alike >= border
            count += [links.sum(), (links & (field[:, None] != field[None])).sum(), (links & same).sum(), same.sum()]
    lines = [
        "**A store with two texts on each of 150 topics in ten fields (clinc150_en)**",
        "",
        "| border | links a memory | of them to another field | pairs of one topic that are linked |",
        "|---:|---:|---:|---:|",
    ]
    for border, (links, wrong, right, pairs) in counts.items():
        each = links / (2 * 150 * ROUNDS)
        lines.append(f"| {border:g} | {each:.2f} | {wrong / links:.3f} | {right / pairs:.3f} |")
    return lines


def _grades(data: str, model: Any) -> list[str]:
    lines = [
        "**Pairs of sentences graded by people (0 to 5)**",
        "",
        "| set | border | linked pairs graded 2.5 or more | linked of those graded 3.5 or more "
        "| linked of those below 1.5 |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in ("stsb_en", "korsts_ko"):
        rows = _rows(data, name, "pairs.jsonl.gz")
        grades = np.array([row["score"] for row in rows])
        first, second = (model.embed([row[side] for row in rows]) for side in ("a", "b"))
        alike = similarities((first * second).sum(axis=1), model.unrelated)
        for border in BORDERS:
            linked = alike >= border
            shares = ((grades[linked] >= 2.5).mean(), linked[grades >= 3.5].mean(), linked[grades < 1.5].mean())
            lines.append(f"| {name} | {border:g} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
