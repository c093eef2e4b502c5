"""The vote: what the nearest filed memories say about the scope of a text, and how far to believe them.

How sure a suggestion is has two factors: whether the text is of a kind that is filed here at all, and whether the
neighbours agree where. Both curves were fitted; see docs/decisions/0016-scope-suggestion.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy import floating
from numpy.typing import NDArray

from polymnia.engine.search.languages import fold, language, script
from polymnia.engine.search.words import groups
from polymnia.engine.suggesting.reading import Reading
from polymnia.engine.suggesting.values import Neighbour
from polymnia.models import DEFAULT_SCOPE

__all__ = ["Vote", "at_or_below", "confidence", "crowding", "said", "vote"]

_VOTERS = 30
_SHARP = 0.06  # a neighbour this much farther than the nearest has 1/e of its vote
_FEW, _MANY = 4, 16  # so many different words: below, words count least beside meaning; above, most
_LEAST, _MOST = 0.2, 0.5
_FOREIGN = 1.5  # the power of the meaning that stands for the words of a text in another language
_SIZE = 0.2  # a scope of many memories has more of them near anything; this takes part of that back
_NAMED = 1.0  # what a scope gains when the text says all of its name
_HERE = 1.5  # what a scope gains at or below the one the caller is in
_UNFILED = 0.5  # a memory in the default scope was most often put there by nobody
_FULL = 1.0
_HEARD = 160  # so many characters tell what language a text is in,
_SEEN = 24  # and so many, what script

_NEAREST = 3  # of the winning scope: how near its best are
_AROUND = 5  # the memories whose crowding tells how near memories of this kind are to each other
_SPARSE = 0.3  # memories farther apart than this do not say that far is near
_FEWEST = 20  # with less filed than this, what is filed tells nothing about chance

_AGREED = (0.97, 0.83)
_FITS = (-3.03, 5.86, 5.08, -0.31)
_FITS_ALONE = (0.48, 8.16, -0.31)  # where nothing is known of crowding
_TOGETHER = (0.02, 1.12)


class Vote(NamedTuple):
    """The scopes voted for with their shares, largest first; how surely the text is of a kind that is filed here;
    and the voters with their weights, nearest first."""

    shares: dict[str, float]
    fits: float
    voters: list[tuple[Neighbour, float]]


def crowding(vectors: NDArray[floating]) -> list[float]:
    """For each neighbour, by its unit vector, the mean cosine to the three others nearest to it."""
    if len(vectors) < 2:
        return [0.0] * len(vectors)
    cosines = vectors.astype(np.float32) @ vectors.astype(np.float32).T
    np.fill_diagonal(cosines, -1.0)
    near = min(_NEAREST, len(vectors) - 1)
    found: list[float] = np.partition(cosines, -near, axis=1)[:, -near:].mean(axis=1).tolist()
    return found


def vote(
    reading: Reading,
    neighbours: Sequence[Neighbour],
    *,
    current: str | None,
    scopes: Mapping[str, int],
    unrelated: float,
) -> Vote:
    """Let the neighbours vote."""
    near = sorted(_scored(reading, neighbours, unrelated), key=lambda one: -one[0])[:_VOTERS]
    if not near:
        return Vote({}, 0.0, [])
    names = {one.scope: 1.0 for _, _, one in near}
    for scope in names:
        names[scope] += _NAMED * said(scope, reading.terms)
        names[scope] *= _HERE if current and at_or_below(scope, current) else 1.0
        names[scope] *= _UNFILED if scope == DEFAULT_SCOPE else 1.0
        names[scope] *= max(1, scopes.get(scope, 1)) ** -_SIZE
    best = near[0][0]
    voters = [(one, exp((score - best) / _SHARP) * names[one.scope]) for score, _, one in near]
    total = sum(weight for _, weight in voters)
    shares: dict[str, float] = {}
    for one, weight in voters:
        shares[one.scope] = shares.get(one.scope, 0.0) + weight / total
    shares = dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))
    winner = next(iter(shares))
    filed = max(_FEWEST, len(neighbours), sum(scopes.values()))
    return Vote(shares, _fits(near, winner, scopes.get(winner, 1), filed, unrelated), voters)


def confidence(fits: float, share: float) -> float:
    """How often the scope with this share of the votes is the right one, when the text fits here so surely."""
    agreed = _curve(_AGREED[0] + _AGREED[1] * (log(share + 0.01) - log(1.01 - share)))
    both = min(max(fits * agreed, 1e-6), 1 - 1e-6)
    return _curve(_TOGETHER[0] + _TOGETHER[1] * log(both / (1 - both)))


def at_or_below(scope: str, parent: str) -> bool:
    """Whether a scope is another one or lies below it."""
    return scope == parent or scope.startswith(parent + "/")


def said(scope: str, text: frozenset[str]) -> float:
    """The share of the words in a scope's last part that are among the index terms of a text."""
    asked = [group for group in groups(scope.rpartition("/")[2].replace("_", " ")) if not group.bonus]
    return sum(any(term in text for term, _ in group.alternatives) for group in asked) / max(1, len(asked))


