"""The format of a store's file: detecting its version, creating it, and migrating older ones."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import Any

import apsw

from polymnia.engine.ports import Clock
from polymnia.engine.ports.maintenance import sync
from polymnia.errors import NotAStore, TooNew
from polymnia.storage.schema import unfinished
from polymnia.storage.sqlite.statements import MIGRATIONS, migration

APPLICATION = 0x506F6C79  # "Poly", in the file's header
UNFINISHED = 0x506F6C6D  # "Polm": a migration into the file is under way


def is_current(connection: apsw.Connection, path: str) -> bool:
    """Whether the file has the current format; refuses foreign files and newer formats."""
    return version(connection, path) == len(MIGRATIONS)


def version(connection: apsw.Connection, path: str) -> int:
    """The version of the file's format; refuses foreign files and newer formats."""
    connection.execute("BEGIN")  # one snapshot: another process may be migrating the store right now
    try:
        application = connection.pragma("application_id")
        found = int(connection.pragma("user_version"))
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if application == UNFINISHED:
            (source,) = connection.execute("SELECT value FROM migration WHERE key = 'source'").fetchone() or ("",)
            raise unfinished(path, source)
    finally:
        connection.execute("ROLLBACK")
    if application != APPLICATION:
        what = "is a database" if application or found or tables != (0,) else "is an empty database"
        raise NotAStore(f"{path} {what}, but not a Polymnia store")
    if found > len(MIGRATIONS):
        raise TooNew(
            f"The store {path} has format {found}, made by a newer Polymnia; "
            f"this one knows formats up to {len(MIGRATIONS)}"
        )
    return found


def create(path: str) -> None:
    """Create a store under a temporary name, so that nobody finds half of one. The caller holds the write lock."""
    draft = f"{path}.new"
    remove(draft)  # left by a process that was killed
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(apsw.Connection(draft)) as connection:
        connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").fetchall()
        upgrade(connection, 0)
        set_log(connection, path)
    publish(draft, path)


def set_log(connection: apsw.Connection, path: str) -> None:
    """Use a write-ahead log, unless the store lies on a network file system."""
    if not _on_network(path):
        connection.pragma("journal_mode", "wal")


def publish(draft: str, path: str) -> None:
    """Sync a finished file to disk and rename it to its path, replacing what is there."""
    sync(draft)
    os.replace(draft, path)
    if os.name == "posix":
        sync(os.path.dirname(path))


def remove(path: str) -> None:
    """Remove a database with its journals, if it exists."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + suffix)


def migrate(connection: apsw.Connection, path: str, clock: Clock) -> None:
    """Migrate the file to the current format, after copying it."""
    found = version(connection, path)  # another process may have been faster
    if found == len(MIGRATIONS):
        return
    copy = f"{path}.format-{found}.{clock() // 1_000_000}.backup"
    connection.execute("VACUUM INTO ?", (copy,)).fetchall()
    upgrade(connection, found)


def upgrade(connection: apsw.Connection, found: int) -> None:
    """Migrate a file from a version (0: an empty file) to the current one."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for name in MIGRATIONS[found:]:
            connection.execute(migration(name)).fetchall()
            if name in _BACKFILLS:
                _BACKFILLS[name](connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION}").fetchall()
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}").fetchall()
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _recompute_digests(connection: apsw.Connection) -> None:
    """Set every observation's digest to that of its normal form. A damaged text must not block the migration."""
    from polymnia.storage.rows import digest

    def digest_of(*values: Any) -> int:
        return digest(values[0].decode(errors="replace"))

    connection.create_scalar_function("digest_of", digest_of, 1)
    connection.execute("UPDATE observation SET digest = digest_of(CAST(text AS BLOB))").fetchall()


_BACKFILLS = {"0006_same_text.sql": _recompute_digests}  # what SQL alone cannot compute


def _on_network(path: str) -> bool:
    """Whether the file lies on a network file system, where a write-ahead log cannot be shared safely."""
    try:
        with open("/proc/mounts", encoding="utf-8") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return False
    _, kind = max(
        ((at, kind) for at, kind in mounts if path.startswith(at.rstrip("/") + "/") or at == "/"),
        key=lambda mount: len(mount[0]),
        default=("", ""),
    )
    return kind.startswith(("nfs", "cifs", "smb", "9p", "fuse.sshfs"))
