"""The embedders that come with the package: one for English, one for sixteen languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polymnia.inference.networks import MultilingualEncoder, OnnxNetwork, one_thread
from polymnia.inference.weights import SHIPPED, LazyModel, Weights, shared
from polymnia.inference.word_tables import Floats, SubwordTable, WordTable, arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.inference.word_tables import PositionTable


class Calibration(NamedTuple):
    """chance = logistic(slope * logit + offset)."""

    slope: float
    offset: float


ENGLISH, MULTILINGUAL = "en", "multi"

RANK = {ENGLISH: Calibration(0.580, 0.693), MULTILINGUAL: Calibration(0.487, 0.358)}
"""That a text answers a question."""

JUDGE = {ENGLISH: 1.60, MULTILINGUAL: 2.25}
"""The temperature by which the judge's six logits are divided."""

UNRELATED = {ENGLISH: 0.472, MULTILINGUAL: 0.085}
"""The mean cosine of texts that have nothing in common, for each embedder."""

ANSWERS = {ENGLISH: (0.4, 0.75), MULTILINGUAL: (0.05, 0.55)}
"""The cosine of a question and a text that has nothing to do with it, and of one that clearly answers it."""


_NETWORK = "embedder_en.onnx"
_WORDS = "words_embedder_en.npz"
_ASKED = "Represent this sentence for searching relevant passages: "  # what the model was taught to see before a query

_MOST_TOKENS = 510  # of the model's 512 places two are taken by its marks
_MOST_CHARACTERS = 16 * _MOST_TOKENS


class EnglishEmbedder(LazyModel):
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
        self._words: WordTable
        self._places: PositionTable
        self._graph: OnnxNetwork

    def knows(self, text: str) -> bool:
        """Whether the text is English, as far as letters and small words tell."""
        from polymnia.inference.languages import is_english

        return is_english(text)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """One vector of length 1 for each text."""
        self.load()
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        before = _ASKED if query else ""
        vectors = self._graph.run([self._rows(before + text) for text in texts], "vector")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _rows(self, text: str) -> Floats:
        words = self._words
        return self._places.add(words.rows([words.start, *words.ids(text[:_MOST_CHARACTERS], _MOST_TOKENS), words.end]))

    def _prepare(self) -> None:
        (network,) = self._weights.verified(_NETWORK)
        self._words = shared(WordTable, self._weights, _WORDS)
        self._places = self._words.places("embedder")
        self._graph = OnnxNetwork(network)


# The network averages, so that a longer text says ever less about each of its parts: passages are short,
# and what is longer is read as far as this. No piece is longer than 16 characters, most have 4.
_MOST_PIECES = 512
_LONGEST_TEXT = 8 * _MOST_PIECES

# Tokens that go through the network together: enough to use each weight often, few enough for the cache.
_TOGETHER = 768


class MultilingualEmbedder(LazyModel):
    """Vectors of 512 numbers for texts in 16 languages, about half a millisecond a short text."""

    id = "polymnia-multi-2"
    dimensions = 512
    near = True
    strong = False  # an average over words: what it says of two texts counts for less than the words they share
    unrelated = UNRELATED[MULTILINGUAL]
    answers = ANSWERS[MULTILINGUAL]

    def __init__(self, weights: Weights = SHIPPED) -> None:
        super().__init__()
        self._weights = weights
        self._words: SubwordTable
        self._network: MultilingualEncoder

    def knows(self, text: str) -> bool:
        """Whether the text is in a language the model was trained on, as far as letters and small words tell."""
        from polymnia.inference.languages import is_multilingual

        return is_multilingual(text)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """One vector of length 1 for each text. A query and a text are embedded alike."""
        self.load()
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        with one_thread():
            group: list[list[int]] = []
            first = tokens = 0
            for at, text in enumerate(texts):
                ids = self._words.pieces.ids(text[:_LONGEST_TEXT], _MOST_PIECES)
                if group and tokens + len(ids) > _TOGETHER:
                    vectors[first:at] = self._network.run(group)
                    group, first, tokens = [], at, 0
                group.append(ids)
                tokens += len(ids)
            if group:
                vectors[first:] = self._network.run(group)
        return vectors

    def _prepare(self) -> None:
        self._words = shared(SubwordTable, self._weights)
        self._network = MultilingualEncoder(self._words.rows, arrays(self._words.path, lambda name: name[0] != "q"))
