"""Orphans: contents that nothing leads to: no relation, no tag, no reader, and nothing near in meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.issues.subjects import example, many, pattern, subjects
from polymnia.engine.knowledge.similarity import cosine_at
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["orphaned"]

_DAY = 86_400_000_000
_YOUNG = 7 * _DAY  # a content younger than that had no time to be related or found
_FEWEST = 10  # contents of a project in which one may stand alone
_UNUSUAL = 0.5  # where more than this share stands alone it is how the project is kept, and no fault
_APART = 0.35  # the similarity below which two texts have no topic in common
_COMPARED = 4000  # lone contents whose neighbours are looked for
_SOME = 500


def orphaned(material: Material) -> tuple[Pattern | None, list[str]]:
    """The contents that stand alone, and what could not be told."""
    records = material.items
    if len(records) < _FEWEST:
        return None, [f"{many(len(records), 'content')}: at least {_FEWEST} are needed before one can stand alone."]
    ends = {name for one in material.relations for name in (one.source, one.target)}
    read = {one.memory for one in material.seen if one.found or one.opened}
    old = [one for one in records if material.now - one.created >= _YOUNG]
    lone = [one for one in old if one.name not in ends and not one.tags and one.id not in read]
    notes = []
    if not read:
        notes.append("Nobody has read anything yet, so that nobody read a content says nothing.")
    if not old:
        return None, [*notes, "All contents are younger than 7 days: none had time to be related or found."]
    share = len(lone) / len(old)
    if share > _UNUSUAL:
        notes.append(
            f"{len(lone):,} of {len(old):,} contents have no relation, tag or reader: that is how this project "
            f"is kept, not a "
            "fault of single ones."
        )
        return None, notes
    asked = {one.id for one in subjects(material)}
    lone = [one for one in lone if one.id in asked]
    apart, known = _apart(material, lone)
    if material.model is None and lone:
        notes.append(
            "There are no vectors to say whether a content fits a topic; relations, tags and reads decide alone."
        )
    if len(lone) > _COMPARED:
        notes.append(f"Of {len(lone):,} lone contents {_COMPARED:,}, evenly spread, were compared with all others.")
    if not apart:
        return None, notes
    return pattern(
        "orphaned",
        f"{many(len(apart), 'content')} of {len(records):,} stand alone: no relation, no tag, never found or opened"
        + (", and nothing near in meaning." if known else "."),
        f"Contents older than 7 days. The confidence is the share of the project ({1 - share:.0%}) that has a "
        f"relation, a tag or "
        "a reader: how unusual it is here to have none."
        + (f" Nothing else has a similarity of {_APART} to them." if known else ""),
        1 - share,
        [one for one, _ in apart],
        len(asked),
        (example(one, why, material.text(one)) for one, why in apart),
        without_relation_tag_or_reader=len(lone),
    ), notes


def _apart(material: Material, lone: list[Record]) -> tuple[list[tuple[Record, str]], bool]:
    """Those that are far from everything else, and whether that could be told."""
    if material.model is None or not lone:
        return [(one, "no relation, no tag, no reader") for one in lone], False
    step = max(1, -(-len(lone) // _COMPARED))
    lone = lone[::step]
    vectors = material.vectors
    places = {one.id: at for at, one in enumerate(material.items)}
    limit = cosine_at(_APART, material.look.channels[material.model].embedder.unrelated)
    found = []
    for start in range(0, len(lone), _SOME):
        material.tick(start, len(lone))
        some = lone[start : start + _SOME]
        rows = np.array([places[one.id] for one in some])
        alike = vectors[rows] @ vectors.T
        alike[np.arange(len(rows)), rows] = -1.0
        nearest = alike.max(axis=1)
        for one, row, value in zip(some, rows.tolist(), nearest.tolist(), strict=True):
            if not vectors[row].any():
                continue
            if value < limit:
                found.append((one, f"no relation, no tag, no reader; the nearest content has a cosine of {value:.2f}"))
    return found, True
