"""Measuring: how faults and shares become scores, the same way everywhere.

A measure of faults falls with their number for each place where one could be: 1 without any, one half at the rate that
is called its ``half``, and never quite 0. A side of quality is the weighted harmonic mean of its measures: a low one
pulls it down more than a high one lifts it, so that one thing that is broken shows, however much else is well.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric

__all__ = ["dimension", "joined", "missing", "rated", "shared", "untold"]

_LEAST = 0.05  # what a measure of 0 counts as
_TOLD = 12  # faults of one measure that are kept to be suggested; all of them count


def _score(faults: float, places: int, half: float) -> float:
    return 1.0 / (1.0 + faults / max(1, places) / half)


def rated(
    name: str, faults: Sequence[Fault], places: int, half: float, *, weight: float = 1.0, unit: str = "sentences"
) -> Metric:
    """A measure of faults among so many places; at the rate ``half`` it is one half."""
    total = sum(fault.weight for fault in faults)
    told = sorted(faults, key=lambda fault: -fault.weight)[:_TOLD]
    return Metric(
        name=name,
        value=round(total / max(1, places), 4),
        score=_score(total, places, half),
        weight=weight,
        against=f"{len(faults)} in {places} {unit}; 0.5 at {half:g} for each",
        faults=tuple(told),
        mended=tuple(_score(total - fault.weight, places, half) for fault in told),
    )


def shared(
    name: str, value: float, against: str, *, full: float = 1.0, weight: float = 1.0, faults: Sequence[Fault] = (),
    each: float = 0.0,
) -> Metric:  # fmt: skip
    """A measure that is a share: as good as it is high, and at ``full`` as good as it gets.

    ``each`` is by how much the share rises for one mended fault.
    """
    score = min(1.0, max(0.0, value / full))
    told = tuple(faults)[:_TOLD]
    return Metric(
        name=name,
        value=round(value, 4),
        score=score,
        weight=weight,
        against=against,
        faults=told,
        mended=tuple(min(1.0, max(0.0, (value + each * fault.weight) / full)) for fault in told),
    )


def missing(name: str, fault: Fault | None, against: str, *, left: float = 0.2, weight: float = 1.0) -> Metric:
    """A measure of one thing that is well, or is not and leaves so much."""
    return Metric(
        name=name,
        value=float(fault is None),
        score=1.0 if fault is None else left,
        weight=weight,
        against=against,
        faults=() if fault is None else (fault,),
        mended=() if fault is None else (1.0,),
    )


def joined(metrics: Sequence[Metric]) -> float:
    """The score of a side: the weighted harmonic mean of its measures. One of no weight only explains."""
    counted = [one for one in metrics if one.weight]
    return sum(one.weight for one in counted) / sum(one.weight / max(_LEAST, one.score) for one in counted)


def dimension(name: str, metrics: Sequence[Metric | None], note: str | None = None, empty: str = "") -> Dimension:
    """A side of quality from those of its measures that could be taken; ``empty`` is why there may be none."""
    taken = tuple(one for one in metrics if one is not None)
    if not taken:
        return untold(name, empty or note or "Nothing in the text can be measured.")
    return Dimension(name=name, score=round(joined(taken), 4), note=note, metrics=taken)


def untold(name: str, why: str) -> Dimension:
    """A side of quality that cannot be told."""
    return Dimension(name=name, score=None, note=why)
