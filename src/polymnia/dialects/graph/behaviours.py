"""The four behaviours as data: where the dialects differ, and nothing else."""

from __future__ import annotations

from msgspec import Struct

from polymnia.engine.graph import STRICT as STRICT_POLICY
from polymnia.engine.graph import Policy

__all__ = ["BEHAVIOURS", "BILINGUAL", "OFFICIAL", "SIMPLE", "STRICT", "Behaviour"]


class Behaviour(Struct, frozen=True, kw_only=True):
    """A dialect's manners: the rules it keeps, and the shape of its answers and errors."""

    name: str
    policy: Policy
    indent: int = 0


SIMPLE = Behaviour(
    name="simple",
    policy=Policy(
        taken_name="replace",
        name_twice="last",
        empty_observations="store",
        empty_list="accept",
        empty_name="accept",
        missing_end="keep",
        repeated_relation="keep",
        repeated_observation="keep",
        observing_missing="ignore",
        search="substring",
    ),
)

STRICT = Behaviour(name="strict", policy=STRICT_POLICY)

BILINGUAL = Behaviour(
    name="bilingual",
    policy=Policy(
        empty_observations="store",
        repeated_relation="keep",
        repeated_observation="keep",
        deleting_from_missing="refuse",
        opening_missing="refuse",
        search="substring",
    ),
)

OFFICIAL = Behaviour(
    name="official",
    policy=Policy(
        taken_name="keep",
        name_twice="first",
        empty_observations="store",
        empty_list="accept",
        empty_name="accept",
        missing_end="keep",
        repeated_relation="drop",
        repeated_observation="drop",
        deleted_names_take_loose_relations=True,
        search="lower",
    ),
    indent=2,
)

BEHAVIOURS = {behaviour.name: behaviour for behaviour in (SIMPLE, STRICT, BILINGUAL, OFFICIAL)}
