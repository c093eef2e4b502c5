"""What the server processes of one store share, in tables beside it; and word of changes, from process to process."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakMethod

import psycopg

from polymnia.engine.ports.shared import ALIVE_SECONDS, Holder, Portion
from polymnia.storage.postgres.connections import DatabaseConnection, DatabasePool, PostgresStatements, connect
from polymnia.storage.postgres.faults import DRIVER, fault
from polymnia.storage.statements import Rows, named

SQL = named("postgres", "shared.sql")
_LOG = logging.getLogger("polymnia.storage")

_SECONDS = 2  # in which every call answers
_ALIVE, _CONNECTIONS = float(ALIVE_SECONDS), 8


class PostgresSharedState:
    """The shared state in the tables of the store's schema; see ``ports.shared``. All times are the database's."""

    def __init__(self, url: str, *, idle: float, clock: Callable[[], float] | None = None) -> None:
        # All clients wait for these calls.
        self._pool = DatabasePool(url, busy_timeout=_SECONDS, create=True, connections=_CONNECTIONS, silence=_SECONDS)
        self._idle = max(idle, ALIVE_SECONDS)  # less would drop processes that are alive
        self._clock = clock
        self._number = 0
        self._secret = b""

    @property
    def secret(self) -> bytes:
        if not self._secret:
            with self._changing() as run:
                self._agree(run)
        return self._secret

    def _agree(self, run: PostgresStatements) -> None:
        """Take over the secret that is there, or give the one known: the tables may have been lost."""
        _run(run, "add_secret", self._secret or secrets.token_bytes(32))
        self._secret = bytes(_run(run, "secret").fetchone()[0])

    def join(self, address: str) -> int:
        with self._changing() as run:
            self._agree(run)
            self._number = int(_run(run, "join", self._now(run), address).fetchone()[0])
        return self._number

    def beat(self, figures: bytes) -> int | None:
        with self._changing() as run:
            now = self._now(run)
            _run(run, "drop_windows", now)
            _run(run, "drop_processes", now, self._idle, self._number)
            _run(run, "drop_sessions")
            if _run(run, "beat", now, _ALIVE, figures, self._number).fetchone() is None:
                return None
            return len(_run(run, "alive", now, _ALIVE).fetchall())

    def leave(self) -> None:
        with self._changing() as run:
            _run(run, "leave", self._now(run), self._number)

    def figures(self) -> list[tuple[int, bytes]]:
        with self._changing() as run:
            return [(number, bytes(data)) for number, data in _run(run, "alive", self._now(run), _ALIVE).fetchall()]

    def hold(self, id: str, about: bytes) -> bool:
        with self._changing() as run:
            held = _run(run, "hold", self._now(run), _ALIVE, id, self._number, about)
            return held.fetchone() is not None

    def holder(self, id: str) -> Holder | None:
        with self._changing() as run:
            found = _run(run, "holder", self._now(run), _ALIVE, id).fetchone()
        return None if found is None else Holder(found[0], found[1], bytes(found[2]))

    def take_over(self, id: str, process: int) -> bool:
        with self._changing() as run:
            return _run(run, "take_over", self._number, id, process).fetchone() is not None

    def release(self, ids: Sequence[str]) -> None:
        with self._changing() as run:
            _run(run, "release", list(ids), self._number)

    def take(self, key: str, wanted: int, limit: int, seconds: float) -> Portion:
        with self._changing() as run:
            ends, taken = _run(run, "window", key).fetchone()
            now = self._now(run)  # only once nobody else can take: a window begun while this waited is not a wrong one
            if not now < ends <= now + seconds:
                ends, taken = now + seconds, 0
            granted = max(0, min(wanted, limit - taken))
            if granted:
                _run(run, "set_window", key, ends, taken + granted)
        return Portion(granted, max(0, limit - taken - granted), ends - now)

    def close(self) -> None:
        self._pool.close()

    def _now(self, run: PostgresStatements) -> float:
        return float(_run(run, "now", None if self._clock is None else self._clock()).fetchone()[0])

    @contextmanager
    def _changing(self) -> Iterator[PostgresStatements]:
        """A transaction, which is not flushed to disk: nobody needs it after a crash."""
        pool = self._pool
        try:
            run, _ = pool.begin(writes=True, first=lambda run: run.execute("SET LOCAL synchronous_commit = off"))
            try:
                yield run
                run.commit()
            finally:
                pool.end(run)
        except DRIVER as e:
            raise fault(e, pool.place) from e


def _run(run: PostgresStatements, name: str, *values: Any) -> Rows:
    return run.execute(SQL[name], values)


# ── word of changes ──────────────────────────────────────────────────────────────────────────────────────

_LONGEST = 4000  # bytes of a name that is sent; a longer one is sent as nothing, which means any project
_PAUSES = (0.1, 0.5, 2.0, 5.0)  # seconds until a lost connection is made anew
_DEAF = "What other servers change is heard of late: no connection to listen (look at direct= in the store's address)"
_LOOK_SECONDS = 1.0  # after which a listener looks whether it is still wanted


def channel(schema: str) -> str:
    """The name under which word of a store's changes is sent."""
    return f"polymnia_{schema}"


def tell(run: PostgresStatements, schema: str, project: str) -> None:
    """Send word that a project changes, which arrives when the transaction is committed."""
    _run(run, "notify", channel(schema), project if len(project.encode()) <= _LONGEST else "")


class Listener:
    """A thread with a connection of its own that hears of changes, for as long as somebody wants to."""

    def __init__(self, url: str, schema: str, projects: Callable[[], list[str]]) -> None:
        self._url = url
        self._channel = channel(schema)
        self._projects = WeakMethod(projects)  # the thread does not keep an unused store alive
        self._callbacks: list[Callable[[str], None]] = []
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, changed: Callable[[str], None]) -> None:
        """Call this with the name of every project that changes."""
        with self._lock:
            self._callbacks.append(changed)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="polymnia-listen", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self._stopped.set()

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            failure: Exception | None = None
            try:
                with connect(self._url) as connection:
                    connection.execute(f'LISTEN "{self._channel}"', prepare=False)
                    failures = 0
                    self._tell("")  # of what changed while nobody listened
                    self._hear(connection)
            except (psycopg.Error, OSError) as e:
                failure = e
            failures += 1
            if failure is not None and failures == len(_PAUSES):
                _LOG.warning(f"{_DEAF}: {str(failure).strip()}")
            self._stopped.wait(_PAUSES[min(failures, len(_PAUSES)) - 1])

    def _hear(self, connection: DatabaseConnection) -> None:
        while not self._stopped.is_set():
            for heard in connection.notifies(timeout=_LOOK_SECONDS):
                self._tell(heard.payload)
            if self._projects() is None:
                self.stop()

    def _tell(self, project: str) -> None:
        projects = self._projects()
        names = [project]
        if not project:
            names = []
            with suppress(Exception):  # the store is not there either: somebody asks for stamps meanwhile
                names = projects() if projects is not None else []
        for changed in list(self._callbacks):
            for name in names:
                changed(name)
