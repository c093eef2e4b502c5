"""Pairs that are alike are found without comparing each with each."""

from __future__ import annotations

import numpy as np
import pytest

from polymnia.engine.analysis import pairs
from polymnia.engine.analysis.issues import pairs_alike


def nothing(*_: int) -> None:
    """No progress to tell."""


def test_nearly_all_near_vectors_meet_and_far_ones_do_not() -> None:
    random = np.random.default_rng(3)
    middle = random.standard_normal((1500, 64)).astype(np.float32)
    near = middle + 0.36 * random.standard_normal(middle.shape).astype(np.float32)  # a cosine of about .94
    vectors = np.concatenate((middle, near))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"word{at} alone{at} here{at}" for at in range(len(vectors))]
    found_pairs, alike = pairs_alike(texts, vectors, 0.0, nothing)
    wanted = {(at, at + 1500) for at in range(1500)}
    found = {(a, b) for a, b in found_pairs.tolist()}
    assert len(found & wanted) > 0.97 * len(wanted)
    assert len(found - wanted) < 5
    assert float(alike.min()) >= 0.79 and float(alike.mean()) < 0.98


def test_texts_of_the_same_words_meet_without_vectors() -> None:
    base = [
        f"the {a} pump of the {b} plant was checked by the team of {a}{b} in the spring of the year"
        for a in "abcdefgh"
        for b in "klmnopqr"
    ]
    texts = [*base, *(one + " again" for one in base)]
    found_pairs, alike = pairs_alike(texts, np.zeros((len(texts), 0), np.float32), 0.0, nothing)
    found = {(a, b) for a, b in found_pairs.tolist()}
    wanted = {(at, at + len(base)) for at in range(len(base))}
    assert len(found & wanted) > 0.95 * len(wanted)
    assert float(alike.min()) > 0.0 and float(alike.max()) <= 1.0


def test_nothing_and_one_text() -> None:
    for texts in ([], ["alone"]):
        found_pairs, alike = pairs_alike(texts, np.zeros((len(texts), 8), np.float32), 0.0, nothing)
        assert len(found_pairs) == len(alike) == 0


def test_copies_meet_among_more_than_are_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_EXACT", 100)
    random = np.random.default_rng(4)
    middle = random.standard_normal((2000, 128)).astype(np.float32)
    vectors = np.concatenate((middle, middle + 0.2 * random.standard_normal(middle.shape).astype(np.float32)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found, near = pairs.nearest(vectors)
    met = {(a, b) for (a, b), cosine in zip(found.tolist(), near.tolist(), strict=True) if cosine > 0.9}
    assert len(met & {(at, at + 2000) for at in range(2000)}) > 0.85 * 2000
