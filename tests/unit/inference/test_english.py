"""The English embedder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polymnia.inference.built_in import EnglishEmbedder
from polymnia.inference.networks import batches

from . import tiny

pytest.importorskip("onnxruntime")


@pytest.mark.long
def test_what_enters_the_network_is_the_vector_of_each_word_and_of_its_place(tmp_path: Path) -> None:
    model = EnglishEmbedder(tiny.folder(tmp_path / "weights"))
    words, places, parts = tiny.table(tmp_path / "weights", "words_embedder_en", "embedder")
    texts = ["the cats", "", "dog " * 40, "The dog!"]
    vectors = model.embed(texts)
    assert vectors.shape == (4, model.dimensions)
    assert vectors.dtype == np.float32
    for vector, ids in zip(vectors, ([2, 7, 4, 5, 3], [2, 3], [2, *[6] * 40, 3], [2, 7, 6, 1, 3]), strict=True):
        entered = words[ids] + places[: len(ids)] + parts[0]
        expected = entered.sum(axis=0)
        assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)
    assert model.embed([]).shape == (0, model.dimensions)


def test_a_very_long_text_is_read_at_its_start(tmp_path: Path) -> None:
    model = EnglishEmbedder(tiny.folder(tmp_path / "weights"))
    assert np.array_equal(model.embed(["dog " * 5_000]), model.embed(["dog " * 510]))


def test_texts_of_about_one_length_go_through_together_and_none_is_left_out() -> None:
    sizes = [30, 500, 31, 2, 33, 3, 30, 120, 29, 510, 32]
    made = batches(sizes)
    assert sorted(at for batch in made for at in batch) == list(range(len(sizes)))
    assert len(made) < len(sizes)
    for batch in made:
        inside = [sizes[at] for at in batch]
        assert sum(max(inside) - size for size in inside) <= 0.1 * max(inside) * len(inside)
    assert batches([]) == []


def test_the_shipped_model_puts_what_means_the_same_together() -> None:
    model = EnglishEmbedder()
    texts = ["The train was two hours late.", "The railway service was delayed.", "Add eggs and flour to the bowl."]
    train, late, cake = model.embed(texts)
    assert train @ late > 0.7
    assert train @ cake < 0.5
    asked = model.embed(["Which connection did not come on time?"], query=True)[0]
    assert asked @ train > asked @ cake + 0.1
    # Numbers are rounded by the range of all texts that go through together.
    assert model.embed([texts[1]])[0] @ late > 0.98
