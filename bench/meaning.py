"""How well questions find their texts, through the library as installed.

    python -m bench.meaning [--effort quick --effort balanced] [--data DIR] [--every N]

The test part of `training/data`, a project a collection, by language; with `--data` the turns of LoCoMo too, a project
a conversation. `--every N` takes every n-th collection and every n-th question of LoCoMo. Kept in
`bench/results/meaning.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from polymnia import EntityDraft, connect
from training import texts
from training.measure import ndcg

RESULTS = Path(__file__).parent / "results" / "meaning.json"

Asked = tuple[str, set[int], str]  # a question, the numbers of the texts that answer it, what it is counted under


def own(every: int) -> Iterator[tuple[str, Sequence[str], list[Asked]]]:
    """The collections of the test part."""
    for c in texts.collections(test=True)[::every]:
        same = c.language if c.language in ("en", "ko") else "other"
        asked = [(q.text, set(q.evidence), same if q.language == c.language else "across") for q in c.questions]
        yield c.id, c.texts, [one for one in asked if one[1]]


def locomo(folder: Path, every: int) -> Iterator[tuple[str, Sequence[str], list[Asked]]]:
    """The conversations of LoCoMo."""
    groups: dict[str, list[dict]] = {}
    for row in texts.rows(folder / "locomo/corpus.jsonl.gz"):
        groups.setdefault(row["group"], []).append(row)
    queries = list(texts.rows(folder / "locomo/queries.jsonl.gz"))[::every]
    for name, rows in groups.items():
        at = {row["id"]: i for i, row in enumerate(rows)}
        asked = [
            (q["text"], {at[id] for id in q["relevant"] if id in at}, q["category"])
            for q in queries if q["group"] == name
        ]  # fmt: skip
        yield name, [row["text"] for row in rows], asked


def measured(parts: Iterator[tuple[str, Sequence[str], list[Asked]]], effort: str) -> dict:
    """nDCG@10 of each kind of question, their mean, and the median time of a search."""
    values: dict[str, list[float]] = {}
    took = []
    with tempfile.TemporaryDirectory() as folder:
        for name, items, asked in parts:
            memory = connect(os.path.join(folder, "memory.db"), project=name)
            drafts = [EntityDraft(f"{name}:{i}", "message", (text,)) for i, text in enumerate(items)]
            for i in range(0, len(drafts), 500):
                memory.create_entities(drafts[i : i + 500])
            memory.finding().catch_up(name, lambda *step: None)
            for question, right, kind in asked:
                began = time.perf_counter()
                found = memory.search(question, limit=10, effort=effort)
                took.append(time.perf_counter() - began)
                order = [int(hit.record.name.rpartition(":")[2]) for hit in found.hits]
                values.setdefault(kind, []).append(ndcg(order, right))
            memory.close()
    return {
        "kinds": {kind: {"n": len(v), "ndcg": round(statistics.mean(v), 4)} for kind, v in sorted(values.items())},
        "macro": round(statistics.mean(map(statistics.mean, values.values())), 4),
        "p50_ms": round(1000 * statistics.median(took), 1),
    }


def main() -> None:
    """Measure and keep what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", action="append", choices=("quick", "balanced", "thorough"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for effort in given.effort or ("quick", "balanced"):
        sets = {"test part": own(given.every)} | ({"LoCoMo": locomo(given.data, given.every)} if given.data else {})
        for name, parts in sets.items():
            kept[f"{name}, {effort}, every {given.every}"] = found = measured(parts, effort)
            print(name, effort, json.dumps(found), flush=True)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
