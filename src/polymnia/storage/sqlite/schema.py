"""The format of a store's file: telling it, and bringing an older one up to ours."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import apsw

from polymnia.engine.ports import Clock
from polymnia.errors import NotAStore, TooNew
from polymnia.storage.sqlite.statements import MIGRATIONS, migration

APPLICATION = 0x506F6C79  # "Poly", in the file's header


def is_current(connection: apsw.Connection, path: str) -> bool:
    """Whether the file has our format; refuses what is not ours or newer than we are."""
    return version(connection, path) == len(MIGRATIONS)


def version(connection: apsw.Connection, path: str) -> int:
    """The version of the file's format."""
    connection.execute("BEGIN")  # one view: another process may be upgrading the store right now
    try:
        application = connection.pragma("application_id")
        found = int(connection.pragma("user_version"))
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
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


def make(path: str) -> None:
    """Make a new store: whole under another name first, so that nobody ever finds half of one. Called in our turn."""
    draft = f"{path}.new"
    for rest in ("", "-journal", "-wal", "-shm"):  # of somebody who did not come to the end
        with suppress(FileNotFoundError):
            os.unlink(draft + rest)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = apsw.Connection(draft)
    try:
        connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").fetchall()
        upgrade(connection, 0)
        set_log(connection, path)
    finally:
        connection.close()
    settle(draft, path)


def set_log(connection: apsw.Connection, path: str) -> None:
    """Have changes written to a log first, where the place of the store allows it."""
    if not _on_network(path):
        connection.pragma("journal_mode", "wal")


def settle(draft: str, path: str) -> None:
    """Bring a file to disk, and then under its name, in place of what may be there."""
    _sync(draft)
    os.replace(draft, path)
    if os.name == "posix":
        _sync(os.path.dirname(path))


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def migrate(connection: apsw.Connection, path: str, clock: Clock) -> None:
    """Bring the file to our format; it is copied first."""
    found = version(connection, path)  # another process may have been faster
    if found == len(MIGRATIONS):
        return
    _back_up(connection, path, found, clock)
    upgrade(connection, found)


def upgrade(connection: apsw.Connection, found: int) -> None:
    """Bring a file from a format (0: from nothing) to ours."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for name in MIGRATIONS[found:]:
            connection.execute(migration(name)).fetchall()
            if name in _FILLS:
                _FILLS[name](connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION}").fetchall()
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}").fetchall()
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _digest_anew(connection: apsw.Connection) -> None:
    """Give every observation the digest of its normal form. A damaged text is no reason not to open the rest."""
    from polymnia.storage.sqlite.rows import digest

    def digest_of(*given: Any) -> int:
        return digest(given[0].decode(errors="replace"))

    connection.create_scalar_function("digest_of", digest_of, 1)
    connection.execute("UPDATE observation SET digest = digest_of(CAST(text AS BLOB))").fetchall()


_FILLS = {"0006_same_text.sql": _digest_anew}  # what SQL alone cannot work out


def _back_up(connection: apsw.Connection, path: str, version: int, clock: Clock) -> None:
    """Copy the store as it is before an upgrade changes it."""
    copy = f"{path}.format-{version}.{clock() // 1_000_000}.backup"
    connection.execute("VACUUM INTO ?", (copy,)).fetchall()


def _on_network(path: str) -> bool:
    """Whether the file lies on a network file system, where a write-ahead log is not safe to share."""
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
