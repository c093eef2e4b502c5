"""What SQLite itself says about a store that no process has open."""

from __future__ import annotations

from pathlib import Path

import apsw

__all__ = ["is_sound"]


def is_sound(store: Path) -> bool:
    """Whether every page and index of the store is as it should be."""
    connection = apsw.Connection(str(store))
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()
