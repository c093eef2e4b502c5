"""Candidates: which statements are worth judging. The work grows with their number, not with its square.

Two statements are brought together by their rarest words, by the vectors of their records, and by being observations
of one entity. What they share, by words or by meaning, says in which order they are judged.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np

from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.pairs import Numbers, Pairs, cosines, decoded, encoded, nearest, together
from polymnia.engine.knowledge.duplicates import words
from polymnia.engine.text.language import DENSE

_DENSE = re.compile(f"[{DENSE}]")
_WIDTH = 12  # rarest words of a statement that are compared
_RARE = 5  # of which two bring statements together
_FEW = 400  # statements of which each is compared with each
_SHARED = 0.25  # the least share of the weight of the words of the shorter statement
_EACH = 4  # partners of a statement
_NEAR = 0.3  # how near they are at least: 0 for unrelated texts, 1 for the same vector
_ENTITY = 0.3  # what observations of one entity have in common if nothing else
_OBSERVATIONS = 12  # of an entity, that are compared each with each
_STEP = 65_536  # pairs weighed together


class _Words:
    """The rarest words of each statement as numbers, -1 where there are no more, and what each word is worth."""

    def __init__(self, table: Statements) -> None:
        numbers: dict[str, int] = {}
        bags = [
            sorted({numbers.setdefault(one, len(numbers)) for one in _terms(table.said(row))})
            for row in range(len(table))
        ]
        counts = np.zeros(len(numbers) + 1, np.int64)
        for bag in bags:
            counts[bag] += 1
        self.weights: Numbers = np.log1p(len(table) / np.maximum(counts, 1)).astype(np.float32)
        self.weights[-1] = 0.0  # of what is not there
        self.counts = counts
        self.keys: Numbers = np.full((len(table), _WIDTH), -1, np.int64)
        for row, bag in enumerate(bags):
            rarest = sorted(bag, key=counts.__getitem__)[:_WIDTH]
            self.keys[row, : len(rarest)] = rarest

    def share(self, pairs: Pairs) -> Numbers:
        """How much of the weight of the words of the lighter statement both have."""
        found = np.zeros(len(pairs), np.float32)
        for start in range(0, len(pairs), _STEP):
            left, right = (self.keys[pairs[start : start + _STEP, side]] for side in (0, 1))
            common = ((left[:, :, None] == right[:, None, :]) & (left >= 0)[:, :, None]).any(axis=2)
            least = np.minimum(self.weights[left].sum(axis=1), self.weights[right].sum(axis=1))
            found[start : start + _STEP] = (self.weights[left] * common).sum(axis=1) / np.maximum(least, 1e-6)
        return found


def _terms(text: str) -> list[str]:
    """The words of a statement without their plural, and the pairs of characters of scripts without spaces."""
    found = []
    for word in words(text):
        if _DENSE.search(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            found.append(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return found


class Candidates:
    """The pairs of some statements; ``vectors`` has a row for each record, zeros where there is none."""

    def __init__(self, table: Statements, vectors: Numbers, unrelated: float) -> None:
        self._table = table
        self._vectors = vectors
        self._unrelated = unrelated
        self._words = _Words(table)

    def found(self) -> Pairs:
        """Pairs worth judging in a project, those that share most first."""
        table = self._table
        if len(table) < 2:
            return np.zeros((0, 2), np.int64)
        pairs = _every(len(table)) if len(table) <= _FEW else _by_words(self._words)
        share = self._words.share(pairs)
        kept = share >= _SHARED
        near, alike = _by_meaning(table, self._words, self._vectors, self._unrelated)
        own = _of_entities(table)
        scores = (share[kept], alike, np.maximum(self._words.share(own), _ENTITY))
        return _best(np.concatenate((pairs[kept], near, own)), np.concatenate(scores))

    def of(self, mine: int) -> Pairs:
        """Pairs of the statements of one record with those of the others, and with each other if they share words."""
        rows = np.flatnonzero(self._table.owner == mine)
        a, b = np.meshgrid(rows, np.arange(len(self._table)), indexing="ij")
        return self._apart(decoded(np.unique(encoded(a.ravel(), b.ravel()))))

    def every(self) -> Pairs:
        """Every pair of statements of different records, and those within one that share words."""
        return self._apart(_every(len(self._table)))

    def _apart(self, pairs: Pairs) -> Pairs:
        near, share = self.related(pairs)
        kept = (self._table.owner[pairs[:, 0]] != self._table.owner[pairs[:, 1]]) | (share >= _SHARED)
        found: Pairs = pairs[kept][np.argsort(-np.fmax(near, share)[kept], kind="stable")]
        return found

    def related(self, pairs: Pairs) -> tuple[Numbers, Numbers]:
        """How near the records of each pair are, from 0 for unrelated ones to 1, and what their statements share.

        How near those are that have no vector nobody knows: it is NaN.
        """
        share = self._words.share(pairs)
        near = np.full(len(pairs), np.nan, np.float32)
        owners = self._table.owner[pairs]
        if self._vectors.size:
            known = np.asarray(self._vectors.any(axis=1))[owners].all(axis=1)
            alike = cosines(self._vectors, owners[known])
            near[known] = np.clip((alike - self._unrelated) / (1 - self._unrelated), 0.0, 1.0)
        return near, share


def _every(count: int) -> Pairs:
    return np.stack(np.triu_indices(count, 1), axis=1).astype(np.int64)


def _by_words(bag: _Words) -> Pairs:
    """Pairs of statements that share two of their rarest words and stand close to each other among those that do."""
    keys = np.where((bag.keys >= 0) & (bag.counts[bag.keys] > 1), bag.keys, -1)
    keys = np.take_along_axis(keys, np.argsort(keys < 0, axis=1, kind="stable"), axis=1)[:, :_RARE]
    rows = np.arange(len(keys), dtype=np.int64)
    blocks, members = [], []
    for first, second in combinations(range(_RARE), 2):
        low, high = np.minimum(keys[:, first], keys[:, second]), np.maximum(keys[:, first], keys[:, second])
        there = low >= 0
        blocks.append((low[there] << 32) | high[there])
        members.append(rows[there])
    return together(np.concatenate(blocks), np.concatenate(members))


def _by_meaning(table: Statements, bag: _Words, vectors: Numbers, unrelated: float) -> tuple[Pairs, Numbers]:
    """The statements of records with near vectors that share most words, and how near the records are."""
    nothing = np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    if not vectors.size:
        return nothing
    records = np.unique(table.owner)
    records = records[vectors[records].any(axis=1)]
    if len(records) < 2:
        return nothing
    near, alike = nearest(vectors[records])
    alike = (alike - unrelated) / (1 - unrelated)
    near, alike = records[near[alike >= _NEAR]], alike[alike >= _NEAR]
    first = np.searchsorted(table.owner, np.arange(len(table.records) + 1))
    pairs = np.zeros((len(near), 2), np.int64)
    for at, (a, b) in enumerate(near.tolist()):
        x, y = (np.arange(first[one], first[one + 1]) for one in (a, b))
        pairs[at] = x[0], y[0]
        if len(x) * len(y) > 1:
            some = np.stack([one.ravel() for one in np.meshgrid(x, y, indexing="ij")], axis=1)
            pairs[at] = some[int(np.argmax(bag.share(some)))]
    return pairs, alike.astype(np.float32)


def _of_entities(table: Statements) -> Pairs:
    """Observations of one entity: what they are about need not be in their words."""
    found = [np.zeros((0, 2), np.int64)]
    bounds = np.searchsorted(table.owner, np.arange(len(table.records) + 1))
    for at, record in enumerate(table.records):
        first, last = int(bounds[at]), int(bounds[at + 1])
        if record.name != record.uid and 1 < last - first <= _OBSERVATIONS:
            found.append(_every(last - first) + first)
    return np.concatenate(found)


def _best(pairs: Pairs, scores: Numbers) -> Pairs:
    """Each pair once, the best first, of those that are among the best of one of their two statements."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
    pairs = pairs[order]
    _, once = np.unique(encoded(pairs[:, 0], pairs[:, 1]), return_index=True)
    pairs = pairs[np.sort(once)]
    chosen = np.zeros(len(pairs), bool)
    for side in (0, 1):
        order = np.argsort(pairs[:, side], kind="stable")
        rows = pairs[order, side]
        chosen[order[np.arange(len(rows)) - np.searchsorted(rows, rows) < _EACH]] = True
    best: Pairs = pairs[chosen]
    return best
