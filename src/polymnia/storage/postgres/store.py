"""The store: its operations, and the context managers around every read and write."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import psycopg

from polymnia.engine.ports import Analyst, Clock, Snapshot, Transaction
from polymnia.errors import Fault, Unavailable
from polymnia.importing import importing
from polymnia.models import Author
from polymnia.storage import rows
from polymnia.storage.postgres.connections import DatabasePool, PostgresStatements
from polymnia.storage.postgres.faults import DRIVER, fault, in_doubt, is_lost
from polymnia.storage.postgres.shared import Listener, tell
from polymnia.storage.postgres.snapshot import PostgresSmallProject, PostgresSnapshot, PostgresTransaction
from polymnia.storage.postgres.statements import MIGRATIONS
from polymnia.storage.project import EMPTY, TOUCHED
from polymnia.storage.snapshot import ProjectSnapshot, SmallProjectCache

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Copied, Restored
    from polymnia.storage.copying import BackupFiles
    from polymnia.storage.postgres.copying import DatabaseSource, DatabaseTarget


class PostgresStore(DatabasePool):
    """Stores memories in one schema of a PostgreSQL database, shared by any number of processes on any machine.

    The database is opened on first use; the schema and its tables are created then unless ``create`` is false.
    ``busy_timeout`` is how long a write waits for others, in seconds. ``analyst`` splits texts for the word index.
    ``backup_files`` writes and reads backups; without it there are none.
    """

    def __init__(
        self,
        url: str,
        *,
        busy_timeout: float = 30.0,
        create: bool = True,
        clock: Clock = rows.now,
        analyst: Analyst | None = None,
        backup_files: BackupFiles | None = None,
    ) -> None:
        super().__init__(url, busy_timeout=busy_timeout, create=create)
        self._clock = clock
        self._analyst = analyst
        self._backup_files = backup_files
        self._listener: Listener | None = None
        self._small_projects = SmallProjectCache(PostgresSnapshot, PostgresSmallProject)

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        return _ReadContext(self, project, self._small_projects)

    def read_rows(self, project: str) -> AbstractContextManager[ProjectSnapshot]:
        """The same as ``read``, but never from the cache."""
        return _ReadContext(self, project, None)

    def write(self, project: str, who: Author | str, action: str) -> AbstractContextManager[PostgresTransaction]:
        return _WriteContext(self, project, who, action)

    def stamp(self, project: str) -> int:
        found = self._fetched("project", project)
        return int(found[0][TOUCHED]) if found else 0

    def watch(self, changed: Callable[[str], None]) -> bool:
        if self._listener is None:
            self._open()
            self._listener = Listener(self.address.direct, self.address.schema, self.projects)
        self._listener.add(changed)
        return True

    def projects(self) -> list[str]:
        return [name for (name,) in self._fetched("projects")]

    def about(self) -> dict[str, object]:
        ((size,),) = self._fetched("size", self.address.schema)
        return {
            "kind": "postgresql",
            "path": self.place,
            "format": len(MIGRATIONS),
            "bytes": int(size),
            "log_bytes": 0,
            "connections": self.open_connections,
            "held": len(self._small_projects),
        }

    def check(self, project: str | None, request: CheckRequest) -> CheckResult:
        with importing():
            from polymnia.storage import checks
            from polymnia.storage.postgres.checks import DatabaseChecks

        with self.read_rows(project or "") as snapshot:
            return checks.check(DatabaseChecks(), snapshot, project, request, self._clock())

    def repair(self, tx: Transaction | None, kinds: Collection[str], request: CheckRequest) -> dict[str, int]:
        with importing():
            from polymnia.storage import checks
            from polymnia.storage.postgres.checks import DatabaseChecks

        if tx is None:
            return {}  # what all projects share is the server's to repair
        assert isinstance(tx, PostgresTransaction)
        return checks.repair(DatabaseChecks(), tx, kinds, request)

    def back_up(self, path: str, *, overwrite: bool = False) -> Copied:
        with importing():
            from polymnia.storage.postgres import backups

        return backups.back_up(self, self._files(), path, overwrite=overwrite)

    def restore(self, path: str) -> Restored:
        with importing():
            from polymnia.storage.postgres import backups

        restored = backups.restore(self, self._files(), path)
        self.close()  # drops the cache
        return restored

    def _files(self) -> BackupFiles:
        if self._backup_files is None:
            raise Unavailable(
                f"The store {self.place} was opened without files for backups", hint="Open it with polymnia.connect()."
            )
        return self._backup_files

    def as_source(self) -> DatabaseSource:
        """The store as the source of a copy."""
        with importing():
            from polymnia.storage.postgres.copying import DatabaseSource

        return DatabaseSource(self)

    def as_target(self) -> DatabaseTarget:
        """The store as the target of a copy, which makes it. Whoever asks for it closes it."""
        with importing():
            from polymnia.storage.postgres.copying import DatabaseTarget

        return DatabaseTarget(self)

    def identity(self) -> object:
        self._open()
        return self._id

    def close(self) -> None:
        if self._listener is not None:
            self._listener.stop()
            self._listener = None
        self._small_projects.clear()
        super().close()

    def _fetched(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that needs no snapshot."""
        try:
            run, found = self.begin(writes=False, first=lambda run: run(statement, values).fetchall())
            self.end(run, read=True)
        except DRIVER as e:
            raise fault(e, self.place) from e
        return list(found)


