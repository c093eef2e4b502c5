"""What the engine needs from models: vectors of texts, how well a text answers a query, what two texts are together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol


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
    def answers(self) -> tuple[float, float]:
        """The cosine of a question and a text that has nothing to do with it, and of one that clearly answers it."""

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


class Judgement(NamedTuple):
    """What the second of two texts is to the first, as chances that sum to 1.

    ``conflict``: both cannot hold; ``update``: the second says what has become of the first; ``same``: other words for
    the same; ``narrower``: the second says a part of the first, or more exactly; ``compatible``: about one thing, and
    both may hold; ``unrelated``: about different things.
    """

    conflict: float
    update: float
    same: float
    narrower: float
    compatible: float
    unrelated: float
    strong: bool = True
    """Whether the network for this language is as good as the one for English."""

    @property
    def clash(self) -> float:
        """The chance that both cannot hold now."""
        return self.conflict + self.update


class Judge(Protocol):
    """Reads two texts together and judges what one is to the other, in any language."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def load(self) -> None:
        """Make ready; a second call costs nothing. Raises a Fault when it cannot be."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """One judgement for each pair, in order."""
