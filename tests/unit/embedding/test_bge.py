"""bge and the cross-encoder, with a model of a few bytes in place of the real weights."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest

from polymnia.embedding.bge import Bge
from polymnia.embedding.rerank import CrossEncoder
from polymnia.embedding.weights import Carrier, WeightFile
from polymnia.errors import NoModel

from .onnx_file import encoder

pytest.importorskip("onnxruntime")

_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "##s", "dog"]


def _carrier(place: Path, monkeypatch: pytest.MonkeyPatch, model: bytes) -> tuple[Carrier, WeightFile, WeightFile]:
    package = place / "carrier_of_onnx"
    package.mkdir()
    files = []
    for name, content in (("model.onnx", model), ("vocab.txt", "\n".join(_WORDS).encode())):
        (package / name).write_bytes(content)
        files.append(WeightFile(name, hashlib.sha256(content).hexdigest()))
    monkeypatch.syspath_prepend(place)
    return Carrier(package.name, "some-carrier==1.0", "en"), files[0], files[1]


def test_the_vector_of_the_first_mark_is_the_vector_of_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.zeros((len(_WORDS), 384))
    rows[_WORDS.index("[CLS]"), 7] = 5.0
    model = Bge(*_carrier(tmp_path, monkeypatch, encoder(rows.tolist())))
    vectors = model.embed(["cats", "", "dog " * 5000])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert (vectors[:, 7] == 1).all()


def test_scores_lie_between_nothing_and_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = CrossEncoder(*_carrier(tmp_path, monkeypatch, encoder([[0.5]] * len(_WORDS), "logits")))
    assert model.score("cats", ["dog", "", "cat " * 5000]) == pytest.approx([1 / (1 + math.exp(-0.5))] * 3)
    assert model.score("cats", []) == []


@pytest.mark.parametrize("logit", [-1e30, 1e30])
def test_an_extreme_judgement_is_still_a_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logit: float) -> None:
    model = CrossEncoder(*_carrier(tmp_path, monkeypatch, encoder([[logit]] * len(_WORDS), "logits")))
    assert model.score("cats", ["dog"]) == [float(logit > 0)]


def test_a_broken_model_is_a_fault_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, weights, words = _carrier(tmp_path, monkeypatch, b"not a model")
    with pytest.raises(NoModel, match=r"model\.onnx cannot be used"):
        Bge(carrier, weights, words).load()


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, weights, words = _carrier(tmp_path, monkeypatch, b"not a model")
    with pytest.raises(NoModel, match="SHA-256") as caught:
        CrossEncoder(carrier, WeightFile(weights.path, "0" * 64), words).score("a", ["b"])
    assert "polymnia[en]" in caught.value.hint


@pytest.mark.skipif(not Bge.installed(), reason="the weights are an optional package")
def test_the_real_bge_puts_what_means_the_same_together() -> None:
    model = Bge()
    train, late, cake = model.embed(
        ["The train was two hours late.", "The railway service was delayed.", "Add eggs and flour to the bowl."]
    )
    assert train @ late > 0.75
    assert train @ cake < 0.5
    again = model.embed(["The railway service was delayed."])[0]
    assert np.array_equal(again, late)


@pytest.mark.skipif(not CrossEncoder.installed(), reason="the weights are an optional package")
def test_the_real_cross_encoder_knows_an_answer() -> None:
    good, bad = CrossEncoder().score(
        "When was the train late?", ["Yesterday the train was two hours late.", "The cake needs two eggs."]
    )
    assert good > 0.5 > bad
