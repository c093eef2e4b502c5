"""The store: connections, migrations, and the frame around every read and write."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection
from contextlib import AbstractContextManager, suppress
from types import TracebackType

import apsw

from polymnia import errors
from polymnia.engine.ports import Analyst, Asked, Checked, Clock, Snapshot, Transaction
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.faults import fault, translated
from polymnia.storage.sqlite.queue import Turn
from polymnia.storage.sqlite.small import Shelf
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.statements import MIGRATIONS, SQL, migration
from polymnia.storage.sqlite.transaction import SqliteTransaction

__all__ = ["SqliteStore"]

_APPLICATION = 0x506F6C79  # "Poly", in the file's header


class SqliteStore:
    """Keeps memories in one SQLite file that any number of processes and threads share.

    The file is opened on first use, and made then unless ``create`` is false. ``busy_timeout`` is how long a write
    waits for others, in seconds. ``analyst`` reads the texts for the word index; without one there is none, and whoever
    searches reads the texts for himself.
    """

    def __init__(
        self,
        path: str,
        *,
        busy_timeout: float = 30.0,
        create: bool = True,
        clock: Clock = rows.now,
        analyst: Analyst | None = None,
    ) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))
        self._milliseconds = int(min(busy_timeout * 1000, 2**31 - 1))
        self._create = create
        self._clock = clock
        self._analyst = analyst
        self._turn = Turn(self.path + "-lock", busy_timeout)
        self._opening = threading.Lock()
        self._opened: tuple[int, int] | None = None  # which file is open, by device and inode
        self._log: tuple[int, int] | None = None  # and which write-ahead log belongs to it
        self._writer: apsw.Connection | None = None
        self._written: tuple[int, int] | None = None  # which file the writer has open
        self._readers: list[apsw.Connection] = []
        self._owes_forgetting = False
        self._shelf = Shelf()
        self._migrations: tuple[str, ...] = MIGRATIONS

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        """One consistent view of a project. Never waits for a writer."""
        return _Reading(self, project, self._shelf)

    def read_file(self, project: str) -> AbstractContextManager[SqliteSnapshot]:
        """The same, from the file in any case."""
        return _Reading(self, project, None)

    def write(self, project: str, who: str, action: str) -> AbstractContextManager[SqliteTransaction]:
        """One atomic unit: on disk when the block is left, rolled back whole on any exception."""
        return _Writing(self, project, who, action)

    def stamp(self, project: str) -> int:
        """A number that changes whenever any process has committed a change to the project."""
        with translated(self.path):
            return self._touched(project)

    def projects(self) -> list[str]:
        """The names of all projects, oldest first."""
        with translated(self.path):
            reader = self._take_reader()
            opened = self._opened
            try:
                return [name for (name,) in reader.execute(SQL["projects"])]
            finally:
                self._give_back(reader, opened)

    def about(self) -> dict[str, object]:
        """The kind of store, its file, the version of its format, its size on disk, and what this process has open."""
        with translated(self.path):
            self._open()
            sizes = [os.path.getsize(path) for path in (self.path, self.path + "-wal") if os.path.exists(path)]
        return {
            "kind": "sqlite",
            "path": self.path,
            "format": len(self._migrations),
            "bytes": sum(sizes),
            "log_bytes": sum(sizes[1:]),
            "connections": _connections(self.path),
            "held": len(self._shelf._held),
        }

    def check(self, project: str | None, asked: Asked) -> Checked:
        """Look for faults in a project, or in what all projects share."""
        from polymnia.storage.sqlite import checking

        # Not from the shelf: it would have to read every row, and one may be broken.
        with self.read_file(project or "") as snapshot:
            return checking.check(snapshot, self.path, project, asked, self._clock())

    def mend(self, tx: Transaction | None, kinds: Collection[str], asked: Asked) -> dict[str, int]:
        """Mend faults of these kinds in the project of a transaction, or in what all projects share."""
        from polymnia.storage.sqlite import checking

        if tx is not None:
            assert isinstance(tx, SqliteTransaction)
            return checking.mend(tx, kinds, asked)
        with translated(self.path):
            self._take_turn()
            try:
                return checking.mend_file(self._take_writer(), kinds)
            finally:
                self._turn.give()

    def place(self) -> object:
        """Which file is open, by device and inode."""
        self._open()
        return self._opened

    def _touched(self, project: str) -> int:
        reader = self._take_reader()
        opened = self._opened
        try:
            row = reader.execute(SQL["project"], (project,)).fetchone()
            return int(row[4]) if row else 0
        finally:
            self._give_back(reader, opened)

    def close(self) -> None:
        """Let go of every file. Closing twice is fine; a closed store opens again when it is used.

        A change under way in another thread is left to its end.
        """
        self._opened = None
        self._shelf.clear()
        readers, self._readers = self._readers, []
        if self._owes_forgetting and readers:
            self._forget_old_pages(readers[0])
        self._turn.close(self._close_writer)
        for reader in readers:
            reader.close()

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _take_reader(self) -> apsw.Connection:
        self._open()
        try:
            return self._readers.pop()  # the most recently used one has the warmest cache
        except IndexError:
            return self._connect()

    def _give_back(self, reader: apsw.Connection, opened: tuple[int, int] | None) -> None:
        if opened == self._opened:
            self._readers.append(reader)
            if self._owes_forgetting:
                self._forget_old_pages(reader)
        else:
            reader.close()  # the store was closed, or another file lies at its path, since it was taken

    def _take_turn(self) -> None:
        """Wait for the turn to write to the file that lies at our path when the turn comes."""
        while True:
            if self._opened is None:
                self._open()
            self._turn.take()
            if self._opened is not None and self._opened == _identity(self.path):
                return
            self._turn.give()
            self._open()

    def _take_writer(self) -> apsw.Connection:
        """The one connection that writes; a new one when another file lies at the path."""
        if self._writer is None or self._written != self._opened:
            self._writer, self._written = self._connect(), self._opened
        return self._writer

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self.path)
        # A plan chosen once is kept: planning anew for every bound value costs more than a small statement does.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.set_busy_timeout(self._milliseconds)
        # FULL: a commit is on disk when it returns. Deleted text is overwritten, not just unlinked. A longer log is
        # emptied less often, and pages that change again and again are written back once.
        connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON").fetchall()
        connection.execute("PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY").fetchall()
        return connection

    def _open(self) -> None:
        """Open the file, and open it anew when another one lies at its path: a write there would be lost."""
        if self._opened is not None and self._opened == _identity(self.path):
            return
        with self._opening:
            if self._opened is not None:
                if self._opened == _identity(self.path):
                    return
                self._leave_replaced_file()
            if not self._create and not os.path.exists(self.path):
                raise errors.NotAStore(
                    f"There is no store at {self.path}",
                    hint="Check the path. A store is made by the first server or import.",
                )
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            if not os.path.exists(self.path):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = self._connect()
            if self._version(connection) != len(self._migrations):
                self._turn.take()
                try:
                    self._migrate(connection)
                finally:
                    self._turn.give()
            self._readers.append(connection)
            self._log = _identity(self.path + "-wal")
            self._opened = _identity(self.path)

    def _leave_replaced_file(self) -> None:
        """Let go of a file that another one has replaced, and of its log, which SQLite would read into the new one.

        SQLite itself leaves the log of a moved file where it is. We remove it in our turn, and only if it is the one
        we know: another process may have been faster, and the log that lies there may be the new file's.
        """
        log = self._log
        self.close()
        if self._turn.held:  # by a thread of ours, still at work on the old file
            self._remove_log(log)
            return
        self._turn.take()
        try:
            self._remove_log(log)
        finally:
            self._turn.give()

    def _remove_log(self, log: tuple[int, int] | None) -> None:
        if log is not None and log == _identity(self.path + "-wal"):
            for rest in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(self.path + rest)

    def _version(self, connection: apsw.Connection) -> int:
        """The file's version; refuses what is not ours or newer than we are."""
        connection.execute("BEGIN")  # one view: another process may be making the store right now
        try:
            application = connection.pragma("application_id")
            version = int(connection.pragma("user_version"))
            tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        finally:
            connection.execute("ROLLBACK")
        if application != _APPLICATION:
            if application or version or tables != (0,):
                raise errors.NotAStore(f"{self.path} is a database, but not a Polymnia store")
            return 0
        if version > len(self._migrations):
            raise errors.TooNew(
                f"The store {self.path} has format {version}, made by a newer Polymnia; "
                f"this one knows formats up to {len(self._migrations)}"
            )
        return version

    def _migrate(self, connection: apsw.Connection) -> None:
        version = self._version(connection)  # another process may have been faster
        if version == len(self._migrations):
            return
        if version:
            self._back_up(connection, version)
        elif not _on_network(self.path):
            connection.pragma("journal_mode", "wal")
        connection.execute("BEGIN IMMEDIATE")
        try:
            for name in self._migrations[version:]:
                connection.execute(migration(name)).fetchall()
            connection.execute(f"PRAGMA application_id = {_APPLICATION}").fetchall()
            connection.execute(f"PRAGMA user_version = {len(self._migrations)}").fetchall()
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _back_up(self, connection: apsw.Connection, version: int) -> None:
        """Copy the store as it is before an upgrade changes it."""
        copy = f"{self.path}.format-{version}.{self._clock() // 1_000_000}.backup"
        connection.execute("VACUUM INTO ?", (copy,)).fetchall()

    def _forget_old_pages(self, writer: apsw.Connection) -> None:
        """Empty the write-ahead log, which may still hold pages with a purged text; later if somebody reads them."""
        writer.set_busy_timeout(0)
        try:
            row = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._owes_forgetting = row is None or row[0] != 0
        except apsw.BusyError:
            self._owes_forgetting = True
        finally:
            writer.set_busy_timeout(self._milliseconds)


