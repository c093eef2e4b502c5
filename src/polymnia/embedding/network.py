"""The forward pass of the multilingual encoder, a Universal Sentence Encoder with a learned weight for each token.

Texts go through together, laid one after the other with blank places between them, so that each weight
is read from memory once for many texts and no window sees the neighbouring text: a blank is a row of
zeros. What a token gives to the first convolution does not depend on its neighbours, so it is computed
once for each different token, and the convolution is a sum of such shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

__all__ = ["Network"]

_EPSILON = 1e-12
_WIDTH = 256
# For each branch: its name in the file, how many tokens it sees, how many of them before the token.
_BRANCHES = (("2", 2, 0), ("3", 3, 1), ("5", 5, 2))
_BLANKS = 2  # as many as a window reaches over the text's ends


class Network:
    """Turns texts, given as the ids of their tokens, into vectors of length 1."""

    def __init__(
        self, rows: Callable[[NDArray[Any]], NDArray[Any]], arrays: Iterable[tuple[str, NDArray[Any]]]
    ) -> None:
        self._own = rows
        file = _layers(arrays)

        def beside(name: str) -> NDArray[Any]:
            return np.concatenate([file[name + branch] for branch, _, _ in _BRANCHES], axis=-1)

        self._enter, self._enter_bias = beside("proj"), beside("proj_b")
        self._gain, self._shift = beside("ln_g"), beside("ln_b")
        # One block of columns for each place in the window, where the file has one block of rows.
        self._first = [np.hstack(np.split(file["w1_" + name], size)) for name, size, _ in _BRANCHES]
        self._first_bias = [file["b1_" + name] for name, _, _ in _BRANCHES]
        self._second = [file["w2_" + name] for name, _, _ in _BRANCHES]
        self._second_bias = [file["b2_" + name] for name, _, _ in _BRANCHES]
        # Nothing bends between the last normalisation's gain, the average and the first dense layers:
        # they are one matrix.
        dense = np.hstack([file["d0"], file["p1"]])
        average = file["cnn_W"] @ dense
        self._head = file["ln_g"][:, None] * average
        self._head_bias = file["ln_b"] @ average + file["cnn_b"] @ dense
        self._dense1, self._dense3 = file["d1"], file["d3"]
        self._dense2 = np.hstack([file["d2"], file["p3"]])
        self._share, self._share_bias = file["token_weight"], file["token_bias"]

    def run(self, texts: Sequence[Sequence[int]]) -> NDArray[Any]:
        """The vectors of the texts, one row each."""
        sizes = np.fromiter(map(len, texts), np.intp, len(texts))
        total = int(sizes.sum())
        ids = np.fromiter(chain.from_iterable(texts), np.intp, total)
        distinct, which = np.unique(ids, return_inverse=True)
        text_of = np.repeat(np.arange(len(texts)), sizes)
        place = np.arange(total) + text_of * _BLANKS + _BLANKS
        token = np.full(place[-1] + 1 + _BLANKS, len(distinct))
        token[place] = which

        own = self._own(distinct)
        outs = self._branches(own, which, place, token)

        # The last normalisation, over a token's own vector and the three branches together. A text's sum
        # of normalised rows is a product with a matrix of their weights; rows are never copied for it.
        width = own.shape[1] + len(outs) * _WIDTH
        mean = own.sum(axis=1)[which] + sum(out.sum(axis=1) for out in outs)
        mean /= width
        square = np.einsum("ij,ij->i", own, own)[which] + sum(np.einsum("ij,ij->i", out, out) for out in outs)
        # A token's share in the text, between 0 and 2.
        share = (1 + np.tanh((own @ self._share + self._share_bias) / 2))[which]
        weight = share / np.sqrt(square / width - mean * mean + _EPSILON)
        weights = np.zeros((len(texts), total), np.float32)
        weights[text_of, np.arange(total)] = weight
        weights_own = np.zeros((len(texts), len(distinct)), np.float32)
        np.add.at(weights_own, (text_of, which), weight)
        rows = np.concatenate([weights_own @ own, *(weights @ out for out in outs)], axis=1)
        rows -= (weights @ mean)[:, None]
        shares = np.bincount(text_of, share, len(texts)).astype(np.float32)
        return self._dense(rows, shares[:, None], sizes.astype(np.float32)[:, None])

    def _branches(
        self, own: NDArray[Any], which: NDArray[Any], place: NDArray[Any], token: NDArray[Any]
    ) -> list[NDArray[Any]]:
        """What each branch makes of every token."""
        inner = own @ self._enter
        inner += self._enter_bias
        inner -= inner.mean(axis=1, keepdims=True)
        inner *= 1 / np.sqrt(np.einsum("ij,ij->i", inner, inner) / inner.shape[1] + _EPSILON)[:, None]
        inner *= self._gain
        inner += self._shift
        hidden = np.zeros((len(token), _WIDTH), np.float32)
        buffer = np.empty((len(place), _WIDTH), np.float32)
        outs = []
        for branch, (_, size, before) in enumerate(_BRANCHES):
            entering = np.ascontiguousarray(inner[:, branch * _WIDTH : (branch + 1) * _WIDTH])
            shares = np.zeros((len(own) + 1, size * _WIDTH), np.float32)
            np.matmul(entering, self._first[branch], out=shares[:-1])
            shares = shares.reshape(-1, _WIDTH)
            row = token * size
            sums = shares[row[place - before]]
            for at in range(1, size):
                shares.take(row[place - before + at] + at, axis=0, out=buffer, mode="clip")
                sums += buffer
            sums += self._first_bias[branch]
            np.maximum(sums, 0, out=sums)
            sums += entering.take(which, axis=0, out=buffer, mode="clip")
            hidden[place] = sums
            windows = as_strided(hidden, (len(hidden) - size + 1, size * _WIDTH), hidden.strides, writeable=False)
            out = windows[place - before] @ self._second[branch]
            out += self._second_bias[branch]
            np.maximum(out, 0, out=out)
            out += sums
            outs.append(out)
        return outs

    def _dense(self, rows: NDArray[Any], shares: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any]:
        """The last layers: from the sum over a text's tokens to its vector."""
        both = rows @ self._head
        both += shares * self._head_bias
        both *= 1 / np.sqrt(sizes)
        half = len(self._dense1)
        middle = np.maximum(both[:, :half], 0) @ self._dense1
        middle += both[:, half:]
        np.maximum(middle, 0, out=middle)
        both = middle @ self._dense2
        half = len(self._dense3)
        vectors: NDArray[Any] = np.maximum(both[:, :half], 0) @ self._dense3
        vectors += both[:, half:]
        np.tanh(vectors, out=vectors)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _layers(arrays: Iterable[tuple[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The layers in 32 bits; a file may have them in 16, or in 8 with a scale for each column (``NAME.s``)."""
    file = {name: array.astype(np.float32) for name, array in arrays}
    scales = [name for name in file if name.endswith(".s")]
    for name in scales:
        file[name.removesuffix(".s")] *= file.pop(name)
    return file