class _WriteContext:
    """The context of a change: one transaction, which begins by locking the project's row."""

    __slots__ = ("_action", "_project", "_run", "_store", "_transaction", "_who", "_xid")

    def __init__(self, store: PostgresStore, project: str, who: Author | str, action: str) -> None:
        self._store = store
        self._project = project
        self._who = who
        self._action = action

    def __enter__(self) -> PostgresTransaction:
        store = self._store
        try:
            self._run, row = store.begin(writes=True, first=self._lock)
            self._xid = row[-1]
            try:
                store.plan_for(self._run, row[0], row[1])
                self._transaction = PostgresTransaction(
                    self._run, self._project, self._who, self._action, store._clock(), store._analyst, row[:-1]
                )
            except BaseException:
                store.end(self._run)
                raise
        except DRIVER as e:
            raise fault(e, store.place) from e
        return self._transaction

    def _lock(self, run: PostgresStatements) -> tuple[Any, ...]:
        values = (self._project,)
        row = run("lock_known_project", values).fetchone() or run("lock_project", values).fetchone()
        return tuple(row)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        store, run, lost = self._store, self._run, None
        try:
            if error is None and self._transaction.wrote:
                self._transaction.finish()
                if self._transaction.changed:
                    tell(run, store.address.schema, self._project)
                lost = self._commit()
        except DRIVER as e:
            raise fault(e, store.place) from e
        finally:
            store.end(run)  # its connection too: whoever asks below needs one
        if lost is not None and not self._was_made(lost):
            raise fault(lost, store.place) from lost
        if isinstance(error, DRIVER):
            raise fault(error, store.place) from error

    def _commit(self) -> psycopg.Error | None:
        """Commit; returns the error if the connection was lost meanwhile, and with it the answer."""
        try:
            self._run.commit()
        except psycopg.Error as e:
            if not is_lost(e, self._run.connection):
                raise
            return e
        return None

    def _was_made(self, lost: psycopg.Error) -> bool:
        """Whether the change was committed although the answer was lost."""
        try:
            # Once this holds the project's lock, the lost transaction has ended, one way or the other.
            run, _ = self._store.begin(writes=True, first=self._lock)
            try:
                return self._transaction.was_made(run, self._xid)
            finally:
                self._store.end(run)
        except (*DRIVER, Fault) as e:
            raise in_doubt(lost, self._store.place) from e


class _ReadContext:
    """The context of a read: a transaction that sees one moment, beginning with the project's row."""

    __slots__ = ("_cache", "_project", "_run", "_store")

    def __init__(self, store: PostgresStore, project: str, cache: SmallProjectCache | None) -> None:
        self._store = store
        self._project = project
        self._cache = cache

    def __enter__(self) -> ProjectSnapshot:
        store, project, cache = self._store, self._project, self._cache
        try:
            self._run, found = store.begin_reading(project)
            row = found or EMPTY
            try:
                store.plan_for(self._run, row[0], row[1])
                if cache is None:
                    return PostgresSnapshot(self._run, project, row)
                return cache.open(self._run, project, row)
            except BaseException:
                store.end(self._run)
                raise
        except DRIVER as e:
            raise fault(e, store.place) from e

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._store.end(self._run, read=error is None)
        if error is not None and isinstance(error, DRIVER):
            raise fault(error, self._store.place) from error
