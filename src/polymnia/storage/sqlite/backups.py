"""Backups: a verified copy of a store that others may be writing to, and bringing one back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import apsw

from polymnia.engine.ports.maintenance import Copied, Restored, draft_of, remove_left_drafts
from polymnia.errors import Damaged, Forbidden, Invalid, NotAStore
from polymnia.storage.sqlite.faults import translated
from polymnia.storage.sqlite.schema import set_log, settle, upgrade, version
from polymnia.storage.sqlite.statements import MIGRATIONS

if TYPE_CHECKING:
    from polymnia.storage.sqlite.store import SqliteStore

_SQLITE = b"SQLite format 3\0"
_COUNTS = """
SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM observation), (SELECT count(*) FROM relation),
       (SELECT count(*) FROM change), (SELECT count(*) FROM change_item)
"""


def back_up(store: SqliteStore, path: str, *, overwrite: bool) -> Copied:
    """Copy the store as it is at one moment; whoever reads or writes it goes on."""
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.realpath(path) == os.path.realpath(store.path):
        raise Invalid(f"{path} is the store itself", hint="Name another file for the backup.")
    if os.path.lexists(path) and not overwrite:
        raise Invalid(f"The file {path} exists already; it was left as it is", hint="Name another one, or say --force.")
    with translated(store.path), store.connected() as source, translated(path), _written(path), _draft(path) as draft:
        copied = _copy(source, draft, path)
        settle(draft, path)
    return copied


def restore(store: SqliteStore, path: str) -> Restored:
    """Put the memories of a backup in place of those of the store, which are copied to a file beside it first.

    It is one change of the database: servers that are running see all of it or nothing, and go on with it.
    """
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.realpath(path) == os.path.realpath(store.path):
        raise Invalid(f"{path} is the store itself", hint="Name the backup to bring back.")
    with translated(store.path):
        os.makedirs(os.path.dirname(store.path), mode=0o700, exist_ok=True)
        with _draft(store.path) as draft:
            with translated(path):
                copied = _taken(path, draft)
            return Restored(copied, _put_in_place(store, draft))


def _taken(path: str, draft: str) -> Copied:
    """Copy a backup into a draft of our format; refuse what is none."""
    if not os.path.isfile(path):
        raise NotAStore(f"There is no file {path}", hint="Name a file that `polymnia backup` made.")
    if not os.path.getsize(path):
        raise NotAStore(f"{path} is empty (0 bytes), not a Polymnia store", hint="Name another backup.")
    with open(path, "rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise NotAStore(
                f"{path} is not a backup",
                hint="`polymnia restore` takes a file that `polymnia backup` made. To take in an export, or a file of "
                f"another server: polymnia import {os.path.relpath(path)}",
            )
    log = path + "-wal"
    if os.path.exists(log) and os.path.getsize(log):
        backup = apsw.Connection(path)  # a copy of a store with its log: both are read
    else:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        backup = apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags)
    try:
        found = version(backup, path)
        copied = _copy(backup, draft, path)
    finally:
        backup.close()
    if found < len(MIGRATIONS):
        with _closing(draft) as connection:
            upgrade(connection, found)
    return copied


def _put_in_place(store: SqliteStore, draft: str) -> str | None:
    """Keep what the store holds in a file of its own, and put the draft in its place; answers where that is kept."""
    if not os.path.exists(store.path):
        with store.turn():
            if not os.path.exists(store.path):
                _settle(draft, store.path)
                return None
    aside = _free(f"{store.path}.replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    try:
        with store.writer() as writer:
            with _draft(aside) as kept:
                _copy(writer, kept, store.path)
                settle(kept, aside)
            _pour(draft, writer)
        return aside
    except (Damaged, NotAStore, apsw.CorruptError, apsw.NotADBError):
        pass
    # What lies there cannot be read as a store, so nobody is at work with it: it is kept as it lies.
    store.close()
    with store.turn():
        for rest in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                os.rename(store.path + rest, aside + rest)
        _settle(draft, store.path)
    return aside


def _settle(draft: str, path: str) -> None:
    with _closing(draft) as connection:
        set_log(connection, path)
    settle(draft, path)


def _pour(draft: str, writer: apsw.Connection) -> None:
    """Put the content of the draft in place of what the connection has open."""
    with _closing(draft) as source:
        # Whoever holds an index of the store in memory reads it anew: numbers may come that were given once before.
        given = "SELECT max(edition) FROM project"
        highest = max(number or 0 for one in (source, writer) for (number,) in one.execute(given))
        source.execute("UPDATE project SET edition = ?", (highest + 1,)).fetchall()
        _copy_pages(source, writer)


def _copy(source: apsw.Connection, draft: str, path: str) -> Copied:
    """Copy what a connection has open into a new file, and make sure that it is all there."""
    source.execute("BEGIN")  # one moment, whatever is committed meanwhile
    try:
        counts: list[tuple[Any, ...]] = source.execute(_COUNTS).fetchall()
        with _closing(draft) as copy:
            copy.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").fetchall()
            _copy_pages(source, copy)
            copy.pragma("journal_mode", "delete")  # one file, that can also be read where nothing can be written
            wrong = [text for (text,) in copy.execute("PRAGMA integrity_check(3)") if text != "ok"]
            if wrong or copy.execute(_COUNTS).fetchall() != counts:
                why = wrong[0] if wrong else "it does not hold all rows"
                raise Damaged(
                    f"The copy of {path} is not sound ({why}); nothing was written",
                    hint="`polymnia health` tells what is damaged; `polymnia reindex --anew` makes indexes again.",
                )
    finally:
        if source.in_transaction:
            source.execute("ROLLBACK")
    return Copied(path, os.path.getsize(draft), *counts[0][:4])


def _copy_pages(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as copy:
        while not copy.done:
            copy.step(-1)


@contextmanager
def _closing(path: str) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(path)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _written(path: str) -> Iterator[None]:
    """Blame the file that is to be written, not the store."""
    try:
        yield
    except OSError as e:
        raise Forbidden(
            f"Cannot write {path}: {e.strerror or e}",
            hint=f"Check the folder {os.path.dirname(path)} and its permissions, or name another file.",
        ) from e


@contextmanager
def _draft(path: str) -> Iterator[str]:
    """A name for a file in the making, beside where it will be; nothing of it stays when it is not finished."""
    remove_left_drafts(path)
    draft = draft_of(path)
    _remove(draft)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield draft
    finally:
        _remove(draft)


def _remove(draft: str) -> None:
    for rest in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(draft + rest)


def _free(path: str) -> str:
    found, n = path, 1
    while os.path.lexists(found):
        n += 1
        found = f"{path}-{n}"
    return found
