"""The multilingual embedder: the Universal Sentence Encoder, version 3, tuned for questions and their answers.

A network of averaged n-gram convolutions (Yang et al., 2019): each token's vector passes three branches
that see two, three and five neighbouring tokens, the branches and the token's own vector are averaged
over the text, each token with a learned weight, and four dense layers turn the average into 512 numbers.
It knows 16 languages in one space and needs nothing but NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from polymnia.embedding.archive import arrays
from polymnia.embedding.blas import one_thread
from polymnia.embedding.calibration import ANSWERS, MULTILINGUAL, UNRELATED
from polymnia.embedding.loading import Lazy, shared
from polymnia.embedding.network import Network
from polymnia.embedding.weights import SHIPPED, Weights
from polymnia.embedding.words import Subwords

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Use"]

# The network averages, so that a longer text says ever less about each of its parts: passages are short,
# and what is longer is read as far as this. No piece is longer than 16 characters, most have 4.
_MOST_PIECES = 512
_MOST_CHARACTERS = 8 * _MOST_PIECES

# Tokens that go through the network together: enough to use each weight often, few enough for the cache.
_TOGETHER = 768


class Use(Lazy):
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
        self._words: Subwords
        self._network: Network

    def knows(self, text: str) -> bool:
        """Whether the text is in a language the model was trained on, as far as letters and small words tell."""
        from polymnia.embedding.languages import known_to_use

        return known_to_use(text)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[Any]:
        """One vector of length 1 for each text. A query and a text are embedded alike."""
        self.load()
        vectors = numpy.empty((len(texts), self.dimensions), numpy.float32)
        with one_thread():
            group: list[list[int]] = []
            first = tokens = 0
            for at, text in enumerate(texts):
                ids = self._words.pieces.ids(text[:_MOST_CHARACTERS], _MOST_PIECES)
                if group and tokens + len(ids) > _TOGETHER:
                    vectors[first:at] = self._network.run(group)
                    group, first, tokens = [], at, 0
                group.append(ids)
                tokens += len(ids)
            if group:
                vectors[first:] = self._network.run(group)
        return vectors

    def _prepare(self) -> None:
        self._words = shared(Subwords, self._weights)
        self._network = Network(self._words.rows, arrays(self._words.path, lambda name: name[0] != "q"))
