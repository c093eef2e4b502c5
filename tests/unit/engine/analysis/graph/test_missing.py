"""Missing links: found where links that are hidden can be found again, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from polymnia.engine.analysis.graph.missing import FEWEST, missing, pairs, scale
from polymnia.engine.analysis.graph.structure import Network, twin

from . import planted


def net(found: list[tuple[int, int]]) -> Network:
    return Network(1 + max(map(max, found)), [a for a, _ in found], [b for _, b in found])


def dense() -> list[tuple[int, int]]:
    return planted.cliques(6, 9, share=0.95, seed=4)


def test_the_pairs_that_were_left_out_are_found() -> None:
    network = net(dense())
    found, measured = missing(network, None, 10, 0.3)
    assert measured is not None and measured.hits > 50
    assert found and all(one.low // 9 == one.high // 9 for one in found)
    assert all(one.low * network.size + one.high not in network.keys.tolist() for one in found)
    assert all(len(one.shared) >= 5 for one in found)
    assert found == sorted(found, key=lambda one: -one.confidence)
    assert max(one.confidence for one in found) > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_as_many_are_right_as_the_confidence_says_at_least(seed: int) -> None:
    """Links that are really missing stand among the wrong ones when others are hidden, so it says rather too little."""
    whole = net(planted.cliques(20, 9, share=0.95, seed=seed))
    hidden = np.random.default_rng(seed).choice(whole.links, whole.links // 10, replace=False)
    rest = Network.of_keys(whole.size, np.delete(whole.keys, hidden))
    found, _ = missing(rest, None, 200, 0.3)
    right = [one.low * whole.size + one.high in whole.keys[hidden] for one in found]
    said = [one.confidence for one in found]
    assert len(found) >= 20
    assert sum(said) / len(said) < sum(right) / len(right) + 0.05


@pytest.mark.parametrize("seed", range(4))
def test_a_rewired_network_lacks_nothing(seed: int) -> None:
    found, _ = missing(twin(net(dense()), seed), None, 10, 0.35)
    assert found == []


@pytest.mark.parametrize("seed", range(4))
def test_chance_lacks_nothing(seed: int) -> None:
    assert missing(net(planted.chance(80, 240, seed)), None, 10, 0.35)[0] == []


def test_few_links_tell_nothing() -> None:
    assert missing(net(planted.chance(20, FEWEST - 1)), None, 10, 0.0) == ([], None)


def test_what_is_far_in_meaning_is_not_missing() -> None:
    network = net(dense())
    (first, *_), _ = missing(network, None, 10, 0.3)
    same = np.zeros((network.size, 8), np.float32)
    for node in range(network.size):
        same[node, node // 9] = 1.0
    apart = same.copy()
    apart[first.low] = np.eye(8)[7]
    ends = lambda vectors: [(one.low, one.high) for one in missing(network, vectors, 50, 0.2)[0]]  # noqa: E731
    assert (first.low, first.high) in ends(same)
    assert (first.low, first.high) not in ends(apart)


def test_pairs_share_neighbours_and_have_no_link() -> None:
    found = pairs(net([(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]))
    ends = [(key // 5, key % 5) for key in found.keys.tolist()]
    assert ends == [(0, 2), (0, 4), (1, 3), (2, 4)]
    assert found.shared.tolist() == [2, 1, 2, 1]
    assert np.allclose(found.allocation, [1 / 2 + 1 / 3, 1 / 3, 1, 1 / 3])


def test_a_scale_says_how_often_it_is_right() -> None:
    random = np.random.default_rng(1)
    traits = random.normal(size=(4000, 3))
    hits = random.random(4000) < 1 / (1 + np.exp(-2 * traits[:, 0] + 2))
    made = scale(traits, hits, np.arange(4000))
    assert made is not None
    fresh = random.normal(size=(4000, 3))
    right = random.random(4000) < 1 / (1 + np.exp(-2 * fresh[:, 0] + 2))
    said = made.confidence(fresh)
    for low in (0.0, 0.2, 0.4, 0.6):
        band = (said >= low) & (said < low + 0.2)
        assert abs(right[band].mean() - said[band].mean()) < 0.08


def test_a_scale_of_noise_is_flat() -> None:
    random = np.random.default_rng(2)
    made = scale(random.normal(size=(2000, 4)), random.random(2000) < 0.1, np.arange(2000))
    assert made is not None
    assert made.shares.max() < 0.4


def test_too_few_hits_make_no_scale() -> None:
    assert scale(np.ones((50, 2)), np.arange(50) < 3, np.arange(50)) is None
