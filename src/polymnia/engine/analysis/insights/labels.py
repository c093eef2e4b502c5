"""Labels: tags that mean the same, by how they are written or by always standing together."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from polymnia.engine.analysis.actions import Update
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural, sure
from polymnia.engine.analysis.temporal.chances import adjusted, drawn_at_least
from polymnia.engine.text.language import fold, stem
from polymnia.models import Record

__all__ = ["same_tags", "spelling"]

_LEAST = 0.95
_ALIKE = 0.8  # how much likelier two tags must be to mean the same than any two, to be told
_TOGETHER = 4  # memories that have both tags
_PAIRS = 2_000  # pairs of tags that are drawn to learn how alike any two are
_FEWEST_PAIRS = 20
_SEED = 29
_READ = 50  # memories of a tag whose vectors say what it is used for

Numbers = np.ndarray[Any, np.dtype[Any]]
Tagged = dict[str, list[Record]]


def spelling(tag: str) -> str:
    """What two spellings of one tag have in common: its letters and digits, without case and accents."""
    return "".join(c for c in fold(tag) if c.isalnum())


def same_tags(view: View, looked: Looked) -> None:
    """Tags in several spellings; when it goes deep also those of one stem used for the same, and twins."""
    tagged: Tagged = {}
    for record in view.records:
        for tag in record.tags:
            tagged.setdefault(tag, []).append(record)
    looked.looked_at["tags"] = len(tagged)
    spelled: dict[str, list[str]] = {}
    for tag in sorted(tagged):
        if key := spelling(tag):
            spelled.setdefault(key, []).append(tag)
    for some in spelled.values():
        if len(some) > 1:
            _tell(view, looked, "tag_spellings", some, tagged, 1.0,
                  "Counted: the same letters and digits but for case, accents, spaces and "
                  "signs.", "are one tag in")  # fmt: skip
    if view.at_least(1):
        _stems(view, looked, tagged, spelled)
        _twins(view, looked, tagged)


def _stems(view: View, looked: Looked, tagged: Tagged, spelled: dict[str, list[str]]) -> None:
    """Tags of one stem whose memories are more alike than those of nearly any two tags."""
    stems: dict[str, list[str]] = {}
    for key, some in spelled.items():
        best = max(some, key=lambda tag: (len(tagged[tag]), tag))
        stems.setdefault(stem(key, "english") if key.isascii() else key, []).append(best)
    candidates = [(a, b) for some in stems.values() if len(some) > 1 for a, b in pairwise(some)]
    tags = sorted(tagged)
    if not candidates or view.material.model is None or len(tags) < 3:
        return
    middles = {tag: _middle(view, tagged[tag]) for tag in {t for pair in candidates for t in pair}}
    random = np.random.default_rng(_SEED)
    drawn = {tuple(sorted(random.choice(len(tags), 2, replace=False).tolist())) for _ in range(_PAIRS)}
    others = sorted(tags[i] for i in {i for pair in drawn for i in pair} if tags[i] not in middles)[:200]
    middles |= {tag: _middle(view, tagged[tag]) for tag in others}
    usual = [
        float(middles[tags[a]] @ middles[tags[b]])
        for a, b in sorted(drawn)
        if tags[a] in middles and tags[b] in middles and (tags[a], tags[b]) not in candidates
    ]
    if len(usual) < _FEWEST_PAIRS:
        return
    for a, b in candidates:
        near = float(middles[a] @ middles[b])
        rank = (sum(other < near for other in usual) + 0.5) / (len(usual) + 1)
        if rank >= _ALIKE:
            _tell(view, looked, "tag_forms", [a, b], tagged, round(rank, 4),
                  f"Of one stem, and the memories of both are more alike (cosine {near:.2f}) than those of "
                  f"{rank:.0%} of {len(usual)} pairs of tags.", "are forms of one word in")  # fmt: skip


def _middle(view: View, records: list[Record]) -> Numbers:
    rows = view.material.vectors_of([one.id for one in records[:_READ]])
    middle = rows.mean(axis=0)
    length = float(np.linalg.norm(middle))
    return np.asarray(middle / length if length else middle)


def _twins(view: View, looked: Looked, tagged: Tagged) -> None:
    """Tags that are always used together: one of them would do."""
    often = {tag: some for tag, some in tagged.items() if len(some) >= _TOGETHER}
    pairs: Counter[tuple[str, str]] = Counter()
    for record in view.records:
        tags = sorted(tag for tag in set(record.tags) if tag in often)[:30]
        pairs.update((a, b) for at, a in enumerate(tags) for b in tags[at + 1 :])
    total = len(view.records)
    twins = [(a, b, n) for (a, b), n in pairs.items() if n == len(often[a]) == len(often[b]) and n < total]
    chances = [drawn_at_least(n, n, n, total) for _, _, n in twins]
    possible = len(often) * (len(often) - 1) // 2
    for (a, b, n), rate in zip(twins, adjusted(chances, possible), strict=True):
        if sure(rate) >= _LEAST and spelling(a) != spelling(b):
            _tell(view, looked, "tag_twins", [a, b], tagged, sure(rate),
                  f"Each of the {n} memories that have one has the other; the exact chance of that among {total} "
                  "memories, corrected for the number of pairs "
                  "(Benjamini-Hochberg).", "always stand together in")  # fmt: skip


def _tell(
    view: View, looked: Looked, name: str, some: list[str], tagged: Tagged, confidence: float, how: str, said: str
) -> None:
    keep = max(some, key=lambda tag: (len(tagged[tag]), tag))
    others = [tag for tag in some if tag != keep]
    records = list({one.id: one for tag in others for one in tagged[tag]}.values())
    every = {one.id: one for tag in some for one in tagged[tag]}
    changes = [
        Update(id=one.uid, tags=tuple(dict.fromkeys(keep if tag in others else tag for tag in one.tags)))
        for one in records[: view.budget.examples]
    ]
    named = " and ".join(f"“{tag}” ({len(tagged[tag])})" for tag in some)
    looked.add(
        Insight(
            type="efficiency_opportunities", name=name,
            summary=f"The tags {named} {said} {plural(len(every), 'memory', 'memories')}; with “{keep}” alone a "
            f"search by "
            "tag finds all of them.",
            confidence=confidence, explanation=how,
            evidence={"tags": {tag: len(tagged[tag]) for tag in some}, "keep": keep, "saved_tags": len(others),
                      "to_change": view.shown(records), "count": len(records)},
            members=tuple(one.id for one in records),
            **view.advised(
                f"Give the {plural(len(records), 'memory', 'memories')} in the evidence “{keep}” instead.",
                *changes,
            ),
        ),
        len(every),
    )  # fmt: skip
