"""What is common to embedders whose model somebody else chose: nothing about it is known before it runs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from polymnia.embedding.loading import Lazy
from polymnia.errors import NoModel
from polymnia.importing import importing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Measured"]


class Measured(Lazy):
    """Learns the number of dimensions and what unrelated texts look like from a first few sentences."""

    near = True
    strong = True  # whoever chose the model trusts it

    def __init__(self) -> None:
        super().__init__()
        self._dimensions = 0
        self._unrelated = 0.0

    @property
    @abstractmethod
    def id(self) -> str:
        """The model's id."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; loads the model."""
        self.load()
        return self._dimensions

    @property
    def unrelated(self) -> float:
        """The mean cosine of texts that have nothing in common; loads the model."""
        self.load()
        return self._unrelated

    @property
    def answers(self) -> tuple[float, float]:
        """Nothing is known of how near a question is to its answer."""
        return self.unrelated, 1.0

    def knows(self, text: str) -> bool:
        """True: whoever chose the model chose it for their languages."""
        return True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[Any]:
        """One vector of length 1 for each text."""
        with importing():
            import numpy

        self.load()
        if not texts:
            return numpy.empty((0, self._dimensions), numpy.float32)
        return self._unit(self._vectors(texts, query), len(texts))

    def _prepare(self) -> None:
        from polymnia.embedding.unrelated import SENTENCES, mean_cosine

        self._open()
        vectors = self._unit(self._vectors(SENTENCES, False), len(SENTENCES))
        self._unrelated = mean_cosine(vectors)
        self._dimensions = vectors.shape[1]

    def _unit(self, rows: Any, count: int) -> NDArray[Any]:
        """The rows as vectors of length 1. Raises NoModel when they are not what the model gave before."""
        with importing():
            import numpy

        try:
            vectors = numpy.array(rows, numpy.float32)
        except (TypeError, ValueError) as error:
            raise self._wrong("vectors that are not rows of numbers, all of one length") from error
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
            raise self._wrong(f"an array of shape {vectors.shape} for {count} texts")
        if self._dimensions and vectors.shape[1] != self._dimensions:
            raise self._wrong(f"vectors of {vectors.shape[1]} numbers where it gave {self._dimensions} before")
        if not numpy.isfinite(vectors).all():
            raise self._wrong("a vector with infinite or undefined numbers")
        vectors /= numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    def _wrong(self, what: str) -> NoModel:
        return NoModel(
            f"The model {self.id} answered with {what}",
            hint="Check that the name stands for an embedding model and that it was not replaced by another one.",
            model=self.id,
        )

    @abstractmethod
    def _open(self) -> None:
        """Make the model answer."""

    @abstractmethod
    def _vectors(self, texts: Sequence[str], query: bool) -> Any:
        """One row of numbers for each text, of any length."""
