"""Resolution: judged pairs, opposed decisions and cycles as clashes with resolutions, which never lose text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from polymnia.engine.analysis.actions import Action, AddObservations, DeleteObservations, Update
from polymnia.engine.analysis.conflicts.clash import (
    Clash,
    ConflictType,
    Dated,
    JudgedPair,
    Order,
    Resolution,
    Side,
    date_of,
    dated,
    ordered,
)
from polymnia.engine.analysis.conflicts.statements import Statement, Statements
from polymnia.engine.analysis.graph.cycles import cycles
from polymnia.engine.content import DECISION, title_of
from polymnia.engine.knowledge.duplicates import Difference, words
from polymnia.engine.knowledge.judge import Border
from polymnia.engine.text.calendar import moment
from polymnia.models import Record, Relation

_WITHIN = "_within_one_item"
_CYCLES = 30  # of each order
_ADVICE = re.compile(r"\b(?:should|must|always|never|do not|don['’]t|avoid|prefer)\b|세요|십시오|해야", re.IGNORECASE)
_HANGUL = re.compile("[가-힣]")
_DECIDED, _SAME_MATTER = 0.6, 0.35  # the confidence of opposed decisions, and what common words of the matter add
_MATTER = 0.34  # the share of common words of two titles or contexts on one matter
_GRAMMAR = 3  # letters of a function word
_EACH = 40  # decisions compared with a decision


def clashes(
    table: Statements,
    pairs: Sequence[JudgedPair],
    relations: Iterable[Relation],
    *,
    types: Collection[str],
    sensitivity: str,
    border: Border,
    suggest: bool,
    only: int | None = None,
) -> tuple[list[Clash], int]:
    """The clashes that are certain enough, most certain first; and the number of pairs only ``high`` reports."""
    found, unsure = [], 0
    for pair in pairs:
        if (one := _clash(table, pair, suggest)).type not in types:
            continue
        if pair.confidence >= pair.border.level(sensitivity):
            found.append(one)
        else:
            unsure += 1
    others: list[Clash] = []
    if "recommendation_conflicts" in types:
        others += _opposed(table.records, suggest)
    if "logical_conflicts" in types:
        others += _cycles(table.records, relations, suggest)
    found += [one for one in others if one.confidence >= border.level(sensitivity)]
    return _merged([one for one in found if only is None or only in one.members]), unsure


def _merged(found: list[Clash]) -> list[Clash]:
    """One clash for each pair of sentences, most certain first; records that repeat them are members, too."""
    merged: dict[tuple[str, str, str], Clash] = {}
    for one in sorted(found, key=lambda c: (-c.confidence, c.left.record.id, c.right.record.id, c.left.place)):
        a, b = sorted((" ".join(one.left.sentence.split()), " ".join(one.right.sentence.split())))
        first = merged.setdefault((one.type, a, b), one)
        merged[one.type, a, b] = replace(first, members=tuple(dict.fromkeys((*first.members, *one.members))))
    return list(merged.values())


def _clash(table: Statements, pair: JudgedPair, suggest: bool) -> Clash:
    left, right = _side(table, pair.a), _side(table, pair.b)
    order = ordered(
        dated(left.sentence, left.record, pair.changes < 0), dated(right.sentence, right.record, pair.changes > 0)
    )
    type, subtype = _kind(pair, left, right)
    together = left.record.id == right.record.id and len(left.record.observations) == 1
    resolution = Resolution("ask")
    # A statement is marked only if it is certainly the older one and the clash is certain enough.
    if not together and order.certain and pair.anyway and subtype != "date":
        old, new, row = (right, left, pair.b) if order.side == "left" else (left, right, pair.a)
        resolution = _marked(old, table.spots[row], new, order)
    return Clash(
        type=type,
        subtype=subtype + (_WITHIN if together else ""),
        left=left,
        right=right,
        difference=pair.difference,
        order=order,
        confidence=round(pair.confidence, 3),
        resolution=resolution if suggest else None,
        members=tuple(dict.fromkeys((left.record.id, right.record.id))),
    )


def _side(table: Statements, row: int) -> Side:
    record, text = table.record(row), table.text(row)
    at, own = date_of(text, record.updated)
    return Side(record, text, at, table.spots[row].place, own)


def _kind(pair: JudgedPair, left: Side, right: Side) -> tuple[ConflictType, str]:
    kind = pair.difference.kind
    if _ADVICE.search(left.sentence) and _ADVICE.search(right.sentence) and kind in ("negation", "meaning"):
        return "recommendation_conflicts", "do_and_do_not"
    if kind == "date":
        return "temporal_conflicts", "date"
    if pair.update or left.dated or right.dated:
        return "temporal_conflicts", "superseded"
    return "factual_conflicts", kind


def _marked(old: Side, spot: Statement, new: Side, order: Order) -> Resolution:
    """Date the end of the older statement; mark an item that says nothing else as superseded."""
    if order.until is not None:
        return Resolution("keep_both_with_dates", _until(old.record, spot, order.until))
    record = old.record
    if record.name == record.uid and " ".join(record.observations) == old.sentence and record.id != new.record.id:
        return Resolution("keep_newest", (Update(id=record.uid, metadata={"superseded_by": new.record.uid}),))
    return Resolution("keep_newest", _until(record, spot, new.at))


def _until(record: Record, spot: Statement, end: int) -> tuple[Action, ...]:
    text, day = record.observations[spot.part], moment(end)[:10]
    sentence = text[spot.start : spot.end]
    bare = sentence.rstrip(".。!")
    mark = f" ({day}까지)" if _HANGUL.search(sentence) else f" (until {day})"
    whole = text[: spot.start] + bare + mark + sentence[len(bare) :] + text[spot.end :]
    if record.name == record.uid:
        parts = [whole if at == spot.part else one for at, one in enumerate(record.observations)]
        return (Update(id=record.uid, content="\n".join(part for part in parts if part.strip())),)
    return DeleteObservations(name=record.name, texts=(text,)), AddObservations(name=record.name, texts=(whole,))


class _Decided(NamedTuple):
    """The words of the title, the context and the choice of a decision, and what it rejects."""

    at: int
    title: frozenset[str]
    context: frozenset[str]
    choice: frozenset[str]
    rejected: list[str]


def _opposed(records: Sequence[Record], suggest: bool) -> Iterator[Clash]:
    """Pairs of decisions on one matter of which one chose what the other rejected."""
    decided = [one for at, record in enumerate(records) if (one := _decided(at, record)) is not None]
    choosing: dict[str, list[_Decided]] = {}
    for one in decided:
        for word in one.choice:
            choosing.setdefault(word, []).append(one)
    seen: set[tuple[int, int]] = set()
    for one in decided:
        for rejected in one.rejected:
            left = frozenset(words(rejected))
            near = (other for word in sorted(left, key=len)[-3:] for other in choosing.get(word, ())[:_EACH])
            for other in near:
                share = max(_share(one.title, other.title), _share(one.context, other.context))
                key = (min(one.at, other.at), max(one.at, other.at))
                if other.at == one.at or not left <= other.choice or left <= one.choice:
                    continue
                if share >= _MATTER and key not in seen:
                    seen.add(key)
                    yield _opposite(records[key[0]], records[key[1]], rejected, share, suggest)


def _opposite(one: Record, other: Record, choice: str, share: float, suggest: bool) -> Clash:
    left, right = (Side(record, record.metadata["decision"]["decision"], record.updated, 0) for record in (one, other))
    order = ordered(*(Dated("", None, record.created, record.updated) for record in (one, other)))
    resolution = Resolution("ask")
    if order.certain:
        old, new = (other, one) if order.side == "left" else (one, other)
        resolution = Resolution("keep_newest", (Update(id=old.uid, metadata={"superseded_by": new.uid}),))
    return Clash(
        type="recommendation_conflicts",
        subtype="opposed_decisions",
        left=left,
        right=right,
        difference=Difference("choice", choice, ""),
        order=order,
        confidence=round(_DECIDED + _SAME_MATTER * share, 3),
        resolution=resolution if suggest else None,
        members=(one.id, other.id),
    )


def _decided(at: int, record: Record) -> _Decided | None:
    given = record.metadata.get("decision")
    if record.kind != DECISION or not isinstance(given, dict) or not isinstance(given.get("decision"), str):
        return None
    title = str(given.get("title") or record.metadata.get("title") or "")
    others = given.get("alternatives")
    rejected = [one for one in (others if isinstance(others, list) else ()) if isinstance(one, str) and words(one)]
    context = str(given.get("context") or "")
    return _Decided(at, _content_words(title), _content_words(context), frozenset(words(given["decision"])), rejected)


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if len(word) > _GRAMMAR or not word.isascii())


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def _cycles(records: Sequence[Record], relations: Iterable[Relation], suggest: bool) -> Iterator[Clash]:
    """Cycles of relations of an order that must have none."""
    names = {one.name: one for one in records}
    for ring in cycles([one for one in relations if one.source in names and one.target in names], _CYCLES):
        sentences = [f"{title_of(names[r.source])} {r.type} {title_of(names[r.target])}" for r in ring.steps]
        first, last = ring.steps[0], ring.steps[-1]
        left = Side(names[first.source], sentences[0], first.created, 0, drawn=True)
        right = Side(names[last.source], sentences[-1], last.created, 0, drawn=True)
        yield Clash(
            type="logical_conflicts",
            subtype="both_ways" if len(ring.steps) == 2 else "cycle",
            left=left,
            right=right,
            difference=Difference("relations", "; ".join(sentences), ""),
            order=ordered(*(Dated("", None, side.at, side.at) for side in (left, right))),
            confidence=round(ring.confidence, 3),
            resolution=Resolution("ask") if suggest else None,
            members=tuple(dict.fromkeys(names[name].id for name in ring.names)),
            ring=(len(ring.steps), ring.order, ring.acyclic, ring.relations),
        )
