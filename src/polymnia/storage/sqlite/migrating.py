"""The format of a store's file: telling it, and bringing an older one up to ours."""

from __future__ import annotations

from typing import Any

import apsw

from polymnia.engine.ports import Clock
from polymnia.errors import NotAStore, TooNew
from polymnia.storage.sqlite.statements import MIGRATIONS, migration

__all__ = ["APPLICATION", "is_current", "migrate"]

APPLICATION = 0x506F6C79  # "Poly", in the file's header


def is_current(connection: apsw.Connection, path: str) -> bool:
    """Whether the file has our format; refuses what is not ours or newer than we are."""
    return _version(connection, path) == len(MIGRATIONS)


def _version(connection: apsw.Connection, path: str) -> int:
    """The version of the file's format, 0 where there is nothing yet."""
    connection.execute("BEGIN")  # one view: another process may be making the store right now
    try:
        application = connection.pragma("application_id")
        found = int(connection.pragma("user_version"))
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    finally:
        connection.execute("ROLLBACK")
    if application != APPLICATION:
        if application or found or tables != (0,):
            raise NotAStore(f"{path} is a database, but not a Polymnia store")
        return 0
    if found > len(MIGRATIONS):
        raise TooNew(
            f"The store {path} has format {found}, made by a newer Polymnia; "
            f"this one knows formats up to {len(MIGRATIONS)}"
        )
    return found


def migrate(connection: apsw.Connection, path: str, clock: Clock) -> None:
    """Bring the file to our format, or make it; one that holds something is copied first."""
    found = _version(connection, path)  # another process may have been faster
    if found == len(MIGRATIONS):
        return
    if found:
        _back_up(connection, path, found, clock)
    elif not _on_network(path):
        connection.pragma("journal_mode", "wal")
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
