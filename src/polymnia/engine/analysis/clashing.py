"""Clashing: conflicts as other analyses count them, two sentences once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polymnia.engine.analysis.conflicts.values import Clash, Side

__all__ = ["once"]


def once(clashes: Iterable[Clash]) -> list[Clash]:
    """Each pair of sentences as one conflict, the surest: two decisions clash as such and by what they say."""
    best: dict[frozenset[tuple[int, str]], Clash] = {}
    for one in sorted(clashes, key=lambda one: -one.confidence):
        best.setdefault(frozenset((_said(one.left), _said(one.right))), one)
    return list(best.values())


def _said(side: Side) -> tuple[int, str]:
    return side.record.id, " ".join(side.sentence.split())
