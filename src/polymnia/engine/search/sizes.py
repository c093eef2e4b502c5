"""The sizes of a project: how many passages and memories it has, and how long they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.search import fusion

if TYPE_CHECKING:
    from polymnia.engine.search.index import Index

__all__ = ["Sizes"]

_LENGTHS = np.exp2(np.arange(256, dtype=np.float32) / 16) - 1  # what the steps of a stored length stand for


class Sizes:
    """How many passages and memories there are, and how long they are: what a word's weight depends on.

    ``norm`` and ``memory_norm`` are how BM25 sees the length of each passage and memory. ``share`` is what each passage
    counts in its memory (0 when it is gone), ``whole`` whether none is gone, ``bodies`` how many passages of
    observations a memory has, ``has_long`` whether one has more than one, ``texts`` how many observations.
    """

    def __init__(self, index: Index) -> None:
        columns, memories = index.passages, index.memories.count
        alive = columns["alive"]
        counted = alive & columns["embeds"]
        self.passages = max(1, int(np.count_nonzero(counted)))
        length = _LENGTHS[columns["length"]]
        mean = max(1.0, float(length[counted].sum()) / self.passages)
        self.norm = fusion.norm(length, mean).astype(np.float32)
        self.share = alive * (columns["weight"] * np.float32(0.01))
        whole = np.bincount(columns["memory"], length * self.share, memories)
        self.memories = max(1, int(np.count_nonzero(whole)))
        mean = max(1.0, float(whole.sum()) / self.memories)
        self.memory_norm = fusion.norm(whole, mean, fusion.K1_WHOLE, fusion.B_WHOLE).astype(np.float32)
        self.whole = bool(self.share[1:].all())
        body = alive & (columns["text"] != index.memories["number"][columns["memory"]])
        self.bodies = np.bincount(columns["memory"][body], minlength=memories)
        self.texts = np.bincount(columns["memory"][body & (columns["part"] == 0)], minlength=memories)
        self.has_long = bool(self.bodies[1:].max(initial=0) > 1)
