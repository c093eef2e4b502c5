"""Sizes: memories so long that they are several, and runs of tiny ones that are one."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from polymnia.engine.analysis.actions import UNWRITTEN, Delete, Relate, Store, Update
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural, sure
from polymnia.engine.analysis.temporal.chances import adjusted, two_sided
from polymnia.engine.text.calendar import moment
from polymnia.models import Record

__all__ = ["sections", "to_join", "to_split"]

_LEAST = 0.95
_LONG = 8_000  # characters, about what a model reads of one memory before it pays for what it does not need
_SECTIONS = 3  # parts with a heading of their own, without which there is nothing to split at
_FEWEST = 20  # memories, to know what is usual
_SPREAD = 0.1  # of the logarithm of the length, at least: where all are equally long, a longer one is no outlier
_TINY = 120
_RUN = 4
_HOUR = 3_600_000_000
_HEADING = re.compile(r"^[ ]{0,3}(#{1,3})[ \t]+(.*\S)[ \t]*$", re.MULTILINE)
_FENCED = re.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


class Section(NamedTuple):
    """A part of a text under a heading, and how long it is."""

    title: str
    characters: int


def sections(text: str) -> list[Section]:
    """The parts of a text under headings of its highest level that occurs more than once."""
    bare = _FENCED.sub(lambda match: " " * len(match[0]), text) if "```" in text or "~~~" in text else text
    heads = list(_HEADING.finditer(bare))
    levels = sorted({len(one[1]) for one in heads if sum(len(other[1]) == len(one[1]) for other in heads) > 1})
    if not levels:
        return []
    chosen = [one for one in heads if len(one[1]) <= levels[0]]
    ends = [one.start() for one in chosen[1:]] + [len(text)]
    return [
        Section(one[2], end - one.start()) for one, end in zip(chosen, ends, strict=True) if len(one[1]) == levels[0]
    ]


def to_split(view: View, looked: Looked) -> None:
    """Memories of several sections that are far longer than is usual in the project."""
    lengths = np.array([len(view.material.text(one)) for one in view.records], float)
    looked.looked_at["characters"] = int(lengths.sum())
    if len(lengths) < _FEWEST:
        return
    logs = np.log(np.maximum(lengths, 1.0))
    middle = float(np.median(logs))
    spread = max(_SPREAD, 1.4826 * float(np.median(np.abs(logs - middle))))
    places = np.flatnonzero((lengths >= _LONG) & (logs > middle)).tolist()
    chances = [two_sided((float(logs[at]) - middle) / spread) / 2 for at in places]
    for at, rate in zip(places, adjusted(chances, len(lengths)), strict=True):
        record = view.records[at]
        parts = sections(view.material.text(record)) if sure(rate) >= _LEAST else []
        if len(parts) < _SECTIONS:
            continue
        size, largest = int(lengths[at]), max(part.characters for part in parts)
        draft = Store(content=f"## {parts[0].title}\n\n{UNWRITTEN}", tags=record.tags, draft=True)
        link = Relate(source=UNWRITTEN, target=record.uid, type="part_of", draft=True)
        looked.add(
            Insight(
                type="efficiency_opportunities", name="split",
                summary=f"{view.title(record)} has {size:,} characters in {len(parts)} sections, where half of the "
                f"memories "
                f"have {math.exp(middle):,.0f} or fewer; split, who needs one section reads {largest:,} at most and "
                f"saves "
                f"{size - largest:,}.",
                confidence=sure(rate),
                explanation="How far the logarithm of its length is above the median, in robust deviations; the "
                "chance of "
                "that under a normal law, corrected for the number of memories (Benjamini-Hochberg).",
                evidence={
                    "characters": size, "median": round(math.exp(middle)), "saved_characters": size - largest,
                    "sections": [{"title": p.title, "characters": p.characters} for p in parts[: view.budget.examples]],
                    "section_count": len(parts),
                },
                members=(record.id,),
                **view.advised("Store each section as a memory of its own that is part of this one.", draft, link),
            ),
            size - largest,
        )  # fmt: skip


def to_join(view: View, looked: Looked) -> None:
    """Runs of tiny memories with the same tags that were made one after the other."""
    tiny = [one for one in view.records if one.tags and len(view.material.text(one)) <= _TINY]
    looked.looked_at["tiny_memories"] = len(tiny)
    keys = [(one.kind, one.scope, tuple(sorted(one.tags))) for one in tiny]
    often: dict[tuple[object, ...], int] = {}
    for key in keys:
        often[key] = often.get(key, 0) + 1
    runs: list[list[int]] = [[at] for at in range(len(tiny))][:1]
    for before, at in pairwise(range(len(tiny))):
        if keys[at] == keys[before] and tiny[at].created - tiny[before].created <= _HOUR:
            runs[-1].append(at)
        else:
            runs.append([at])
    long = [run for run in runs if len(run) >= _RUN]
    chances = [(often[keys[run[0]]] / len(tiny)) ** (len(run) - 1) for run in long]
    for run, rate in zip(long, adjusted(chances, len(tiny)), strict=True):
        if sure(rate) >= _LEAST:
            looked.add(_joined(view, [tiny[at] for at in run], sure(rate)), len(run))


def _joined(view: View, some: list[Record], confidence: float) -> Insight:
    first = some[0]
    text = view.material.text
    size = sum(len(text(one)) for one in some)
    whole = Update(id=first.uid, content="\n".join(map(text, some)))
    return Insight(
        type="efficiency_opportunities", name="join",
        summary=f"{len(some)} memories of {size // len(some)} characters each, tagged {', '.join(first.tags)}, were "
        f"made one "
        f"after the other on {moment(first.created)[:10]}; as one they would be {plural(size, 'character')} and "
        f"{len(some) - 1} fewer.",
        confidence=confidence,
        explanation="The chance that so many tiny memories in a row have the same tags, kind and scope, if these were "
        "dealt "
        "by chance; corrected for the number of tiny memories (Benjamini-Hochberg).",
        evidence={"tags": list(first.tags), "count": len(some), "characters": size, "saved_memories": len(some) - 1,
                  "from": moment(first.created), "to": moment(some[-1].created),
                  "texts": [{"id": one.uid, "text": text(one)} for one in some[: view.budget.examples]]},
        members=tuple(one.id for one in some),
        **view.advised(
            f"Write all of them into {first.uid}, then delete the others.",
            whole, *(Delete(id=one.uid) for one in some[1:]),
        ),
    )  # fmt: skip
