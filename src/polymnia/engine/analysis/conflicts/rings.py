"""Rings: relations that lead back to where they began, of types that must not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from polymnia.models import Relation

__all__ = ["Ring", "rings"]

# Each matter with the types that say it and those that say it the other way round. Nothing is part of its own part.
_FAMILIES = {
    "whole and part": (
        "part_of belongs_to member_of contained_in inside child_of subtask_of located_in component_of 일부 포함됨 속함",
        "contains includes has_part parent_of owns consists_of 포함 포함한다",
    ),
    "order": (
        "follows after succeeds comes_after follow_up_to supersedes replaces 후속 다음",
        "precedes before comes_before superseded_by replaced_by 선행 이전",
    ),
    "cause": ("causes leads_to triggers results_in 유발 원인", "caused_by triggered_by results_from 결과"),
    "implementation": ("implements realizes", "implemented_by realized_by"),
    "dependency": (
        "depends_on requires needs blocked_by imports relies_on built_on 의존 의존한다 필요",
        "required_by blocks dependency_of needed_by 차단",
    ),
    "kind": (
        "is_a subclass_of extends inherits_from subtype_of kind_of 상속",
        "superclass_of extended_by supertype_of",
    ),
    "reporting": ("reports_to managed_by supervised_by", "manages supervises boss_of"),
    "descent": ("son_of daughter_of descends_from derived_from forked_from", "father_of mother_of ancestor_of"),
}
_TYPES = {
    word: (family, turned)
    for family, sides in _FAMILIES.items()
    for turned, words in enumerate(sides)
    for word in words.split()
}
_LONGEST = 12  # relations of a ring that is shown


class Ring(NamedTuple):
    """A ring of relations: what it is of, and its relations in their order."""

    family: str
    relations: tuple[Relation, ...]


def rings(relations: Iterable[Relation]) -> list[Ring]:
    """One shortest ring for each knot of relations of one matter."""
    matters: dict[str, dict[str, dict[str, Relation]]] = {}
    for relation in relations:
        name = re.sub(r"[^\w가-힣]+", "_", relation.type.strip().lower()).strip("_")
        family, turned = _TYPES.get(name, ("", 0))
        if family:
            source, target = (relation.target, relation.source) if turned else (relation.source, relation.target)
            matters.setdefault(family, {}).setdefault(source, {}).setdefault(target, relation)
    found = []
    for family, links in matters.items():
        for knot in _knots(links):
            ring = _shortest(links, knot)
            if ring and len(ring) <= _LONGEST:
                found.append(Ring(family, ring))
    return found


def _knots(links: dict[str, dict[str, Relation]]) -> list[set[str]]:
    """The sets of names that all lead to each other (Tarjan, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()
    found: list[set[str]] = []
    for root in links:
        if root in number:
            continue
        work = [(root, iter(links.get(root, ())))]
        number[root] = low[root] = len(number)
        stack.append(root)
        held.add(root)
        while work:
            name, following = work[-1]
            for other in following:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    held.add(other)
                    work.append((other, iter(links.get(other, ()))))
                    break
                if other in held:
                    low[name] = min(low[name], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    knot: set[str] = set()
                    while name not in knot:
                        one = stack.pop()
                        held.discard(one)
                        knot.add(one)
                    if len(knot) > 1 or name in links.get(name, ()):
                        found.append(knot)
    return found


def _shortest(links: dict[str, dict[str, Relation]], knot: set[str]) -> tuple[Relation, ...]:
    """The shortest ring through the first name of a knot."""
    start = min(knot)
    came: dict[str, tuple[str, Relation]] = {}
    waiting = [start]
    while waiting:
        following: list[str] = []
        for name in waiting:
            for other, relation in links.get(name, {}).items():
                if other == start:
                    ring = [relation]
                    while name != start:
                        name, before = came[name]
                        ring.append(before)
                    return tuple(reversed(ring))
                if other in knot and other not in came:
                    came[other] = (name, relation)
                    following.append(other)
        waiting = following
    return ()
