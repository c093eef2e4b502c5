"""Clashes: two statements that cannot both hold, which of them is the later one, and what may be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, field

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.knowledge.duplicates import Difference
from polymnia.engine.knowledge.judge import Border
from polymnia.models import Record

ConflictType = Literal["factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts"]
TYPES: tuple[str, ...] = get_args(ConflictType)
SENSITIVITIES = ("high", "medium", "low")


class Side(Struct, frozen=True):
    """One of two statements that clash: the record it stands in, the sentence as it is written, when it was said.

    ``at`` is the date the sentence gives itself, else the time its record was last changed, in microseconds;
    ``dated`` tells which. ``place`` is the number of the sentence in its record, counted from 0. A relation is told as
    a sentence too: then ``drawn`` is set, and ``at`` is when it was drawn.
    """

    record: Record
    sentence: str
    at: int
    place: int
    dated: bool = False
    drawn: bool = False

    @property
    def kind(self) -> str:
        """What was said: a ``sentence`` that stands in the record, or a ``relation`` that was drawn."""
        return "relation" if self.drawn else "sentence"


class Order(NamedTuple):
    """The later one of two statements, as far as can be told; whether that is certain; and what it rests on.

    ``basis`` names the rule that told it and ``dates`` are the times it went by, in microseconds; ``dated`` is the side
    with a date of its own where only one has one. ``until`` is when the older one ended, where one of them says since
    when it holds.
    """

    side: Literal["left", "right", "same"]
    certain: bool
    basis: str
    dates: tuple[int, ...] = ()
    until: int | None = None
    dated: Literal["left", "right"] | None = None


class Judged(NamedTuple):
    """Two rows that may clash: how sure that is, what differs, and which of them says that it changed.

    ``changes`` is 1 where the second says what has become of the first, -1 the other way round, else 0. ``anyway`` is
    whether it would be told if nobody had named the two; ``border`` is what decided on them.
    """

    a: int
    b: int
    confidence: float
    difference: Difference
    anyway: bool
    border: Border
    update: bool = False
    changes: int = 0


class Resolution(Struct, frozen=True):
    """What may be done about a clash, and the steps that do it, in order. ``ask`` is left to a person and has none."""

    action: Literal["keep_newest", "keep_both_with_dates", "ask"]
    steps: tuple[Action, ...] = ()


class Clash(Struct, frozen=True, kw_only=True):
    """Two statements that cannot both hold, or a ring of relations that must have none.

    ``difference`` quotes what differs. ``confidence`` is how often a clash like this one is real. ``members`` are the
    ids of all records it is about. A ring has ``ring``: how many relations it has, what order they tell, and how many
    of all relations that tell this order are in no ring.
    """

    type: ConflictType
    subtype: str
    left: Side
    right: Side
    difference: Difference
    order: Order
    confidence: float
    resolution: Resolution | None = None
    members: tuple[int, ...] = ()
    ring: tuple[int, str, int, int] | None = None

    @property
    def differs(self) -> str:
        """What differs, quoted."""
        return str(self.difference)

    @property
    def newer(self) -> str:
        """The side that was said later."""
        return self.order.side


class Clashes(Struct, frozen=True, kw_only=True):
    """The clashes that were found, most certain first; what was looked at, in numbers; and what was not compared."""

    clashes: list[Clash] = []
    looked_at: dict[str, int] = field(default_factory=dict)
    notes: list[Remark] = []

    def __iter__(self) -> Iterator[Clash]:
        return iter(self.clashes)

    def __len__(self) -> int:
        return len(self.clashes)


def once(clashes: Iterable[Clash]) -> list[Clash]:
    """Each pair of sentences as one conflict, the surest: two decisions clash as such and by what they say."""
    best: dict[frozenset[tuple[int, str]], Clash] = {}
    for one in sorted(clashes, key=lambda one: -one.confidence):
        said = ((side.record.id, " ".join(side.sentence.split())) for side in (one.left, one.right))
        best.setdefault(frozenset(said), one)
    return list(best.values())
