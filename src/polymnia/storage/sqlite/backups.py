"""Backups: verified copies of a store that is in use, and restoring one."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import apsw

from polymnia.engine.ports.maintenance import Copied, Restored, draft_of, remove_left_drafts, unused
from polymnia.errors import Damaged, Forbidden, Invalid, NoSpace, NotAStore
from polymnia.storage.sqlite.copying import FileSource, FileTarget
from polymnia.storage.sqlite.faults import translated
from polymnia.storage.sqlite.schema import publish, remove, set_log, upgrade, version
from polymnia.storage.sqlite.statements import MIGRATIONS
from polymnia.storage.sqlite.store import SqliteStore

_SQLITE = b"SQLite format 3\0"
_ANOTHER = "Name another backup."
_BESIDE = ("-wal", "-shm", "-journal", "-lock")  # endings of what lies beside a store and belongs to it
_COUNTS = """
SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM observation), (SELECT count(*) FROM relation),
       (SELECT count(*) FROM change), (SELECT count(*) FROM change_item)
"""


def back_up(store: SqliteStore, path: str, *, overwrite: bool) -> Copied:
    """Copy a snapshot of the store without blocking its users."""
    path = _other_file(store, path, "Name another file for the backup.")
    _check_free(path, overwrite)
    with translated(store.path), store.reader() as source, translated(path), _writing(path), _draft(path) as draft:
        copied = _copy(source, draft, path)
        publish(draft, path)
    return copied


def restore(store: SqliteStore, path: str) -> Restored:
    """Replace the content of the store with a backup, after saving the former content to a file beside it.

    The database changes in one step: running servers see all of it or nothing, and continue with it.
    """
    path = _other_file(store, path, "Name the backup to bring back.")
    with translated(store.path):
        os.makedirs(os.path.dirname(store.path), mode=0o700, exist_ok=True)
        with _draft(store.path) as draft:
            with translated(path):
                copied = _read_backup(path, draft)
            return Restored(copied, _replace_content(store, draft))


class FileBackups:
    """Backups of other stores, whose rows are copied."""

    @contextmanager
    def writing(self, path: str, *, overwrite: bool) -> Iterator[FileTarget]:
        """A new backup, which gets its name when the block ends."""
        _check_free(path, overwrite)
        with translated(path), _writing(path), _draft(path) as draft:
            remove(draft)  # the target makes it
            with closing(FileTarget(draft, nullcontext())) as target:
                yield target
            with closing(apsw.Connection(draft)) as copy:
                _finish(copy, path)
            publish(draft, path)

    @contextmanager
    def reading(self, path: str) -> Iterator[FileSource]:
        """A backup, verified and of the current format."""
        with TemporaryDirectory(prefix="polymnia-") as folder:
            draft = os.path.join(folder, "backup.db")
            with translated(path):
                _read_backup(path, draft)
            with closing(SqliteStore(draft, create=False)) as store:
                source = store.as_source()
                source.place = path
                yield source


def _check_free(path: str, overwrite: bool) -> None:
    if os.path.lexists(path) and not overwrite:
        raise Invalid(f"The file {path} exists already; it was left as it is", hint="Name another one, or say --force.")


def _other_file(store: SqliteStore, path: str, hint: str) -> str:
    path = os.path.abspath(os.path.expanduser(path))
    here, there = os.path.realpath(path), os.path.realpath(store.path)
    if here == there:
        raise Invalid(f"{path} is the store itself", hint=hint)
    if here in [there + suffix for suffix in _BESIDE]:
        raise Invalid(f"{path} belongs to the store itself: SQLite and this memory keep a file there", hint=hint)
    return path


def _read_backup(path: str, draft: str) -> Copied:
    """Copy a backup into a draft of the current format; refuses other files."""
    if os.path.isdir(path):
        raise NotAStore(f"{path} is a folder", hint="Name a file in it that `polymnia backup` made.")
    if not os.path.isfile(path):
        raise NotAStore(f"There is no file {path}", hint="Name a file that `polymnia backup` made.")
    if not os.path.getsize(path):
        raise NotAStore(f"{path} is empty (0 bytes), not a Polymnia store", hint=_ANOTHER)
    with open(path, "rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise NotAStore(
                f"{path} is not a backup",
                hint="`polymnia restore` takes a file that `polymnia backup` made. To take in an export, or a file of "
                f"another server: polymnia import {os.path.relpath(path)}",
            )
    try:
        return _copy_backup(path, draft)
    except (apsw.CorruptError, apsw.NotADBError) as e:
        raise Damaged(f"The backup {path} is damaged ({e}); nothing was restored", hint=_ANOTHER) from e
    except Damaged as e:
        raise Damaged(e.message, hint=_ANOTHER) from e


def _copy_backup(path: str, draft: str) -> Copied:
    log = path + "-wal"
    if os.path.exists(log) and os.path.getsize(log):
        backup = apsw.Connection(path)  # a copied store with its log: both are read
    else:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        backup = apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags)
    with closing(backup):
        found = version(backup, path)
        copied = _copy(backup, draft, path)
    if found < len(MIGRATIONS):
        with closing(apsw.Connection(draft)) as connection:
            upgrade(connection, found)
    return copied


def _replace_content(store: SqliteStore, draft: str) -> str | None:
    """Save what the store holds to a new file and replace it with the draft; returns the path of that file."""
    if not os.path.exists(store.path):
        with store.lock:
            if not os.path.exists(store.path):
                _publish(draft, store.path)
                return None
    saved = unused(f"{store.path}.replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    try:
        with store.writer() as writer:
            with _draft(saved) as copy:
                _copy(writer, copy, store.path)
                publish(copy, saved)
            _overwrite(writer, draft)
        return saved
    except (Damaged, NotAStore, apsw.CorruptError, apsw.NotADBError):
        pass
    # The file is no readable store, so nobody is using it: it is moved as it is.
    store.close()
    with store.lock:
        for suffix in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                os.rename(store.path + suffix, saved + suffix)
        _publish(draft, store.path)
    return saved


def _publish(draft: str, path: str) -> None:
    with closing(apsw.Connection(draft)) as connection:
        set_log(connection, path)
    publish(draft, path)


def _overwrite(writer: apsw.Connection, draft: str) -> None:
    """Replace the content of the open database with that of the draft."""
    with closing(apsw.Connection(draft)) as source:
        # A new edition makes every process rebuild its index in memory: row numbers may repeat.
        editions = "SELECT max(edition) FROM project"
        highest = max(number or 0 for one in (source, writer) for (number,) in one.execute(editions))
        source.execute("UPDATE project SET edition = ?", (highest + 1,)).fetchall()
        _copy_pages(source, writer)


def _copy(source: apsw.Connection, draft: str, path: str) -> Copied:
    """Copy an open database into a new file, and verify the copy."""
    source.execute("BEGIN")  # one snapshot, whatever is committed meanwhile
    try:
        counts: list[tuple[Any, ...]] = source.execute(_COUNTS).fetchall()
        with closing(apsw.Connection(draft)) as copy:
            copy.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").fetchall()
            _copy_pages(source, copy)
            _finish(copy, path, counts)
    finally:
        if source.in_transaction:
            source.execute("ROLLBACK")
    return Copied(path, os.path.getsize(draft), *counts[0][:4])


def _finish(copy: apsw.Connection, path: str, counts: list[tuple[Any, ...]] | None = None) -> None:
    """Make a copy a single file, readable in a read-only folder too, and verify it."""
    copy.pragma("journal_mode", "delete")
    wrong = [text for (text,) in copy.execute("PRAGMA integrity_check(3)") if text != "ok"]
    if wrong or (counts is not None and copy.execute(_COUNTS).fetchall() != counts):
        why = wrong[0] if wrong else "it does not hold all rows"
        raise Damaged(
            f"The copy of {path} is not sound ({why}); nothing was written",
            hint="`polymnia health` tells what is damaged; `polymnia reindex --anew` makes indexes again.",
        )


def _copy_pages(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as copy:
        while not copy.done:
            copy.step(-1)


@contextmanager
def _writing(path: str) -> Iterator[None]:
    """Report errors as those of the backup's file, not of the store."""
    try:
        yield
    except (OSError, apsw.FullError) as e:
        if isinstance(e, apsw.FullError) or e.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some space there, or name another place. The store is as it was."
            raise NoSpace(f"No space left for the backup {path}; nothing of it was kept", hint=hint) from e
        raise Forbidden(
            f"Cannot write {path}: {e.strerror or e}",
            hint=f"Check the folder {os.path.dirname(path)} and its permissions, or name another file.",
        ) from e


@contextmanager
def _draft(path: str) -> Iterator[str]:
    """An empty temporary file beside the path; removed unless it has been renamed when the block exits."""
    remove_left_drafts(path)
    draft = draft_of(path)
    remove(draft)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield draft
    finally:
        remove(draft)
