"""The embedded store: one SQLite file, many processes."""

from polymnia.storage.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
