"""The English embedder: bge-small-en-v1.5, tuned for questions and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.embedding.calibration import ANSWERS, ENGLISH, UNRELATED
from polymnia.embedding.graph import Graph
from polymnia.embedding.loading import Lazy, shared
from polymnia.embedding.weights import SHIPPED, Weights
from polymnia.embedding.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.embedding.words import Places

__all__ = ["English"]

_NETWORK = "embedder_en.onnx"
_WORDS = "words_embedder_en.npz"
_ASKED = "Represent this sentence for searching relevant passages: "  # what the model was taught to see before a query

_MOST = 510  # of the model's 512 places two are taken by its marks
_MOST_CHARACTERS = 16 * _MOST


class English(Lazy):
    """Vectors of 384 numbers for English texts, about five milliseconds for one of thirty words."""

    id = "polymnia-en-1"
    dimensions = 384
    near = True
    strong = True
    unrelated = UNRELATED[ENGLISH]
    answers = ANSWERS[ENGLISH]

    def __init__(self, weights: Weights = SHIPPED) -> None:
        super().__init__()
        self._weights = weights
        self._words: Words
        self._places: Places
        self._graph: Graph

    def knows(self, text: str) -> bool:
        """Whether the text is English, as far as letters and small words tell."""
        from polymnia.embedding.languages import is_english

        return is_english(text)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[Any]:
        """One vector of length 1 for each text."""
        self.load()
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        before = _ASKED if query else ""
        vectors = self._graph.run([self._rows(before + text) for text in texts], "vector")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _rows(self, text: str) -> NDArray[Any]:
        words = self._words
        return self._places.add(words.rows([words.start, *words.ids(text[:_MOST_CHARACTERS], _MOST), words.end]))

    def _prepare(self) -> None:
        (network,) = self._weights.verified(_NETWORK)
        self._words = shared(Words, self._weights, _WORDS)
        self._places = self._words.places("embedder")
        self._graph = Graph(network)
