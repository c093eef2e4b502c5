"""Features: what the words of two statements say about whether they contradict each other, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.contradiction.aligning import Alignment, align
from polymnia.engine.analysis.contradiction.signals import SIGNALS
from polymnia.engine.analysis.contradiction.statement import Statement
from polymnia.engine.duplicates.roots import HANGUL

__all__ = ["NAMES", "setting", "row"]

_OPEN = 0.85  # a word with a likeness below this has no counterpart
_NEW = 0.3  # and below this not even a word like it
_NONE = -0.2  # the value of a likeness where there is no word to measure
_MOST = 3  # counts above this say no more
_KINDS = ("number", "day", "name")
_UP, _DOWN = (list(SIGNALS).index(name) for name in ("up", "down"))
_SIDES = ("a", "b")


def setting(a: Statement, b: Statement) -> int:
    """Which sides are denied: none (0), the second (1), the first (2), both (3)."""
    return 2 * (a.denials % 2) + b.denials % 2


def row(a: Statement, b: Statement) -> list[float]:
    """The features of two statements, in the order of :data:`NAMES`."""
    return [*_counted(a, b), *(_matched(a, b) if a.tokens and b.tokens else [0.0] * _MATCHED)]


def _counted(a: Statement, b: Statement) -> list[float]:
    """What needs no matching: lengths, negations, signals."""
    first, second = len(a.tokens), len(b.tokens)
    odd = (a.denials + b.denials) % 2
    here, there = (float(np.sign(one.signals[_UP] - one.signals[_DOWN])) for one in (a, b))
    hangul = sum(HANGUL.match(token.said) is not None for token in (*a.tokens, *b.tokens))
    return [
        float(first),
        float(second),
        second / (first + second + 1),
        float(hangul > (first + second) / 2),
        float(min(_MOST, a.denials)),
        float(min(_MOST, b.denials)),
        float(odd),
        float((a.denials > 0) != (b.denials > 0)),
        float(a.denials > 0 and b.denials > 0),
        float(a.asks != b.asks),
        here * there,
        here * there * (1 - 2 * odd),
        *(float(min(_MOST, count)) for one in (a, b) for count in one.signals),
    ]


def _matched(a: Statement, b: Statement) -> list[float]:
    """What follows from which words stand for each other."""
    found = align(a, b)
    return [
        *_covered(found.left),
        *_covered(found.right),
        *_denied(a, b, found),
        *_placed(a, b, found),
        *(value for kind in _KINDS for value in _differing(a, b, kind)),
        float(min(_MOST, len(found.opposites))),
        float(any(a.tokens[i].denied == b.tokens[j].denied for i, j in found.opposites)),
    ]


def _covered(likeness: NDArray[Any]) -> list[float]:
    """How much of one side the other says too."""
    ordered = np.sort(likeness)
    return [
        float((likeness >= _OPEN).mean()),
        float(likeness.mean()),
        float(ordered[0]),
        float(ordered[min(1, len(ordered) - 1)]),
        float(min(2 * _MOST, int((likeness < _OPEN).sum()))),
        float(min(2 * _MOST, int((likeness < _NEW).sum()))),
        float(likeness[0]),
        float(likeness[-1]),
    ]


def _denied(a: Statement, b: Statement, found: Alignment) -> list[float]:
    """Whether words that stand for each other are denied on one side alone, and how well the denied ones match."""
    here, there = (np.array([token.denied for token in one.tokens]) for one in (a, b))
    apart = (here[found.to_left] != there) & (found.right >= _OPEN)
    alike = (here[found.to_left] == there) & (found.right >= _OPEN)
    values = [float(apart.mean()), float(alike.mean()), float(apart.sum())]
    for denied, likeness, across, others in (
        (here, found.left, found.to_right, there),
        (there, found.right, found.to_left, here),
    ):
        if not denied.any():
            values += [_NONE, _NONE, _NONE, -1.0, _NONE, float(likeness.mean())]
            continue
        first = int(denied.argmax())
        outside = likeness[~denied]
        values += [
            float(likeness[denied].max()),
            float(likeness[denied].mean()),
            float(likeness[first]),
            float(others[across[first]]),
            first / len(denied),
            float(outside.mean()) if len(outside) else _NONE,
        ]
    return values


def _placed(a: Statement, b: Statement, found: Alignment) -> list[float]:
    """Where the words stand that have no counterpart: what is spoken of, or what is said of it."""
    left, right = np.flatnonzero(found.left < _OPEN), np.flatnonzero(found.right < _OPEN)
    plain = [
        sum(one.tokens[at].kind not in ("number", "day") for at in open_) for one, open_ in ((a, left), (b, right))
    ]
    return [
        float(len(left) == 1 == len(right)),
        float(min(len(left), len(right), _MOST)),
        float(left.mean() / len(found.left)) if len(left) else _NONE,
        float(right.mean() / len(found.right)) if len(right) else _NONE,
        float(found.left[0] < _OPEN and found.right[0] < _OPEN),
        float(found.left[-1] < _OPEN and found.right[-1] < _OPEN),
        float(min(_MOST, *plain)),
        float(min(_MOST, max(plain))),
        float(sum(_neighbours(a, b, found))),
    ]


def _neighbours(a: Statement, b: Statement, found: Alignment) -> list[bool]:
    """For each word of the second side without counterpart, whether one stands in its place on the first."""
    told = []
    for at in np.flatnonzero(found.right < _OPEN):
        before = int(found.to_left[at - 1]) + 1 if at and found.right[at - 1] >= _OPEN else None
        told.append(before is not None and before < len(found.left) and bool(found.left[before] < _OPEN))
    return told


def _differing(a: Statement, b: Statement, kind: str) -> list[float]:
    """Whether both sides have words of a kind that the other lacks, how many are new, how many are shared."""
    here, there = ({token.key for token in one.tokens if token.kind == kind} for one in (a, b))
    return [
        float(bool(here - there) and bool(there - here)),
        float(min(_MOST, len(there - here))),
        float(min(_MOST, len(here & there))),
    ]


_COVER = ("same", "likeness", "least", "second_least", "open", "new", "first", "last")
_DENIED = ("best", "mean", "first", "both", "place", "outside")
_PLACED = ("single", "pairs", "place_a", "place_b", "both_first", "both_last", "fewer", "more", "in_place")

NAMES: tuple[str, ...] = (
    *("words_a", "words_b", "share_b", "korean", "denials_a", "denials_b", "odd", "one_denied"),
    *("both_denied", "one_asks", "direction", "direction_denied"),
    *(f"{name}_{side}" for side in _SIDES for name in SIGNALS),
    *(f"{name}_{side}" for side in _SIDES for name in _COVER),
    *("denied_apart", "denied_alike", "denied_apart_words"),
    *(f"denied_{name}_{side}" for side in _SIDES for name in _DENIED),
    *_PLACED,
    *(f"{kind}_{name}" for kind in _KINDS for name in ("differs", "new", "shared")),
    *("opposites", "opposites_alike"),
)
_MATCHED = len(NAMES) - 12 - 2 * len(SIGNALS)
