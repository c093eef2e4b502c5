"""Copies: contents that say again what another one says, letter by letter or nearly so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.issues.alike import pairs_alike
from polymnia.engine.analysis.issues.subjects import many, pattern, quoted, subjects
from polymnia.engine.items import title_of
from polymnia.engine.knowledge import duplicates
from polymnia.engine.knowledge.judge import COPY
from polymnia.engine.text.calendar import moment
from polymnia.models import Record
from polymnia.models.normal import normal

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["duplicated"]

_ALIKE = 0.8  # by meaning; what is further apart is not judged
_JUDGED = 1_000  # pairs that are judged, nearest first: some milliseconds each
_BEGIN = 1000  # characters in which a text must have a letter or a digit to say anything
_TOLD = 5  # members of a group that are shown


class _Pair(NamedTuple):
    first: int
    second: int
    right: float


def duplicated(material: Material) -> tuple[Pattern | None, list[str]]:
    """The contents that are copies of others, in groups, and what was not looked at."""
    records = material.items
    asked = {one.id for one in subjects(material)}
    texts = [material.text(one) for one in records]
    said = [at for at, text in enumerate(texts) if any(c.isalnum() for c in text[:_BEGIN])]
    first: dict[str, int] = {}
    pairs: list[_Pair] = []
    for at in said:
        if at % 1000 == 0:
            material.tick(at, len(texts))
        key = normal(texts[at])
        # What people file in two places they may want in both: only copies within one scope are a fault.
        known = first.setdefault(f"{records[at].scope}\0{key}", at)
        if known != at:
            pairs.append(_Pair(known, at, 1.0))
    rest = sorted(first.values())
    near, notes = _near(material, records, texts, rest, asked)
    groups = _groups(len(texts), pairs + near)
    groups = [group for group in groups if any(records[at].id in asked for at in group)]
    if not groups:
        return None, notes
    return _told(material, records, texts, groups, pairs + near, len(asked)), notes


def _near(
    material: Material, records: Sequence[Record], texts: Sequence[str], rest: Sequence[int], asked: set[int]
) -> tuple[list[_Pair], list[str]]:
    """Texts that are nearly the same: candidates by vectors and by words, then the judge of the store."""
    unrelated = material.look.channels[material.model].embedder.unrelated if material.model else 0.0
    vectors = material.vectors if material.model else np.zeros((len(records), 0), np.float32)
    rows = np.array(rest, np.int64)
    candidates, alike = pairs_alike([texts[at] for at in rest], vectors, rows, unrelated, _ALIKE, material.tick)
    notes = []
    if len(asked) < len(records):
        ours = [{records[rest[a]].id, records[rest[b]].id} & asked for a, b in candidates.tolist()]
        keep = [at for at, one in enumerate(ours) if one]
        candidates, alike = candidates[keep], alike[keep]
    if len(candidates) > _JUDGED:
        left = len(candidates) - _JUDGED
        notes.append(f"{left:,} further pairs of contents that are less alike were not compared.")
        order = np.argsort(-alike, kind="stable")[:_JUDGED]
        candidates, alike = candidates[order], alike[order]
    chosen = [(rest[a], rest[b], near) for (a, b), near in zip(candidates.tolist(), alike.tolist(), strict=True)]
    chosen = [(a, b, near) for a, b, near in chosen if records[a].scope == records[b].scope]
    sure = duplicates.same(
        material.judging, [(texts[a], texts[b]) for a, b, _ in chosen], [near for *_, near in chosen], COPY,
        strict=True, tick=material.tick,
    )  # fmt: skip
    return [_Pair(a, b, value) for (a, b, _), value in zip(chosen, sure, strict=True) if value], notes


def _groups(count: int, pairs: Iterable[_Pair]) -> list[list[int]]:
    """The texts that belong together, larger groups first."""
    head = list(range(count))

    def top(at: int) -> int:
        while head[at] != at:
            head[at] = head[head[at]]
            at = head[at]
        return at

    for one in pairs:
        a, b = top(one.first), top(one.second)
        head[max(a, b)] = min(a, b)
    groups: dict[int, list[int]] = {}
    for one in pairs:
        for at in (one.first, one.second):
            groups.setdefault(top(at), []).append(at)
    return sorted((sorted(set(group)) for group in groups.values()), key=lambda group: (-len(group), group[0]))


def _told(
    material: Material,
    records: Sequence[Record],
    texts: Sequence[str],
    groups: list[list[int]],
    pairs: list[_Pair],
    total: int,
) -> Pattern:
    right: dict[int, float] = {}
    for one in pairs:
        for at in (one.first, one.second):
            right[at] = max(right.get(at, 0.0), one.right)
    members = [at for group in groups for at in group]
    exact = sum(right[at] == 1.0 for at in members)
    extra = len(members) - len(groups)
    summary = (
        f"{len(members):,} contents in {many(len(groups), 'group')} say the same ({exact:,} letter by letter, "
        f"{len(members) - exact:,} nearly): {many(extra, 'content')} may be superfluous."
    )
    return pattern(
        "duplicated",
        summary,
        "Texts of one scope that say exactly the same, which nobody stores twice unasked, are certain. Others "
        "were found by vectors and shared words and compared word by word; of such pairs people call 79 to 88 % the "
        "same. The confidence is the mean over the members.",
        sum(right[at] for at in members) / len(members),
        [records[at] for at in members],
        total,
        (_shown(group, records, texts, right) for group in groups),
        groups=len(groups),
        superfluous=extra,
        equal=exact,
        nearly=len(members) - exact,
    )


def _shown(
    group: list[int], records: Sequence[Record], texts: Sequence[str], right: dict[int, float]
) -> dict[str, Any]:
    return {
        "id": records[group[0]].uid,
        "count": len(group),
        "equal": all(right[at] == 1.0 for at in group),
        "contents": [
            {
                "id": records[at].uid,
                "title": quoted(title_of(records[at])),
                "updated": moment(records[at].updated),
                "quote": quoted(texts[at]),
            }
            for at in group[:_TOLD]
        ],
    }
