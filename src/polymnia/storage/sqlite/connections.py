"""The connections of a process to one file, and its write lock.

The file is opened on first use, and reopened when it has been replaced.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakMethod

import apsw
from msgspec.json import encode

from polymnia.engine.ports import Clock
from polymnia.errors import Damaged, Forbidden, NotAStore
from polymnia.storage import rows
from polymnia.storage.sqlite.statements import SQL, among, checks
from polymnia.storage.sqlite.write_lock import WriteLock
from polymnia.storage.statements import Rows, following

if TYPE_CHECKING:
    from polymnia.storage.sqlite.filters import SqliteFilters

_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"


class ConnectionPool:
    """The connections to one file: a reader per reading thread, one writer, and the write lock."""

    def __init__(self, path: str, *, busy_timeout: float = 30.0, create: bool = True, clock: Clock = rows.now) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))
        self.lock = WriteLock(self.path + "-lock", busy_timeout)
        self._busy_ms = int(min(busy_timeout * 1000, 2**31 - 1))
        self._create = create
        self._clock = clock
        self._opening = threading.Lock()
        self._file: tuple[int, ...] | None = None  # the identity of the open file
        self._log: tuple[int, int] | None = None  # and of its write-ahead log
        self._read_only = False  # whether its folder cannot be written
        self._checkpoints = _Checkpoints(self._checkpoint)
        self._checkpointing = threading.Lock()  # SQLite refuses a second checkpoint at the same time
        self._truncation_due = False  # whether the log may still hold purged texts
        self._writer: apsw.Connection | None = None
        self._writer_file: tuple[int, ...] | None = None
        self._readers: list[apsw.Connection] = []  # the idle ones; a new list for every file that is opened
        self._all: set[apsw.Connection] = set()

    def close(self) -> None:
        """Close every file. Closing twice is fine; a closed store reopens on use.

        A change in progress in another thread is completed.
        """
        self._file = None
        self._checkpoints.stop()
        self._clear_cache()
        readers, self._readers = self._readers, []
        with suppress(IndexError):
            reader = readers.pop()
            if self._truncation_due:
                self._truncate_log(reader)
            self._close(reader)
        self.lock.close(self._close_writer)
        self._close_all(readers)

    def _clear_cache(self) -> None:
        """Drop whatever is cached of the file that is being closed."""

    def _close_writer(self) -> None:
        if self._writer is not None:
            # The last connection to close checkpoints the log; other processes may still have the file open.
            with suppress(apsw.Error):
                self._writer.execute(_CHECKPOINT).fetchall()
            self._close(self._writer)
            self._writer = None

    def _checkpoint(self) -> None:
        """Checkpoint the log, as far as no reader needs older pages."""
        file, readers = self._file, self._readers
        if file is None or file != self._identify():
            return  # the next user of the store opens the file that is there now
        try:
            reader = readers.pop()
        except IndexError:
            reader = self._connect()
        try:
            with self._checkpointing, suppress(apsw.Error):
                reader.execute(_CHECKPOINT).fetchall()
        finally:
            self._release_reader(reader, readers)  # which also truncates the log if that is due

    @property
    def open_connections(self) -> int:
        """The number of open connections. The connections are not touched: other threads may be using them."""
        return len(self._all)

    def _acquire_reader(self) -> tuple[apsw.Connection, list[apsw.Connection]]:
        """A connection for the caller's exclusive use until it is released, and the list it belongs to.

        A connection is removed from the list before use, so no two threads ever share one.
        """
        self._open()
        readers = self._readers
        try:
            return readers.pop(), readers  # the most recently used one has the warmest cache
        except IndexError:
            return self._connect(), readers

    def _release_reader(self, reader: apsw.Connection, readers: list[apsw.Connection]) -> None:
        if self._truncation_due:
            self._truncate_log(reader)
        readers.append(reader)
        if readers is not self._readers:  # the store was closed or its file replaced in the meantime
            self._close_all(readers)

    def _close_all(self, readers: list[apsw.Connection]) -> None:
        with suppress(IndexError):
            while True:
                self._close(readers.pop())

    def _close(self, connection: apsw.Connection) -> None:
        self._all.discard(connection)
        connection.close()

    def _acquire_lock(self) -> None:
        """Acquire the write lock, and make sure that the file at our path by then is the open one."""
        while True:
            if self._file is None:
                self._open()
            if self._read_only:
                raise Forbidden(f"The folder of the store {self.path} cannot be written; what is there can be read")
            self.lock.acquire()
            if self._file is not None and self._file == self._identify():
                return
            self.lock.release()
            self._open()

    def _open_writer(self) -> apsw.Connection:
        """The only connection that writes; a new one if the file was replaced."""
        if self._writer is None or self._writer_file != self._file:
            self._close_writer()
            self._writer, self._writer_file = self._connect(), self._file
        return self._writer

    def _identify(self) -> tuple[int, ...] | None:
        """The identity of the file at our path; in a read-only folder, where changes go unnoticed, its state too."""
        found = identity(self.path)
        if found is not None and self._read_only:
            return (*found, os.stat(self.path).st_mtime_ns, os.path.exists(self.path + "-wal"))
        return found

    def _connect(self) -> apsw.Connection:
        connection = _connect_read_only(self.path) if self._read_only else apsw.Connection(self.path)
        connection.set_busy_timeout(
            self._busy_ms
        )  # first: already a pragma waits while another process recovers the log
        if not self._read_only:
            # FULL: a commit is on disk when it returns. Deleted text is overwritten, not just unlinked. A longer log is
            # emptied less often, and pages that change again and again are written back once.
            connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON").fetchall()
            connection.execute("PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY").fetchall()
        self._all.add(connection)
        # Query plans are reused: planning anew for every bound value costs more than a small statement does.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        return connection

    def _open(self) -> None:
        """Open the file, and reopen it if it was replaced: writes to the old one would be lost."""
        if self._file is not None and self._file == self._identify():
            return
        with self._opening:
            if self._file is not None:
                if self._file == self._identify():
                    return
                self._close_replaced_file()
            from polymnia.storage.sqlite.schema import is_current, migrate

            self._ensure_file()
            self._read_only = not os.access(os.path.dirname(self.path), os.W_OK)
            connection = self._connect()
            try:
                if not is_current(connection, self.path):
                    if self._read_only:
                        raise Forbidden(
                            f"The store {self.path} is of an older format, and its folder cannot be written"
                        )
                    with self.lock:
                        migrate(connection, self.path, self._clock)
            except BaseException:
                self._close(connection)
                raise
            self._readers.append(connection)
            self._log = identity(self.path + "-wal")
            self._file = self._identify()

    def _ensure_file(self) -> None:
        """Ensure that there is a store at the path: create it, or refuse what cannot be one."""
        if os.path.isdir(self.path):
            file = os.path.join(self.path, "memory.db")
            raise NotAStore(
                f"{self.path} is a folder, but a store is a file", hint=f"Name a file in it: --store {file}"
            )
        if not os.path.exists(self.path):
            if not self._create:
                raise NotAStore(
                    f"There is no store at {self.path}",
                    hint="Check the path. `polymnia add`, an import or a server makes a store there.",
                )
            from polymnia.storage.sqlite.schema import create

            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with self.lock:
                if not os.path.exists(self.path):  # another process may have been faster
                    create(self.path)
        elif os.path.isfile(self.path) and not os.path.getsize(self.path):
            raise Damaged(
                f"The file {self.path} is empty (0 bytes), which no store ever is; it was left as it is",
                hint="If a memory was kept in it, bring a backup back with `polymnia restore FILE`. "
                "If a new one is to begin there, delete the empty file.",
            )

    def _close_replaced_file(self) -> None:
        """Close a file that another one has replaced, and remove its log, which SQLite would apply to the new one.

        SQLite itself leaves the log of a moved file where it is. We remove it under the write lock, and only if it is
        the one we know: another process may have been faster, and the log may belong to the new file.
        """
        log = self._log
        self.close()
        if self._read_only:
            return
        if self.lock.held:  # by a thread of this process, still working on the old file
            self._remove_log(log)
            return
        with self.lock:
            self._remove_log(log)

    def _remove_log(self, log: tuple[int, int] | None) -> None:
        if log is not None and log == identity(self.path + "-wal"):
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(self.path + suffix)

    def _truncate_log(self, connection: apsw.Connection) -> None:
        """Empty the write-ahead log, which may still hold pages with a purged text; later if they are being read."""
        with self._checkpointing:
            connection.set_busy_timeout(0)
            try:
                row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._truncation_due = row is None or row[0] != 0
            except apsw.BusyError:
                self._truncation_due = True
            finally:
                connection.set_busy_timeout(self._busy_ms)


def identity(path: str) -> tuple[int, int] | None:
    """The device and inode of a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_QUIET = 0.2  # seconds without a write before a checkpoint
