"""Places: where a content stands among the others of a project: how near it is to them, how often it is read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["Place", "nearness", "reads", "tags"]

_DAY = 86_400_000_000
_OLD = 7 * _DAY  # a younger content had no chance to be found
_READS, _READ = 20, 5  # reads of the project, and contents read, below which nothing can be said of use
_OTHERS = 10  # contents of a project below which there is no middle to be near to
_SAMPLE = 1500  # and those that are compared, the newest
_NEAR = 5  # neighbours whose mean nearness counts
_BEARERS = 3  # others with a tag that say what is like it


class Place:
    """A number and those of others."""

    def __init__(self, ours: float, others: list[float]) -> None:
        self.ours = ours
        self.others = sorted(others)

    @cached_property
    def share(self) -> float:
        """The share of the others that are lower; equal ones count half."""
        low, high = bisect_left(self.others, self.ours), bisect_right(self.others, self.ours)
        return (low + high) / 2 / max(1, len(self.others))


def nearness(material: Material, record: Record, company: Sequence[Record]) -> Place | None:
    """How near a content is to its neighbours, and how near others are to theirs; None where that is not known."""
    if material.model is None:
        return None
    ids = [one.id for one in company if one.id != record.id][-_SAMPLE:]
    vectors = material.vectors_of([record.id, *ids])
    known = np.flatnonzero(np.abs(vectors).sum(axis=1) > 0)
    if len(known) <= _OTHERS or known[0] != 0:
        return None
    vectors = vectors[known]
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, -1.0)
    nearest = np.sort(np.partition(alike, -_NEAR, axis=1)[:, -_NEAR:], axis=1).mean(axis=1)
    return Place(float(nearest[0]), nearest[1:].tolist())


def tags(material: Material, record: Record, company: Sequence[Record]) -> dict[str, Place]:
    """For each tag how near a content is to the middle of the others that bear it, and how near those are to it."""
    found: dict[str, Place] = {}
    if material.model is None:
        return found
    for tag in record.tags:
        bearers = [one.id for one in company if tag in one.tags and one.id != record.id][-_SAMPLE:]
        if len(bearers) < _BEARERS:
            continue
        vectors = material.vectors_of([record.id, *bearers])
        if not np.abs(vectors[0]).sum():
            continue
        total = vectors[1:].sum(axis=0)
        # Each bearer is compared with the middle of the rest, as ours is with the middle of them all.
        others = [float(one @ _unit(total - one)) for one in vectors[1:]]
        found[tag] = Place(float(vectors[0] @ _unit(total)), others)
    return found


def _unit(vector: NDArray[Any]) -> NDArray[Any]:
    length = float(np.linalg.norm(vector))
    made: NDArray[Any] = vector / length if length else vector
    return made


def reads(material: Material, record: Record, company: Sequence[Record]) -> Place | None:
    """How often a content was read for each day of its age, and how often others were; None where little was."""
    if material.now - record.created < _OLD:
        return None
    counts: dict[int, int] = {}
    known = {record.id, *(one.id for one in company)}
    for one in material.snapshot.seen(material.start, material.end):
        if one.memory not in known:
            continue
        counts[one.memory] = counts.get(one.memory, 0) + one.opened + one.found
    old = [one for one in company if material.now - one.created >= _OLD and one.id != record.id]
    read = [counts.get(one.id, 0) for one in old]
    if sum(read) + counts.get(record.id, 0) < _READS or sum(bool(n) for n in read) < _READ:
        return None
    rates = [n / ((material.now - one.created) / _DAY) for n, one in zip(read, old, strict=True)]
    return Place(counts.get(record.id, 0) / ((material.now - record.created) / _DAY), rates)
