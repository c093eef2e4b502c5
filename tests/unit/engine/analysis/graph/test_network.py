"""Networks and their twins: same degrees, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from polymnia.engine.analysis.graph.structure import Network, twin

from .planted import chance, cliques


def net(size: int, pairs: list[tuple[int, int]]) -> Network:
    return Network(size, [a for a, _ in pairs], [b for _, b in pairs])


def test_loops_and_parallel_relations_are_one_link_or_none() -> None:
    network = net(4, [(0, 1), (1, 0), (0, 1), (2, 2), (1, 3)])
    assert network.links == 2
    assert network.degrees.tolist() == [1, 2, 0, 1]
    assert network.neighbours[network.starts[1] : network.starts[2]].tolist() == [0, 3]


def test_a_network_of_nothing_has_no_parts() -> None:
    assert net(0, []).components == []
    assert net(3, []).components == []
    assert net(1, [(0, 0)]).links == 0


def test_groups_that_hang_together_come_largest_first() -> None:
    assert net(8, [(6, 7), (0, 1), (1, 2), (4, 3)]).components == [[0, 1, 2], [3, 4], [6, 7]]


@pytest.mark.parametrize("pairs", [cliques(4, 8), chance(60, 150)], ids=["cliques", "chance"])
def test_a_twin_has_the_same_degrees_and_few_of_the_links(pairs: list[tuple[int, int]]) -> None:
    network = net(60, pairs)
    other = twin(network, 7)
    assert (other.degrees == network.degrees).all()
    assert other.links == network.links
    assert len(np.intersect1d(other.keys, network.keys)) < 0.5 * network.links
    assert (twin(network, 7).keys == other.keys).all()
    assert not (twin(network, 8).keys == other.keys).all()


def test_a_twin_of_a_star_is_the_star() -> None:
    network = net(9, [(0, at) for at in range(1, 9)])
    assert (twin(network, 1).keys == network.keys).all()


def tree(branches: int, levels: int) -> list[tuple[int, int]]:
    """A tree in which every node but the last ones has so many below it."""
    size = sum(branches**level for level in range(levels + 1))
    return [((at - 1) // branches, at) for at in range(1, size)]


@pytest.mark.parametrize("seed", range(5))
def test_a_twin_of_a_tree_is_a_tree(seed: int) -> None:
    network = net(40, tree(3, 3))
    other = twin(network, seed)
    assert [len(part) for part in other.components] == [40]
    assert (other.degrees == network.degrees).all()
    assert not (other.keys == network.keys).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_twin_falls_into_no_more_groups_than_its_network(seed: int) -> None:
    network = net(90, [*chance(60, 70, seed), (60, 61), (61, 62), (62, 60), (70, 71)])
    other = twin(network, seed)
    assert len(other.components) <= max(len(network.components), 1)
    assert (other.degrees == network.degrees).all()
    assert other.links == network.links
