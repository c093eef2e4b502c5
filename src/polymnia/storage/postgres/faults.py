"""Translates the exceptions of the driver into faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import psycopg_pool
from psycopg import errors as sql

from polymnia import errors
from polymnia.storage.schema import UNDER_WAY, under_way

_SPACE = (sql.DiskFull, sql.ConfigurationLimitExceeded)
_DENIED = (sql.InsufficientPrivilege, sql.ReadOnlySqlTransaction, sql.InvalidAuthorizationSpecification)
_AGAIN = (sql.SerializationFailure, sql.DeadlockDetected)
# What keeps a server from giving a connection, by the words it says so with (there is no code), and what to do.
_ADVICE = {
    "password": "Check user and password. POLYMNIA_STORE may hold both; PGPASSWORD and ~/.pgpass keep a password.",
    "pg_hba.conf": "Have pg_hba.conf of the server let this user in from here, or add ?sslmode=require to the address.",
    'role ".*" does not exist': "Check the user in the address, or have it made: CREATE ROLE name LOGIN.",
    'database ".*" does not exist': "Check the address, or make the database: CREATE DATABASE name ENCODING 'UTF8' "
    "TEMPLATE template0.",
    "too many (connections|clients)|connection slots": "Keep the sum of all pools (?pool=N in the address) below "
    "max_connections, raise that, or put PgBouncer in between.",
    "server does not support SSL": "Have ssl switched on at the server, or take sslmode out of the address.",
    "certificate|(^|[^a-z])(sslmode|port number)": "Check what the address says after the host: the port, sslmode "
    "and the files that it names.",
    "database system is (starting up|shutting down|not (yet )?accepting|in recovery)": "It starts or stops: "
    "try again in a moment.",
}
# Timeouts of a transaction, by their codes, and what the codes of errors begin with that end the connection.
_TIMEOUTS = {"25P03": "idle_in_transaction_session_timeout", "25P04": "transaction_timeout"}
_ENDED = ("08", "57P", *_TIMEOUTS)

DRIVER = (psycopg.Error, psycopg_pool.PoolTimeout)
"""What the driver raises."""
GRANT = (
    "Connect as the user that made the store, or have it grant yours rights on the schema and all its tables and "
    "sequences; a new schema needs the right CREATE on the database."
)
"""What to do where the rights of the user do not suffice."""
_OWN = (
    "The database holds this user to projects of its own: name one of those with --project (see packaging/tenants.sql)."
)
_READ_ONLY = (
    "A standby takes no writes: name the primary. If this database or user was set to read only, have that taken back: "
    "ALTER DATABASE name RESET default_transaction_read_only."
)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise a fault for exceptions of the driver inside the block."""
    try:
        yield
    except DRIVER as e:
        raise fault(e, place) from e


def fault(e: Exception, place: str) -> errors.Fault:
    """The fault for an exception of the driver."""
    why = reason(e)
    if isinstance(e, psycopg_pool.PoolTimeout | psycopg_pool.TooManyRequests):
        return errors.Busy(
            f"All connections to the store {place} were in use for too long; nothing was changed",
            hint="Try again. A larger pool (?pool=N in the address of the store) serves more calls at once.",
        )
    if isinstance(e, sql.LockNotAvailable):
        return errors.Busy(
            f"Another process has been writing to this project for too long ({place}); nothing was changed"
        )
    if isinstance(e, _AGAIN):
        return errors.Interrupted(f"Two changes of the store {place} got in each other's way; nothing was changed")
    if isinstance(e, sql.OutOfMemory) and "shared memory" in why:
        return errors.Interrupted(
            f"The server of the store {place} had no room for more locks; nothing was changed",
            hint="Call again. If it happens again, raise max_locks_per_transaction of the server.",
        )
    if isinstance(e, sql.QueryCanceled):
        return errors.Unavailable(
            f"The server of the store {place} broke off a statement ({why}); nothing was changed",
            hint="Call again. If this user or database has a statement_timeout, raise it: ALTER ROLE name SET "
            "statement_timeout = '5min'.",
        )
    if isinstance(e, _SPACE):
        return errors.NoSpace(f"No space left for the store {place} ({why}); the change was rolled back")
    if isinstance(e, _DENIED):
        hint = (
            _READ_ONLY if isinstance(e, sql.ReadOnlySqlTransaction) else _OWN if "row-level security" in why else GRANT
        )
        return errors.Forbidden(f"The store {place} does not allow it: {why}; nothing was changed", hint=hint)
    if isinstance(e, sql.CheckViolation) and e.diag.constraint_name == UNDER_WAY:
        return under_way(place)
    if isinstance(e, sql.ProgramLimitExceeded | sql.DataError):
        return errors.Invalid(f"The store {place} cannot keep this value: {why}")
    if is_lost(e):
        setting = _TIMEOUTS.get(getattr(e, "sqlstate", None) or "")
        hint = f"Call again. If it happens again, raise the timeout: ALTER ROLE name SET {setting} = '5min'."
        return errors.Interrupted(
            f"The connection to the store {place} was lost ({why}); nothing was changed", hint=hint if setting else None
        )
    return errors.Unavailable(f"The store {place} failed: {type(e).__name__}: {why}")


def is_lost(e: Exception, connection: psycopg.Connection[Any] | None = None) -> bool:
    """Whether the error ended the connection; the server may have said so before the connection is seen to break."""
    if not isinstance(e, psycopg.Error):
        return False
    if (e.sqlstate or "").startswith(_ENDED):
        return True
    if not isinstance(e, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    broken = connection is not None and (connection.closed or connection.info.status != psycopg.pq.ConnStatus.OK)
    return broken or e.sqlstate is None


def unreachable(e: Exception, place: str) -> errors.Fault:
    """The fault for a server that gives no connection."""
    why = reason(e)
    advice = next((advice for words, advice in _ADVICE.items() if re.search(words, why)), None)
    return errors.Unavailable(
        f"Cannot connect to the store {place}: {why}",
        hint=advice or "Check that the server runs and that host and port of the address are right.",
    )


def unreadable(e: Exception, place: str) -> errors.Fault:
    """The fault for an address that the driver does not understand."""
    why = reason(e)
    if "query parameter" not in why:
        why = re.sub(r'(:| in) ".*"', "", why)  # libpq shows what it could not read, and a password may be in it
    return errors.Invalid(
        f"The address of the store {place} cannot be read: {why}",
        hint="It is postgresql://USER@HOST:PORT/DATABASE?schema=NAME; schema, partitions, pool and direct may follow "
        "the question mark, and what libpq knows, such as sslmode.",
    )


def in_doubt(e: Exception, place: str) -> errors.Fault:
    """The fault for a change of which nobody can say whether it was made."""
    return errors.Unavailable(
        f"The connection to the store {place} was lost while a change was committed ({reason(e)}), and the server "
        "cannot be asked whether it was made",
        hint="When the store answers again, look whether the change is there before you repeat it.",
    )


def reason(e: Exception) -> str:
    """What the server or the driver says, in one line."""
    return str(e).strip().partition("\n")[0] or type(e).__name__
