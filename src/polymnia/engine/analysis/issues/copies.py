"""Copies: contents that say again what another one says, letter by letter or nearly so.

Candidates are found without comparing each with each. Texts whose vectors point nearly the same way fall on the same
side of most random planes, so they meet in one of several tables (locality-sensitive hashing); texts of mostly the same
words have the same smallest hashes of their runs of words (MinHash). What meets is compared by its vectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import rustworkx
from numpy.typing import NDArray

from polymnia.engine.analysis.findings import Pattern, Remark
from polymnia.engine.analysis.issues.issue import issue, quoted, subjects
from polymnia.engine.content import title_of
from polymnia.engine.knowledge import duplicates
from polymnia.engine.knowledge.judge import COPY
from polymnia.engine.knowledge.similarity import cosine_at, similarities
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, normal

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

Numbers = NDArray[Any]

_ALIKE = 0.8  # by meaning; what is further apart is not judged
_JUDGED = 1_000  # pairs that are judged, nearest first: some milliseconds each
_BEGIN = 1000  # characters in which a text must have a letter or a digit to say anything
_SHOWN = 5  # members of a group that are shown
_SEED = 20_261_115
_TABLES = 32
_SIDES = 14  # bits of a table: a few unrelated texts meet by chance, and most that are alike
_WINDOW = 6  # how many of a bucket each is compared with: buckets are sorted by the rest of the bits
_WORD = re.compile(r"[^\W_]+")
_READ = 6000  # characters whose words are hashed
_BANDS = 12  # smallest hashes, each of which brings texts together
_SHINGLES = 3
_COMMON = 0.4
_EXACT = 10_000  # pairs whose vectors are compared at once: some tens of megabytes
_MIDDLE = 5_000  # vectors that show what all have in common
_FAR = 1.25  # how many times the bits that differ at the least cosine may differ: bits only guess


def duplicated(project: ProjectView) -> tuple[Pattern | None, list[Remark]]:
    """The contents that are copies of others, in groups, and what was not looked at."""
    records = project.items
    asked = {one.id for one in subjects(project)}
    texts = [project.text(one) for one in records]
    first: dict[tuple[str, str], int] = {}
    pairs: dict[tuple[int, int], float] = {}
    for at, text in enumerate(texts):
        if at % 1000 == 0:
            project.tick(at, len(texts))
        if any(c.isalnum() for c in text[:_BEGIN]):
            # What people file in two places they may want in both: only copies within one scope are a fault.
            known = first.setdefault((str(records[at].scope), normal(text)), at)
            if known != at:
                pairs[known, at] = 1.0
    near, notes = _near(project, texts, sorted(first.values()), asked)
    pairs |= near
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(texts)))
    graph.add_edges_from([(a, b, None) for a, b in pairs])
    groups = [sorted(group) for group in rustworkx.connected_components(graph) if len(group) > 1]
    groups = [group for group in groups if any(records[at].id in asked for at in group)]
    if not groups:
        return None, notes
    groups.sort(key=lambda group: (-len(group), group[0]))
    right: dict[int, float] = {}
    for pair, sure in pairs.items():
        for at in pair:
            right[at] = max(right.get(at, 0.0), sure)
    members = [at for group in groups for at in group]
    equal = sum(right[at] == 1.0 for at in members)

    def shown(group: list[int]) -> JsonObject:
        some = [(records[at], texts[at]) for at in group[:_SHOWN]]
        contents = [
            {"id": one.uid, "title": quoted(title_of(one)), "updated": moment(one.updated), "quote": quoted(text)}
            for one, text in some
        ]
        same = all(right[at] == 1.0 for at in group)
        return {"id": records[group[0]].uid, "count": len(group), "equal": same, "contents": contents}

    found = issue(
        "duplicated",
        sum(right[at] for at in members) / len(members),
        [records[at] for at in members],
        len(asked),
        map(shown, groups),
        groups=len(groups),
        superfluous=len(members) - len(groups),
        equal=equal,
        nearly=len(members) - equal,
    )
    return found, notes


def _near(
    project: ProjectView, texts: Sequence[str], rest: Sequence[int], asked: set[int]
) -> tuple[dict[tuple[int, int], float], list[Remark]]:
    """Texts that are nearly the same: candidates by vectors and by words, then the judge of the store."""
    records = project.items
    unrelated = project.look.channels[project.model].embedder.unrelated if project.model else 0.0
    vectors = project.vectors if project.model else np.zeros((len(records), 0), np.float32)
    rows = np.array(rest, np.int64)
    candidates, alike = pairs_alike([texts[at] for at in rest], vectors, rows, unrelated, _ALIKE, project.tick)
    chosen = [(rest[a], rest[b], near) for (a, b), near in zip(candidates.tolist(), alike.tolist(), strict=True)]
    chosen = [one for one in chosen if {records[one[0]].id, records[one[1]].id} & asked]
    chosen.sort(key=lambda one: -one[2])
    left = len(chosen) - _JUDGED
    notes = [Remark("issues.not_compared", {"pairs": left})] if left > 0 else []
    chosen = [(a, b, near) for a, b, near in chosen[:_JUDGED] if records[a].scope == records[b].scope]
    said = [(texts[a], texts[b]) for a, b, _ in chosen]
    nearness = [near for *_, near in chosen]
    sure = duplicates.same(project.judging, said, nearness, COPY, strict=True, tick=project.tick)
    return {(a, b): value for (a, b, _), value in zip(chosen, sure, strict=True) if value}, notes


def pairs_alike(
    texts: Sequence[str],
    vectors: Numbers,
    rows: Numbers,
    unrelated: float,
    least: float,
    tick: Callable[[int, int], None],
) -> tuple[Numbers, Numbers]:
    """Pairs of places whose texts are at least so similar by meaning, or of mostly the same words; and how similar.

    ``rows`` says which of the vectors is that of each text. ``unrelated`` is the model's mean cosine
    of unrelated texts. Of a text without a vector the share of common runs of words is known alone, which is lower than
    what people see.
    """
    found, shares = _by_words(texts, tick)
    some: Numbers = np.asarray(vectors.any(axis=1))
    known: Numbers = some[rows]
    if known.sum() > 1:
        near = _by_meaning(vectors, rows, np.flatnonzero(known), cosine_at(least, unrelated), tick)
        pairs = np.concatenate((found, near))
        shares = np.concatenate((shares, np.zeros(len(near), np.float32)))
        pairs, first = np.unique(pairs, axis=0, return_index=True)
        shares = shares[first]
    else:
        pairs = found
    alike = shares.copy()
    seen = np.flatnonzero(known[pairs].all(axis=1)) if len(pairs) else np.zeros(0, np.int64)
    for start in range(0, len(seen), _EXACT):
        tick(start, len(seen))
        some = seen[start : start + _EXACT]
        alike[some] = similarities(_cosines(vectors, rows[pairs[some]]), unrelated)
    return pairs, alike


def _cosines(vectors: Numbers, pairs: Numbers) -> Numbers:
    found: Numbers = np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])
    return found


def _by_meaning(
    vectors: Numbers, rows: Numbers, known: Numbers, least: float, tick: Callable[[int, int], None]
) -> Numbers:
    """Pairs of those of the vectors that are known whose cosine is at least that."""
    random = np.random.default_rng(_SEED)
    width = 256
    planes = random.standard_normal((vectors.shape[1], width)).astype(np.float32)
    # What all texts of a project have in common says nothing of two of them.
    middle = vectors[rows[known][:: max(1, len(known) // _MIDDLE)]].mean(axis=0)
    bits = np.empty((len(known), width), bool)
    for start in range(0, len(known), _EXACT):
        bits[start : start + _EXACT] = (vectors[rows[known[start : start + _EXACT]]] - middle) @ planes > 0
    words = np.packbits(bits, axis=1).view(np.uint64)
    turned = float(np.arccos(min(1.0, max(-1.0, least)))) / np.pi * width
    found: list[Numbers] = []
    for table in range(_TABLES):
        tick(table, _TABLES)
        chosen = random.choice(width, _SIDES, replace=False)
        keys = bits[:, chosen] @ (1 << np.arange(_SIDES))
        order = np.lexsort((words[:, table % words.shape[1]], keys))
        for step in range(1, _WINDOW + 1):
            left, right = order[:-step], order[step:]
            same = keys[left] == keys[right]
            left, right = left[same], right[same]
            apart = np.bitwise_count(words[left] ^ words[right]).sum(axis=1)
            near = apart <= turned * _FAR
            found.append(np.stack((left[near], right[near]), axis=1))
    pairs = np.sort(known[np.concatenate(found)], axis=1)
    pairs = np.unique(pairs, axis=0)
    kept = []
    for start in range(0, len(pairs), _EXACT):
        tick(start, len(pairs))
        some = pairs[start : start + _EXACT]
        kept.append(some[_cosines(vectors, rows[some]) >= least])
    return np.concatenate(kept) if kept else np.zeros((0, 2), np.int64)


def _by_words(texts: Sequence[str], tick: Callable[[int, int], None]) -> tuple[Numbers, Numbers]:
    """Pairs of texts whose runs of words are mostly the same, and the share of the runs they have in common."""
    random = np.random.default_rng(_SEED)
    turns = random.integers(1, 1 << 31, size=(_BANDS, 1), dtype=np.uint64) | np.uint64(1)
    smallest = np.zeros((len(texts), _BANDS), np.uint64)
    for at, text in enumerate(texts):
        if at % 1000 == 0:
            tick(at, len(texts))
        words = _WORD.findall(text[:_READ].lower())
        runs = {" ".join(words[i : i + _SHINGLES]) for i in range(max(1, len(words) - _SHINGLES + 1))}
        hashes = np.fromiter((crc32(run.encode()) for run in runs), np.uint64, len(runs))
        smallest[at] = ((hashes * turns) & np.uint64(0xFFFFFFFF)).min(axis=1)
    found: list[Numbers] = []
    for band in range(_BANDS):
        order = np.argsort(smallest[:, band], kind="stable")
        for step in range(1, _WINDOW + 1):
            left, right = order[:-step], order[step:]
            met = smallest[left, band] == smallest[right, band]
            left, right = left[met], right[met]
            # As many of the runs in common as two texts of a dozen words have that differ in one.
            alike = (smallest[left] == smallest[right]).sum(axis=1) >= _COMMON * _BANDS
            found.append(np.stack((left[alike], right[alike]), axis=1))
    if not found:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return pairs, (smallest[pairs[:, 0]] == smallest[pairs[:, 1]]).mean(axis=1).astype(np.float32)
