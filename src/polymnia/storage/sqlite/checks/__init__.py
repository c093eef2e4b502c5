"""Checks of the file that all projects share, and of its index of substrings; and what can be repaired of both."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial

import apsw

from polymnia.engine.ports.maintenance import CheckRequest, Spot
from polymnia.models import fold
from polymnia.storage.checks import Check
from polymnia.storage.checks.view import CheckView
from polymnia.storage.sqlite.connections import SqliteStatements
from polymnia.storage.sqlite.grams import DAMAGE, DAMAGE_WRITING, cover, empty, refresh
from polymnia.storage.sqlite.statements import MIGRATIONS, migration
from polymnia.storage.transaction import ProjectTransaction

_PIECE = 6  # characters
_LOG = 256 << 20  # bytes: a large change makes the log long, and its file does not shrink by itself
_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
_OF_INDEX = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


def _connection(view: CheckView) -> apsw.Connection:
    assert isinstance(view.run, SqliteStatements)
    return view.run.connection


def substrings(view: CheckView) -> None:
    """Compare the substring index with the texts it should hold; a sample of them is searched for."""
    if not view.snapshot._indexed:
        return
    try:
        if _is_intact(view):
            differing, wrong = _compare(view)
            view.found("characters_wrong", [Spot(id, view.label(id)) for id in sorted(differing | wrong)])
            return
        why = "its pages"
    except DAMAGE as e:
        why = str(e)
    view.found("characters_wrong", [Spot(0, view.project or "", why)], view.snapshot._indexed)


def _is_intact(view: CheckView) -> bool:
    """Whether SQLite finds the pages of the substring index intact; skipped if there are too many to read."""
    if view.request.pages is not None:
        pages = _connection(view).pragma("page_count")
        if pages > view.request.pages:
            view.result.skipped["pages of the substring index"] = "the file is large; a detailed check reads them"
            return True
    refresh(_connection(view))
    return all(text == "ok" for (text,) in _connection(view).execute("PRAGMA quick_check(gram)"))


def _compare(view: CheckView) -> tuple[set[int], set[int]]:
    """The ids in either the texts or the index but not both, and those of a sample that are indexed wrongly."""
    border = view.base + view.snapshot._indexed
    lowest = view.base + view.lowest()
    indexed = {id for (id,) in view.query("indexed_characters", lowest, border)}
    texts = {view.base + number for number in view.texts() if lowest < view.base + number <= border}
    sample = view.sampled(sorted(texts & indexed), "texts in the index of characters")
    return indexed ^ texts, {id for id in sample if not _is_indexed(view, id)}


def _is_indexed(view: CheckView, id: int) -> bool:
    try:
        form = fold(view.first("text_of", id)[0]).split("\0")[0]
    except UnicodeDecodeError:
        return True  # another check reports it
    # Three places in a single query: queries cost, and a text indexed wrongly differs in one of them.
    middle = len(form) // 2
    pieces = {form[:_PIECE], form[middle : middle + _PIECE], form[-_PIECE:]}
    match = " AND ".join(cover(piece) for piece in sorted(pieces) if len(piece) >= 3)
    return not match or view.run("is_indexed", (match, id)).fetchone() is not None


def repair_substrings(tx: ProjectTransaction, request: CheckRequest) -> int:
    """Index again what is indexed wrongly; all of it if the table itself is damaged."""
    before = tx._indexed
    view = CheckView(tx, tx._project_name, request, tx._at)
    try:
        if not _is_intact(view):
            raise apsw.CorruptError
        differing, wrong = _compare(view)
        if wrong:  # found in a sample: there may be more
            indexed = view.query("indexed_characters", tx._base, tx._base + tx._indexed)
            texts = {tx._base + number for number in view.texts() if number <= tx._indexed}
            differing = texts.union(id for (id,) in indexed)
        for id in sorted(differing):
            tx.reindex_text(id)
        tx._run("flush_index").fetchall()  # here, where damage is caught, instead of anywhere later
        return len(differing)
    except DAMAGE_WRITING:  # the table itself is damaged, for all projects
        tx._drop_substring_index()
        tx.index_substrings(tx._seq)
        return before


# ── the file, shared by all projects ───────────────────────────────────────────────────────────────────


@cache
def _expected() -> dict[str, tuple[str, str]]:
    """The kind and the statement of every table, index and trigger of this format."""
    empty = apsw.Connection(":memory:")
    for name in MIGRATIONS:
        empty.execute(migration(name)).fetchall()
    found = {name: (kind, sql) for kind, name, sql in empty.execute(_OBJECTS)}
    empty.close()
    return found


def missing_objects(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """The kind, name and statement of everything in the schema that is missing or different."""
    found = {name: sql for _, name, sql in connection.execute(_OBJECTS)}
    return [(kind, name, sql) for name, (kind, sql) in _expected().items() if found.get(name) != sql]


def shape(view: CheckView) -> None:
    """Find tables, indexes and triggers that are missing or different."""
    view.found("shape_differs", [Spot(0, name, kind) for kind, name, _ in missing_objects(_connection(view))])


def damage_of_file(view: CheckView, pragma: str = "integrity_check") -> None:
    """Run SQLite's own check of the file; ``quick_check`` does not compare indexes with their tables."""
    lines: list[str] = []
    try:
        refresh(_connection(view))
        for (text,) in _connection(view).execute(f"PRAGMA {pragma}(100)"):
            lines += text.splitlines()
    except DAMAGE as e:
        lines.append(str(e))
    pages = _connection(view).pragma("page_count")
    view.result.examined["pages of the file"] = (pages, pages)
    spots: dict[str, list[Spot]] = {"characters_wrong": [], "index_damaged": [], "file_damaged": []}
    for line in lines:
        if "fts5" in line.casefold():
            kind = "characters_wrong"
        else:  # a damaged index can be rebuilt from its table
            kind = "index_damaged" if any(sign in line for sign in _OF_INDEX) else "file_damaged"
        if line != "ok":
            spots[kind].append(Spot(0, line))
    for kind, found in spots.items():
        view.found(kind, found)


