"""The model of statement kinds: a layer of weights for each embedder that comes with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polymnia.engine.ports import KINDS
from polymnia.inference.built_in import EnglishEmbedder, MultilingualEmbedder
from polymnia.inference.weights import SHIPPED, LazyModel, Weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.inference.tokens import Floats


class StatementKinds(LazyModel):
    """Softmax regression on the vector of a text and its outer features."""

    id = "polymnia-kinds-1"
    file = "kinds.npz"

    def __init__(self, weights: Weights = SHIPPED) -> None:
        super().__init__()
        self._weights = weights
        self._layers: dict[str, tuple[Floats, Floats]] = {}

    def knows(self, embedder: str) -> bool:
        """Whether there are weights for the vectors of this embedder."""
        return embedder in (EnglishEmbedder.id, MultilingualEmbedder.id)

    def chances(self, embedder: str, vectors: Any, features: Sequence[Sequence[float]]) -> list[list[float]]:
        """For each vector, with its outer features, the probability of each kind."""
        if not self.ready:
            self.load()
        weight, bias = self._layers[embedder]
        outer = np.array(features, np.float32).reshape(len(vectors), len(weight) - vectors.shape[1])
        logits = np.hstack([vectors, outer]) @ weight + bias
        logits -= logits.max(axis=1, keepdims=True)
        made = np.exp(logits)
        made /= made.sum(axis=1, keepdims=True)
        found: list[list[float]] = made.tolist()
        return found

    def _prepare(self) -> None:
        (path,) = self._weights.verified(self.file)
        with np.load(path) as arrays:
            for embedder in (EnglishEmbedder.id, MultilingualEmbedder.id):
                weight, bias = arrays[embedder].astype(np.float32), arrays[f"{embedder}.bias"].astype(np.float32)
                assert weight.shape[1] == len(KINDS)
                self._layers[embedder] = weight, bias
