"""Features: a row of numbers for each text, from what it means, from its words and from how they are spelt.

Nearness of rows is nearness of topic. Meaning comes from the vectors of a model, of any length; without one the words
do alone. What the texts have in common is taken away first, so that only what tells them apart is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.extra import need
from polymnia.engine.analysis.topics.spelling import spelt
from polymnia.engine.text.language import fold, language
from polymnia.engine.text.lexicon import STOPWORDS
from polymnia.engine.text.words import terms

__all__ = ["features", "unit"]

Numbers = NDArray[Any]

_WORDS, _SPELT = 0.5, 0.5  # what words and spelling count beside meaning
_COLUMNS = 128  # of each of the three
_FITTED = 12_000  # so many rows tell the directions; all others are laid onto them
_READ = 1000  # characters of a text, at most
_ALL = 12_000_000  # and of all texts together: of many long texts only the beginnings are read
_SHORTEST = 80
_SPELLING = 400  # spelling tells something in short texts only
_SHARED = 0.5  # a term of more than half of the texts tells nothing
_SPARE, _POWERS = 10, 3  # of the search for directions
_SEED = 7


def features(vectors: Numbers | None, texts: Sequence[str], tick: Callable[[], None] = lambda: None) -> Numbers:
    """A row of unit length (float32) for each text; zeros where nothing is known of one.

    ``vectors`` has a row for each text, zeros where there is none, or no columns; or is None.
    """
    limit = min(_READ, max(_SHORTEST, _ALL // max(1, len(texts))))
    words = _WORDS * unit(_reduced(_words([text[:limit] for text in texts], tick)))
    tick()
    letters = _SPELT * unit(_reduced(_weighted(spelt([text[: min(limit, _SPELLING)] for text in texts]))))
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
    some = vectors[_spread(known)].astype(np.float32)
    centre = some.mean(axis=0)
    some = some - centre
    _, axes = np.linalg.eigh((some.T @ some).astype(np.float64))
    axes = np.ascontiguousarray(axes[:, ::-1][:, : made.shape[1]]).astype(np.float32)
    for start in range(0, len(known), _FITTED):
        rows = known[start : start + _FITTED]
        made[rows] = (vectors[rows] - centre) @ axes
    return made


def _spread(rows: Numbers) -> Numbers:
    """Rows from beginning to end, no more than tell the directions."""
    if len(rows) <= _FITTED:
        return rows
    return np.sort(np.random.default_rng(_SEED).permutation(rows)[:_FITTED])


def _words(texts: Sequence[str], tick: Callable[[], None]) -> Any:
    """Which terms are in which texts, but for the small words, weighted by how rare they are."""
    sparse = need("scipy.sparse")
    known: dict[str, int] = {}
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for at, text in enumerate(texts):
        if at % 1000 == 0:
            tick()
        small = STOPWORDS[language(fold(text).split()) or "english"]
        for term, count in terms(text).counts.items():
            if term not in small:
                columns.append(known.setdefault(term, len(known)))
                counts.append(count)
        ends.append(len(columns))
    table = sparse.csr_matrix((np.array(counts, np.float32), columns, ends), shape=(len(texts), max(1, len(known))))
    return _weighted(table)


def _weighted(table: Any) -> Any:
    """Counts as TF-IDF of unit length, without terms that only one text or more than half of them have."""
    size = table.shape[0]
    held = np.bincount(table.indices, minlength=table.shape[1])
    most = max(2, int(_SHARED * size)) if size > 4 else size - 1
    kept = np.flatnonzero((held > 1) & (held <= most))
    if not len(kept):
        return table[:, :1] * 0
    table = table[:, kept]
    table.data = (1 + np.log(table.data)).astype(np.float32)
    rarity = np.log((1 + size) / (1 + held[kept])).astype(np.float32) + 1
    normalize = need("sklearn.preprocessing").normalize
    return normalize(table.multiply(rarity).tocsr())


def _reduced(table: Any) -> Numbers:
    """A sparse table in few columns."""
    size, width = table.shape
    columns = min(_COLUMNS, size - 1, width - 1)
    if columns < 1 or not table.nnz:
        return np.zeros((size, 1), np.float32)
    if size <= 1500:  # exactly, from how much each two texts share
        shared = (table @ table.T).toarray().astype(np.float64)
        values, axes = np.linalg.eigh(shared)
        order = np.argsort(-values)[:columns]
        exact: Numbers = (axes[:, order] * np.sqrt(np.maximum(values[order], 0))).astype(np.float32)
        return exact
    made: Numbers = table @ _axes(table[_spread(np.arange(size))], columns)
    return made


def _axes(table: Any, columns: int) -> Numbers:
    """The directions in which a sparse table is widest, found from random ones."""
    drawn = np.random.default_rng(_SEED).standard_normal((table.shape[1], columns + _SPARE)).astype(np.float32)
    base = table @ drawn
    for _ in range(_POWERS):
        base, _ = np.linalg.qr(base)
        base = table @ (table.T @ base)
    base, _ = np.linalg.qr(base)
    small = table.T @ base
    _, turned = np.linalg.eigh((small.T @ small).astype(np.float64))
    made: Numbers = unit((small @ turned[:, ::-1][:, :columns].astype(np.float32)).T).T
    return made
