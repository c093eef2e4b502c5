"""The tables of a store: detecting their version, creating them, and migrating older ones."""

from __future__ import annotations

import re
from typing import Any

import psycopg

from polymnia.errors import Busy, Forbidden, NotAStore, TooNew, Unavailable
from polymnia.models import new_id
from polymnia.storage.postgres.faults import GRANT
from polymnia.storage.postgres.statements import MIGRATIONS, migration
from polymnia.storage.schema import unfinished

OLDEST = 160_000
"""The oldest version of PostgreSQL that has everything a store needs."""

UNFINISHED = -1
"""The version of a store while a migration into it is under way."""

_MAKING_MS = 300_000  # in which another process has made or upgraded the tables
_META = """
CREATE TABLE store (
  version    bigint NOT NULL,  -- of the tables
  id         text NOT NULL,    -- of this store; another one has another
  partitions bigint NOT NULL
)
"""


def version(connection: psycopg.Connection[Any], place: str) -> tuple[int, str, int] | None:
    """The version of the tables, the id of the store and its partitions; None if there is no store.

    Refuses newer versions.
    """
    try:
        row = connection.execute("SELECT version, id, partitions FROM store").fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return None
    except psycopg.errors.UndefinedColumn:
        row = None
    if row is None:
        raise NotAStore(f"{place} has a table named store that is not Polymnia's", hint="Name another ?schema=.")
    if row[0] == UNFINISHED:
        (source,) = connection.execute("SELECT value FROM migration WHERE key = 'source'").fetchone() or ("",)
        raise unfinished(place, source)
    if row[0] > len(MIGRATIONS):
        raise TooNew(
            f"The store {place} has format {row[0]}, made by a newer Polymnia; "
            f"this one knows formats up to {len(MIGRATIONS)}"
        )
    return int(row[0]), str(row[1]), int(row[2])


def prepare(
    connection: psycopg.Connection[Any], place: str, schema: str, partitions: int, *, create: bool
) -> tuple[str, int]:
    """Create the tables, or migrate them; returns the id of the store and its partitions.

    One process at a time does it.
    """
    if connection.info.server_version < OLDEST:
        raise Forbidden(
            f"The server of {place} is PostgreSQL {connection.info.server_version // 10_000}, which is too old",
            hint=f"Polymnia needs PostgreSQL {OLDEST // 10_000} or newer.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Forbidden(
            f"The database of {place} is encoded as {encoding}, which cannot hold every text",
            hint="Create one with: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0",
        )
    with connection.transaction():
        _use(connection, schema)
        known = _known(connection, place)
        if known is not None and known[0] == len(MIGRATIONS):
            return known[1:]
        if known is None:
            _refuse_hidden(connection, place, schema)
        if known is None and not create:
            raise NotAStore(
                f"There is no store at {place}",
                hint="Check the address. `polymnia add`, an import or a server makes a store there.",
            )
        _take_turns(connection, place, schema)
        known = _known(connection, place)  # another process may have been faster
        if known is None:
            connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            connection.execute(_META)
            known = 0, new_id(), partitions
            connection.execute("INSERT INTO store VALUES ($1, $2, $3)", known)
        for name in MIGRATIONS[known[0] :]:
            connection.execute(migration(name), prepare=False)
        _partition(connection, place, schema, known[2])
        connection.execute("UPDATE store SET version = $1", (len(MIGRATIONS),))
        return known[1:]


def _take_turns(connection: psycopg.Connection[Any], place: str, schema: str) -> None:
    """Wait until no other process makes tables: longer than for a lock on rows, since that takes its time."""
    connection.execute(f"SET LOCAL lock_timeout = {_MAKING_MS}")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (f"polymnia {schema}",))
    except psycopg.errors.LockNotAvailable:
        raise Busy(
            f"Another process has been making or upgrading the tables of the store {place} for "
            f"{_MAKING_MS // 60_000} minutes",
            hint="Start again when it has finished. pg_stat_activity shows what it does.",
        ) from None


def _refuse_hidden(connection: psycopg.Connection[Any], place: str, schema: str) -> None:
    """A schema that this user may not look into only seems to have no store."""
    hidden = "SELECT 1 FROM pg_namespace WHERE nspname = $1 AND NOT has_schema_privilege(oid, 'USAGE')"
    if connection.execute(hidden, (schema,)).fetchone() is not None:
        raise Forbidden(f"The user of {place} may not use the schema {schema}", hint=GRANT)


def _use(connection: psycopg.Connection[Any], schema: str) -> None:
    connection.execute(search_path(schema))


def search_path(schema: str) -> str:
    """The statement that makes a transaction use the tables of a schema."""
    return f'SET LOCAL search_path TO "{schema}"'


def _known(connection: psycopg.Connection[Any], place: str) -> tuple[int, str, int] | None:
    with connection.transaction(force_rollback=True):  # a missing table ends this part, not the whole transaction
        return version(connection, place)


def _partition(connection: psycopg.Connection[Any], place: str, schema: str, count: int) -> None:
    """Give every partitioned table that has none its partitions."""
    tables = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relkind = 'p' "
        "AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid)",
        (schema,),
    ).fetchall()
    try:
        for (table,) in tables:
            for n in range(count):
                values = f"WITH (MODULUS {count}, REMAINDER {n})"
                connection.execute(f"CREATE TABLE {table}_{n} PARTITION OF {table} FOR VALUES {values}", prepare=False)
    except psycopg.errors.OutOfMemory as e:  # a new table is locked until all are made
        raise Unavailable(
            f"The server of {place} has no room for the locks of {count} partitions; nothing was made",
            hint=f"Set max_locks_per_transaction of the server to {2 * count} or more and restart it, "
            "or name fewer partitions: ?partitions=N in the address.",
        ) from e


LEGAL = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,50}")
"""The names a schema may have."""
