"""Circles among relations that put things in an order."""

from __future__ import annotations

from random import Random

import pytest

from polymnia.engine.analysis.graph import cycles as finding
from polymnia.engine.analysis.graph.cycles import Cycle
from polymnia.engine.knowledge.relationships import order_of
from polymnia.models import Relation


def cycles(arcs: list[tuple[str, str, str]], most: int) -> list[Cycle]:
    drawn = [Relation(id=at, source=a, target=b, type=type) for at, (a, b, type) in enumerate(arcs)]
    return finding.cycles(drawn, most)


def test_a_circle_is_told_in_order_with_the_types_as_they_are_stored() -> None:
    (one,) = cycles([("a", "b", "contains"), ("c", "b", "part_of"), ("c", "a", "contains")], 10)
    assert one.order == "containment"
    assert one.names == ("a", "b", "c")
    assert tuple(step.type for step in one.steps) == ("contains", "part_of", "contains")


def test_a_relation_told_from_both_ends_is_no_circle() -> None:
    assert cycles([("a", "b", "contains"), ("b", "a", "part_of"), ("a", "b", "contains")], 10) == []
    assert cycles([("a", "b", "follows"), ("b", "a", "precedes")], 10) == []


def test_two_that_contain_each_other_are_a_circle() -> None:
    assert [set(one.names) for one in cycles([("a", "b", "part_of"), ("b", "a", "part_of")], 10)] == [{"a", "b"}]


def test_a_thing_that_contains_itself_is_a_circle_of_one() -> None:
    assert [one.names for one in cycles([("a", "a", "contains"), ("a", "b", "contains")], 10)] == [("a",)]


def test_types_without_an_order_may_go_round() -> None:
    assert cycles([("a", "b", "related_to"), ("b", "c", "knows"), ("c", "a", "related_to")], 10) == []


def test_orders_do_not_mix() -> None:
    assert cycles([("a", "b", "contains"), ("b", "a", "causes")], 10) == []


@pytest.mark.parametrize(
    ("type", "order"),
    [
        ("Depends On", "dependency"), ("depends-on", "dependency"), ("DEPENDS_ON", "dependency"),
        ("의존한다", "dependency"), ("포함", "containment"), ("supersedes", "replacement"), ("causes", "cause"),
    ],
)  # fmt: skip
def test_types_are_known_however_they_are_written(type: str, order: str) -> None:
    found = order_of(type)
    assert found is not None and found[0] == order
    assert order_of("likes") is None


def test_korean_names_and_types() -> None:
    (one,) = cycles([("서버", "데이터베이스", "의존한다"), ("데이터베이스", "서버", "의존한다")], 10)
    assert one.names == ("서버", "데이터베이스")


def test_the_shortest_come_first_and_no_more_than_asked_for() -> None:
    ring = [(f"n{at}", f"n{(at + 1) % 6}", "depends_on") for at in range(6)]
    short = [("n0", "n2", "depends_on"), ("n2", "n0", "depends_on")]
    found = cycles([*ring, *short], 10)
    assert [len(one.names) for one in found] == sorted(len(one.names) for one in found)
    assert found[0].names == ("n0", "n2")
    assert len(cycles([*ring, *short], 1)) == 1


def test_a_type_that_goes_round_everywhere_makes_no_sure_circle() -> None:
    draw = Random(1)
    friends = [(f"n{draw.randrange(40)}", f"n{draw.randrange(40)}", "follows") for _ in range(200)]
    chain = [(f"n{at}", f"n{at + 1}", "follows") for at in range(100)]
    by_chance = cycles(friends, 10)
    planted = cycles([*chain, ("n3", "n1", "follows")], 10)
    assert max(one.confidence for one in by_chance) < 0.5
    assert [set(one.names) for one in planted] == [{"n1", "n2", "n3"}]
    assert planted[0].confidence > 0.9
