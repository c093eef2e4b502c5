"""Copies: contents that say again what another one says, letter by letter or nearly so.

Candidates are found without comparing each with each: by the nearest vectors, and by words, for texts of mostly the
same words have the same smallest hashes of their runs of words (MinHash). What meets is compared by its vectors, and
then the judge of the store decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.pairs import Numbers, Pairs, cosines, nearest, together
from polymnia.engine.knowledge import duplicates
from polymnia.engine.knowledge.judge import COPY
from polymnia.engine.knowledge.similarity import cosine_at, similarities
from polymnia.models import normal

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_ALIKE = 0.8  # by meaning; what is further apart is not judged
_JUDGED = 1_000  # pairs that are judged, nearest first: some milliseconds each
_BEGIN = 1000  # characters in which a text must have a letter or a digit to say anything
_SEED = 20_261_115
_WORD = re.compile(r"[^\W_]+")
_READ = 6000  # characters whose words are hashed
_BANDS = 12  # smallest hashes, each of which brings texts together
_SHINGLES = 3
_COMMON = 0.4  # of the runs: as many as two texts of a dozen words have that differ in one


def copies(project: ProjectView, asked: AbstractSet[int]) -> tuple[dict[tuple[int, int], float], list[Remark]]:
    """The pairs of places of items that say the same, one of them asked about, how sure that is, and what was left."""
    first: dict[tuple[str, str], int] = {}
    pairs: dict[tuple[int, int], float] = {}
    for at, record in enumerate(project.each(project.items)):
        text = project.text(record)
        if any(c.isalnum() for c in text[:_BEGIN]):
            # What people file in two places they may want in both: only copies within one scope are a fault.
            known = first.setdefault((str(record.scope), normal(text)), at)
            if known != at:
                pairs[known, at] = 1.0
    near, notes = near_copies(project, sorted(first.values()), asked)
    return pairs | near, notes


def near_copies(
    project: ProjectView, places: Sequence[int], asked: AbstractSet[int]
) -> tuple[dict[tuple[int, int], float], list[Remark]]:
    """The same for texts of some places that are nearly the same, the most alike first."""
    records = [project.items[at] for at in places]
    texts = [project.text(one) for one in records]
    vectors = project.vectors[list(places)] if places else np.zeros((0, 0), np.float32)
    pairs, alike = pairs_alike(texts, vectors, project.unrelated, project.tick)
    order = np.argsort(-alike, kind="stable").tolist()
    chosen = [
        (a, b, float(alike[at]))
        for at in order
        for a, b in [pairs[at].tolist()]
        if {records[a].id, records[b].id} & asked
    ]
    left = len(chosen) - _JUDGED
    notes = [Remark("issues.not_compared", {"pairs": left})] if left > 0 else []
    chosen = [(a, b, near) for a, b, near in chosen[:_JUDGED] if records[a].scope == records[b].scope]
    said = [(texts[a], texts[b]) for a, b, _ in chosen]
    sure = duplicates.same(project.judging, said, [near for *_, near in chosen], COPY, strict=True, tick=project.tick)
    return {(places[a], places[b]): value for (a, b, _), value in zip(chosen, sure, strict=True) if value}, notes


def pairs_alike(
    texts: Sequence[str], vectors: Numbers, unrelated: float, tick: Callable[[int, int], None]
) -> tuple[Pairs, Numbers]:
    """Pairs of texts that are alike by meaning, or of mostly the same words; and how similar they are.

    ``unrelated`` is the model's mean cosine of unrelated texts. Of a text without a vector (a row of zeros) the share
    of common runs of words is known alone, which is lower than what people see.
    """
    pairs, alike = _by_words(texts, tick)
    known = np.asarray(vectors.any(axis=1)) if vectors.size else np.zeros(len(texts), bool)
    rows = np.flatnonzero(known)
    near, cosine = nearest(vectors[rows])
    near = rows[near[cosine >= cosine_at(_ALIKE, unrelated)]]
    pairs, first = np.unique(np.concatenate((pairs, near)), axis=0, return_index=True)
    alike = np.concatenate((alike, np.zeros(len(near), np.float32)))[first]
    seen = known[pairs].all(axis=1)
    alike[seen] = similarities(cosines(vectors, pairs[seen]), unrelated)
    return pairs, alike


def _by_words(texts: Sequence[str], tick: Callable[[int, int], None]) -> tuple[Pairs, Numbers]:
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
    blocks = smallest.astype(np.int64) | np.arange(_BANDS) << 32
    pairs = together(blocks.ravel(), np.repeat(np.arange(len(texts)), _BANDS))
    share = (smallest[pairs[:, 0]] == smallest[pairs[:, 1]]).mean(axis=1, dtype=np.float32)
    return pairs[share >= _COMMON], share[share >= _COMMON]
