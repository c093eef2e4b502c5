"""Train the judge of contradictions: ``python -m bench.analysis.train_contradiction --data DIR --snli ARCHIVE``.

Writes the weights of the package, byte for byte the same for the same data. A pair belongs to the held-out part, which
is never trained on, when the SHA-256 of its group's key is in the lowest three tenths; a group is all pairs that are
joined by a text they share (or, in the set of negations, by the pair they were made of); its first text is its key.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"  # sums in one order: the same bytes each time

import numpy as np
from numpy.typing import NDArray

from bench.analysis.contradiction_learning import learn
from bench.analysis.contradiction_notes import notes
from bench.analysis.contradiction_scenes import ARCHIVE, affirmed, captions, denied, scenes

__all__ = ["SETS", "Case", "Prepared", "cases", "held_out", "invented", "mixed", "pictured", "prepared", "turned"]

SETS = {"negnli": "negnli_en/nli.jsonl.gz", "kornli": "kornli_ko/nli.jsonl.gz", "scifact": "scifact/pairs.jsonl.gz"}
HELD_OUT = 0.3
NOTES, MIXED = 3000, 1500
# Small sets count a little more.
WEIGHTS = {"negnli": 1.5, "kornli": 1.0, "scifact": 1.5, "notes": 0.5, "mixed": 0.3, "snli": 0.3, "captions": 0.3}
LABELS = ("entailment", "neutral", "contradiction")
TURNED = 6000  # English sentences that are denied by rule


class Case(NamedTuple):
    """A judged pair: its set, its two texts, its possible labels as marks, its group."""

    set: str
    a: str
    b: str
    labels: tuple[int, int, int]
    group: str

    @property
    def conflict(self) -> bool:
        """Whether the two contradict each other."""
        return self.labels == (0, 0, 1)


class Prepared(NamedTuple):
    """Cases as numbers."""

    cases: list[Case]
    rows: NDArray[Any]
    settings: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]

    def some(self, chosen: NDArray[Any]) -> Prepared:
        """Some of them, by their places."""
        return Prepared([self.cases[at] for at in chosen], *(part[chosen] for part in self[1:]))

    @property
    def truth(self) -> NDArray[Any]:
        """Which are contradictions."""
        return np.array([case.conflict for case in self.cases])

    @property
    def weights(self) -> NDArray[Any]:
        """How much each counts."""
        return np.array([WEIGHTS[case.set] for case in self.cases], np.float32)


def cases(data: str) -> list[Case]:
    """The judged pairs of all sets, without those that have no label of contradiction."""
    found = []
    for name, path in SETS.items():
        with gzip.open(os.path.join(data, path), "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
        rows = [row for row in rows if row["split"] != "RTE"]
        keys = _groups(name, rows)
        for row, key in zip(rows, keys, strict=True):
            marks = tuple(int(label == row["label"]) for label in LABELS)
            found.append(Case(name, row["a"], row["b"], marks, key))  # type: ignore[arg-type]
    return found


def _groups(name: str, rows: list[dict[str, Any]]) -> list[str]:
    """The key of each row's group."""
    parent: dict[str, str] = {}

    def top(key: str) -> str:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for row in rows:
        parent[top(row["a"])] = top(row["b"])
        if name == "negnli":  # three pairs in a row were made of one
            parent[top(row["a"])] = top(f"{row['split']}/{int(row['id'].split('-')[1]) // 3}")
    first: dict[str, str] = {}
    for row in rows:
        at = top(row["a"])
        first[at] = min(first.get(at, row["a"]), row["a"], row["b"])
    return [first[top(row["a"])] for row in rows]


def held_out(case: Case) -> bool:
    """Whether a case is in the part that is never trained on."""
    return int(hashlib.sha256(case.group.encode()).hexdigest()[:8], 16) / 2**32 < HELD_OUT


def invented() -> list[Case]:
    """The notes made by rule."""
    made = enumerate(notes(NOTES))
    return [Case("notes", note.a, note.b, (0, 0, 1) if note.conflict else (1, 1, 0), f"note {at}") for at, note in made]


def mixed() -> list[Case]:
    """Notes made by rule that have nothing to do with each other."""
    made, draw = notes(NOTES), np.random.default_rng(0)
    pairs = zip(draw.integers(len(made), size=MIXED), draw.integers(len(made), size=MIXED), strict=True)
    return [Case("mixed", made[i].a, made[j].b, (1, 1, 0), f"mixed {at}") for at, (i, j) in enumerate(pairs) if i != j]


def pictured(path: str, every: Sequence[Case]) -> list[Case]:
    """The scenes and captions of an archive, none of which says what one of the cases does."""
    measured = [(case.a, case.b) for case in every]
    marks: list[tuple[int, int, int]] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    return [
        Case(name, one.a, one.b, marks[one.label], one.picture)
        for name, found in (("snli", scenes(path, measured)), ("captions", captions(path, measured)))
        for one in found
    ]


def prepared(chosen: Sequence[Case], embedder: Any) -> Prepared:
    """Read the texts and embed them."""
    from polymnia.engine.analysis.contradiction.judging import readings

    texts = sorted({text for case in chosen for text in (case.a, case.b)})
    place = {text: at for at, text in enumerate(texts)}
    vectors = _embedded(texts, embedder)
    rows, settings = readings([(case.a, case.b) for case in chosen])
    a, b = (vectors[[place[case[side]] for case in chosen]] for side in (1, 2))
    return Prepared(list(chosen), rows, settings, a, b)


def turned(chosen: Sequence[Case], embedder: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors of sentences with and without their negation: English scenes, denied, and Korean ones that are denied."""
    english: dict[str, str] = {}
    for case in chosen:
        if case.set == "snli" and len(english) < TURNED and (other := denied(case.b)):
            english[other] = case.b
    korean = {text: affirmed(text) for case in chosen if case.set == "kornli" for text in (case.a, case.b)}
    pairs = [*english.items(), *sorted(pair for pair in korean.items() if pair[0] != pair[1])]
    return tuple(_embedded([pair[side] for pair in pairs], embedder) for side in (0, 1))  # type: ignore[return-value]


def _embedded(texts: Sequence[str], embedder: Any) -> NDArray[Any]:
    return np.concatenate([embedder.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)])


def main(arguments: list[str] | None = None) -> int:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.train_contradiction", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--snli", required=True, help=f"the archive {ARCHIVE}")
    parser.add_argument("--out", help="where to write the weights; default: into the package")
    given = parser.parse_args(arguments)
    from polymnia import embedding
    from polymnia.engine.analysis.contradiction import model

    embedder = embedding.choose("use")[0]
    embedder.load()
    every = cases(given.data)
    known = [case for case in every if not held_out(case)] + invented() + mixed() + pictured(given.snli, every)
    arrays = learn(prepared(known, embedder), embedder.id, turned(known, embedder))
    path = given.out or os.path.join(os.path.dirname(model.__file__), "weights.npz")
    np.savez_compressed(path, **arrays)
    with open(path, "rb") as file:
        print(f"{path}: {os.path.getsize(path)} bytes, sha256 {hashlib.sha256(file.read()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
