"""Repeated: memories that say the same, and what it would save to keep one of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from polymnia.engine.analysis.actions import Delete
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import Part, View, plural
from polymnia.engine.knowledge import duplicates as said_again
from polymnia.engine.knowledge.judge import COPY
from polymnia.engine.knowledge.similarity import similarities
from polymnia.importing import importing
from polymnia.models import Record
from polymnia.models.normal import normal

__all__ = ["duplicates"]

_ALIKE = 0.5  # by meaning; what is further apart is never judged the same
_JUDGED = 500  # pairs, the nearest first
_MOST = 4_000  # copies that are paired
_BESIDE = 4  # of a group, those each is compared with where there is no model
_TOLD = 200


class _Copies(NamedTuple):
    """Memories that are equal, the one to keep first."""

    records: list[Record]

    @property
    def first(self) -> Record:
        return self.records[0]


class _Choice:
    """Which of several memories to keep: one home for all advice, so that none says to delete what another keeps."""

    def __init__(self, view: View, groups: Iterable[Sequence[Record]]) -> None:
        self._text = view.material.text
        self._links = _links(view, (one.name for some in groups for one in some))
        self._kept: set[int] = set()
        self._gone: set[int] = set()

    def ordered(self, some: Iterable[Record]) -> list[Record]:
        """Memories in the order in which they are worth keeping: by their relations, their length, their age."""
        return sorted(some, key=lambda one: (-self._links.get(one.name, 0), -len(self._text(one)), one.id))

    def between(self, one: _Copies, other: _Copies) -> tuple[_Copies, _Copies] | None:
        """Which of two groups stays and which goes; None where that is decided already."""
        if {one.first.id, other.first.id} & self._gone or {one.first.id, other.first.id} <= self._kept:
            return None
        best = self.ordered((one.first, other.first))[0]
        many = len(one.records) - len(other.records)
        stays, goes = (one, other) if many > 0 or (not many and best is one.first) else (other, one)
        if goes.first.id in self._kept:
            stays, goes = goes, stays
        self._kept.add(stays.first.id)
        self._gone |= {record.id for record in goes.records}
        return stays, goes

    def stays(self, copies: _Copies) -> bool:
        """Whether nothing says that a group goes."""
        return copies.first.id not in self._gone


def duplicates(view: View, looked: Looked) -> None:
    """Groups of memories of one scope that are equal, and when it goes deep those that are nearly so."""
    first: dict[tuple[str | None, str], list[Record]] = {}
    for at, record in enumerate(view.records):
        if at % 1000 == 0:
            view.tick(at, len(view.records))
        text = view.material.text(record)
        if said := normal(text):
            first.setdefault((record.scope, said), []).append(record)
    looked.looked_at["equal_groups"] = sum(len(some) > 1 for some in first.values())
    near = view.at_least(1)
    choice = _Choice(view, (some for some in first.values() if near or len(some) > 1))
    groups = [_Copies(choice.ordered(some) if len(some) > 1 else some) for some in first.values()]
    if near:
        _near(view, looked, groups, choice)
    equal = [one for one in groups if len(one.records) > 1 and choice.stays(one)]
    for one in sorted(equal, key=lambda one: (-len(one.records), one.first.id))[:_TOLD]:
        _tell(view, looked, "duplicates", one.first, one.records[1:], 1.0,
              "Counted: they say exactly the same and are of one scope.", "say the same")  # fmt: skip


def _links(view: View, names: Iterable[str]) -> dict[str, int]:
    """How many relations each of the names has."""
    wanted = set(names)
    found: dict[str, int] = {}
    for one in view.material.relations:
        for name in (one.source, one.target):
            if name in wanted:
                found[name] = found.get(name, 0) + 1
    return found


def _near(view: View, looked: Looked, groups: Sequence[_Copies], choice: _Choice) -> None:
    """Pairs among what the look for copies in the project calls such; what is equal to one that goes, goes with it."""
    with importing():
        from polymnia.engine.analysis.issues.copies import duplicated

    copies = {one.first.id: one for one in groups}
    part = view.part([one.first for one in groups])
    found, notes = duplicated(part)
    looked.looked_at["compared_for_near_duplicates"] = len(part.items)
    looked.notes += notes
    if found is None:
        return
    alike = [part.by_id[id] for id in found.members[:_MOST] if id in part.by_id]
    pairs = [one for one in _pairs(part, alike) if one[0].scope == one[1].scope][:_JUDGED]
    texts = [(view.material.text(a), view.material.text(b)) for a, b, _ in pairs]
    told = said_again.same(part.judging, texts, [near for *_, near in pairs], COPY, strict=True, tick=view.tick)
    for (a, b, _), sure in zip(pairs, told, strict=True):
        chosen = choice.between(copies[a.id], copies[b.id]) if sure else None
        if chosen is not None:
            _tell(view, looked, "near_duplicates", chosen[0].first, chosen[1].records, min(sure, 0.99),
                  "Near by vectors or words, of the same words or the same by the judge of pairs, and no number, name "
                  "or negation differs. Read them before you delete one.", "say nearly the same")  # fmt: skip


def _pairs(part: Part, records: Sequence[Record]) -> Iterator[tuple[Record, Record, float | None]]:
    """The pairs of some records that are alike, the most similar first, and how near their vectors are."""
    if part.model is None:
        # Those of one group stand together; the words alone decide.
        yield from ((a, b, None) for at, a in enumerate(records) for b in records[at + 1 : at + 1 + _BESIDE])
        return
    rows = part.vectors_of([one.id for one in records])
    alike = similarities(rows @ rows.T, part.look.channels[part.model].embedder.unrelated)
    first, second = np.nonzero(np.triu(alike >= _ALIKE, 1))
    for at in np.argsort(-alike[first, second], kind="stable").tolist():
        a, b = int(first[at]), int(second[at])
        yield records[a], records[b], float(alike[a, b])


def _tell(
    view: View, looked: Looked, name: str, keep: Record, go: list[Record], sure: float, how: str, said: str
) -> None:
    text = view.material.text
    saved = sum(len(text(one)) for one in go)
    looked.add(
        Insight(
            type="efficiency_opportunities", name=name,
            summary=f"{len(go) + 1} memories {said} ({view.title(keep)}); keeping one saves "
            f"{plural(len(go), 'memory', 'memories')} and {plural(saved, 'character')}.",
            confidence=sure, explanation=how,
            evidence={
                "keep": keep.uid, "superfluous": [one.uid for one in go[:10]], "saved_memories": len(go),
                "saved_characters": saved,
                "texts": [{"id": one.uid, "text": text(one)[:200]} for one in [keep, *go][: view.budget.examples]],
            },
            members=tuple(one.id for one in [keep, *go]),
            **view.advised(
                f"Keep {keep.uid} and delete the rest, which can be undone.",
                *(Delete(id=one.uid) for one in go[: view.budget.examples]),
            ),
        ),
        saved,
    )  # fmt: skip
