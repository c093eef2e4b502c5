"""How a server is: its parts, what they use, and the worst of them."""

from __future__ import annotations

from typing import Any, Literal, get_args

from msgspec import Struct

from polymnia.engine.condition.counters import Performance

__all__ = ["COMPONENTS", "Component", "ComponentName", "Condition", "Resources", "Status", "worst"]

ComponentName = Literal["database", "vector_store", "ai_service", "cache"]
COMPONENTS: tuple[ComponentName, ...] = get_args(ComponentName)

Status = Literal["healthy", "degraded", "unhealthy"]
_WORSE: tuple[Status, ...] = get_args(Status)


class Component(Struct, frozen=True, kw_only=True):
    """One part: how it is, why, when that was found out (microseconds since 1970), and what was measured."""

    status: Status
    message: str
    checked: int
    metrics: dict[str, Any]


class Resources(Struct, frozen=True, kw_only=True):
    """What the process and its store use: bytes of memory and disk, and open connections to the store's file."""

    memory: int
    storage: int
    connections: int


class Condition(Struct, frozen=True, kw_only=True):
    """All parts that were looked at, and the worst of them as the whole. ``performance`` only where it is counted."""

    status: Status
    components: dict[str, Component]
    resources: Resources
    performance: Performance | None = None


def worst(statuses: list[Status]) -> Status:
    """The worst of some states; nothing is healthy."""
    return max(statuses, key=_WORSE.index, default="healthy")
