"""Translates the exceptions of the driver into faults."""

from __future__ import annotations

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
_ENDED = ("08", "57P")  # what the codes of errors begin with that end the connection

DRIVER = (psycopg.Error, psycopg_pool.PoolTimeout)
"""What the driver raises."""


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
    if isinstance(e, _SPACE):
        return errors.NoSpace(f"No space left for the store {place} ({why}); the change was rolled back")
    if isinstance(e, _DENIED):
        return errors.Forbidden(f"The store {place} does not allow it: {why}")
    if isinstance(e, sql.CheckViolation) and e.diag.constraint_name == UNDER_WAY:
        return under_way(place)
    if isinstance(e, sql.ProgramLimitExceeded | sql.DataError):
        return errors.Invalid(f"The store {place} cannot keep this value: {why}")
    if is_lost(e):
        return errors.Interrupted(f"The connection to the store {place} was lost ({why}); nothing was changed")
    return errors.Unavailable(f"The store {place} failed: {type(e).__name__}: {why}")


def is_lost(e: Exception, connection: psycopg.Connection[Any] | None = None) -> bool:
    """Whether the error ended the connection; the server may have said so before the connection is seen to break."""
    if not isinstance(e, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    if connection is not None and (connection.closed or connection.info.status != psycopg.pq.ConnStatus.OK):
        return True
    return e.sqlstate is None or e.sqlstate.startswith(_ENDED)


def unreachable(e: Exception, place: str) -> errors.Fault:
    """The fault for a server that gives no connection."""
    return errors.Unavailable(
        f"Cannot connect to the store {place}: {reason(e)}",
        hint="Check that the server runs and the address, user and password are right.",
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
