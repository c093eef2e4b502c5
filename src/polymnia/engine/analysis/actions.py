"""Actions: what to do about a finding, as values. A dialect makes a tool call of one, the command line a command."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from polymnia.engine.analysis.findings import Finding
from polymnia.models import JsonObject

UNWRITTEN = "…"
"""Stands for what only the caller can write; an action that has it is a ``draft``."""


class _Action(Struct, frozen=True, kw_only=True):
    """``draft``: something is left to write before it can be done."""

    draft: bool = False


class StoreItem(_Action, frozen=True, kw_only=True):
    """Store a new item."""

    content: str
    title: str | None = None
    tags: tuple[str, ...] = ()


class Update(_Action, frozen=True, kw_only=True):
    """Change an item; what is None stays."""

    id: str
    content: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: JsonObject | None = None


class Delete(_Action, frozen=True, kw_only=True):
    """Delete an item, in a way that can be undone."""

    id: str


class Relate(_Action, frozen=True, kw_only=True):
    """Draw a relationship between two items; ``reason`` is the finding that speaks for it."""

    source: str
    target: str
    type: str
    reason: Finding | None = None


class Show(_Action, frozen=True, kw_only=True):
    """Read an item and its earlier versions."""

    id: str


class ShowHistory(_Action, frozen=True, kw_only=True):
    """Read what changed in an item."""

    id: str


class CheckQuality(_Action, frozen=True, kw_only=True):
    """Analyze the quality of an item."""

    id: str


class CheckConflicts(_Action, frozen=True, kw_only=True):
    """Look for conflicts among some items."""

    ids: tuple[str, ...]
    sensitivity: str = "medium"


class CleanSessions(_Action, frozen=True, kw_only=True):
    """Remove sessions that nobody has used for so many days."""

    days: int


class CreateEntity(_Action, frozen=True, kw_only=True):
    """Create an entity of the graph."""

    name: str


class AddObservations(_Action, frozen=True, kw_only=True):
    """Add observations to an entity of the graph."""

    name: str
    texts: tuple[str, ...]


class DeleteObservations(_Action, frozen=True, kw_only=True):
    """Delete observations of an entity of the graph."""

    name: str
    texts: tuple[str, ...]


class DeleteRelations(_Action, frozen=True, kw_only=True):
    """Delete relations of the graph: source, target and type of each."""

    relations: tuple[tuple[str, str, str], ...]


Action: TypeAlias = (
    StoreItem | Update | Delete | Relate | Show | ShowHistory | CheckQuality | CheckConflicts | CleanSessions
    | CreateEntity | AddObservations | DeleteObservations | DeleteRelations
)  # fmt: skip
