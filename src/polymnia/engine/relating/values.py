"""What relates two texts."""

from __future__ import annotations

from msgspec import Struct

from polymnia.engine.items import RelationshipType

__all__ = ["Candidate", "Relationship", "RelationshipType"]


class Candidate(Struct, frozen=True, kw_only=True):
    """A text that another may be related to.

    ``text`` may be its beginning only; ``length`` is then how many characters it has in all. ``similarity`` is how
    alike the two are, 0 to 1, where it was measured; ``created`` is in microseconds UTC.
    """

    id: str
    title: str | None = None
    text: str = ""
    length: int | None = None
    tags: tuple[str, ...] = ()
    similarity: float | None = None
    created: int | None = None
    urls: tuple[str, ...] = ()
    """Addresses under which it is known."""


class Relationship(Struct, frozen=True):
    """From the text to the target: of what type, how strongly (0 to 1), and what shows it, in words."""

    target: str
    type: RelationshipType
    strength: float
    evidence: str
