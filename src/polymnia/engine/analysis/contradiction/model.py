"""Model: the numbers learned from judged pairs, and how they turn features and vectors into log odds.

A linear form reads two vectors as they are. Two small networks read them without negation: a form, learned too, takes
the negation out of the vector of a denied statement. The first network knows scenes, of which none is denied. The
second guesses how the statements would relate without their negations (one of four hidden relations), and a table says
what becomes of each relation when the first, the second, both or none of the statements are denied. Boosted trees and a
line then weigh that with the features of the words. There are trees for words with vectors and trees for words alone.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.contradiction.features import NAMES

__all__ = ["TOLD", "Model", "clipped", "crossed", "grown", "joined", "shipped", "softmax"]

TOLD = 14
"""How many numbers two vectors give: a linear form, the cosine, three labels of two networks, forward and backward."""

_FILE = os.path.join(os.path.dirname(__file__), "weights.npz")
_FAR = 4.0  # standard deviations; what lies further out counts as this far
_FAR_FEATURE = 3.0  # the same for a feature
_PRODUCT = 10.0  # products of two small numbers, brought to the size of the numbers
_LEAST = 0.01  # chances below this are alike
_EVEN = 0.0
_ODD, _KOREAN = NAMES.index("odd"), NAMES.index("korean")


class Model:
    """Learned numbers, by name."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = {
            name: array.astype(np.float32) if array.dtype == np.float16 else array for name, array in arrays.items()
        }
        self.of = str(self.arrays["model"])

    def told(self, left: NDArray[Any], right: NDArray[Any], settings: NDArray[Any]) -> NDArray[Any]:
        """What vectors tell of pairs, as many numbers as :data:`TOLD`."""
        x = clipped(joined(left, right), self.arrays["linear_mean"], self.arrays["linear_spread"])
        linear = x @ self.arrays["linear_weights"] + self.arrays["linear_bias"]
        there = self.standard(self.bare_pairs(left, right, settings))
        turned = settings % 2 * 2 + settings // 2
        back = self.standard(self.bare_pairs(right, left, turned))
        none = np.zeros_like(settings)
        labels = [
            np.log(self.labels(net, one, how) + _LEAST)
            for net, ways in (("scene", (none, none)), ("net", (settings, turned)))
            for one, how in zip((there, back), ways, strict=True)
        ]
        return np.column_stack([linear, np.einsum("nd,nd->n", left, right), *labels]).astype(np.float32)

    def bare_pairs(self, left: NDArray[Any], right: NDArray[Any], settings: NDArray[Any]) -> NDArray[Any]:
        """Two rows of vectors without the negations of the sides that are denied, joined."""
        return joined(self._bare(left, settings >= 2), self._bare(right, settings % 2 == 1))

    def _bare(self, vectors: NDArray[Any], denied: NDArray[Any]) -> NDArray[Any]:
        some = vectors[denied].astype(np.float32)
        some = some + some @ self.arrays["bare"][:-1] + self.arrays["bare"][-1]
        plain = vectors.astype(np.float32)
        plain[denied] = some / np.linalg.norm(some, axis=1, keepdims=True)
        return plain

    def labels(self, net: str, x: NDArray[Any], settings: NDArray[Any]) -> NDArray[Any]:
        """The chances of three labels (follows, neither, contradicts) by one of the networks."""
        hidden = np.maximum(x @ self.arrays[f"{net}_hidden"] + self.arrays[f"{net}_hidden_bias"], 0)
        relations = softmax(hidden @ self.arrays[f"{net}_relation"] + self.arrays[f"{net}_relation_bias"])
        found: NDArray[Any] = np.einsum("nk,nkl->nl", relations, softmax(self.arrays[f"{net}_table"])[settings])
        return found

    def standard(self, x: NDArray[Any]) -> NDArray[Any]:
        """Joined vectors with mean 0 and spread 1, as the networks learned them."""
        return clipped(x, self.arrays["mean"], self.arrays["spread"])

    def weighed(self, rows: NDArray[Any], kind: str) -> NDArray[Any]:
        """Log odds of rows of features, by what was learned for a kind (``words`` or ``vectors``)."""
        slope, shift = self.arrays[f"{kind}_scale"]
        scaled: NDArray[Any] = slope * self.raw(rows, kind) + shift
        return scaled

    def weighed_both(self, rows: NDArray[Any], told: NDArray[Any]) -> NDArray[Any]:
        """Log odds of rows of features with what their vectors tell; more than even odds only as far as words say so.

        Vectors of two scenes that merely differ look like those of scenes that exclude each other.
        """
        words = self.weighed(rows, "words")
        both: NDArray[Any] = np.minimum(self.weighed(np.hstack([rows, told]), "vectors"), np.maximum(words, _EVEN))
        return both

    def raw(self, rows: NDArray[Any], kind: str) -> NDArray[Any]:
        """What the trees of a kind say, and its line where it has one, before they are made log odds."""
        said = grown(rows, *(self.arrays[f"{kind}_{part}"] for part in ("roots", "nodes", "splits")))
        if f"{kind}_line" not in self.arrays:
            return said
        x = crossed(rows, self.arrays[f"{kind}_line_mean"], self.arrays[f"{kind}_line_spread"])
        total: NDArray[Any] = said + x @ self.arrays[f"{kind}_line"] + self.arrays[f"{kind}_line_bias"]
        return total


def clipped(x: NDArray[Any], mean: NDArray[Any], spread: NDArray[Any], far: float = _FAR) -> NDArray[Any]:
    """Numbers with mean 0 and spread 1, none further out than ``far``."""
    found: NDArray[Any] = np.clip((x - mean) / spread, -far, far).astype(np.float32)
    return found


def crossed(rows: NDArray[Any], mean: NDArray[Any], spread: NDArray[Any]) -> NDArray[Any]:
    """Rows of features as the line reads them: all, and again for pairs denied on one side, and for Korean ones."""
    x = clipped(rows, mean, spread, _FAR_FEATURE)
    return np.hstack([x, x * rows[:, _ODD : _ODD + 1], x * rows[:, _KOREAN : _KOREAN + 1]])


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
