"""Model: the numbers learned from judged pairs, and how they turn features and vectors into log odds.

Two vectors first pass a linear form and a small network. The network guesses how the statements would relate without
their negations (one of four hidden relations), and a table says what becomes of each relation when the first, the
second, both or none of the statements are denied. Boosted trees then weigh that with the features of the words. There
are trees for words with vectors and trees for words alone.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Model", "grown", "joined", "shipped", "softmax"]

_FILE = os.path.join(os.path.dirname(__file__), "weights.npz")
_FAR = 4.0  # standard deviations; what lies further out counts as this far
_PRODUCT = 10.0  # products of two small numbers, brought to the size of the numbers


class Model:
    """Learned numbers, by name."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = {
            name: array.astype(np.float32) if array.dtype == np.float16 else array for name, array in arrays.items()
        }
        self.of = str(self.arrays["model"])

    def told(self, left: NDArray[Any], right: NDArray[Any], settings: NDArray[Any]) -> NDArray[Any]:
        """What vectors tell of pairs: a linear form, the chances of three labels, the cosine."""
        x = self.standard(joined(left, right))
        linear = x @ self.arrays["linear"] + self.arrays["linear_bias"]
        hidden = np.maximum(x @ self.arrays["hidden"] + self.arrays["hidden_bias"], 0)
        relations = softmax(hidden @ self.arrays["relation"] + self.arrays["relation_bias"])
        labels = np.einsum("nk,nkl->nl", relations, softmax(self.arrays["table"])[settings])
        return np.column_stack([linear, labels, np.einsum("nd,nd->n", left, right)]).astype(np.float32)

    def standard(self, x: NDArray[Any]) -> NDArray[Any]:
        """Joined vectors with mean 0 and spread 1, as they were learned."""
        spread: NDArray[Any] = np.clip((x - self.arrays["mean"]) / self.arrays["spread"], -_FAR, _FAR)
        return spread

    def weighed(self, rows: NDArray[Any], kind: str) -> NDArray[Any]:
        """Log odds of rows of features, by the trees of a kind (``words`` or ``vectors``)."""
        raw = grown(rows, *(self.arrays[f"{kind}_{part}"] for part in ("roots", "nodes", "splits")))
        slope, shift = self.arrays[f"{kind}_scale"]
        scaled: NDArray[Any] = slope * raw + shift
        return scaled


def joined(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Two rows of vectors as the network reads them: both, their distance, their product."""
    return np.hstack([left, right, np.abs(left - right), left * right * _PRODUCT]).astype(np.float32)


def softmax(x: NDArray[Any]) -> NDArray[Any]:
    """Numbers as shares of 1, along the last axis."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    shares: NDArray[Any] = powers / powers.sum(-1, keepdims=True)
    return shares


def grown(rows: NDArray[Any], roots: NDArray[Any], nodes: NDArray[Any], splits: NDArray[Any]) -> NDArray[Any]:
    """The sum of what all trees say of each row.

    A node is its feature (-1 in a leaf) and the nodes below it; its split is the border, or the value of a leaf.
    """
    at = np.broadcast_to(roots, (len(rows), len(roots))).copy()
    line = np.arange(len(rows))[:, None]
    feature = nodes[at, 0]
    while (feature >= 0).any():
        lower = rows[line, np.maximum(feature, 0)] <= splits[at]
        at = np.where(feature < 0, at, np.where(lower, nodes[at, 1], nodes[at, 2]))
        feature = nodes[at, 0]
    total: NDArray[Any] = splits[at].sum(1)
    return total


@cache
def shipped() -> Model:
    """The model that comes with the package."""
    with np.load(_FILE, allow_pickle=False) as file:
        return Model({name: file[name] for name in file.files})
