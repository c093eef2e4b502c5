"""Reading a store whose folder cannot be written: on a read-only medium, or in somebody else's folder."""

from __future__ import annotations

import os
from urllib.parse import quote

import apsw

from polymnia.errors import Forbidden

__all__ = ["connect"]

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def connect(path: str, milliseconds: int) -> apsw.Connection:
    """A connection that only reads.

    SQLite needs a file beside the store to follow what others write. Where there is none and none can be made, nobody
    writes at the moment, and the file is read as it lies.
    """
    address = f"file:{quote(path)}"
    connection = apsw.Connection(f"{address}?mode=ro", flags=_FLAGS)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        if os.path.exists(path + "-wal") and os.path.getsize(path + "-wal"):
            raise Forbidden(
                f"The newest changes of the store {path} are in its log, which needs a folder that can be written",
                hint="Copy the store together with the file that ends in -wal to a folder of yours, and name it there.",
            ) from None
        connection = apsw.Connection(f"{address}?immutable=1", flags=_FLAGS)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.set_busy_timeout(milliseconds)
    return connection
