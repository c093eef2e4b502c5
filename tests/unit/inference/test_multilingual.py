"""The multilingual embedder: offline, in many languages, the same vector for the same text."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from polymnia.inference.built_in import MultilingualEmbedder
from polymnia.inference.custom import SENTENCES, mean_cosine

_TEXTS = [
    "The train to the city was two hours late.",
    "Der Zug in die Stadt hatte zwei Stunden Verspätung.",
    "기차가 두 시간 늦었다.",
    "火车晚点了两个小时。",
    "She bought a red car last year.",
    "Sie hat letztes Jahr ein rotes Auto gekauft.",
    "그녀는 작년에 빨간 차를 샀다.",
    "她去年买了一辆红色的汽车。",
    "The doctor prescribed a new medicine.",
    "Der Arzt verschrieb ein neues Medikament.",
    "의사가 새로운 약을 처방했다.",
    "医生开了一种新药。",
]
_LANGUAGES = 4

_ODD = ["", " ", "x", "😀😀😀", "\x00\x01", "a" * 5000, "नमस्ते दुनिया", "1234567890", "\u200b", "\ud800"]


def test_every_text_has_a_vector_of_length_one(use: MultilingualEmbedder) -> None:
    vectors = use.embed(_TEXTS + _ODD)
    assert vectors.shape == (len(_TEXTS + _ODD), use.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_no_texts_have_no_vectors(use: MultilingualEmbedder) -> None:
    assert use.embed([]).shape == (0, use.dimensions)


@pytest.mark.long
def test_a_text_has_the_same_vector_alone_among_others_and_as_a_query(use: MultilingualEmbedder) -> None:
    many = [f"{text} {number}" for number in range(20) for text in _TEXTS + _ODD]
    together = use.embed(many)
    assert np.array_equal(use.embed(many), together)
    for at in range(0, len(many), 7):
        assert np.allclose(use.embed([many[at]], query=True)[0], together[at], atol=1e-5)


def test_what_means_the_same_is_near_in_every_language_and_nothing_else_is(use: MultilingualEmbedder) -> None:
    vectors = use.embed(_TEXTS)
    cosines = vectors @ vectors.T
    meaning = np.arange(len(_TEXTS)) // _LANGUAGES
    same = meaning[:, None] == meaning
    assert cosines[same].min() > 0.5
    assert cosines[~same].max() < 0.35


def test_sentences_without_a_common_subject_look_as_unrelated_as_measured_on_many(
    use: MultilingualEmbedder,
) -> None:
    assert mean_cosine(use.embed(SENTENCES)) == pytest.approx(use.unrelated, abs=0.05)


def test_a_very_long_text_is_read_at_its_start(use: MultilingualEmbedder) -> None:
    start = "The harbour was rebuilt after the flood. " * 200
    assert np.array_equal(use.embed([start + "x" * 1_000_000]), use.embed([start]))


def test_threads_may_embed_at_once(use: MultilingualEmbedder) -> None:
    alone = use.embed(_TEXTS)
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(use.embed(_TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.allclose(vectors, alone, atol=1e-6) for vectors in found)


def test_many_callers_load_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    model = MultilingualEmbedder()
    monkeypatch.setattr(model, "_prepare", lambda: loads.append(threading.get_ident()))
    threads = [threading.Thread(target=model.load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
