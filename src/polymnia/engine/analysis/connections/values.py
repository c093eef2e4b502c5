"""What connects two records."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from polymnia.models import Record

__all__ = ["Connection", "Connections", "Direction", "Origin", "Step"]

Direction: TypeAlias = Literal["outgoing", "incoming"]
Origin: TypeAlias = Literal["manual", "auto", "discovered"]


class Step(Struct, frozen=True):
    """One step of a way, between public ids. An incoming relation is walked against its direction."""

    start: str
    type: str
    direction: Direction
    end: str
    strength: float | None


class Connection(Struct, frozen=True, kw_only=True):
    """A record that another one is connected with, and the strongest way there.

    ``type``, ``direction``, ``origin`` and ``context`` are those of the last step; ``strength`` and ``confidence`` are
    the products of those of all steps. A relation somebody drew is certain; for others see
    :func:`~polymnia.engine.analysis.connections.trust.trust`.
    """

    target: Record
    type: str
    direction: Direction
    origin: Origin
    strength: float | None
    confidence: float
    context: str | None
    depth: int
    path: list[Step]


class Connections(Struct, frozen=True, kw_only=True):
    """Connections, strongest first; what was looked at, in numbers; and what was left out, and why."""

    found: list[Connection] = []
    looked_at: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = []
