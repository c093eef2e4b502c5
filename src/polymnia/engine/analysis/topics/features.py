"""Features: a vector for each text from its embedding, its words and its character n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.text.language import STOPWORDS, fold, language
from polymnia.engine.text.words import terms

_WORDS, _NGRAMS = 0.5, 0.5  # the weights of words and n-grams; that of meaning is 1
_COLUMNS = 128  # of each of the three
_FITTED = 12_000  # rows that the axes are fitted to
_READ = 1000  # characters of a text, at most
_ALL = 12_000_000  # characters of all texts together
_SHORTEST = 80
_SPELLING = 400  # characters of a text for n-grams
_SHARED = 0.5  # the largest share of texts with a term
_EXACT = 400  # texts up to which the axes are exact
_SPARE, _POWERS = 10, 3  # of the randomized SVD
_SIZES = range(3, 6)  # letters of an n-gram
_HASHED = 1 << 17  # columns of hashed n-grams
_BLOCK = 1 << 22  # numbers multiplied at once
_SEED = 7


class Sparse:
    """A sparse matrix by its entries, sorted by rows, that can be multiplied with a dense one."""

    def __init__(self, rows: Numbers, columns: Numbers, values: Numbers, shape: tuple[int, int]) -> None:
        order = np.argsort(rows, kind="stable")
        self.rows, self.columns, self.values = rows[order], columns[order], values[order]
        self.shape = shape

    @property
    def transposed(self) -> Sparse:
        """The transposed matrix."""
        return Sparse(self.columns, self.rows, self.values, self.shape[::-1])

    def some(self, rows: Numbers) -> Sparse:
        """Some of its rows, in ascending order."""
        chosen = np.isin(self.rows, rows)
        places = np.searchsorted(rows, self.rows[chosen])
        return Sparse(places, self.columns[chosen], self.values[chosen], (len(rows), self.shape[1]))

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
    """A row of unit length (float32) for each text, or zeros; ``vectors`` are optional."""
    limit = min(_READ, max(_SHORTEST, _ALL // max(1, len(texts))))
    words = _WORDS * unit(_reduced(_weighted(_word_counts([text[:limit] for text in texts], tick))))
    tick()
    letters = _NGRAMS * unit(_reduced(_weighted(character_ngrams([text[: min(limit, _SPELLING)] for text in texts]))))
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
    """Centred vectors on their principal axes."""
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


def character_ngrams(texts: Sequence[str]) -> Sparse:
    """The counts of hashed n-grams of three to five letters in each text, without those across words."""
    lines = [f" {text.casefold()} " for text in texts]
    letters = np.frombuffer("".join(lines).encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    of = np.repeat(np.arange(len(texts)), [len(line) for line in lines])
    kinds, which = np.unique(letters, return_inverse=True)
    blank = np.array([not chr(int(letter)).isalnum() for letter in kinds], bool)[which]
    letters[blank] = ord(" ")
    found = []
    for size in _SIZES:
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
    """TF-IDF of unit length, without terms of only one text or of more than half of them."""
    size = counts.shape[0]
    texts_with = np.bincount(counts.columns, minlength=counts.shape[1])
    most = max(2, int(_SHARED * size)) if size > 4 else size - 1
    used = (texts_with > 1) & (texts_with <= most)
    here = used[counts.columns]
    rows, columns = counts.rows[here], counts.columns[here]
    rarity = np.log((1 + size) / (1 + texts_with[columns])) + 1
    values = (1 + np.log(counts.values[here])) * rarity
    lengths = np.sqrt(np.bincount(rows, weights=values**2, minlength=size))
    values = (values / lengths[rows]).astype(np.float32)
    return Sparse(rows, (np.cumsum(used) - 1)[columns], values, (size, max(1, int(used.sum()))))


def _reduced(table: Sparse) -> Numbers:
    """The projection of a sparse matrix onto its first singular vectors."""
    size, width = table.shape
    columns = min(_COLUMNS, size - 1, width - 1)
    if columns < 1 or not len(table.values):
        return np.zeros((size, 1), np.float32)
    if size <= _EXACT:  # by the Gram matrix
        dense = table.transposed @ np.eye(size, dtype=np.float32)
        values, axes = np.linalg.eigh((dense.T @ dense).astype(np.float64))
        order = np.argsort(-values)[:columns]
        exact: Numbers = (axes[:, order] * np.sqrt(np.maximum(values[order], 0))).astype(np.float32)
        return exact
    return table @ _axes(table.some(_sample(np.arange(size))), columns)


def _axes(table: Sparse, columns: int) -> Numbers:
    """The first right singular vectors of a sparse matrix by randomized subspace iteration (Halko and others 2011)."""
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
