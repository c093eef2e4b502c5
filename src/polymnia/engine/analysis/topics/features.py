"""Features: a row of numbers for each text, from what it means, from its words and from how they are spelt."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.text.language import STOPWORDS, fold, language
from polymnia.engine.text.words import terms

_WORDS, _SPELT = 0.5, 0.5  # what words and spelling count beside meaning
_COLUMNS = 128  # of each of the three
_FITTED = 12_000  # rows that give the directions; all others are projected onto them
_READ = 1000  # characters of a text, at most
_ALL = 12_000_000  # and of all texts together: of many long texts only the beginnings are read
_SHORTEST = 80
_SPELLING = 400  # spelling tells something in short texts only
_SHARED = 0.5  # a term of more than half of the texts tells nothing
_EXACT = 400  # texts whose directions are computed exactly
_SPARE, _POWERS = 10, 3  # of the randomized search for directions
_RUNS = range(3, 6)  # letters of a run
_HASHED = 1 << 17  # columns for runs of letters; too many for collisions to matter
_BLOCK = 1 << 22  # numbers that are multiplied at a time
_SEED = 7


class Sparse:
    """A sparse matrix by its entries, sorted by rows: enough of one to be multiplied with dense columns."""

    def __init__(self, rows: Numbers, columns: Numbers, values: Numbers, shape: tuple[int, int]) -> None:
        order = np.argsort(rows, kind="stable")
        self.rows, self.columns, self.values = rows[order], columns[order], values[order]
        self.shape = shape

    @property
    def transposed(self) -> Sparse:
        """The same with rows and columns exchanged."""
        return Sparse(self.columns, self.rows, self.values, self.shape[::-1])

    def some(self, rows: Numbers) -> Sparse:
        """Some of its rows, in ascending order."""
        kept = np.isin(self.rows, rows)
        places = np.searchsorted(rows, self.rows[kept])
        return Sparse(places, self.columns[kept], self.values[kept], (len(rows), self.shape[1]))

    def __matmul__(self, dense: Numbers) -> Numbers:
        made = np.zeros((self.shape[0], dense.shape[1]), np.float32)
        step = max(1, _BLOCK // max(1, dense.shape[1]))
        for start in range(0, len(self.rows), step):
            part = slice(start, start + step)
            firsts = np.flatnonzero(np.diff(self.rows[part], prepend=-1))
            summed = np.add.reduceat(dense[self.columns[part]] * self.values[part, None], firsts, axis=0)
            made[self.rows[part][firsts]] += summed
        return made


def features(vectors: Numbers | None, texts: Sequence[str], tick: Callable[[], None] = lambda: None) -> Numbers:
    """A row of unit length (float32) for each text, zeros where nothing is known; there may be no vectors."""
    limit = min(_READ, max(_SHORTEST, _ALL // max(1, len(texts))))
    words = _WORDS * unit(_reduced(_weighted(_word_counts([text[:limit] for text in texts], tick))))
    tick()
    letters = _SPELT * unit(_reduced(_weighted(letter_runs([text[: min(limit, _SPELLING)] for text in texts]))))
    tick()
    parts = [words, letters]
    if vectors is not None and vectors.size:
        parts.insert(0, unit(_centred(vectors)))
    made = np.hstack(parts, dtype=np.float32)
    for start in range(0, len(made), _FITTED):
        made[start : start + _FITTED] = unit(made[start : start + _FITTED])
    return made


def unit(rows: Numbers) -> Numbers:
    """Rows of length one; zeros stay zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    made: Numbers = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-6)
    return made


def _centred(vectors: Numbers) -> Numbers:
    """Vectors without what all have in common, in the directions in which they differ most."""
    known = np.flatnonzero(np.abs(vectors).sum(axis=1) > 0)
    made = np.zeros((len(vectors), min(_COLUMNS, vectors.shape[1], max(1, len(known)))), np.float32)
    if not len(known):
        return made
    some = vectors[_sample(known)].astype(np.float32)
    centre = some.mean(axis=0)
    some = some - centre
    _, axes = np.linalg.eigh((some.T @ some).astype(np.float64))
    axes = np.ascontiguousarray(axes[:, ::-1][:, : made.shape[1]]).astype(np.float32)
    for start in range(0, len(known), _FITTED):
        rows = known[start : start + _FITTED]
        made[rows] = (vectors[rows] - centre) @ axes
    return made


