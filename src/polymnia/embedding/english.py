"""What the two English models share: weights and words of one carrier, read through onnxruntime."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from polymnia.embedding.loading import Lazy
from polymnia.embedding.weights import Carrier, WeightFile, installed
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.embedding.session import Session
    from polymnia.embedding.wordpiece import WordPieces

__all__ = ["EnglishModel"]


class EnglishModel(Lazy):
    """An ONNX model with a vocabulary of word pieces. ``carrier`` is the package that brings it."""

    id: ClassVar[str]
    carrier: ClassVar[Carrier]
    weights: ClassVar[WeightFile]
    words: ClassVar[WeightFile]

    def __init__(
        self, carrier: Carrier | None = None, weights: WeightFile | None = None, words: WeightFile | None = None
    ) -> None:
        super().__init__()
        self._carrier = carrier or self.carrier
        self._files = weights or self.weights, words or self.words
        self._pieces: WordPieces
        self._session: Session

    @classmethod
    def installed(cls) -> bool:
        """Whether library and weights are there; cheap."""
        return installed("onnxruntime") and cls.carrier.has((cls.weights, cls.words))

    def knows(self, text: str) -> bool:
        """Whether the text is English, as far as letters and small words tell."""
        from polymnia.embedding.languages import known_to_bge

        return known_to_bge(text)

    def _prepare(self) -> None:
        with importing():
            from polymnia.embedding.session import Session

        from polymnia.embedding.wordpiece import WordPieces

        weights, words = (self._carrier.verified(file) for file in self._files)
        with open(words, encoding="utf-8") as stream:
            self._pieces = WordPieces(stream.read())
        self._session = Session(weights, needed_for=f"The model {self.id}", extra=self._carrier.extra or "en")
