"""Findings: what analyses answer with, each with the evidence it rests on. Dialects put them into words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from polymnia.engine.content import title_of
from polymnia.models import JsonObject, Record


class Finding(Struct, frozen=True, kw_only=True):
    """Something that holds in a project.

    ``name`` is the kind of finding (``cluster``, ``hub``), ``confidence`` how often one like it is right (0-1).
    ``evidence`` is plain data for the user: counts, dates in RFC 3339, public ids, sentences. ``details`` are further
    values that its description needs, ``members`` the ids of all records it is about, most telling first.
    """

    type: str
    name: str
    confidence: float
    evidence: JsonObject = field(default_factory=dict)
    details: JsonObject = field(default_factory=dict)
    members: tuple[int, ...] = ()


def example(record: Record) -> JsonObject:
    """A record as it stands in evidence."""
    return {"id": record.uid, "title": title_of(record)}


class Remark(Struct, frozen=True):
    """What an analysis could not tell, and why: a code such as ``activity.no_changes``, and the values of its sentence.

    The first part of the code is the area whose words it has. A value may be a remark that is passed on.
    """

    code: str
    values: JsonObject = field(default_factory=dict)


class Findings(Struct, frozen=True, kw_only=True):
    """What an analysis found, most certain first; what it looked at, in numbers; what it could not tell, and why."""

    patterns: list[Finding] = []
    looked_at: JsonObject = field(default_factory=dict)
    notes: Sequence[Remark] = ()
