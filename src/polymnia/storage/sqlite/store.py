"""The store: its operations, and the context managers around every read and write."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from polymnia.engine.ports import Analyst, Clock, Snapshot, Transaction
from polymnia.importing import importing
from polymnia.models import Author
from polymnia.storage import rows
from polymnia.storage.project import EMPTY, TOUCHED
from polymnia.storage.snapshot import ProjectSnapshot, SmallProjectCache
from polymnia.storage.sqlite.connections import ConnectionPool, SqliteStatements
from polymnia.storage.sqlite.faults import fault, translated
from polymnia.storage.sqlite.snapshot import SqliteSmallProject, SqliteSnapshot, SqliteTransaction
from polymnia.storage.sqlite.statements import MIGRATIONS, SQL

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Copied, Restored
    from polymnia.storage.sqlite.copying import FileSource, FileTarget


class SqliteStore(ConnectionPool):
    """Stores memories in one SQLite file shared by any number of processes and threads.

    The file is opened on first use, and created then unless ``create`` is false. ``busy_timeout`` is how long a write
    waits for others, in seconds. ``analyst`` splits texts for the word index; without one there is no such index, and
    each search reads the texts itself.
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
        super().__init__(path, busy_timeout=busy_timeout, create=create, clock=clock)
        self._analyst = analyst
        self._small_projects = SmallProjectCache(SqliteSnapshot, SqliteSmallProject)

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        return _ReadContext(self, project, self._small_projects)

    def read_file(self, project: str) -> AbstractContextManager[ProjectSnapshot]:
        """The same as ``read``, but never from the cache."""
        return _ReadContext(self, project, None)

    def write(self, project: str, who: Author | str, action: str) -> AbstractContextManager[SqliteTransaction]:
        return _WriteContext(self, project, who, action)

    def stamp(self, project: str) -> int:
        found = self._fetched("project", project)
        return int(found[0][TOUCHED]) if found else 0

    def watch(self, changed: Callable[[str], None]) -> bool:
        return False

    def projects(self) -> list[str]:
        return [name for (name,) in self._fetched("projects")]

    def about(self) -> dict[str, object]:
        with translated(self.path):
            self._open()
            sizes = [os.path.getsize(path) for path in (self.path, self.path + "-wal") if os.path.exists(path)]
        return {
            "kind": "sqlite",
            "path": self.path,
            "format": len(MIGRATIONS),
            "bytes": sum(sizes),
            "log_bytes": sum(sizes[1:]),
            "connections": self.open_connections,
            "held": len(self._small_projects),
        }

    def check(self, project: str | None, request: CheckRequest) -> CheckResult:
        with importing():
            from polymnia.storage import checks
            from polymnia.storage.sqlite.checks import FileChecks

        # Not from the cache, which has to read every row: one may be broken.
        with self.read_file(project or "") as snapshot:
            return checks.check(FileChecks(), snapshot, project, request, self._clock())

    def repair(self, tx: Transaction | None, kinds: Collection[str], request: CheckRequest) -> dict[str, int]:
        with importing():
            from polymnia.storage import checks
            from polymnia.storage.sqlite.checks import FileChecks, repair_file

        if tx is not None:
            assert isinstance(tx, SqliteTransaction)
            return checks.repair(FileChecks(), tx, kinds, request)
        with translated(self.path), self.writer() as writer:
            return repair_file(writer, kinds)

    def back_up(self, path: str, *, overwrite: bool = False) -> Copied:
        from polymnia.storage.sqlite import backups

        return backups.back_up(self, path, overwrite=overwrite)

    def restore(self, path: str) -> Restored:
        from polymnia.storage.sqlite import backups

        restored = backups.restore(self, path)
        self.close()  # drops the cache and the readers of the former content
        return restored

    def as_source(self) -> FileSource:
        """The store as the source of a copy."""
        with importing():
            from polymnia.storage.sqlite.copying import FileSource

        return FileSource(self)

    def as_target(self) -> FileTarget:
        """The store as the target of a copy, which makes it. Whoever asks for it closes it."""
        with importing():
            from polymnia.storage.sqlite.copying import FileTarget

        return FileTarget(self.path, self.lock)

    @contextmanager
    def reader(self) -> Iterator[apsw.Connection]:
        """A connection for reading."""
        reader, readers = self._acquire_reader()
        try:
            yield reader
        finally:
            self._release_reader(reader, readers)

    @contextmanager
    def writer(self) -> Iterator[apsw.Connection]:
        """The connection for writing, with the write lock held."""
        self._acquire_lock()
        try:
            yield self._open_writer()
            self._checkpoints.soon()
        finally:
            self.lock.release()

    def identity(self) -> object:
        self._open()
        return self._file

    def _fetched(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that needs no snapshot."""
        with translated(self.path), self.reader() as reader:
            return reader.execute(SQL[statement], values).fetchall()

    def _clear_cache(self) -> None:
        self._small_projects.clear()


class _WriteContext:
    """The context of a change: the write lock and one transaction, both ended whatever happens."""

    __slots__ = ("_action", "_project", "_store", "_transaction", "_who", "_writer")

    def __init__(self, store: SqliteStore, project: str, who: Author | str, action: str) -> None:
        self._store = store
        self._project = project
        self._who = who
        self._action = action

    def __enter__(self) -> SqliteTransaction:
        store = self._store
        try:
            store._acquire_lock()
            try:
                self._writer = store._open_writer()
                self._writer.execute("BEGIN IMMEDIATE")
                self._transaction = SqliteTransaction(
                    SqliteStatements(self._writer),
                    self._project,
                    self._who,
                    self._action,
                    store._clock(),
                    store._analyst,
                )
                return self._transaction
            except BaseException:
                self._end()
                raise
        except (apsw.Error, OSError) as e:
            raise fault(e, store.path) from e

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        store, transaction = self._store, self._transaction
        try:
            try:
                if error is None and transaction.wrote:
                    transaction.finish()
                    self._writer.execute("COMMIT")
                    if transaction.purged:
                        store._truncate_log(self._writer)
                    store._checkpoints.soon()
            finally:
                self._end()
        except (apsw.Error, OSError) as e:
            raise fault(e, store.path) from e
        if isinstance(error, apsw.Error | OSError):
            raise fault(error, store.path) from error

    def _end(self) -> None:
        try:
            # After an error, or if there is nothing to commit. A failed COMMIT may have ended the transaction already.
            writer = getattr(self, "_writer", None)
            if writer is not None and writer.in_transaction:
                writer.execute("ROLLBACK")
        finally:
            self._store.lock.release()


class _ReadContext:
    """The context of a read. A class, because the generators of contextlib cost more than a small read does.

    The row of the project is read first, and its statement is not run to its end: as long as it is open, everything
    else is read as of the same moment. A transaction would do the same for two more statements.
    """

    __slots__ = ("_cache", "_cursor", "_project", "_reader", "_readers", "_store")

    def __init__(self, store: SqliteStore, project: str, cache: SmallProjectCache | None) -> None:
        self._store = store
        self._project = project
        self._cache = cache

    def __enter__(self) -> ProjectSnapshot:
        store, project, cache = self._store, self._project, self._cache
        try:
            self._reader, self._readers = reader, _ = store._acquire_reader()
            try:
                self._cursor = reader.execute(SQL["project"], (project,))
                row = self._cursor.fetchone()
                if row is None:  # the statement has ended, so it holds no snapshot
                    reader.execute("BEGIN")
                    row = reader.execute(SQL["project"], (project,)).fetchone() or EMPTY
                run = SqliteStatements(reader)
                return SqliteSnapshot(run, project, row) if cache is None else cache.open(run, project, row)
            except BaseException:
                self._end()
                raise
        except (apsw.Error, OSError) as e:
            raise fault(e, store.path) from e

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._end()
        if error is not None and isinstance(error, apsw.Error | OSError):
            raise fault(error, self._store.path) from error

    def _end(self) -> None:
        cursor, reader = getattr(self, "_cursor", None), self._reader
        if cursor is not None:
            cursor.close()
        if reader.in_transaction:
            reader.execute("ROLLBACK")
        self._store._release_reader(reader, self._readers)
