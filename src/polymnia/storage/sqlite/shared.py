"""The shared state of the server processes of one machine, in a file of its own that lives as long as they do.

Nothing is flushed to disk: a killed process harms nothing, and nobody needs the file after a loss of power.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from polymnia.engine.ports.shared import ALIVE_SECONDS, Holder, Portion
from polymnia.errors import Busy
from polymnia.storage.sqlite.connections import identity
from polymnia.storage.sqlite.faults import translated

_BUSY_MS = 1000
_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS secret (value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS process (
    number INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT, beat REAL NOT NULL, figures BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY, process INTEGER NOT NULL, about BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS session_process ON session (process);
CREATE TABLE IF NOT EXISTS rate_window (
    key TEXT PRIMARY KEY, ends REAL NOT NULL, taken INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""
_ALIVE = "address IS NOT NULL AND beat > ?1"  # the first value of a statement that has it


class SqliteSharedState:
    """The shared state in a file; see ``ports.shared``. A file that was removed is made again at the next beat."""

    def __init__(self, path: str, *, idle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._idle = max(idle, ALIVE_SECONDS)  # less would drop processes that are alive
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._number = 0
        self._secret = b""

    @property
    def secret(self) -> bytes:
        with self._using():
            return self._secret

    def join(self, address: str) -> int:
        with self._using() as connection:
            connection.execute("INSERT INTO process VALUES (NULL, ?, ?, x'')", (address, self._clock()))
            self._number = connection.last_insert_rowid()
        return self._number

    def beat(self, figures: bytes) -> int | None:
        if self._file != identity(self._path):
            self.close()
        now, alive = self._clock(), self._last_beat
        with self._changing() as connection:
            connection.execute("DELETE FROM rate_window WHERE ends <= ?", (now,))
            connection.execute("DELETE FROM process WHERE beat <= ? AND number <> ?", (now - self._idle, self._number))
            connection.execute("DELETE FROM session WHERE process NOT IN (SELECT number FROM process)")
            beat = f"UPDATE process SET beat = ?2, figures = ?3 WHERE number = ?4 AND {_ALIVE}"
            connection.execute(beat, (alive, now, figures, self._number))
            if not connection.changes():
                return None
            return len(connection.execute(f"SELECT 1 FROM process WHERE {_ALIVE}", (alive,)).fetchall())

    def leave(self) -> None:
        with self._using() as connection:
            gone = "UPDATE process SET address = NULL, beat = ? WHERE number = ?"
            connection.execute(gone, (self._clock(), self._number))

    def figures(self) -> list[tuple[int, bytes]]:
        with self._using() as connection:
            alive = f"SELECT number, figures FROM process WHERE {_ALIVE} ORDER BY number"
            return [(number, figures) for number, figures in connection.execute(alive, (self._last_beat,))]

    def hold(self, id: str, about: bytes) -> bool:
        with self._using() as connection:
            held = f"SELECT 1 FROM process WHERE number = session.process AND {_ALIVE}"
            connection.execute(
                "INSERT INTO session VALUES (?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET process = ?3, about = ?4 "
                f"WHERE process = ?3 OR NOT EXISTS ({held})",
                (self._last_beat, id, self._number, about),
            )
            return connection.changes() > 0

    def holder(self, id: str) -> Holder | None:
        with self._using() as connection:
            address = f"SELECT address FROM process WHERE number = session.process AND {_ALIVE}"
            held = f"SELECT process, ({address}), about FROM session WHERE id = ?2"
            found = connection.execute(held, (self._last_beat, id)).fetchone()
        return None if found is None else Holder(*found)

    def take_over(self, id: str, process: int) -> bool:
        with self._using() as connection:
            taken = "UPDATE session SET process = ? WHERE id = ? AND process = ?"
            connection.execute(taken, (self._number, id, process))
            return connection.changes() > 0

    def release(self, ids: Sequence[str]) -> None:
        with self._using() as connection:
            released = "DELETE FROM session WHERE id = ? AND process = ?"
            connection.executemany(released, [(id, self._number) for id in ids])

    def take(self, key: str, wanted: int, limit: int, seconds: float) -> Portion:
        with self._changing() as connection:
            now = self._clock()  # not before: a window that another process began meanwhile is not a wrong one
            found = connection.execute("SELECT ends, taken FROM rate_window WHERE key = ?", (key,)).fetchone()
            ends, taken = found if found and now < found[0] <= now + seconds else (now + seconds, 0)
            granted = max(0, min(wanted, limit - taken))
            if granted:
                replaced = "INSERT OR REPLACE INTO rate_window VALUES (?, ?, ?)"
                connection.execute(replaced, (key, ends, taken + granted))
        return Portion(granted, max(0, limit - taken - granted), ends - now)

    def close(self) -> None:
        with self._lock:
            connection, self._connection, self._file = self._connection, None, None
            if connection is not None:
                connection.close()

    @property
    def _last_beat(self) -> float:
        """The time of a beat that is just too old for a process that is alive."""
        return self._clock() - ALIVE_SECONDS

    @contextmanager
    def _using(self) -> Iterator[apsw.Connection]:
        """The connection. Threads take turns: none of them holds it for long."""
        if not self._lock.acquire(timeout=_BUSY_MS / 1000):
            raise Busy("The shared state of the server processes is in use by a thread that does not let go")
        try:
            with translated(self._path):
                yield self._connection or self._open()
        finally:
            self._lock.release()

    @contextmanager
    def _changing(self) -> Iterator[apsw.Connection]:
        """The connection, within a transaction that begins with the right to write."""
        with self._using() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _open(self) -> apsw.Connection:
        connection = apsw.Connection(self._path)
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_SCHEMA).fetchall()
        new = self._secret or secrets.token_bytes(32)
        connection.execute("INSERT INTO secret SELECT ? WHERE NOT EXISTS (SELECT 1 FROM secret)", (new,))
        ((self._secret,),) = connection.execute("SELECT value FROM secret")
        self._connection, self._file = connection, identity(self._path)
        return connection