def _scored(
    reading: Reading, neighbours: Sequence[Neighbour], unrelated: float
) -> list[tuple[float, float | None, Neighbour]]:
    """Each neighbour with its nearness by meaning and words together, and by meaning alone."""
    many = len(reading.groups)
    share = _LEAST + (_MOST - _LEAST) * min(1.0, max(0.0, (many - _FEW) / (_MANY - _FEW)))
    written, spoken = script(reading.text[:_HEARD]), _spoken(reading.text)
    found: list[tuple[float, float | None, Neighbour]] = []
    for one in neighbours:
        words = min(max(one.words, 0.0), _FULL)
        if one.cosine is None:
            found.append((words, None, one))
            continue
        meaning = _meaning(one.cosine, unrelated)
        if words < 0.5 and _foreign(written, spoken, one.text):
            words = max(words, max(meaning, 0.0) ** _FOREIGN)
        found.append(((1 - share) * meaning + share * words, meaning, one))
    return found


def _meaning(cosine: float, unrelated: float) -> float:
    return min(1.0, max(-0.2, (cosine - unrelated) / (1 - unrelated)))


def _fits(
    near: Sequence[tuple[float, float | None, Neighbour]], winner: str, in_scope: int, filed: int, unrelated: float
) -> float:
    """How surely the text is of a kind that is filed here.

    Three things tell: how near the best memories of the winning scope are; whether the text is as near to its
    neighbours as they are to each other, which needs no notion of what near means in this store; and how much is
    filed, for among many memories some are near to anything.
    """
    best = [score for score, _, one in near if one.scope == winner][:_NEAREST]
    close = sum(best) / max(1, min(_NEAREST, max(in_scope, len(best))))
    crowds = [_meaning(one.crowd, unrelated) for _, _, one in near[:_AROUND] if one.crowd is not None]
    meanings = sorted((meaning for _, meaning, _ in near if meaning is not None), reverse=True)[:_NEAREST]
    if not crowds or not meanings:
        return _curve(_FITS_ALONE[0] + _FITS_ALONE[1] * close + _FITS_ALONE[2] * log(filed))
    among = (sum(meanings) / len(meanings)) / max(_SPARSE, sum(crowds) / len(crowds))
    return _curve(_FITS[0] + _FITS[1] * close + _FITS[2] * min(1.3, max(0.0, among)) + _FITS[3] * log(filed))


def _spoken(text: str) -> str | None:
    head = text[:_HEARD]
    return language(fold(head).replace("'", " ").replace("’", " ").split())


def _foreign(written: str, spoken: str | None, text: str) -> bool:
    """Whether a text is in another language than one of that script and language: then only the meaning can tell."""
    other = script(text[:_SEEN])
    if "common" in (written, other):
        return False
    if written != other:
        return True
    heard = _spoken(text) if spoken else None
    return heard is not None and heard != spoken


def _curve(x: float) -> float:
    return 1 / (1 + exp(-x))