def _sample(rows: Numbers) -> Numbers:
    if len(rows) <= _FITTED:
        return rows
    return np.sort(np.random.default_rng(_SEED).permutation(rows)[:_FITTED])


def _word_counts(texts: Sequence[str], tick: Callable[[], None]) -> Sparse:
    known: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    counts: list[int] = []
    for at, text in enumerate(texts):
        if at % 1000 == 0:
            tick()
        stop_words = STOPWORDS[language(fold(text).split()) or "english"]
        for term, count in terms(text).counts.items():
            if term not in stop_words:
                rows.append(at)
                columns.append(known.setdefault(term, len(known)))
                counts.append(count)
    shape = (len(texts), max(1, len(known)))
    return Sparse(np.array(rows, np.int64), np.array(columns, np.int64), np.array(counts, np.float32), shape)


def letter_runs(texts: Sequence[str]) -> Sparse:
    """How often each run of three to five letters, hashed, is in each text; no run goes from one word to the next."""
    lines = [f" {text.casefold()} " for text in texts]
    letters = np.frombuffer("".join(lines).encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    of = np.repeat(np.arange(len(texts)), [len(line) for line in lines])
    kinds, which = np.unique(letters, return_inverse=True)
    blank = np.array([not chr(int(letter)).isalnum() for letter in kinds], bool)[which]
    letters[blank] = ord(" ")
    found = []
    for size in _RUNS:
        count = max(0, len(letters) - size + 1)
        hashed = np.full(count, size, np.uint64)
        whole = of[:count] == of[len(of) - count :]
        for at in range(size):
            hashed = (hashed ^ letters[at : at + count]) * np.uint64(0x9E3779B97F4A7C15)
            hashed ^= hashed >> np.uint64(29)
            if 0 < at < size - 1:
                whole &= ~blank[at : at + count]
        found.append(of[:count][whole] * _HASHED + (hashed[whole] % np.uint64(_HASHED)).astype(np.int64))
    places, counts = np.unique(np.concatenate(found), return_counts=True)
    return Sparse(places // _HASHED, places % _HASHED, counts.astype(np.float32), (len(texts), _HASHED))


def _weighted(counts: Sparse) -> Sparse:
    """Counts as TF-IDF of unit length, without terms that only one text or more than half of them have."""
    size = counts.shape[0]
    texts_with = np.bincount(counts.columns, minlength=counts.shape[1])
    most = max(2, int(_SHARED * size)) if size > 4 else size - 1
    kept = (texts_with > 1) & (texts_with <= most)
    here = kept[counts.columns]
    rows, columns = counts.rows[here], counts.columns[here]
    rarity = np.log((1 + size) / (1 + texts_with[columns])) + 1
    values = (1 + np.log(counts.values[here])) * rarity
    lengths = np.sqrt(np.bincount(rows, weights=values**2, minlength=size))
    values = (values / lengths[rows]).astype(np.float32)
    return Sparse(rows, (np.cumsum(kept) - 1)[columns], values, (size, max(1, int(kept.sum()))))


def _reduced(table: Sparse) -> Numbers:
    """A sparse table in few columns: its projection onto its first singular vectors."""
    size, width = table.shape
    columns = min(_COLUMNS, size - 1, width - 1)
    if columns < 1 or not len(table.values):
        return np.zeros((size, 1), np.float32)
    if size <= _EXACT:  # from how much each two texts share
        dense = table.transposed @ np.eye(size, dtype=np.float32)
        values, axes = np.linalg.eigh((dense.T @ dense).astype(np.float64))
        order = np.argsort(-values)[:columns]
        exact: Numbers = (axes[:, order] * np.sqrt(np.maximum(values[order], 0))).astype(np.float32)
        return exact
    return table @ _axes(table.some(_sample(np.arange(size))), columns)


def _axes(table: Sparse, columns: int) -> Numbers:
    """The first right singular vectors of a sparse table, by randomized subspace iteration (Halko and others 2011)."""
    turned = table.transposed
    drawn = np.random.default_rng(_SEED).standard_normal((table.shape[1], columns + _SPARE)).astype(np.float32)
    base = table @ drawn
    for _ in range(_POWERS):
        base, _ = np.linalg.qr(base)
        base = table @ (turned @ base)
    base, _ = np.linalg.qr(base)
    small = turned @ base
    _, axes = np.linalg.eigh((small.T @ small).astype(np.float64))
    made: Numbers = unit((small @ axes[:, ::-1][:, :columns].astype(np.float32)).T).T
    return made
