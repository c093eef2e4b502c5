"""One project of an open file, for reading and for writing."""

from __future__ import annotations

from polymnia.storage.snapshot import ProjectSnapshot, SmallProject
from polymnia.storage.sqlite.grams import TrigramIndex, TrigramSearch
from polymnia.storage.transaction import ProjectTransaction


class SqliteSnapshot(TrigramSearch, ProjectSnapshot):
    """A consistent view of one project."""


class SqliteSmallProject(SmallProject, SqliteSnapshot):
    """A consistent view of a small project, most of it cached."""


class SqliteTransaction(TrigramIndex, ProjectTransaction):
    """One atomic unit of change."""