class _Writing:
    """The frame around a change: the turn, one transaction, and the end of both whatever happens."""

    __slots__ = ("_action", "_project", "_store", "_transaction", "_who", "_writer")

    def __init__(self, store: SqliteStore, project: str, who: str, action: str) -> None:
        self._store = store
        self._project = project
        self._who = who
        self._action = action

    def __enter__(self) -> SqliteTransaction:
        store = self._store
        try:
            store._take_turn()
            try:
                self._writer = store._take_writer()
                self._writer.execute("BEGIN IMMEDIATE")
                self._transaction = SqliteTransaction(
                    self._writer, self._project, self._who, self._action, store._clock(), store._analyst
                )
                return self._transaction
            except BaseException:
                self._end()
                raise
        except (apsw.Error, OSError) as e:
            raise fault(e, store.path) from e

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        store, transaction = self._store, self._transaction
        try:
            try:
                if error is None and transaction.wrote:
                    transaction.finish()
                    self._writer.execute("COMMIT")
                    if transaction.purged:
                        store._forget_old_pages(self._writer)
            finally:
                self._end()
        except (apsw.Error, OSError) as e:
            raise fault(e, store.path) from e
        if isinstance(error, apsw.Error | OSError):
            raise fault(error, store.path) from error

    def _end(self) -> None:
        try:
            # After an error, or when there is nothing to keep. A failed COMMIT may have ended it already.
            writer = getattr(self, "_writer", None)
            if writer is not None and writer.in_transaction:
                writer.execute("ROLLBACK")
        finally:
            self._store._turn.give()


