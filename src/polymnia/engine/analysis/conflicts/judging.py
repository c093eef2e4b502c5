"""Judging: pairs of statements, each with what the judge says of it and how often pairs like it clash."""

from __future__ import annotations

from math import exp, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.dating import ended, said_at
from polymnia.engine.analysis.conflicts.frames import Frame, framed, in_common
from polymnia.engine.analysis.conflicts.lists import adds
from polymnia.engine.analysis.conflicts.pairing import exclusive
from polymnia.engine.analysis.conflicts.priors import prior
from polymnia.engine.analysis.conflicts.quantities import common, plainly
from polymnia.engine.analysis.conflicts.statements import plain
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.terms import read
from polymnia.engine.analysis.conflicts.weighing import certainty, odds_of, perhaps, shown, weighed
from polymnia.engine.analysis.contradiction import Judgement, judge
from polymnia.engine.analysis.contradiction.model import shipped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polymnia.engine.analysis.material import Material

__all__ = ["EVEN", "Judged", "judged", "judged_two"]

EVEN = 0.5
"""The share of clashes among two items that somebody names together: nothing else is known of them."""

_SINGLE = ("one", "holder", "family")  # places that take one value
_FEW, _SHORT = 6, 700  # sentences and characters of an item that is judged as one text where a caller names it
# Two items that a caller names are about one thing where their cosine and this much of the share of their words in
# common come to so much together; without vectors, where so many of the words are in common.
_WORDS, _RELATED, _IN_COMMON = 0.4, 0.35, 0.25
_BATCH = 500  # pairs between two ticks
_LEAST = 0.008  # a prior below this makes nothing certain enough
_PROMISING = 0.15  # from so likely on a pair is worth the vectors of its sentences,
_FORM = 1.5  # how much less each time that a statement has twice as many others against it, in shares of the doubling
_SERIES = 5  # others that make a series of it whatever it says; of what has no one value, two do
_AT_ONCE = 64  # texts a model reads together
_EMBEDDED = 600  # of which so many are made at most


class Judged(NamedTuple):
    """A pair of rows with its frame, its judgement and its prior; ``named`` where a caller asked for this very pair."""

    a: int
    b: int
    frame: Frame
    judgement: Judgement
    prior: float
    named: bool


