"""Findings: the results of analyses with their evidence, as values. Dialects put them into words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from polymnia.engine.content import title_of
from polymnia.models import JsonObject, Record
from polymnia.models import Remark as Remark


class Finding(Struct, frozen=True, kw_only=True):
    """Something an analysis found.

    ``name`` is its kind (``cluster``, ``hub``), ``confidence`` how often one like it is right (0-1). ``evidence`` is
    plain data for the user: counts, dates in RFC 3339, public ids, sentences. ``details`` are further values for its
    description, ``members`` the ids of its records, most typical first.
    """

    type: str
    name: str
    confidence: float
    evidence: JsonObject = field(default_factory=dict)
    details: JsonObject = field(default_factory=dict)
    members: tuple[int, ...] = ()


def example(record: Record) -> JsonObject:
    """A record as evidence shows it."""
    return {"id": record.uid, "title": title_of(record)}


class Findings(Struct, frozen=True, kw_only=True):
    """What an analysis found, most certain first; figures on what it read; and notes."""

    patterns: list[Finding] = []
    looked_at: JsonObject = field(default_factory=dict)
    notes: Sequence[Remark] = ()
