"""What all projects of a store share: the file, its tables and its log."""

from __future__ import annotations

import os
from functools import cache

import apsw

from polymnia.engine.ports.maintenance import Spot
from polymnia.storage.sqlite.checks.view import CheckView
from polymnia.storage.sqlite.grams import DAMAGE, refresh
from polymnia.storage.sqlite.statements import MIGRATIONS, migration

_LOG = 256 << 20  # bytes: a large change makes it long, and its file does not shrink by itself
_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"


@cache
def _expected() -> dict[str, tuple[str, str]]:
    """Every table, index and trigger of a store of this format: its kind and its statement."""
    empty = apsw.Connection(":memory:")
    for name in MIGRATIONS:
        empty.execute(migration(name)).fetchall()
    found = {name: (kind, sql) for kind, name, sql in empty.execute(_OBJECTS)}
    empty.close()
    return found


def missing_objects(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """The kind, name and statement of what is missing, or not as this version makes it."""
    there = {name: sql for _, name, sql in connection.execute(_OBJECTS)}
    return [(kind, name, sql) for name, (kind, sql) in _expected().items() if there.get(name) != sql]


def shape(view: CheckView) -> None:
    """Tables, indexes and triggers that are missing, or not as this version makes them."""
    view.found("shape_differs", [Spot(0, name, kind) for kind, name, _ in missing_objects(view.snapshot._db)])


def first_look(view: CheckView) -> None:
    """As ``damage``, without comparing the indexes with their tables."""
    _ask_sqlite(view, "PRAGMA quick_check(100)")


def damage(view: CheckView) -> None:
    """What SQLite itself finds wrong in the file."""
    _ask_sqlite(view, "PRAGMA integrity_check(100)")


def _ask_sqlite(view: CheckView, statement: str) -> None:
    told: list[str] = []
    try:
        refresh(view.run)
        for (text,) in view.run(statement):
            told += text.splitlines()
    except DAMAGE as e:
        told.append(str(e))
    (pages,) = view.run("PRAGMA page_count").fetchone()
    view.looked["pages of the file"] = (pages, pages)
    told = [text for text in told if text != "ok"]
    substrings = [text for text in told if "fts5" in text.casefold()]
    indexes = [text for text in told if _of_index(text)]
    view.found("characters_wrong", [Spot(0, text) for text in substrings])
    view.found("index_damaged", [Spot(0, text) for text in indexes])
    view.found("file_damaged", [Spot(0, text) for text in told if text not in substrings and text not in indexes])


def _of_index(text: str) -> bool:
    """Whether only an index is wrong, which can be made again from its table."""
    return "missing from index" in text or "wrong # of entries in index" in text or "non-unique entry in index" in text


def foreign_keys(view: CheckView) -> None:
    """Rows that belong to a project, model or change that is not there."""
    lost: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in view.run("PRAGMA foreign_key_check"):
        if (table, parent) != ("observation", "memory"):  # told for its project
            lost[table, parent] = lost.get((table, parent), 0) + 1
    spots = [Spot(0, f"{count} of {table} without {parent}") for (table, parent), count in lost.items()]
    view.found("foreign_key_broken", spots, sum(lost.values()))


def log(view: CheckView, path: str) -> None:
    """The write-ahead log, if it has grown far beyond what a healthy one has."""
    try:
        size = os.path.getsize(path + "-wal")
    except OSError:
        size = 0
    if size > _LOG:
        view.found("log_long", [Spot(0, os.path.basename(path) + "-wal", size)])
