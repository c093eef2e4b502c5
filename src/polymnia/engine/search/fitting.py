"""Hits within a budget of tokens: whole where they fit, cut to their best passages where they do not."""

from __future__ import annotations

from msgspec.structs import replace

from polymnia.engine.search import budget
from polymnia.engine.search.results import Cut, Fragment, Hit
from polymnia.models import Record

__all__ = ["fitted"]


def fitted(hits: list[Hit], most: int) -> tuple[list[Hit], Cut]:
    """The hits that fit a budget of tokens; of one too long, its best passages."""
    sizes = [_tokens(hit.record) for hit in hits]
    fit = budget.fit(sizes, most, least=[min(size, _least(hit)) for size, hit in zip(sizes, hits, strict=True)])
    rooms = dict(fit.cut)
    if hits and not fit.whole and not rooms:
        rooms[0] = most  # not even the best passage of one fits: its beginning does
    shown = []
    total = sum(sizes[i] for i in fit.whole)
    for i, hit in enumerate(hits):
        if i in fit.whole:
            shown.append(hit)
        elif i in rooms:
            pieces, used = _trimmed(hit, rooms[i])
            total += used
            if pieces:
                shown.append(replace(hit, record=_bare(hit.record), fragments=pieces, cut=True))
    cut = sum(hit.cut for hit in shown)
    left_out = len(hits) - len(shown)
    return shown, Cut(whole=len(shown) - cut, cut=cut, left_out=left_out, tokens=total, budget=most)


def _least(hit: Hit) -> int:
    """The tokens of a hit cut to its best passage."""
    best = hit.fragments[0].text if hit.fragments else ""
    return budget.tokens(hit.record.name) + budget.tokens(best)


def _trimmed(hit: Hit, room: int) -> tuple[tuple[Fragment, ...], int]:
    kept: list[Fragment] = []
    used = budget.tokens(hit.record.name)
    for fragment in hit.fragments:
        size = budget.tokens(fragment.text)
        if used + size > room and not kept:
            text = budget.trimmed(fragment.text, room - used)
            marks = tuple(mark for mark in fragment.marks if mark[1] <= len(text))
            fragment = Fragment(text=text, observation=fragment.observation, marks=marks, score=fragment.score)
            size = budget.tokens(text)
        if fragment.text and used + size <= room:
            kept.append(fragment)
            used += size
    return tuple(kept), used if kept else 0


def _bare(record: Record) -> Record:
    """The record without its texts: what is shown of them are the fragments."""
    return replace(record, observations=())


def _tokens(record: Record) -> int:
    return sum(map(budget.tokens, (record.name, record.kind, *record.observations)))
