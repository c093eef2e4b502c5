"""Judged pairs of others, for the judge: which labels of ours a label of theirs allows, and what is held out."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from training.texts import LABELS, rows

__all__ = ["ALLOWED", "Judged", "pairs", "plain", "snli"]

# What a label of theirs can be among ours. An entailed sentence may say the same, less, or something compatible.
ALLOWED = {
    "contradiction": ("conflict", "update"),
    "entailment": ("same", "narrower", "compatible"),
    "neutral": ("narrower", "compatible", "unrelated"),
}


class Judged(NamedTuple):
    """Two sentences, and the numbers of the labels that are right for them."""

    a: str
    b: str
    allowed: tuple[int, ...]


def held_out(a: str, b: str) -> bool:
    """Whether a pair is kept for measuring: three of ten, by the first of its texts in the order of characters."""
    return int(hashlib.sha256(min(a, b).encode()).hexdigest()[:8], 16) < 0.3 * 2**32


def pairs(path: Path, *, held: bool) -> list[Judged]:
    """One part of a set of judged pairs."""
    return list(_judged(row for row in rows(path) if held_out(row["a"], row["b"]) == held))


def snli(path: Path, most: int) -> list[Judged]:
    """Pairs of SNLI's training file, plain JSON lines."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["gold_label"] in ALLOWED:
                found.append({"a": row["sentence1"], "b": row["sentence2"], "label": row["gold_label"]})
    random.Random(0).shuffle(found)
    return list(_judged(found[:most]))


def plain(path: Path) -> list[str]:
    """Sentences of any kind, from a gzipped file with one a line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip()]


def _judged(found: Iterable[dict]) -> Iterator[Judged]:
    for row in found:
        if row["label"] in ALLOWED:  # "not entailment" may be anything
            yield Judged(row["a"], row["b"], tuple(LABELS.index(name) for name in ALLOWED[row["label"]]))
