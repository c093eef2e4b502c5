"""The shipped networks that onnxruntime runs: vectors of tokens in, a row of numbers for each text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.embedding.session import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Graph"]

# Texts of about the same length go through together. The gain over one at a time is a fifth, all of it with so many
# tokens; a text that is shorter than its neighbours is filled up, and costs as much as they do.
_TOGETHER = 384
_FILLED = 0.1  # of a batch at most

_LONG = 128  # after texts of so many tokens the library gives its working memory back


class Graph:
    """One network. Safe to use from several threads."""

    def __init__(self, path: str) -> None:
        self._session, self._tidy = opened(path, needed_for="Meaning in English and the judging of texts", plain=True)

    def run(self, texts: Sequence[NDArray[Any]], output: str) -> NDArray[Any]:
        """One row for each text, given as the vectors of its tokens."""
        rows: list[Any] = [None] * len(texts)
        for batch in batches([len(text) for text in texts]):
            longest = max(len(texts[at]) for at in batch)
            vectors = np.zeros((len(batch), longest, texts[0].shape[1]), np.float32)
            mask = np.zeros((len(batch), longest), np.int32)
            for place, at in enumerate(batch):
                vectors[place, : len(texts[at])] = texts[at]
                mask[place, : len(texts[at])] = 1
            tidy = self._tidy if longest > _LONG else None
            (made,) = self._session.run([output], {"vectors": vectors, "mask": mask}, tidy)
            for place, at in enumerate(batch):
                rows[at] = made[place]
        return np.stack(rows)


def batches(sizes: Sequence[int]) -> list[list[int]]:
    """Which texts go through together, by their numbers of tokens."""
    found: list[list[int]] = []
    batch: list[int] = []
    filled = 0
    for at in sorted(range(len(sizes)), key=lambda at: sizes[at]):
        if batch:
            more = filled + (sizes[at] - sizes[batch[-1]]) * len(batch)
            tokens = sizes[at] * (len(batch) + 1)
            if tokens > _TOGETHER or more > tokens * _FILLED:
                found.append(batch)
                batch, filled = [], 0
            else:
                filled = more
        batch.append(at)
    if batch:
        found.append(batch)
    return found
