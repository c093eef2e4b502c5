"""The model of statement kinds: it is read on first use, and knows the vectors of our own embedders alone."""

from __future__ import annotations

import numpy as np
import pytest

from polymnia import inference
from polymnia.engine.ports import KINDS
from polymnia.errors import NoModel
from polymnia.inference.built_in import MultilingualEmbedder
from polymnia.inference.statements import StatementKinds
from polymnia.inference.weights import SHIPPED, Weights

_MULTI = MultilingualEmbedder.id


def test_its_file_is_read_on_first_use(tmp_path):
    model = StatementKinds(Weights(str(tmp_path)))  # an empty folder
    assert model.knows(_MULTI)
    assert not model.ready
    with pytest.raises(NoModel, match="SHA256SUMS"):
        model.chances(_MULTI, np.zeros((1, 512), np.float32), [[0.0] * 6])
    assert not model.ready


def test_probabilities_of_all_kinds_sum_to_one():
    model = StatementKinds(SHIPPED)
    vectors = np.random.default_rng(1).normal(size=(5, 512)).astype(np.float32)
    found = model.chances(_MULTI, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), [[0.0] * 6] * 5)
    assert [len(one) for one in found] == [len(KINDS)] * 5
    assert [sum(one) for one in found] == pytest.approx([1.0] * 5, abs=1e-5)
    assert model.chances(_MULTI, np.zeros((0, 512), np.float32), []) == []


def test_it_knows_no_vectors_but_those_it_was_trained_on():
    assert not StatementKinds().knows("openai:text-embedding-3-small")
    assert inference.kinds("none") is None
    assert inference.kinds("auto") is not None