def judged(material: Material, table: Table, pairs: Any, most: int, *, named: int = 0) -> tuple[list[Judged], int, int]:
    """Judge up to so many pairs; tells how many were compared and how many were not.

    ``named`` is how many items a caller named, where these are theirs: the more, the less likely each pair clashes.
    """
    waiting: list[tuple[int, int, Frame, float]] = []
    among = EVEN / max(1, named * (named - 1) // 2) if named else 0.0
    compared = more = 0
    for at, (a, b) in enumerate(pairs.tolist()):
        if at % _BATCH == 0:
            material.tick(at, len(pairs))
        if compared == most:
            more = len(pairs) - at
            break
        if not (table.holds(a) and table.holds(b)):
            continue
        compared += 1
        frame = framed(table, a, b)
        share = prior(table, a, b, frame)
        if among and table.owner[a] != table.owner[b] and not frame.apart and _meet(table, a, b):
            share = max(share, among / min(table.many(a), table.many(b)) ** 2)
        formal = int(table.stance[a]) * int(table.stance[b]) < 0 or bool(exclusive(table, a, b))
        if share >= _LEAST or (formal and not frame.apart) or perhaps(frame):
            waiting.append((a, b, frame, share))
    first = _judge(material, table, waiting, embed=bool(named))
    if named:
        return _formless(table, first), compared, more
    likely = [one for one in first if certainty(one.judgement.score + odds_of(one.prior)) >= _PROMISING]
    likely.sort(key=lambda one: (-one.judgement.score - odds_of(one.prior), one.a, one.b))
    again = [(one.a, one.b, one.frame, one.prior) for one in likely[: _EMBEDDED // 2]]
    better = {(one.a, one.b): one for one in _judge(material, table, again, embed=True)}
    return _formless(table, [better.get((one.a, one.b), one) for one in first]), compared, more


def judged_two(material: Material, table: Table, pairs: Any, most: int) -> tuple[list[Judged], int, int]:
    """Judge two items that a caller named together: where both are short, the judge decides on all they say.

    The two sentences that clash most are told; other sentences clash if they would in a project. The judge knows a
    contradiction only where two texts are about one thing, so it is not asked about those that show no sign of that.
    """
    rest, compared, more = judged(material, table, pairs, most, named=2)
    apart = [(a, b) for a, b in pairs.tolist() if table.owner[a] != table.owner[b]]
    if not apart or not all(_short(table, row) for row in apart[0]):
        return rest, compared, more
    if not _related(material, *(table.record(row).observations[0].strip() for row in apart[0])):
        return judged(material, table, pairs, most)  # what would be told in a project, and no more
    frames = [(a, b, framed(table, a, b), EVEN) for a, b in apart]
    best = max(_judge(material, table, frames, embed=True), key=lambda one: (one.judgement.score, -one.a, -one.b))
    texts = [table.record(row).observations[0].strip() for row in (best.a, best.b)]
    past = cues.is_past(table.text(best.a)), cues.is_past(table.text(best.b))
    if _over(table, best.a, best.b) or _over(table, best.b, best.a) or past[0] != past[1]:
        return rest, compared, more
    if best.frame.place not in _SINGLE and not best.frame.denied and adds(*(plain(text) for text in texts)):
        return judged(material, table, pairs, most)  # what would be told in a project, and no more
    (whole,) = _told(material, [common(plain(texts[0]), plain(texts[1]))], embed=True)
    named = best._replace(judgement=replace(best.judgement, score=whole.score), named=True)
    others = [one for one in rest if (one.a, one.b) != (best.a, best.b)]
    anyway, _, _ = judged(material, table, np.array([[best.a, best.b]]), 1)
    if len(apart) > 1:
        anyway += [one for one in rest if (one.a, one.b) == (best.a, best.b)]
    surer = [one for one in anyway if _surest(table, one) > whole.score + odds_of(EVEN)]
    surer = sorted(surer, key=lambda one: -_surest(table, one))[:1]
    return [*others, *(surer or [named])], max(1, compared), more


def _meet(table: Table, a: int, b: int) -> bool:
    """Whether two statements have enough words in common to be about one thing."""
    return in_common(table.terms[a].words, table.terms[b].words) >= _IN_COMMON


def _related(material: Material, one: str, other: str) -> bool:
    """Whether two texts may be about one thing, by their words and, where there is a model, by their vectors."""
    share = in_common(read(plain(one)).words, read(plain(other)).words)
    vectors = _embedded(material, [one, other])
    if vectors is None:
        return share >= _IN_COMMON
    return float(vectors[0] @ vectors[1]) + _WORDS * share >= _RELATED


def _surest(table: Table, one: Judged) -> float:
    """The log odds of the surest way in which a pair may be reported."""
    ways = weighed(table, one.a, one.b, one.frame, one.judgement, one.prior, one.named)
    return max((way.odds for way in ways), default=-inf)


def _short(table: Table, row: int) -> bool:
    record = table.record(row)
    return len(record.observations) == 1 and table.many(row) <= _FEW and len(record.observations[0]) <= _SHORT


def _over(table: Table, row: int, other: int) -> bool:
    """Whether a statement held until the other began."""
    end = ended(table.text(row))
    return end is not None and said_at(table.text(other), table.record(other).updated)[0] >= end


def _formless(table: Table, found: list[Judged]) -> list[Judged]:
    """Make less, or nothing, of what a whole project fills in differently: a form has a value for each thing or day."""
    others: dict[int, set[str]] = {}
    for one in found:
        if certainty(one.judgement.score + odds_of(one.prior)) >= _PROMISING:
            for row, other in ((one.a, one.b), (one.b, one.a)):
                others.setdefault(row, set()).add(plainly(table.said(other)))
    kept = []
    for one in found:
        many = max(len(others.get(one.a, ())), len(others.get(one.b, ())))
        if many > 1 and one.prior:
            lasting = one.frame.single and not any(cues.is_told(table.said(row)) for row in (one.a, one.b))
            odds = log(one.prior / (1 - one.prior)) - _FORM * log(many)
            one = one._replace(prior=1 / (1 + exp(-odds)) if lasting and many < _SERIES else 0.0)
        kept.append(one)
    return kept


def _judge(
    material: Material, table: Table, waiting: list[tuple[int, int, Frame, float]], *, embed: bool
) -> list[Judged]:
    texts = [common(shown(table.said(a)), shown(table.said(b))) for a, b, _, _ in waiting]
    told = _told(material, texts, embed=embed)
    return [Judged(a, b, f, one, p, False) for (a, b, f, p), one in zip(waiting, told, strict=True)]


def _told(material: Material, pairs: list[tuple[str, str]], *, embed: bool) -> list[Judgement]:
    """What the judge says of some pairs of texts, with vectors where they are wanted and not too many."""
    place: dict[str, int] = {}
    vectors = None
    if embed and pairs:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if len(texts) <= 4 * _EMBEDDED:
            vectors = _embedded(material, texts)
            place = {text: at for at, text in enumerate(texts)}
    found: list[Judgement] = []
    for start in range(0, len(pairs), _BATCH):
        material.tick(start, len(pairs))
        some = pairs[start : start + _BATCH]
        both = None
        if vectors is not None:
            both = (vectors[[place[x] for x, _ in some]], vectors[[place[y] for _, y in some]])
        found += judge(some, both, model=shipped().of)
    return found


def _embedded(material: Material, texts: list[str]) -> NDArray[Any] | None:
    """Vectors of the model that the judge has learned; None where it is not there."""
    if shipped().of not in material.look.index.vectors:
        return None
    embedder = material.look.channels[shipped().of].embedder
    if not embedder.near:
        return None  # no analysis sends a text anywhere
    made = np.zeros((len(texts), embedder.dimensions), np.float32)
    known = [at for at, text in enumerate(texts) if embedder.knows(text)]
    for start in range(0, len(known), _AT_ONCE):
        material.tick()
        some = known[start : start + _AT_ONCE]
        made[some] = embedder.embed([texts[at] for at in some])
    return made
