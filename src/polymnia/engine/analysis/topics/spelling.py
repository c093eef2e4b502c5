"""Spelling: which runs of letters stand in which texts. Words of one root share most of theirs, whatever their form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.extra import need

__all__ = ["spelt"]

Numbers = NDArray[Any]

_SHORTEST, _LONGEST = 3, 5
_COLUMNS = 1 << 17  # runs that fall into one column by chance are too few to matter
_BLOCK = 5000  # texts at a time
_SPACE = 32
_ODD = np.uint64(0x9E3779B97F4A7C15)


def spelt(texts: Sequence[str]) -> Any:
    """How often each run of letters is in each text, as a sparse table; a run never goes from one word to the next."""
    sparse = need("scipy.sparse")
    parts = [_block(texts[start : start + _BLOCK], sparse) for start in range(0, len(texts), _BLOCK)]
    return sparse.vstack(parts, format="csr")


def _block(texts: Sequence[str], sparse: Any) -> Any:
    lines = [f" {text.casefold()} " for text in texts]
    joined = "".join(lines)
    letters = np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    rows = np.repeat(np.arange(len(texts)), [len(line) for line in lines])
    blank = _blank(letters)
    letters[blank] = _SPACE
    found_rows, found_columns = [], []
    for size in range(_SHORTEST, _LONGEST + 1):
        count = len(letters) - size + 1
        if count < 1:
            continue
        hashed = np.full(count, size, np.uint64)
        whole = rows[:count] == rows[size - 1 :]
        for at in range(size):
            hashed = (hashed ^ letters[at : at + count]) * _ODD
            hashed ^= hashed >> np.uint64(29)
            if 0 < at < size - 1:
                whole &= ~blank[at : at + count]
        found_rows.append(rows[:count][whole])
        found_columns.append((hashed[whole] % np.uint64(_COLUMNS)).astype(np.int32))
    row = np.concatenate(found_rows) if found_rows else np.zeros(0, np.int64)
    column = np.concatenate(found_columns) if found_columns else np.zeros(0, np.int32)
    ones = np.ones(len(row), np.float32)
    return sparse.coo_matrix((ones, (row, column)), shape=(len(texts), _COLUMNS)).tocsr()


def _blank(letters: Numbers) -> Numbers:
    """Which characters stand between words."""
    kinds, which = np.unique(letters, return_inverse=True)
    between = np.array([not chr(int(letter)).isalnum() for letter in kinds], bool)
    made: Numbers = between[which]
    return made
