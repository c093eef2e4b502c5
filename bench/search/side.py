"""What every server that is measured offers the benchmark, whatever its tools are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bench import probe
from bench.client import Answer, Server
from bench.search.sets import Text

__all__ = ["Asker", "Clock", "Family", "Found", "Loading", "Missing", "shown"]


class Missing(Exception):
    """This side cannot be measured here; the reason is told in the results."""


@dataclass(frozen=True, slots=True)
class Found:
    """The ids an answer ranks, how long it took, how many characters a model would read, and the scores it tells."""

    ids: list[str]
    seconds: float
    characters: int
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Loading:
    """What it cost to store texts until all of them could be found: wall-clock, and CPU of the server.

    ``refused`` texts were not stored, ``left`` passages have no vector although nothing is at work any more.
    """

    texts: int
    seconds: float
    cpu_seconds: float
    refused: int = 0
    left: int = 0


class Asker(Protocol):
    """A running server that answers questions."""

    server: Server

    def find(self, question: str, limit: int, within: Sequence[str] = ()) -> Found:
        """The best memories for a question; ``within`` names the only ones that may be found."""

    def close(self) -> None:
        """End the server."""


class Family(Protocol):
    """One way to store texts, and the ways to search them once they are stored."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    @property
    def variants(self) -> Sequence[str]:
        """The ways to search."""

    @property
    def filters(self) -> bool:
        """Whether a search can be limited to named memories."""

    def prepare(self) -> None:
        """Install what is needed. Raises :class:`Missing` when that cannot be."""

    def load(self, place: str, group: str, texts: Sequence[Text]) -> Loading:
        """Store the texts of one group in the folder and wait until all of them can be found."""

    def ask(self, place: str, group: str, variant: str) -> Asker:
        """A server on what was stored, after the handshake."""


@dataclass(slots=True)
class Clock:
    """CPU of a server between two moments; what it postpones until after its answers is counted."""

    pid: int
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = probe.cpu_seconds(self.pid)

    def stop(self) -> float:
        """CPU seconds since the start, read when the server has become idle."""
        probe.settle(self.pid)
        return probe.cpu_seconds(self.pid) - self.begun


def shown(answer: Answer) -> str:
    """The text of an answer that a client hands to its model."""
    content = answer.message["result"]["content"]
    return "".join(part.get("text", "") for part in content)