class _Reading:
    """The frame around a read. A class, because the generators of contextlib cost more than a small read does."""

    __slots__ = ("_opened", "_project", "_reader", "_shelf", "_store")

    def __init__(self, store: SqliteStore, project: str, shelf: Shelf | None) -> None:
        self._store = store
        self._project = project
        self._shelf = shelf

    def __enter__(self) -> SqliteSnapshot:
        store = self._store
        try:
            self._reader = store._take_reader()
            self._opened = store._opened
            try:
                self._reader.execute("BEGIN")
                snapshot = SqliteSnapshot(self._reader, self._project)
                return snapshot if self._shelf is None else self._shelf.see(self._project, snapshot)
            except BaseException:
                self._end()
                raise
        except (apsw.Error, OSError) as e:
            raise fault(e, store.path) from e

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        if isinstance(error, apsw.Error | OSError):
            raise fault(error, self._store.path) from error

    def _end(self) -> None:
        if self._reader.in_transaction:
            self._reader.execute("ROLLBACK")
        self._store._give_back(self._reader, self._opened)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _connections(path: str) -> int:
    """How many connections this process has open to a file."""
    open_now = 0
    for connection in apsw.connections():
        with suppress(apsw.ConnectionClosedError):  # by another thread, since they were listed
            open_now += os.path.realpath(connection.filename) == os.path.realpath(path)
    return open_now


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
