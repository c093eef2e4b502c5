"""Findings: what analyses answer with, each with the evidence it rests on."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

__all__ = ["Found", "Pattern"]


class Pattern(Struct, frozen=True, kw_only=True):
    """Something that holds in a project.

    ``name`` says what kind of finding it is (``cluster``, ``hub``, ``burst``), ``summary`` says it in a sentence and
    ``explanation`` how it was measured and against what. ``confidence`` is how often a finding like this one is right
    (0-1). ``evidence`` is plain data: counts, dates in RFC 3339, public ids, sentences. ``members`` are the ids of all
    records it is about, most telling first.
    """

    type: str
    name: str
    summary: str
    confidence: float
    explanation: str
    evidence: dict[str, Any] = field(default_factory=dict)
    members: tuple[int, ...] = ()


class Found(Struct, frozen=True, kw_only=True):
    """What an analysis found, most certain first; what it looked at, in numbers; what it could not tell, and why."""

    patterns: list[Pattern] = []
    looked_at: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = []
