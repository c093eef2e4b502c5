"""The connections of a process to one database, and how statements are run on them."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
import psycopg_pool
from psycopg import RawCursor, generators
from psycopg.abc import Buffer
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg.types.string import StrDumperUnknown

from polymnia.errors import Invalid
from polymnia.storage import rows
from polymnia.storage.postgres import schema
from polymnia.storage.postgres.faults import fault, is_lost, unreachable, unreadable
from polymnia.storage.postgres.statements import SQL, checks, with_numbers
from polymnia.storage.statements import Rows, following

if TYPE_CHECKING:
    from polymnia.storage.postgres.filters import PostgresFilters


class DatabaseConnection(psycopg.Connection[Any]):
    """A connection, and how many rows a project of each partition had when its statements were planned."""

    planned: dict[int, int]


_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
# Every statement goes through an index of one partition, so a connection plans it once: planning it again would cost
# more than running it. Which index is right shows only where there are rows: a plan for a few is made again for many.
# But a kept plan has all partitions in it, in memory and in the locks that each call takes: that is for few.
_KEPT, _MADE_EACH_TIME = "force_generic_plan", "force_custom_plan"
_FEW_PARTITIONS = 32
# Behind a pooler nobody knows what the server's connections have planned.
_NO_PLANS = f"SET LOCAL plan_cache_mode = {_MADE_EACH_TIME}"
_FEW_ROWS = 250
_GROWTH = 2
_NO_TEXT = "\uffff\ufffe\uffff"  # of characters that are none
_IDLE = psycopg.pq.TransactionStatus.IDLE
_DONE = (psycopg.pq.ExecStatus.TUPLES_OK, psycopg.pq.ExecStatus.COMMAND_OK)
_POOL = 16  # connections at most, unless the address says another number
_PARTITIONS = 16
_PREPARED = 400  # statements that a connection keeps prepared: all of ours
_IDLE_SECONDS = 300.0
_PAUSE_SECONDS = 0.05  # between two attempts to connect
_ATTEMPT_SECONDS = 0.5  # in which the pool must give a connection, or is asked again
# A machine that went down says nothing: without these libpq would wait for it for hours.
_WATCHFUL = {"connect_timeout": "10", "keepalives_idle": "20", "keepalives_interval": "5", "keepalives_count": "4"}

# What goes wrong is raised, or tried again; a server's log does not need every attempt.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


_PASSWORD = re.compile(r"[^:/?@]*://[^:/?@]*:[^/]*@")  # and what stands before it


class Address:
    """Where a store is: what libpq connects to, and what is ours in the address (schema, partitions, pool, direct)."""

    def __init__(self, url: str) -> None:
        # A question mark may be in a password, too. Like libpq, a plus sign is read as one, not as a space.
        secret = _PASSWORD.match(url)
        start = secret.end() if secret else 0
        rest, _, query = url[start:].partition("?")
        head = url[:start] + rest
        given = dict(parse_qsl(query.replace("+", "%2B"), keep_blank_values=True))
        self.schema = given.pop("schema", "polymnia")
        if not schema.LEGAL.fullmatch(self.schema):
            raise Invalid(
                f"The schema {self.schema!r} of the store's address is not a plain name",
                hint="Use lower-case letters, digits and underscores (and not pg_ first), for example ?schema=team_a.",
            )
        self.partitions = _number(given.pop("partitions", str(_PARTITIONS)), "partitions")
        self.pool = _number(given.pop("pool", str(_POOL)), "pool")
        direct = given.pop("direct", "")
        # Not urlsplit, which knows one host and one port: libpq takes several, and none.
        user, at, rest = head.partition("://")[2].rpartition("@")
        for special in "@/? ":  # of a password that is written as it is
            user = user.replace(special, quote(special, safe=""))
        hosts, slash, database = rest.partition("/")
        self._head, self._given = f"postgresql://{user}{at}{hosts}{slash}{database}", _WATCHFUL | given
        self.url = _with_query(self._head, self._given)
        # Where word of changes is heard: a pooler in transaction mode does not pass it on.
        self.direct = self.url
        if direct:
            elsewhere = {key: value for key, value in self._given.items() if key not in ("host", "hostaddr", "port")}
            host = direct.replace("/", "%2F")  # of a socket: the query was decoded
            self.direct = _with_query(f"postgresql://{user}{at}{host}{slash}{database}", elsewhere)
        hosts = hosts or quote(given.get("host", ""), safe="")
        port = f":{given['port']}" if "port" in given else ""
        database = f"/{database or quote(given['dbname'], safe='')}" if "dbname" in given else f"{slash}{database}"
        shown = f"?schema={self.schema}" if self.schema != "polymnia" else ""
        self.place = f"postgresql://{hosts}{port}{database}{shown}"  # without a user and a password

    def with_options(self, options: str) -> str:
        """The address to connect to with more settings for the session."""
        return _with_query(self._head, self._given | {"options": f"{self._given.get('options', '')} {options}".strip()})


def _with_query(head: str, given: dict[str, str]) -> str:
    return f"{head}?{urlencode(given, quote_via=quote)}"


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 1024):
        raise Invalid(f"{name} in the store's address is {text!r}, but must be a number from 1 to 1024")
    return int(text)


class DatabasePool:
    """The connections to one database. Opened on first use; one that broke is replaced by another."""

    def __init__(
        self,
        url: str,
        *,
        busy_timeout: float,
        create: bool,
        connections: int | None = None,
        silence: int | None = None,
    ) -> None:
        """``silence`` are the seconds after which a machine that says nothing is given up, if not those of others."""
        self.address = Address(url)
        self._silence: dict[str, Any] = (
            {} if silence is None else {"connect_timeout": silence, "tcp_user_timeout": 1000 * silence}
        )
        self.place = self.address.place
        self._timeout = min(busy_timeout, threading.TIMEOUT_MAX / 2)
        self._create = create
        self._most = connections or self.address.pool
        self._opening = threading.Lock()
        self._pool: psycopg_pool.ConnectionPool[DatabaseConnection] | None = None
        self._sharing = threading.Lock()
        self._spare: DatabaseConnection | None = None  # its last COMMIT was sent, and is not answered yet
        self._takers = 0  # threads that ask the pool for a connection
        self._id = ""
        self._url = self.address.url
        self._keeps_settings = self._keeps_plans = False
        self._options = _OPTIONS
        self.lock_ms = max(1, int(min(busy_timeout * 1000, 2**31 - 1)))
        self._search_path = schema.search_path(self.address.schema)
        self._partitions: dict[int, int] = {}

    def close(self) -> None:
        """Close every connection. Closing twice is fine; a closed store reopens on use."""
        with self._opening:
            pool, self._pool = self._pool, None
        with self._sharing:
            spare, self._spare = self._spare, None
        if pool is not None:
            if spare is not None:
                self._give_back(spare, pool)
            pool.close()

    @property
    def open_connections(self) -> int:
        """The number of open connections."""
        pool = self._pool
        return 0 if pool is None else int(pool.get_stats().get("pool_size", 0))

    def _open(self) -> psycopg_pool.ConnectionPool[DatabaseConnection]:
        pool = self._pool
        if pool is not None:
            return pool
        with self._opening:
            if self._pool is None:
                self._pool = self._connect()
            return self._pool

    def _connect(self) -> psycopg_pool.ConnectionPool[DatabaseConnection]:
        try:
            with self._connect_with_options() as connection:
                self._id, partitions = schema.prepare(
                    connection, self.place, self.address.schema, self.address.partitions, create=self._create
                )
        except psycopg.OperationalError as e:
            raise (fault if e.sqlstate else unreachable)(e, self.place) from e
        except psycopg.Error as e:
            unread = isinstance(e, psycopg.ProgrammingError) and e.sqlstate is None
            raise (unreadable if unread else fault)(e, self.place) from e
        if self._keeps_settings:
            self._keeps_plans = partitions <= _FEW_PARTITIONS
            self._url = self._url_with(_KEPT if self._keeps_plans else _MADE_EACH_TIME)
        return psycopg_pool.ConnectionPool(
            self._url,
            connection_class=DatabaseConnection,
            min_size=1,
            max_size=self._most,
            max_idle=_IDLE_SECONDS,
            timeout=self._timeout,
            reconnect_timeout=0,  # who needs a connection tries again, sooner than the pool would
            kwargs=self._options | self._silence,
            configure=_configure,
            name="polymnia",
            open=True,
        )

    def _connect_with_options(self) -> DatabaseConnection:
        """Connect, and see whether a connection keeps its settings: behind a pooler each transaction sets them."""
        self._url, self._keeps_settings = self._url_with(_KEPT), True
        try:
            connection = connect(self._url)
        except psycopg.OperationalError as e:
            if "startup parameter" not in str(e):
                raise
        else:
            # Not the search_path, which the user may have as a setting of its own.
            if connection.execute("SHOW plan_cache_mode").fetchone() == (_KEPT,):
                return connection
            connection.close()
        self._url, self._keeps_settings = self.address.url, False
        # It may give each transaction to another server, which does not know what was prepared on the one before, or
        # knows another client's statement by the same name.
        self._options = _OPTIONS | _UNPREPARED
        return connect(self._url, prepares=False)

    def _url_with(self, plans: str) -> str:
        """The address to connect to with the settings of every connection."""
        settings = {
            "search_path": self.address.schema,
            "lock_timeout": self.lock_ms,
            "plan_cache_mode": plans,
            "enable_seqscan": "off",
            # Statements and arrays are written for these, whatever the user or the database has.
            "standard_conforming_strings": "on",
            "array_nulls": "on",
        }
        return self.address.with_options(" ".join(f"-c {name}={value}" for name, value in settings.items()))

    def begin(self, *, writes: bool, first: Callable[[PostgresStatements], Any]) -> tuple[PostgresStatements, Any]:
        """Begin a transaction, and run its first statements; returns the connection's statements and their result."""

        def start(run: PostgresStatements) -> Any:
            if writes:
                run.enter()  # for reads a pipeline costs more than it saves
                run.execute(_WRITE)
                if not self._keeps_settings:
                    for setting in (self._search_path, _NO_PLANS, f"SET LOCAL lock_timeout = {self.lock_ms}"):
                        run.execute(setting)
            else:
                run.at_once(self._reading())
            return first(run)

        return self._begun(start)

    def begin_reading(self, project: str) -> tuple[PostgresStatements, tuple[int, ...] | None]:
        """Begin a transaction that reads; returns the connection's statements and the project's row."""
        return self._begun(lambda run: run.project(self._reading(), project))

    def _reading(self) -> str:
        return _READ if self._keeps_settings else f"{_READ}; {self._search_path}; {_NO_PLANS}"

    def _begun(self, start: Callable[[PostgresStatements], Any]) -> tuple[PostgresStatements, Any]:
        """Nothing has happened yet if a start fails, so a broken connection is replaced until the timeout."""
        deadline = time.monotonic() + self._timeout
        while True:
            run = PostgresStatements(self._take(deadline))
            try:
                run.settle()
                return run, start(run)
            except (psycopg.OperationalError, psycopg.InterfaceError) as e:
                lost = is_lost(e, run.connection)
                self.end(run)
                if not lost:
                    raise
                if time.monotonic() > deadline:
                    raise unreachable(e, self.place) from e
                time.sleep(_PAUSE_SECONDS)
            except BaseException:
                self.end(run)
                raise

    def plan_for(self, run: PostgresStatements, project: int, rows: int) -> None:
        """Have statements planned again if the project has grown since they were planned."""
        if rows <= _FEW_ROWS or not self._keeps_plans:
            return
        partition = self._partitions.get(project)
        if partition is None:
            partition = self._partitions[project] = int(run("partition_of", (project,)).fetchone()[0])
        if rows > _GROWTH * run.connection.planned.get(partition, 0):
            run.discard_plans()
            run.connection.planned[partition] = rows

    def _take(self, deadline: float) -> DatabaseConnection:
        """A connection. Raises what keeps the server from giving one, or PoolTimeout if all are in use."""
        with self._sharing:
            spare, self._spare = self._spare, None
            self._takers += spare is None
        if spare is not None:
            return spare
        try:
            return self._take_from_pool(deadline)
        finally:
            with self._sharing:
                self._takers -= 1

    def _take_from_pool(self, deadline: float) -> DatabaseConnection:
        while True:
            pool, left = self._open(), max(0.1, deadline - time.monotonic())
            try:
                return pool.getconn(min(left, _ATTEMPT_SECONDS))
            except psycopg_pool.PoolTimeout:
                if left > _ATTEMPT_SECONDS:
                    continue
                try:
                    connect(self.address.url, **self._silence).close()
                except psycopg.OperationalError as e:
                    raise unreachable(e, self.place) from e
                raise

    def end(self, run: PostgresStatements, *, read: bool = False) -> None:
        """Roll back what is not committed, and give the connection back; a ``read`` has nothing to roll back."""
        with suppress(psycopg.Error):
            if read:
                run.send_commit()
                if self._spared(run.connection):
                    return
                run.settle()
            run.leave()
        self._give_back(run.connection, self._pool)

    def _spared(self, connection: DatabaseConnection) -> bool:
        """Whether a connection was laid aside for the next call, which reads the answer to its COMMIT: nobody waits."""
        with self._sharing:
            if self._spare is not None or self._takers or self._pool is None:
                return False
            self._spare = connection
        return True

    def _give_back(
        self, connection: DatabaseConnection, pool: psycopg_pool.ConnectionPool[DatabaseConnection] | None
    ) -> None:
        if pool is None:
            connection.close()
        else:
            pool.putconn(connection)


_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "cursor_factory": RawCursor,
    "prepare_threshold": 0,
    "application_name": "polymnia",
    "client_encoding": "utf8",  # whatever PGCLIENTENCODING says
}
_UNPREPARED = {"prepare_threshold": None}


def connect(url: str, *, prepares: bool = True, **more: Any) -> DatabaseConnection:
    """A connection of our own, set up as those of the pool."""
    connection = DatabaseConnection.connect(url, **((_OPTIONS if prepares else _OPTIONS | _UNPREPARED) | more))
    _configure(connection)
    return connection


class _TextDumper(StrDumperUnknown):
    """Sends texts. No stored text has a NUL, which the server refuses: one that is looked for is not found."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(_sendable(obj))


def _sendable(text: str) -> str:
    return text.replace("\0", _NO_TEXT) if "\0" in text else text


def _configure(connection: DatabaseConnection) -> None:
    # Every number is one of 64 bits: the driver would choose by the value, and prepare a statement for each choice.
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    connection.adapters.register_dumper(str, _TextDumper)
    connection.prepared_max = _PREPARED
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED  # whatever the database's default is
    connection.planned = {}


class PostgresStatements:
    """Runs the named statements on one connection, in a pipeline: what answers nothing is not waited for."""

    __slots__ = ("_added", "_cursor", "_entered", "_pipeline", "_planned", "connection")

    def __init__(self, connection: DatabaseConnection) -> None:
        self.connection = connection
        self._cursor = connection.cursor
        self._entered: AbstractContextManager[psycopg.Pipeline] | None = None
        self._pipeline: psycopg.Pipeline
        self._added: dict[str, int] = {}  # rows that this transaction has added, and had when plans were discarded
        self._planned: dict[str, int] = {}

    def enter(self) -> None:
        """Begin the pipeline."""
        self._entered = self.connection.pipeline()
        self._pipeline = self._entered.__enter__()

    def leave(self) -> None:
        """End the pipeline, and roll back a transaction that is still open."""
        entered, self._entered = self._entered, None
        try:
            if entered is not None:
                entered.__exit__(None, None, None)
        finally:
            if self.connection.info.transaction_status not in (_IDLE, psycopg.pq.TransactionStatus.UNKNOWN):
                self.connection.execute("ROLLBACK")

    def commit(self) -> None:
        """Commit, and wait until it has happened."""
        done = self._cursor().execute("COMMIT")
        # sync() alone would wait for the answer though a part of what is large may not have been sent yet, for ever.
        self.connection.wait(generators.send(self.connection.pgconn))
        self._pipeline.sync()
        if done.statusmessage != "COMMIT":  # of a transaction that has failed it is ROLLBACK
            raise psycopg.errors.InFailedSqlTransaction("the transaction could not be committed")

    def send_commit(self) -> None:
        """End a read; the driver would prepare every statement again after a ROLLBACK."""
        self.connection.pgconn.send_query(b"COMMIT")
        self.connection.wait(generators.send(self.connection.pgconn))

    def settle(self) -> None:
        """Read the answer to a COMMIT that was sent."""
        pgconn = self.connection.pgconn
        if pgconn.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
            self._checked(self.connection.wait(generators.fetch_many(pgconn))[-1])

    def discard_plans(self) -> None:
        """Have every statement planned again when it is next run."""
        self.execute("DISCARD PLANS")

    def at_once(self, statements: str) -> PGresult:
        """Run statements without values in one round trip; returns the result of the last one.

        What begins and ends a read costs a third of the CPU this way that it costs through the driver's cursors.
        """
        pgconn = self.connection.pgconn
        pgconn.send_query(statements.encode())
        return self._checked(self.connection.wait(generators.execute(pgconn))[-1])

    def _checked(self, result: PGresult) -> PGresult:
        if result.status not in _DONE:
            if self.connection.pgconn.status != psycopg.pq.ConnStatus.OK:
                raise psycopg.OperationalError(result.get_error_message())
            raise psycopg.errors.error_from_result(result)
        return result

    def project(self, begin: str, name: str) -> tuple[int, ...] | None:
        """Begin a transaction and read the row of a project, if there is one."""
        literal = psycopg.pq.Escaping(self.connection.pgconn).escape_literal(_sendable(name).encode())
        found = self.at_once(f"{begin}; {SQL['project'].replace('$1', bytes(literal).decode())}")
        if not found.ntuples:
            return None
        return tuple(int(found.get_value(0, column) or 0) for column in range(found.nfields))

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement by its text."""
        return self._cursor(binary=True).execute(statement, values or None)

    def __call__(self, name: str, values: Sequence[Any] = ()) -> Rows:
        return self._cursor(binary=True).execute(SQL[name], values or None)

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        columns = list(zip(*rows, strict=True))
        if not columns:
            return
        # One statement for all rows, which are sent column by column.
        self(f"{name}_many", [list(column) for column in columns])
        added = self._added[name] = self._added.get(name, 0) + len(columns[0])
        if added > _FEW_ROWS and added > _GROWTH * self._planned.get(name, 0):
            self._planned[name] = added
            self.discard_plans()

    def few(self, name: str, project: int, values: Sequence[Any]) -> Rows:
        return self(name, (project, list(values)))

    def text(self, statement: str, values: Sequence[Any]) -> Rows:
        return self.execute(with_numbers(statement), values)

    @property
    def filters(self) -> PostgresFilters:
        from polymnia.storage.postgres.filters import PostgresFilters

        return PostgresFilters()

    def check(self, name: str, values: Sequence[Any] | dict[str, Any]) -> Rows:
        statement, names = checks()[name]
        return self.execute(statement, [values[name] for name in names] if isinstance(values, dict) else values)

    def array(self, values: Iterable[Any]) -> list[Any]:
        return list(values)

    def folded(self, text: str) -> bytes | None:
        found = rows.fold_or_none(text)
        return None if found is None else found.encode()

    def above(self, prefix: str) -> str | None:
        return following(prefix)
