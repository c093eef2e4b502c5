"""Embedders for tests: instantaneous, and broken, slow or late at the test's command."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

__all__ = ["Toy"]

_SMALL = {"a", "an", "the", "who", "has", "to", "at", "about", "that"}
_SAME = {"car": "automobile", "cars": "automobile", "film": "movie", "kitten": "cat", "physician": "doctor"}


class Toy:
    """A bag of hashed words in which a few words mean the same.

    ``broken`` is raised by ``embed`` (``unloadable`` by ``load``) while it is set. While ``gate`` is closed, texts are
    not embedded (queries are, unless ``asking`` is closed), and while ``loading`` is, the model does not become ready.
    """

    near = False
    strong = True
    unrelated = 0.0
    answers = (0.0, 1.0)

    def __init__(self, id: str = "toy", dimensions: int = 256) -> None:
        self.id = id
        self.dimensions = dimensions
        self.unloadable: Exception | None = None
        self.broken: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.asking = threading.Event()
        self.asking.set()
        self.loading = threading.Event()
        self.loading.set()
        self.begun = threading.Event()  # a batch of texts has come
        self.embedded: list[str] = []

    def knows(self, text: str) -> bool:
        """Everything but Klingon."""
        return "tlhIngan" not in text

    def load(self) -> None:
        """Ready, unless the test says otherwise."""
        assert self.loading.wait(30)
        if self.unloadable is not None:
            raise self.unloadable

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One row for each text."""
        if query:
            assert self.asking.wait(30)
        else:
            self.begun.set()
            assert self.gate.wait(30)
        if self.broken is not None:
            raise self.broken
        if not query:
            self.embedded += texts
        made = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in set(text.lower().replace(":", " ").replace(".", " ").split()) - _SMALL:
                row[crc32(_SAME.get(word, word).encode()) % self.dimensions] += 1
            row[0] += 0.01
            row /= np.linalg.norm(row)
        return made