def foreign_keys(view: CheckView) -> None:
    """Find rows that refer to a project, model or change that does not exist."""
    lost: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in _connection(view).execute("PRAGMA foreign_key_check"):
        if (table, parent) != ("observation", "memory"):  # reported for its project
            lost[table, parent] = lost.get((table, parent), 0) + 1
    spots = [Spot(0, f"{count} of {table} without {parent}") for (table, parent), count in lost.items()]
    view.found("foreign_key_broken", spots, sum(lost.values()))


def log(view: CheckView) -> None:
    """Find a write-ahead log that is far too long."""
    path = _connection(view).filename + "-wal"
    with suppress(OSError):
        if (size := os.path.getsize(path)) > _LOG:
            view.found("log_long", [Spot(0, os.path.basename(path), size)])


# ── the file ──────────────────────────────────────────────────────────────────────────────────────────────


def repair_file(connection: apsw.Connection, kinds: Collection[str]) -> dict[str, int]:
    """Rebuild indexes and triggers, and empty the log."""
    repaired: dict[str, int] = {}
    if "shape_differs" in kinds:
        for kind, name, sql in missing_objects(connection):
            if kind in ("index", "trigger"):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.execute(f"DROP {kind} IF EXISTS {name}")
                    connection.execute(sql)
                    connection.execute("COMMIT")
                    repaired["shape_differs"] = repaired.get("shape_differs", 0) + 1
                except apsw.ConstraintError:
                    pass  # two rows share a unique value, which another check reports
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
    if "index_damaged" in kinds:
        try:
            connection.execute("REINDEX").fetchall()
            repaired["index_damaged"] = 1
        except apsw.ConstraintError:
            pass
    if "characters_wrong" in kinds:
        with connection:
            empty(connection)
        repaired["characters_wrong"] = 1
    if "log_long" in kinds:
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if row is not None and row[0] == 0:
            repaired["log_long"] = 1
    return repaired


class FileChecks:
    """What SQLite checks by itself."""

    damage = (apsw.CorruptError,)
    of_store: Mapping[str, Sequence[Check]] = {
        "reference_integrity": (foreign_keys,),
        "schema_compliance": (shape, damage_of_file),
        "file": (shape, partial(damage_of_file, pragma="quick_check")),  # for a health report
        "indexes": (shape, damage_of_file),
        "performance_issues": (log,),
    }
    substrings = staticmethod(substrings)
    repair_substrings = staticmethod(repair_substrings)
