"""What stands against a text that was just stored, and what says nearly the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING

from polymnia.dialects.native.text import mention, short_id
from polymnia.engine.batches import Amended, StoredMemory
from polymnia.errors import Fault, NotFound
from polymnia.models import Record
from polymnia.operation import Memory

if TYPE_CHECKING:
    from polymnia.engine.analysis.conflicts.clash import Side

MOST = 10
"""Memories and entities of a call that are checked for contradictions."""
_NAMED = 3  # statements against one that are named
_TYPES = ("factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts")


def contradictions(
    memory: Memory,
    said: Sequence[tuple[Record, Sequence[str]]],
    replaced: Set[str] = frozenset(),
    again: Set[str] = frozenset(),
) -> tuple[dict[str, dict[str, Side]], list[tuple[Record, Record]], str]:
    """What contradicts new texts of some records, by the ids of these and of its own; noted for later.

    A pair of two of these records is named once. ``replaced`` are the ids of what they supersede. Then the pairs that
    were noted before and not settled, of the ids ``again``, and a sentence on what went wrong, if anything: the texts
    are stored, whatever happens here.
    """
    found: dict[str, dict[str, Side]] = {}
    try:
        memory.note_conflicts(_pairs(memory, said, replaced, found))
        return found, memory.noted_conflicts(again) if again else [], ""
    except Fault as e:
        missed = f"All of this is stored, but contradictions were not looked for, or not noted: {e.message}."
        return found, [], missed


def _pairs(
    memory: Memory,
    said: Sequence[tuple[Record, Sequence[str]]],
    replaced: Set[str],
    found: dict[str, dict[str, Side]],
) -> list[tuple[tuple[Record, str], tuple[Record, str]]]:
    """The statements that contradict each other; what they belong to goes into ``found``."""
    pairs = []
    for record, texts in said[:MOST]:
        try:
            clashes, _ = memory.conflicts(types=_TYPES, ids=[record.uid], suggest=False, session=record.session)
        except NotFound:  # somebody has deleted it meanwhile
            continue
        for clash in clashes.clashes:
            mine, side = clash.left, clash.right
            if not _is_new(mine, record, texts):
                mine, side = side, mine
            other = side.record
            if not _is_new(mine, record, texts) or other.uid in replaced or other.uid in found.get(record.uid, ()):
                continue
            if record.uid in found.get(other.uid, ()) or (other.uid == record.uid and len(record.observations) == 1):
                continue
            found.setdefault(record.uid, {})[other.uid] = side
            if other.uid != record.uid:
                pairs.append(((mine.record, mine.sentence), (other, side.sentence)))
    return pairs


def _is_new(side: Side, record: Record, texts: Sequence[str]) -> bool:
    """Whether a side of a clash is one of the new texts of a record."""
    whole = len(texts) == len(record.observations)
    return side.record.uid == record.uid and (whole or any(side.sentence in text for text in texts))


def conflict_lines(record: Record, against: Sequence[Side], new: Set[str] = frozenset()) -> Iterator[str]:
    """What contradicts a record, and how to settle it; ``new`` are the ids of what the same call has stored."""
    for side in against[:_NAMED]:
        if side.record.uid == record.uid:
            yield f'  conflicts with its own "{side.sentence:.200}"'
        else:
            yield f"  conflicts with {mention(side.record)}{', new as well' if side.record.uid in new else ''}"
    if len(against) > _NAMED:
        yield f"  and with {len(against) - _NAMED:,} more"
    if older := [side for side in against if side.record.uid not in new or side.record.uid == record.uid]:
        yield f"  if the older is no longer true: {_settling(older[0], record)}; both stay otherwise"


def _settling(older: Side, newer: Record) -> str:
    """The call that says that a statement is no longer true: of an entity, one of its observations."""
    other = older.record
    if other.uid != newer.uid and (other.name == other.uid or len(other.observations) == 1):
        return f"revise(id={short_id(other)!r}, superseded_by={short_id(newer)!r})"
    said = next((one for one in other.observations if older.sentence in one), older.sentence)
    return f"revise(id={short_id(other)!r}, remove=[{said!r:.300}])"


def similar_lines(one: StoredMemory | Amended) -> Iterator[str]:
    """What says nearly the same as a memory."""
    for other, share in one.similar:
        if other.uid in one.same:
            how = f"says exactly this, in the scope {other.path!r}"
        else:
            how = "says the same in other words" if other.uid in one.reworded else f"similarity {share:.2f}"
        yield f"  similar to {mention(other)}: {how}"
