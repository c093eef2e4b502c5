"""Hubs, communities and bridges of networks, as pure functions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from polymnia.engine.analysis.graph.structure import Network, certainty, communities, cuts, hubs, modularity
from polymnia.engine.analysis.probability import confidence

from . import planted


def net(pairs: list[tuple[int, int]], size: int = 0) -> Network:
    return Network(size or 1 + max(map(max, pairs)), [a for a, _ in pairs], [b for _, b in pairs])


# ── communities ──────────────────────────────────────────────────────────────────────────────────────


def test_planted_groups_are_found_to_a_node() -> None:
    network = net(planted.cliques(6, 10))
    found = communities(network)
    assert sorted(tuple(one.nodes) for one in found) == [tuple(range(at, at + 10)) for at in range(0, 60, 10)]
    assert modularity(network, found) > 0.75
    assert all(one.share > 0.9 for one in found)


def test_the_same_network_has_the_same_communities() -> None:
    network = net(planted.chance(80, 200))
    assert communities(network) == communities(net(planted.chance(80, 200)))


def test_every_community_hangs_together() -> None:
    network = net(planted.chance(200, 220, seed=3), 200)
    for one in communities(network):
        inside = Network.of_keys(200, network.keys[np.isin(network.low, one.nodes) & np.isin(network.high, one.nodes)])
        assert inside.components[0] == one.nodes
        assert inside.links == one.inside
    assert sum(len(one.nodes) for one in communities(network)) == int((network.degrees > 0).sum())


def test_a_network_without_links_has_no_communities() -> None:
    assert communities(Network(5, [], [])) == []
    assert modularity(Network(5, [], []), []) == 0.0


# ── hubs ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_planted_hub_is_told_with_confidence() -> None:
    pairs = [*planted.chance(60, 90), *((60, at) for at in range(0, 60, 2))]
    (hub,) = hubs(net(pairs).degrees, 10, 0.5)
    assert (hub.node, hub.degree) == (60, 30)
    assert hub.confidence > 0.95


def test_no_more_hubs_than_asked_for_and_always_the_one() -> None:
    pairs = [*planted.chance(90, 100), *((90 + hub, at) for hub in range(3) for at in range(0, 90, 3 - hub % 2))]
    degrees = net(pairs).degrees
    assert [one.node for one in hubs(degrees, 3, 0.5)] == [91, 90, 92]
    assert [one.node for one in hubs(degrees, 1, 0.5)] == [91]
    assert [one.node for one in hubs(degrees, 1, 0.5, always=92)] == [91, 92]
    assert [one.node for one in hubs(degrees, 1, 0.5, always=5)] == [91]


@pytest.mark.parametrize("seed", range(6))
def test_chance_makes_no_hub(seed: int) -> None:
    assert hubs(net(planted.chance(100, 250, seed)).degrees, 10, 0.8) == []


def test_where_all_have_as_many_there_is_no_hub() -> None:
    ring = [(at, (at + step) % 40) for at in range(40) for step in (1, 2, 3, 4)]
    assert hubs(net(ring).degrees, 10, 0.0) == []


def test_few_nodes_tell_no_hub() -> None:
    assert hubs(net([(0, at) for at in range(1, 8)]).degrees, 10, 0.0) == []


def test_the_middle_of_a_star_is_a_hub() -> None:
    (hub,) = hubs(net([(0, at) for at in range(1, 25)]).degrees, 10, 0.5)
    assert hub.node == 0


# ── bridges ──────────────────────────────────────────────────────────────────────────────────────────


def test_what_falls_apart_without_a_node_is_counted() -> None:
    pairs = [(a, b) for a in range(5) for b in range(a)] + [(a, b) for a in range(6, 10) for b in range(6, a)]
    nodes, links = cuts(net([*pairs, (5, 0), (5, 1), (5, 6), (5, 7)]))
    assert [(one.nodes, one.parts, one.lost) for one in nodes] == [((5,), (5, 4), 4)]
    assert links == []


def test_what_falls_apart_without_a_link_is_counted() -> None:
    nodes, links = cuts(net([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]))
    assert [(one.nodes, one.parts) for one in links] == [((2, 3), (3, 3))]
    assert {one.nodes: one.parts for one in nodes} == {(2,): (3, 2), (3,): (3, 2)}


def test_cuts_agree_with_taking_every_node_away() -> None:
    for seed in range(8):
        network = net(planted.chance(40, 46, seed), 40)
        told = {one.nodes[0]: one.parts for one in cuts(network)[0]}
        for component in network.components:
            for node in component:
                left = network.keys[(network.low != node) & (network.high != node)]
                parts = [part for part in Network.of_keys(40, left).components if set(part) <= set(component)]
                sizes = [len(part) for part in parts]
                sizes += [1] * (len(component) - 1 - sum(sizes))
                assert told.get(node, (len(component) - 1,)) == tuple(sorted(sizes, reverse=True))


# ── chance ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_no_twin_outdoes_is_sure_and_what_all_show_is_not() -> None:
    draw = Random(1)
    noise = np.array([[draw.gauss(0, 1)] for _ in range(400)])
    found = np.array([[draw.gauss(0, 1)] for _ in range(20)] + [[6.0], [9.0]])
    sure = certainty(found, noise, 20)
    assert sure[-1] >= sure[-2] > 0.95
    assert max(sure[:-2]) < 0.7


def test_noise_is_sure_as_seldom_as_it_says() -> None:
    draw = np.random.default_rng(1)
    tops = [certainty(draw.normal(size=(15, 1)), draw.normal(size=(300, 1)), 20).max() for _ in range(200)]
    assert np.mean(np.array(tops) >= confidence(0.05)) < 0.09
    assert np.mean(np.array(tops) >= confidence(0.01)) < 0.03


def test_what_goes_along_with_size_is_allowed_for() -> None:
    draw = np.random.default_rng(2)
    sizes = draw.uniform(0, 5, 500)
    noise = np.stack([sizes + draw.normal(0, 0.1, 500), sizes], axis=1)
    found = np.array([[4.9, 5.0], [2.0, 1.0], [1.0, 1.0]])
    sure = certainty(found, noise, 20)
    assert sure[1] > 0.95  # twice as much as its size leads to expect
    assert sure[0] < 0.7 and sure[2] < 0.7


def test_nothing_to_judge_is_no_judgement() -> None:
    assert certainty(np.zeros((0, 1)), np.zeros((0, 1)), 20).tolist() == []
