"""Backups: what a store tells of a copy that was made, and of one that was brought back."""

from __future__ import annotations

from msgspec import Struct


class Copied(Struct, frozen=True):
    """A verified copy of a store: where it is (or was taken from), and what it holds."""

    path: str
    bytes: int
    memories: int
    observations: int
    relations: int
    changes: int


class Restored(Struct, frozen=True):
    """A backup that was brought back, and where that is kept which was there before; None if nothing was."""

    copied: Copied
    kept: str | None