_LATEST = 2.0  # seconds until a checkpoint under constant writes


class _Checkpoints:
    """Runs checkpoints soon after they are requested, in a thread that is started on first use."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = WeakMethod(work)  # the thread does not keep an unused store alive
        self._thread: _CheckpointThread | None = None

    def soon(self) -> None:
        """Request a checkpoint. Only the first request wakes the thread, which then looks for more by itself."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            thread = self._thread = _CheckpointThread(self._work)
            thread.start()
        thread.written = True
        if not thread.due.is_set():
            thread.due.set()

    def stop(self) -> None:
        """Stop the thread until the next request."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stopped.set()
            thread.due.set()


class _CheckpointThread(threading.Thread):
    def __init__(self, work: WeakMethod[Callable[[], None]]) -> None:
        super().__init__(name="polymnia-checkpoint", daemon=True)
        self.due = threading.Event()
        self.written = False
        self.stopped = threading.Event()
        self._work = work

    def run(self) -> None:
        while self.due.wait():
            latest = time.monotonic() + _LATEST
            while self.written and time.monotonic() < latest:
                self.written = False
                if self.stopped.wait(_QUIET):
                    return
            self.due.clear()  # before the work: it may miss what is written from now on
            work = None if self.stopped.is_set() else self._work()
            if work is None:
                return
            work()
            del work


_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def _connect_read_only(path: str) -> apsw.Connection:
    """A read-only connection.

    SQLite needs a file beside the store to follow concurrent writes. If that file does not exist and cannot be created,
    nobody is writing, and the store is opened as immutable.
    """
    from urllib.parse import quote

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
    return connection


class SqliteStatements:
    """Runs the named statements on one connection."""

    __slots__ = ("_execute", "connection")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._execute = connection.execute

    def __call__(self, name: str, values: Sequence[Any] = ()) -> Rows:
        return self._execute(SQL[name], values)

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(SQL[name], rows)

    def few(self, name: str, project: int, values: Sequence[Any]) -> Rows:
        # Bound one by one, which is faster than a JSON list; the last one is repeated up to a power of two, so that a
        # few statements serve all lengths.
        count = 1 << (len(values) - 1).bit_length()
        statement, lists = among(name, count)
        return self._execute(statement, (project, *values, *(values[-1],) * (count - len(values))) * lists)

    def text(self, statement: str, values: Sequence[Any]) -> Rows:
        return self._execute(statement, values)

    @property
    def filters(self) -> SqliteFilters:
        from polymnia.storage.sqlite.filters import SqliteFilters

        return SqliteFilters()

    def check(self, name: str, values: Sequence[Any] | dict[str, Any]) -> Rows:
        return self._execute(checks()[name], values)

    def array(self, values: Iterable[Any]) -> str:
        return encode(list(values)).decode()

    def folded(self, text: str) -> str | None:
        return rows.fold_or_none(text)

    def above(self, prefix: str) -> str | bytes:
        found = following(prefix)
        return b"" if found is None else found  # SQLite sorts every blob after every text
