"""Groups of texts: those that were planted are found, and where there are none, none is certain."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from polymnia.engine.analysis.topics.clustering import Clustering, cluster, cohesion, confidence, nearness, outliers
from polymnia.engine.analysis.topics.features import character_ngrams, features, unit

from .planted import ENGLISH, KOREAN, twin

SEED = 5


def planted(groups: int, size: int, *, width: int = 64, spread: float = 0.5, alone: int = 0) -> tuple[
    np.ndarray, list[str], np.ndarray
]:  # fmt: skip
    """Vectors around some middles, with texts that have no word in common; those of no group come last."""
    random = np.random.default_rng(SEED)
    middles = unit(random.standard_normal((groups, width)))
    truth = np.repeat(np.arange(groups), size)
    rows = middles[truth] + spread * random.standard_normal((groups * size, width)) / width**0.5
    rows = np.vstack([rows, random.standard_normal((alone, width)) / width**0.5])
    texts = [f"w{at}x" for at in range(len(rows))]
    return unit(rows).astype(np.float32), texts, np.concatenate([truth, np.full(alone, -1)])


def same(a: Iterable[int], b: Iterable[int]) -> bool:
    """Whether two labellings are the same groups."""
    pairs = set(zip(a, b, strict=True))
    return len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})


def flat(topics: dict[str, list[str]]) -> tuple[list[str], list[int]]:
    texts = [text for some in topics.values() for text in some]
    return texts, [at for at, some in enumerate(topics.values()) for _ in some]


@pytest.mark.parametrize(("groups", "size"), [(3, 4), (5, 20), pytest.param(12, 15, marks=pytest.mark.long)])
def test_planted_groups_are_found_and_counted(groups: int, size: int) -> None:
    rows, texts, truth = planted(groups, size)
    made = cluster(rows, texts)
    assert made.groups == groups
    assert same(made.labels, truth)
    assert (confidence(made) > 0.8).all()
    assert sorted(made.sizes, reverse=True) == list(made.sizes)


@pytest.mark.parametrize("topics", [ENGLISH, KOREAN, ENGLISH | KOREAN], ids=["english", "korean", "both"])
def test_words_alone_find_topics(topics: dict[str, list[str]]) -> None:
    texts, truth = flat(topics)
    made = cluster(None, texts)
    assert made.groups == len(topics)
    wrong = sum(
        np.bincount(np.array(truth)[made.labels == group]).sum()
        - np.bincount(np.array(truth)[made.labels == group]).max()
        for group in range(made.groups)
    )
    assert wrong <= 2
    assert (confidence(made) > 0.7).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_shuffled_twin_has_no_certain_group(seed: int) -> None:
    made = cluster(None, twin(flat(ENGLISH | KOREAN)[0], seed))
    assert (confidence(made) < 0.6).all()


@pytest.mark.long
def test_noise_has_no_certain_group() -> None:
    rows = unit(np.random.default_rng(SEED).standard_normal((300, 64))).astype(np.float32)
    made = cluster(rows, [f"w{at}x" for at in range(300)])
    assert (confidence(made) < 0.3).all()


def test_what_fits_nowhere_is_marked_and_still_has_a_nearest_group() -> None:
    rows, texts, truth = planted(6, 15, spread=0.4, alone=8)
    made = cluster(rows, texts)
    assert made.outlier[truth < 0].sum() >= 6
    assert made.outlier[truth >= 0].sum() <= 4
    assert made.outlier_confidence > 0.5
    assert (made.labels >= 0).all()
    assert made.sizes.sum() == (~made.outlier).sum()


@pytest.mark.long
def test_more_texts_than_are_grouped_join_the_groups() -> None:
    rows, texts, truth = planted(6, 100)
    made = cluster(rows, texts, units=150)
    assert made.groups == 6
    assert same(made.labels, truth)


def test_the_same_texts_give_the_same_answer() -> None:
    texts, _ = flat(ENGLISH)
    one, two = cluster(None, texts), cluster(None, texts)
    for field in Clustering.__struct_fields__:
        assert np.array_equal(getattr(one, field), getattr(two, field)), field


@pytest.mark.parametrize("texts", [[], ["one"], ["one", "two"], ["", "", ""]])
def test_too_little_to_tell(texts: list[str]) -> None:
    made = cluster(None, texts)
    assert len(made.labels) == len(texts)
    assert made.groups <= 1


def test_equal_texts_are_one_group() -> None:
    made = cluster(None, ["The  Same", "the same", "the same "] * 4)
    assert made.groups == 1
    assert list(made.sizes) == [12]
    assert not made.outlier.any()
    assert made.cohesion[0] == 1


def test_copies_of_a_text_are_together() -> None:
    texts, _ = flat(ENGLISH)
    made = cluster(None, texts + [text.upper() for text in texts])
    assert np.array_equal(made.labels[: len(texts)], made.labels[len(texts) :])


def test_texts_without_letters_do_no_harm() -> None:
    texts, _ = flat(ENGLISH)
    made = cluster(None, [*texts, "!!!", "…", "12", "\ud83d\ude00"])
    assert made.groups >= 3


def test_texts_without_vectors_are_placed_by_their_words() -> None:
    texts, truth = flat(ENGLISH)
    random = np.random.default_rng(SEED)
    rows = unit(random.standard_normal((4, 32))[truth] + 0.3 * random.standard_normal((len(texts), 32)))
    rows[[0, 9, 18]] = 0
    made = cluster(rows.astype(np.float32), texts)
    assert same(made.labels, truth)


def test_ticks_are_heard_and_can_call_it_off() -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        cluster(None, flat(ENGLISH)[0], stop)


def test_cohesion_is_nothing_for_random_groups_and_one_for_equal_rows() -> None:
    random = np.random.default_rng(SEED)
    rows = unit(random.standard_normal((400, 50))).astype(np.float32)
    labels = random.integers(0, 8, 400)
    assert (cohesion(rows, labels, nearness(rows, labels, 8), 8) < 0.05).all()
    equal = rows[:4][np.repeat(np.arange(4), 100)]
    labels = np.repeat(np.arange(4), 100)
    assert (cohesion(equal, labels, nearness(equal, labels, 4), 4) > 0.99).all()


def test_nothing_is_lonely_in_a_bell_curve() -> None:
    near = np.exp(np.random.default_rng(SEED).normal(-1, 0.3, 2000)).astype(np.float32)
    assert not outliers(near)[0].any()


def test_runs_of_letters_do_not_cross_words() -> None:
    table = character_ngrams(["ab cd", "abcd", "abcd", ""])
    assert table.shape[0] == 4
    runs = [set(table.columns[table.rows == row].tolist()) for row in range(4)]
    assert runs[1] == runs[2] != set()
    assert len(runs[0] & runs[1]) == 2  # how both begin and how both end
    assert runs[3] == set()


def test_features_are_of_unit_length() -> None:
    texts, _ = flat(KOREAN)
    rows = features(None, [*texts, ""])
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[:-1] == pytest.approx(1, abs=1e-4)
    assert lengths[-1] == 0
