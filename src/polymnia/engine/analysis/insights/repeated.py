"""Repeated: memories that say the same, and what it would save to keep one of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import Part, View, call, plural
from polymnia.engine.duplicates import judged
from polymnia.engine.duplicates.reading import plain
from polymnia.engine.similarity import similarities
from polymnia.models import Record

__all__ = ["duplicates"]

_LONG = 20_000  # characters; longer texts are compared as they stand
_THRESHOLD = 0.95  # as memory_store has it
_ALIKE = 0.5  # by meaning; what is further apart is never judged the same
_JUDGED = 10_000  # pairs, the nearest first
_MOST = 4_000  # copies that are paired
_BESIDE = 4  # of a group, those each is compared with where there is no model
_TOLD = 200
# How often people call two texts the same that the judge of the store calls so: decision 0015, on rows never tuned on.
_RIGHT = 0.69


def duplicates(view: View, looked: Looked) -> None:
    """Groups of memories of one scope that are equal, and when it goes deep those that are nearly so."""
    first: dict[tuple[str | None, str], list[Record]] = {}
    for at, record in enumerate(view.records):
        if at % 1000 == 0:
            view.tick(at, len(view.records))
        text = view.material.text(record)
        said = plain(text) if len(text) <= _LONG else text
        if said:
            first.setdefault((record.scope, said), []).append(record)
    equal = [some for some in first.values() if len(some) > 1]
    looked.looked_at["equal_groups"] = len(equal)
    links = _links(view, (one.name for some in equal for one in some)) if equal else {}
    for some in sorted(equal, key=lambda some: (-len(some), some[0].id))[:_TOLD]:
        keep = max(some, key=lambda one: (links.get(one.name, 0), -one.id))
        _tell(view, looked, "duplicates", keep, [one for one in some if one is not keep], 1.0,
              "Counted: equal but for case, white space and punctuation, and of one "
              "scope.", "say the same")  # fmt: skip
    if view.at_least(1):
        _near(view, looked, [some[0] for some in first.values()])


def _links(view: View, names: Iterable[str]) -> dict[str, int]:
    """How many relations each of the names has."""
    wanted = set(names)
    found: dict[str, int] = {}
    for one in view.material.relations:
        for name in (one.source, one.target):
            if name in wanted:
                found[name] = found.get(name, 0) + 1
    return found


def _near(view: View, looked: Looked, records: Sequence[Record]) -> None:
    """Pairs among what the look for copies in the project calls such."""
    from polymnia.engine.analysis.issues.copies import duplicated

    part = view.part(records)
    found, notes = duplicated(part)
    looked.looked_at["compared_for_near_duplicates"] = len(part.items)
    looked.notes += notes
    if found is None:
        return
    copies = [part.by_id[id] for id in found.members[:_MOST] if id in part.by_id]
    gone: set[int] = set()
    for at, (a, b, alike) in enumerate(_pairs(part, copies)):
        if at % 500 == 0:
            view.tick()
        one, other = (view.material.text(record) for record in (a, b))
        if a.scope != b.scope or max(len(one), len(other)) > _LONG or {a.id, b.id} & gone:
            continue
        if judged(one, other, alike, _THRESHOLD).duplicate:
            keep, goes = (a, b) if (len(one), a.updated) >= (len(other), b.updated) else (b, a)
            gone.add(goes.id)
            _tell(view, looked, "near_duplicates", keep, [goes], _RIGHT,
                  "Near by vectors or words and judged word by word, as memory_store does before it stores; people "
                  f"call {_RIGHT:.0%} of such pairs the same.", "say nearly the same")  # fmt: skip


def _pairs(part: Part, records: Sequence[Record]) -> Iterator[tuple[Record, Record, float]]:
    """The pairs of some records that are alike, the most similar first."""
    if part.model is None:
        # Those of one group stand together; the words alone decide.
        yield from ((a, b, 1.0) for at, a in enumerate(records) for b in records[at + 1 : at + 1 + _BESIDE])
        return
    rows = part.vectors_of([one.id for one in records])
    alike = similarities(rows @ rows.T, part.look.channels[part.model].embedder.unrelated)
    first, second = np.nonzero(np.triu(alike >= _ALIKE, 1))
    for at in np.argsort(-alike[first, second], kind="stable")[:_JUDGED].tolist():
        a, b = int(first[at]), int(second[at])
        yield records[a], records[b], float(alike[a, b])


def _tell(
    view: View, looked: Looked, name: str, keep: Record, go: list[Record], sure: float, how: str, said: str
) -> None:
    text = view.material.text
    saved = sum(len(text(one)) for one in go)
    calls = "; ".join(call("memory_store", "delete_content", content_id=one.uid) for one in go[: view.budget.examples])
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
            recommendation=view.advised(f"Keep {keep.uid} and delete the rest, which can be undone: {calls}"),
        ),
        saved,
    )  # fmt: skip
