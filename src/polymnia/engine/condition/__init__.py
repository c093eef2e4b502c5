"""Condition: how the parts of a server are, found out by using them, and what it counted of its own work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymnia.engine.condition.counters import Counters, Performance
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.condition.checking import check
    from polymnia.engine.condition.values import COMPONENTS, Component, Condition, Resources, Status

__all__ = ["COMPONENTS", "Component", "Condition", "Counters", "Performance", "Resources", "Status", "check"]


def __getattr__(name: str) -> Any:
    # A server counts from its start, and its start must not import what only a check needs.
    if name == "check":
        with importing():
            from polymnia.engine.condition.checking import check

        return check
    if name in __all__:
        from polymnia.engine.condition import values

        return getattr(values, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
