"""Measures: how good an order or a verdict is."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import numpy as np

__all__ = ["Bm25", "area", "best_f1", "f1", "ndcg"]


def ndcg(ranked: Sequence[object], relevant: Collection[object], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k."""
    gain = sum(1 / math.log2(place + 2) for place, one in enumerate(ranked[:k]) if one in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def f1(said: np.ndarray, true: np.ndarray) -> float:
    """The harmonic mean of precision and recall."""
    return float(2 * (said & true).sum() / max(1, said.sum() + true.sum()))


def best_f1(scores: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """The best F1 over all borders, and the border."""
    borders = np.linspace(0.02, 0.98, 49)
    values = [f1(scores > border, true) for border in borders]
    return max(values), float(borders[int(np.argmax(values))])


def area(scores: np.ndarray, true: np.ndarray) -> float:
    """The area under the ROC curve."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(len(scores))
    return float((ranks[true].mean() - (true.sum() - 1) / 2) / max(1, (~true).sum()))


class Bm25:
    """Words of a set of texts, as plain as can be: only for choosing what a reranker sees."""

    def __init__(self, texts: Sequence[str], k1: float = 0.9, b: float = 0.4) -> None:
        counts = [Counter(_words(text)) for text in texts]
        lengths = [sum(one.values()) for one in counts]
        mean = sum(lengths) / max(1, len(lengths))
        frequency = Counter(word for one in counts for word in one)
        self._idf = {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}
        self._size = len(texts)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, one in enumerate(counts):
            for word, n in one.items():
                weight = self._idf[word] * n * (k1 + 1) / (n + k1 * (1 - b + b * lengths[i] / max(mean, 1e-9)))
                self._postings[word].append((i, weight))

    def scores(self, query: str) -> np.ndarray:
        """The score of every text, from 0 to about 1."""
        found = np.zeros(self._size, np.float32)
        mass = 1e-6
        for word in set(_words(query)):
            if word in self._idf:
                mass += self._idf[word] * 1.9
                for i, weight in self._postings[word]:
                    found[i] += weight
        return found / mass


def _words(text: str) -> list[str]:
    return [
        re.sub(r"(?:ing|ed|es|s|ly)$", "", word) if len(word) > 5 else word for word in re.findall(r"\w+", text.lower())
    ]
