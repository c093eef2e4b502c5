"""Repairs memories and relations through the ordinary ports, so that a single undo reverts them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from functools import partial

from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.content import as_draft
from polymnia.engine.ports import Transaction
from polymnia.engine.ports.maintenance import Spot
from polymnia.errors import Invalid
from polymnia.models import RelationDraft

_LEVELS, _PART = 10, 100
_DELETED = "deleted"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FIELDS = RelationDraft.__struct_fields__


def _nearest_scope(path: str) -> str:
    """The legal scope closest to an illegal path; the default scope if none of it is usable."""
    trimmed = (_CONTROL.sub(" ", part).strip()[:_PART].strip() for part in path.split("/"))
    parts = [part for part in trimmed if part not in ("", ".", "..")]
    try:
        return scopes.legal_scope("/".join(parts[:_LEVELS]), "scope")
    except Invalid:
        return scopes.shown(None)


def _replace_relations(
    tx: Transaction, spots: Iterable[Spot], change: Callable[[RelationDraft], RelationDraft]
) -> None:
    """Replace relations with changed ones."""
    ends = {spot.id: tuple(spot.detail) for spot in spots}
    for old in tx.find_relations(list(dict.fromkeys(ends.values()))):
        if old.id in ends:
            tx.remove_relations([old.id])
            tx.relate([change(RelationDraft(**{name: getattr(old, name) for name in _FIELDS}))])


def _unmarked(one: RelationDraft) -> RelationDraft:
    return replace(one, metadata={key: value for key, value in one.metadata.items() if key != _DELETED})


def _clamped(one: RelationDraft) -> RelationDraft:
    return replace(one, strength=min(1.0, max(0.0, one.strength or 0.0)))


def _begin_sessions(tx: Transaction, spots: Iterable[Spot]) -> None:
    for spot in spots:
        if not tx.has_session(spot.label):
            tx.add_session(spot.label)


def _refile(tx: Transaction, spots: Iterable[Spot]) -> None:
    for spot in spots:
        scope, session = spot.detail
        if scopes.session_of(scope) is not None:
            tx.revise(spot.id, {"session": scopes.session_of(scope)})
        elif scope is None:  # otherwise it would be visible to all, although it belonged to one session
            tx.revise(spot.id, {"scope": f"{scopes.SESSIONS}/{session}"})


def _legalize_scopes(tx: Transaction, spots: Iterable[Spot]) -> None:
    for spot in spots:
        tx.revise(spot.id, scopes.filed(_nearest_scope(spot.detail)))


def _correct_times(tx: Transaction, spots: Iterable[Spot]) -> None:
    now = time.time_ns() // 1000
    for record in tx.load([spot.id for spot in spots]):
        created, version = min(record.created, now), max(1, record.version + 1)
        tx.replace_record(record.id, replace(as_draft(record), created=created, updated=now, version=version))


def _remove_nul(tx: Transaction, spots: Iterable[Spot]) -> None:
    for record in tx.load(list(dict.fromkeys(spot.detail for spot in spots))):
        fields = {"summary": record.summary, "category": record.category}
        changes = {column: _without_nul(text) for column, text in fields.items() if text is not None and "\0" in text}
        if changes:
            tx.revise(record.id, changes)
        if any("\0" in text for text in record.observations):
            (current,) = tx.load([record.id])
            texts = tuple(map(_without_nul, record.observations))
            tx.replace_record(record.id, replace(as_draft(current), observations=texts))


def _without_nul(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


REPAIRS: dict[str, Callable[[Transaction, Iterable[Spot]], None]] = {
    "relation_end_gone": lambda tx, spots: tx.remove_relations([spot.id for spot in spots]),
    "reference_mark_wrong": partial(_replace_relations, change=_unmarked),
    "strength_outside": partial(_replace_relations, change=_clamped),
    "scope_illegal": _legalize_scopes,
    "session_differs": _refile,
    "session_missing": _begin_sessions,
    "text_has_nul": _remove_nul,
    "time_ahead": _correct_times,
    "time_backwards": _correct_times,
    "version_low": _correct_times,
}
"""The repair for each kind of fact that a change can fix."""
