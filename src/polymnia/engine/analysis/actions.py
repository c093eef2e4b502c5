"""Actions: what to do about a finding, as values that become tool calls or commands."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from polymnia.engine.analysis.findings import Finding
from polymnia.models import JsonObject

UNWRITTEN = "…"
"""Stands for text that only the caller can write, in an action that is a ``draft``."""


class _Action(Struct, frozen=True, kw_only=True):
    """``draft``: something is left to write."""

    draft: bool = False


class StoreItem(_Action, frozen=True, kw_only=True):
    """Store a new item."""

    content: str
    title: str | None = None
    tags: tuple[str, ...] = ()


class Update(_Action, frozen=True, kw_only=True):
    """Change the fields of an item that are not None."""

    id: str
    content: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: JsonObject | None = None


class Delete(_Action, frozen=True, kw_only=True):
    """Delete an item, which can be undone."""

    id: str


class Relate(_Action, frozen=True, kw_only=True):
    """Create a relationship between two items; ``reason`` is the finding behind it."""

    source: str
    target: str
    type: str
    reason: Finding | None = None


class Show(_Action, frozen=True, kw_only=True):
    """Read an item and its earlier versions."""

    id: str


class ShowHistory(_Action, frozen=True, kw_only=True):
    """Read the changes of an item."""

    id: str


class CheckQuality(_Action, frozen=True, kw_only=True):
    """Analyze the quality of an item."""

    id: str


class CheckConflicts(_Action, frozen=True, kw_only=True):
    """Look for conflicts among some items."""

    ids: tuple[str, ...]
    sensitivity: str = "medium"


class CleanSessions(_Action, frozen=True, kw_only=True):
    """Remove sessions that were not used for so many days."""

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
