"""Wanted: what is looked for and hardly there, from how often memories are found and opened."""

from __future__ import annotations

import numpy as np

from polymnia.engine.analysis.actions import UNWRITTEN, Relate, Search
from polymnia.engine.analysis.activity.reads import Reads, reads_of
from polymnia.engine.analysis.activity.usage import read_most
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural, sure
from polymnia.engine.analysis.probability import adjusted, at_least_of
from polymnia.models import Record

__all__ = ["asked_of_one", "not_opened", "reads_in"]

_LEAST = 0.95
_READINGS = 20  # with fewer nothing can be told apart from chance
_APART = 0.4  # the similarity from which two memories are taken to be on one topic (decision 0018)
_READ_MOST = 20


def reads_in(view: View) -> Reads:
    """What was read within the horizon."""
    recent = view.recent
    return reads_of(recent.present, recent.seen, recent.touches, recent.now, view.tick)


def not_opened(view: View, looked: Looked, reads: Reads) -> None:
    """Tags whose memories are found and hardly ever opened: the search does not find what is sought."""
    found, opened = int(reads.found.sum()), int(reads.both.sum())
    looked.looked_at["found_by_searches"] = found
    if reads.readings < _READINGS or not 0 < opened < found:
        return
    rate = opened / found
    places: dict[str, list[int]] = {}
    for at in np.flatnonzero(reads.found > 0).tolist():
        for tag in reads.records[at].tags:
            places.setdefault(tag, []).append(at)
    tags = sorted(places)
    times = [(int(reads.found[places[tag]].sum()), int(reads.both[places[tag]].sum())) for tag in tags]
    chances = [1.0 - at_least_of(hits + 1, tries, rate) if hits < tries else 1.0 for tries, hits in times]
    for tag, (tries, hits), rated in zip(tags, times, adjusted(chances), strict=True):
        if sure(rated) < _LEAST:
            continue
        records = [reads.records[at] for at in sorted(places[tag], key=lambda at: -int(reads.found[at]))]
        looked.add(
            Insight(
                type="content_gaps", name="found_not_wanted",
                summary=f"Memories tagged “{tag}” were found on {plural(tries, 'day')} of readers within {view.days} "
                f"days "
                f"and opened on {hits}; others are opened {rate:.0%} of the time. What is looked for seems not to be "
                f"there.",
                confidence=sure(rated),
                explanation="The chance of so few openings at the rate of the whole project (binomial), corrected for "
                "the number of tags (Benjamini-Hochberg).",
                evidence={"tag": tag, "found": tries, "opened": hits, "usual_rate": round(rate, 4),
                          "records": view.shown(records)},
                members=tuple(one.id for one in records),
                **view.advised("See what a search finds, and store what people expect there.", Search(query=tag)),
            ),
            tries,
        )  # fmt: skip


def asked_of_one(view: View, looked: Looked, reads: Reads) -> None:
    """Memories that are opened far more than others and have nothing like them: one memory holds all there is on it."""
    if reads.readings < _READINGS:
        return
    chances = read_most(reads)
    rates = adjusted(list(chances.values()), len(reads.records))
    most = sorted((rate, at) for at, rate in zip(chances, rates, strict=True) if sure(rate) >= _LEAST)[:_READ_MOST]
    for rate, at in most:
        view.tick()
        record = reads.records[at]
        near = _nearest(view, record)
        if near is None or near[1] >= _APART:
            continue
        other, similarity = near
        looked.add(
            Insight(
                type="content_gaps", name="asked_of_one",
                summary=f"{view.title(record)} was opened {plural(int(reads.times_opened[at]), 'time')} in "
                f"{view.days} days, "
                f"and nothing else is on its topic: the nearest, {view.title(other)}, is {similarity:.2f} alike.",
                confidence=sure(rate),
                explanation="The chance of so many openings at the rate of all (Poisson, Benjamini-Hochberg); from a "
                f"similarity of {_APART} on, people take two texts to be on one topic.",
                evidence={"record": {"id": record.uid}, "opened": int(reads.times_opened[at]),
                          "nearest": {"id": other.uid, "similarity": round(similarity, 4)}},
                members=(record.id,),
                **view.advised(
                    "Write down more on it, related to it.",
                    Relate(source=UNWRITTEN, target=record.uid, type="related_to", draft=True),
                ),
            ),
            int(reads.opened[at]),
        )  # fmt: skip


def _nearest(view: View, record: Record) -> tuple[Record, float] | None:
    """The memory most like a record; None where there is no model to tell."""
    look = view.whole.look
    held = look.held(record.id - look.base)
    if held is None:
        return None
    for one in look.nearest(held, 5, without=record.id - look.base):
        other = view.whole.by_id.get(look.base + one.number)
        if other is not None:
            return other, one.similarity
    return None
