"""What search needs from a model: vectors of texts, or a judgement of a text and a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["Embedder", "Reranker"]


class Embedder(Protocol):
    """Turns texts into vectors of unit length. Vectors of models with different ids are never compared."""

    @property
    def id(self) -> str:
        """The model and the version of its weights; stored beside every vector."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @property
    def unrelated(self) -> float:
        """The mean cosine of two texts that have nothing in common."""

    @property
    def strong(self) -> bool:
        """Whether what it says of two texts is to be trusted as much as the words they share."""

    @property
    def near(self) -> bool:
        """Whether it computes in this process, so that an answer is only a matter of its speed."""

    def knows(self, text: str) -> bool:
        """Whether the model knows the language of the text."""

    def load(self) -> None:
        """Make ready, which may take a second; a second call costs nothing. Raises a Fault when it cannot be."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One row of float32 (numpy) for each text."""


class Reranker(Protocol):
    """Reads a query and a text together and judges how well one answers the other."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def load(self) -> None:
        """Make ready; a second call costs nothing. Raises a Fault when it cannot be."""

    def knows(self, text: str) -> bool:
        """Whether the model knows the language of the text."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """From 0 to 1 for each text."""
