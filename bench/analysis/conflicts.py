"""``python -m bench.analysis.conflicts --data FOLDER``: conflicts, measured through the door callers use.

Pairs of labelled sets are stored as items of one project, and each pair is asked about as a set of two items. Real
texts in which next to nothing clashes say how much a search over a whole project tells wrongly; statements planted
among them say what it finds. Everyday notes, all in one project, say both of what people write; three of ten pairs of
them are held out. The embedder is the default one, or ``--embedder NAME``.
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
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["main"]

SEED = 20_261_115
SETS = {"negnli_en": "nli", "kornli_ko": "nli", "scifact": "pairs"}
TARGETS = {"negnli_en": 0.70, "kornli_ko": 0.60, "scifact": 0.60}
BACKGROUNDS = {"locomo": "corpus", "scifact": "corpus", "korquad_ko": "corpus"}
BANDS = ((0.3, 0.5), (0.5, 0.8), (0.8, 1.01))  # of confidence
PLANTED = 100  # statements that clash, among the background
BATCH = 5_000  # items stored at a time
THINGS = ("limit", "quota", "timeout", "budget", "capacity", "price", "weight", "interval", "threshold", "balance")
KOREAN = ("한도", "할당량", "예산", "용량", "가격", "무게", "주기", "기준값", "잔액", "제한 시간")


class Item(NamedTuple):
    """A text to be stored, and the day after the first on which it was."""

    text: str
    day: int = 0


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep the numbers with --out; 0 when the targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.conflicts", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--sample", type=int, default=1000, help="pairs of each set (0 for all)")
    parser.add_argument("--size", type=int, default=100_000, help="items of the project whose speed is measured")
    parser.add_argument("--embedder", default="use", help="as in POLYMNIA_EMBEDDER; default: use")
    parser.add_argument("--out", help="a file for the numbers, as JSON")
    given = parser.parse_args(arguments)
    numbers: dict[str, Any] = {"pairs": {}, "backgrounds": {}}
    met = True
    print("| set | pairs | precision | recall | F1 | target | ms a pair |\n|---|---|---|---|---|---|---|", flush=True)
    for name in SETS:
        one = numbers["pairs"][name] = _pairs(given.data, name, given.sample, given.embedder)
        met = met and one["f1"] >= TARGETS[name]
        print(
            f"| {name} | {one['pairs']:,} | {one['precision']:.3f} | {one['recall']:.3f} | {one['f1']:.3f} "
            f"| {TARGETS[name]:.2f} | {one['ms']:.1f} |",
            flush=True,
        )
    print(f"\n{PLANTED} statements that clash, among real texts.\n")
    print(
        "| texts | items | sensitivity | told | of these planted | precision | recall |\n|---|---|---|---|---|---|---|"
    )
    for name in BACKGROUNDS:
        rows = numbers["backgrounds"][name] = _background(given.data, name)
        for row in rows:
            print(
                f"| {name} | {row['items']:,} | {row['sensitivity']} | {row['told']} | {row['planted']} "
                f"| {row['precision']:.3f} | {row['recall']:.3f} |",
                flush=True,
            )
        print(f"  by confidence from, told and planted: {rows[0]['bands']}")
    print("\nEveryday notes in one project, at medium.\n")
    print("| notes | model | pairs that clash | that do not | told | right | precision | recall |\n" + "|---" * 8 + "|")
    numbers["notes"] = []
    for held in (False, True):
        for model in ("", given.embedder):
            row = _notes(held, model)
            numbers["notes"].append(row)
            print(
                f"| {'held out' if held else 'seen'} | {model or 'none'} | {row['clashing']} | {row['peaceful']} "
                f"| {row['told']} | {row['right']} | {row['precision']:.3f} | {row['recall']:.3f} |",
                flush=True,
            )
            print(f"  by confidence from, told and right: {row['bands']}")
    if given.size:
        speed = numbers["speed"] = _speed(given.data, given.size)
        print(f"\n{given.size:,} items: {speed}")
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=1)
    return 0 if met else 1


def _memory(folder: str, items: Sequence[Item], embedders: Sequence[Any], embed: bool) -> Any:
    from polymnia import EntityDraft, Memory
    from polymnia.engine.search import Analysis, Finding
    from polymnia.engine.search.finder import Finder
    from polymnia.storage.sqlite import SqliteStore

    store = SqliteStore(os.path.join(folder, "memory.db"), analyst=Analysis())
    memory = Memory(store, finding=Finding(lambda: Finder(store, embedders=list(embedders))))
    for start in range(0, len(items), BATCH):
        drafts = []
        for at, item in enumerate(items[start : start + BATCH], start):
            uid, when = f"content_{at:08x}", 1_700_000_000_000_000 + item.day * 86_400_000_000
            drafts.append(EntityDraft(uid, "content", (item.text,), uid=uid, created=when, updated=when))
        memory.create_entities(drafts)
    if embed:
        memory.finding().reindex("default", lambda *_: None)
    return memory


def _pairs(data: str, name: str, sample: int, embedder: str) -> dict[str, Any]:
    from polymnia import Filters, embedding
    from polymnia.engine.analysis.conflicts import conflicts
    from polymnia.engine.analysis.material import Material

    # The part made of RTE is judged entailed or not, which says nothing of contradictions.
    rows = [one for one in _rows(os.path.join(data, name, f"{SETS[name]}.jsonl.gz")) if one.get("split") != "RTE"]
    if sample and sample < len(rows):
        rows = random.Random(SEED).sample(rows, sample)
    chosen = embedding.choose(embedder)
    for one in chosen:
        one.load()
    with tempfile.TemporaryDirectory() as folder:
        memory = _memory(folder, [Item(row[side]) for row in rows for side in "ab"], chosen, embed=False)
        begun = time.process_time()

        def ask(look: Any) -> list[bool]:
            material = Material(look, wanted=Filters(), now=0)
            every = [f"content_{at:08x}" for at in range(2 * len(rows))]
            ids = material.snapshot.ids_of(every)
            return [
                bool(conflicts(material, among=[ids[every[2 * at]], ids[every[2 * at + 1]]], suggest=False).clashes)
                for at in range(len(rows))
            ]

        told = memory.finding().apart("default", ask, lambda *_: None)
        took = time.process_time() - begun
        memory.close()
    truth = [row["label"] == "contradiction" for row in rows]
    both = sum(a and b for a, b in zip(told, truth, strict=True))
    return {
        "pairs": len(rows),
        "precision": both / max(1, sum(told)),
        "recall": both / max(1, sum(truth)),
        "f1": 2 * both / max(1, sum(told) + sum(truth)),
        "ms": took / len(rows) * 1e3,
    }


def _planted(draw: random.Random) -> tuple[list[Item], set[frozenset[str]]]:
    """Pairs of statements that clash: figures, denials, states, advice, in two languages."""
    made, wanted = [], set()
    for at in range(PLANTED // 5):
        name = f"{draw.choice(('Orion', 'Helios', 'Vega', 'Lyra', 'Nova'))}{at}"
        thing, korean = draw.choice(THINGS), draw.choice(KOREAN)
        low, high = draw.sample(range(2, 90), 2)
        for a, b in (
            (f"The {thing} of {name} is {low} units.", f"{name} has a {thing} of {high} units."),
            (f"The {name} service stores passwords.", f"The {name} service does not store passwords."),
            (f"{name}의 {korean}은 {low}이다.", f"{name}의 {korean}은 이제 {high}이다."),
            (f"Ticket {name} is open.", f"Ticket {name} is closed."),
            (f"Restart {name} after every deployment.", f"Never restart {name} after every deployment."),
        ):
            made += [Item(a, 1), Item(b, 30)]
            wanted.add(frozenset((a, b)))
    return made, wanted


def _background(data: str, name: str) -> list[dict[str, Any]]:
    from polymnia import Filters
    from polymnia.engine.analysis.conflicts import conflicts
    from polymnia.engine.analysis.material import Material

    planted, wanted = _planted(random.Random(SEED))
    texts = [Item(row["text"]) for row in _rows(os.path.join(data, name, f"{BACKGROUNDS[name]}.jsonl.gz"))]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        memory = _memory(folder, [*texts, *planted], [], embed=False)
        for sensitivity in ("high", "medium", "low"):
            told = memory.finding().look(
                "default",
                lambda look, how=sensitivity: conflicts(Material(look, wanted=Filters(), now=0), sensitivity=how),
            )
            right = sum(frozenset((one.left.sentence, one.right.sentence)) in wanted for one in told.clashes)
            bands = {}
            for low, high in BANDS:
                some = [one for one in told.clashes if low <= one.confidence < high]
                hits = sum(frozenset((one.left.sentence, one.right.sentence)) in wanted for one in some)
                bands[f"{low:.1f}"] = (len(some), hits)
            found.append(
                {
                    "bands": bands,
                    "items": len(texts) + len(planted),
                    "sensitivity": sensitivity,
                    "told": len(told.clashes),
                    "planted": right,
                    "precision": right / max(1, len(told.clashes)),
                    "recall": right / len(wanted),
                }
            )
        memory.close()
    return found


def _notes(held: bool, model: str) -> dict[str, Any]:
    """What is told among everyday notes, all in one project: those held out, or the others and the series."""
    from bench.analysis.conflict_notes import CLASHING, PEACEFUL, SERIES, held_out
    from polymnia import Filters, embedding
    from polymnia.engine.analysis.conflicts import conflicts
    from polymnia.engine.analysis.material import Material

    clashing = [pair for pair in CLASHING if held_out(pair) == held]
    peaceful = [pair for pair in PEACEFUL if held_out(pair) == held]
    items = [Item(pair[side], 40 * side) for side in (0, 1) for pair in (*clashing, *peaceful)]
    if not held:
        items += [Item(text, 3 * at) for series in SERIES for at, text in enumerate(series)]
    chosen = embedding.choose(model) if model else []
    for one in chosen:
        one.load()
    with tempfile.TemporaryDirectory() as folder:
        memory = _memory(folder, items, chosen, embed=bool(chosen))
        found = memory.finding().look(
            "default", lambda look: conflicts(Material(look, wanted=Filters(), now=0), sensitivity="high")
        )
        memory.close()
    wanted = {frozenset(pair) for pair in clashing}
    told = [(one.confidence, frozenset((one.left.sentence, one.right.sentence)) in wanted) for one in found.clashes]
    right = sum(hit for sure, hit in told if sure >= 0.5)
    count = sum(sure >= 0.5 for sure, _ in told)
    return {
        "held_out": held,
        "model": model,
        "clashing": len(clashing),
        "peaceful": len(peaceful),
        "told": count,
        "right": right,
        "precision": right / max(1, count),
        "recall": right / len(clashing),
        "bands": {
            f"{low:.1f}": (sum(low <= c < high for c, _ in told), sum(hit for c, hit in told if low <= c < high))
            for low, high in BANDS
        },
    }


class _Hashed:
    """An embedder that costs nothing: what is measured here is the search for clashes, not the model."""

    id = "hashed"
    dimensions = 512
    near = False
    strong = True
    unrelated = 0.0

    def knows(self, text: str) -> bool:
        return True

    def load(self) -> None:
        return

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        from zlib import crc32

        import numpy as np

        made = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in text.lower().split():
                row += np.random.default_rng(crc32(word.encode()) % 5000).standard_normal(self.dimensions)
        return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-6)


def _speed(data: str, size: int) -> dict[str, float]:
    """Processor seconds of the whole project and of one item, and the peak of memory."""
    from polymnia import Filters
    from polymnia.engine.analysis.conflicts import conflicts, conflicts_of
    from polymnia.engine.analysis.material import Material

    draw = random.Random(SEED)
    parts = [
        part
        for row in _rows(os.path.join(data, "longmemeval", "corpus_turns.jsonl.gz"))
        for part in row["text"].split("\n\n")
        if len(part) > 30
    ]
    texts = [Item(draw.choice(parts)) for _ in range(size)]
    with tempfile.TemporaryDirectory() as folder:
        memory = _memory(folder, texts, [_Hashed()], embed=True)

        def ask(look: Any) -> dict[str, float]:
            material = Material(look, wanted=Filters(), now=0)
            some = look.snapshot.load([look.base + number for number in draw.sample(range(1, 2 * size), 200)])
            for record in some[:3]:
                conflicts_of(material, record)
            times = []
            for record in some:
                begun = time.process_time()
                conflicts_of(material, record)
                times.append(time.process_time() - begun)
            times.sort()
            begun, wall = time.process_time(), time.perf_counter()
            whole = conflicts(material)
            return {
                "project_s": round(time.process_time() - begun, 1),
                "project_wall_s": round(time.perf_counter() - wall, 1),
                "statements": whole.looked_at["statements"],
                "pairs": whole.looked_at["pairs_compared"],
                "one_item_ms": round(times[len(times) // 2] * 1e3, 1),
                "one_item_95_ms": round(times[len(times) * 95 // 100] * 1e3, 1),
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }

        told: dict[str, float] = memory.finding().look("default", ask)
        memory.close()
    return told


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
