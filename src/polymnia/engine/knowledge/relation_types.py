"""Relation types that put things in an order: the one vocabulary of them, and which way each type tells its order."""

from __future__ import annotations

import re

# For each order the types that tell it forwards, and those that tell it backwards.
_ORDERS = {
    "containment": (
        "contains has_part includes comprises consists_of parent_of parent has_child part_meronym member_meronym "
        "substance_meronym 포함 포함한다 포함하다 부모",
        "part_of contained_in belongs_to member_of child_of has_parent inside located_in component_of subtask_of "
        "part_holonym member_holonym substance_holonym 일부 부분 소속 속함 속한다 포함됨 자식",
    ),
    "sequence": (
        "precedes before comes_before followed_by next 선행 이전 앞선다",
        "follows after comes_after preceded_by previous succeeds follow_up_to 후행 후속 다음 따른다 이어진다",
    ),
    "replacement": ("replaces supersedes overrides 대체 대체한다", "replaced_by superseded_by overridden_by"),
    "cause": (
        "causes cause leads_to results_in triggers 원인 유발 유발한다 초래한다",
        "caused_by results_from triggered_by due_to",
    ),
    "dependency": (
        "depends_on requires needs blocked_by prerequisite imports relies_on built_on 의존 의존한다 필요 "
        "필요하다 요구한다",
        "required_by blocks needed_by dependency_of enables imported_by 차단",
    ),
    "implementation": (
        "implements realizes fulfils fulfills 구현 구현한다",
        "implemented_by realized_by fulfilled_by",
    ),
    "kind": (
        "is_a kind_of subclass_of subtype_of extends inherits inherits_from specializes hypernym "
        "instance_hypernym 상속",
        "superclass_of supertype_of extended_by generalizes hyponym instance_hyponym",
    ),
    "origin": (
        "derived_from based_on forked_from descends_from son_of daughter_of 파생",
        "father_of mother_of ancestor_of",
    ),
    "reporting": ("reports_to managed_by supervised_by", "manages supervises boss_of"),
}  # fmt: skip
_KNOWN = {
    type: (order, forwards)
    for order, sides in _ORDERS.items()
    for types, forwards in zip(sides, (True, False), strict=True)
    for type in types.split()
}


def order_of(type: str) -> tuple[str, bool] | None:
    """The order a relation of this type tells, and whether forwards; None where it tells none."""
    return _KNOWN.get(re.sub(r"[\W_]+", "_", type.strip()).strip("_").lower())
