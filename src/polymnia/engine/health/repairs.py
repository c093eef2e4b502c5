"""Repairs of memories and relations through the ordinary ports, so that one undo takes everything back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.content import as_draft
from polymnia.engine.ports import Transaction
from polymnia.engine.ports.maintenance import Spot
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record, RelationDraft

_LEVELS, _PART = 10, 100
_DELETED = "deleted"


def nearest_scope(path: str) -> str:
    """The legal path nearest to one that is none; the default scope where nothing of it can be kept."""
    parts = []
    for part in path.split("/"):
        kept = "".join(" " if c < " " or c == "\x7f" else c for c in part).strip()[:_PART].strip()
        if kept and kept not in (".", ".."):
            parts.append(kept)
    try:
        return scopes.legal_scope("/".join(parts[:_LEVELS]), "scope")
    except Invalid:
        return scopes.shown(None)


def _relations_gone(tx: Transaction, spots: Iterable[Spot]) -> None:
    tx.remove_relations([spot.id for spot in spots])


def _redrawn(tx: Transaction, spots: Iterable[Spot], change: Callable[[JsonObject], JsonObject]) -> None:
    """Draw relations anew with something else about them."""
    wanted = {spot.id: spot for spot in spots}
    for old in tx.find_relations(list(dict.fromkeys(tuple(spot.detail) for spot in wanted.values()))):
        if old.id not in wanted:
            continue
        kept = ("source", "target", "type", "strength", "context", "metadata", "extra", "origin", "created")
        given = {name: getattr(old, name) for name in kept}
        tx.remove_relations([old.id])
        tx.relate([RelationDraft(**(given | change(given)))])


def _marks(tx: Transaction, spots: Iterable[Spot]) -> None:
    def unmarked(given: JsonObject) -> JsonObject:
        return {"metadata": {key: value for key, value in given["metadata"].items() if key != _DELETED}}

    _redrawn(tx, spots, unmarked)


def _strengths(tx: Transaction, spots: Iterable[Spot]) -> None:
    _redrawn(tx, spots, lambda given: {"strength": min(1.0, max(0.0, given["strength"]))})


def _sessions(tx: Transaction, spots: Iterable[Spot]) -> None:
    for spot in spots:
        if not tx.has_session(spot.label):
            tx.add_session(spot.label)


def _filing(tx: Transaction, spots: Iterable[Spot]) -> None:
    for spot in spots:
        scope, session = spot.detail
        if scopes.session_of(scope) is not None:
            tx.revise(spot.id, {"session": scopes.session_of(scope)})
        elif scope is None:  # to everybody it would be shown otherwise, and it was one session's
            tx.revise(spot.id, {"scope": f"{scopes.SESSIONS}/{session}"})


def _scopes(tx: Transaction, spots: Iterable[Spot]) -> None:
    for spot in spots:
        tx.revise(spot.id, scopes.filed(nearest_scope(spot.detail)))


def _times(tx: Transaction, spots: Iterable[Spot]) -> None:
    for record in tx.load([spot.id for spot in spots]):
        _replace(tx, record, record.observations)


def _texts(tx: Transaction, spots: Iterable[Spot]) -> None:
    for record in tx.load(list(dict.fromkeys(spot.detail for spot in spots))):
        heads = {"summary": record.summary, "category": record.category}
        changes = {column: _without_nul(text) for column, text in heads.items() if text is not None and "\0" in text}
        if changes:
            tx.revise(record.id, changes)
        if any("\0" in text for text in record.observations):
            (now,) = tx.load([record.id])
            _replace(tx, now, tuple(_without_nul(text) for text in record.observations), dated=False)


def _without_nul(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _replace(tx: Transaction, record: Record, observations: tuple[str, ...], *, dated: bool = True) -> None:
    """The record with other texts, and with times and a version that can be."""
    draft = replace(as_draft(record), observations=observations)
    if dated:
        now = time.time_ns() // 1000
        draft = replace(draft, created=min(record.created, now), updated=now, version=max(1, record.version + 1))
    tx.replace_record(record.id, draft)


REPAIRS: dict[str, Callable[[Transaction, Iterable[Spot]], None]] = {
    "relation_end_gone": _relations_gone,
    "reference_mark_wrong": _marks,
    "strength_outside": _strengths,
    "scope_illegal": _scopes,
    "session_differs": _filing,
    "session_missing": _sessions,
    "text_has_nul": _texts,
    "time_ahead": _times,
    "time_backwards": _times,
    "version_low": _times,
}
"""How each kind of fact is mended that a change can mend."""
