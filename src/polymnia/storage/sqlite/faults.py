"""Translates the exceptions of the driver and the operating system into faults."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from polymnia import errors
from polymnia.storage.schema import UNDER_WAY, under_way


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise a fault for exceptions of the driver or the operating system inside the block."""
    try:
        yield
    except (apsw.Error, OSError) as e:
        raise fault(e, path) from e


def fault(e: apsw.Error | OSError, path: str) -> errors.Fault:
    """The fault for an exception of the driver or the operating system."""
    if isinstance(e, OSError):
        return errors.Forbidden(f"Cannot use {path}: {os.strerror(e.errno) if e.errno else e}")
    if isinstance(e, apsw.BusyError | apsw.LockedError):
        return errors.Busy(f"The store {path} is in use by another process that does not let go")
    if isinstance(e, apsw.FullError):
        return errors.NoSpace(f"No space left for the store {path}; the change was rolled back")
    if isinstance(e, apsw.ReadOnlyError | apsw.PermissionsError | apsw.AuthError):
        return errors.Forbidden(f"The store {path} cannot be written")
    if isinstance(e, apsw.CantOpenError):
        return errors.Forbidden(f"The store {path} cannot be opened")
    if isinstance(e, apsw.NotADBError):
        return errors.NotAStore(f"{path} is not a Polymnia store")
    if isinstance(e, apsw.CorruptError):
        return errors.Damaged(f"The store {path} is damaged ({e}); it was left as it is")
    if isinstance(e, apsw.IOError):
        return errors.NoSpace(
            f"The disk could not take or give what the store {path} needs ({e}); the change was rolled back",
            hint="Check free space, quotas and the health of the disk, then try again.",
        )
    if isinstance(e, apsw.ConstraintError) and UNDER_WAY in str(e):
        return under_way(path)
    if isinstance(e, apsw.NoMemError):
        return errors.Unavailable("Not enough memory for this call", hint="Ask for less at once.")
    if isinstance(e, apsw.TooBigError):
        return errors.Invalid("One value is larger than a database row can be")
    return errors.Unavailable(f"The store {path} failed: {type(e).__name__}: {e}")
