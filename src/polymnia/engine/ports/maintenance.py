"""Maintenance: requests and results of checking, copying and restoring a store; and temporary files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from polymnia.engine.ports import Analyst


class Spot(Struct, frozen=True):
    """Where a check found something: the row, a readable label, and details."""

    id: int
    label: str
    detail: Any = None


class Fact(Struct, frozen=True):
    """One kind of finding in a project (None: in the store itself): its count, and the first places."""

    kind: str
    project: str | None
    count: int
    spots: tuple[Spot, ...] = ()


class CheckResult(Struct, frozen=True):
    """The findings of checks; ``examined`` is (count, total) for each subject, ``skipped`` why one was skipped."""

    facts: list[Fact]
    examined: dict[str, tuple[int, int]]
    skipped: dict[str, str]


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What to check. ``checks`` are names of the six integrity checks, ``session`` limits them to one session.

    ``models`` are the models in use. ``spots`` is the maximum number of places per fact, ``rows`` how many rows of a
    table are examined (the newest), ``sample`` how many texts are compared with the indexes character by character,
    ``pages`` the file size up to which the pages of the substring index are read (None: always).
    """

    checks: Collection[str]
    is_scope: Callable[[str], bool]
    analyst: Analyst
    session: str | None = None
    models: tuple[str, ...] = ()
    spots: int = 100
    rows: int = 1_000_000
    sample: int = 500
    pages: int | None = None


class Copied(Struct, frozen=True):
    """A verified copy of a store: its path (or that of its source), and what it contains."""

    path: str
    bytes: int
    memories: int
    observations: int
    relations: int
    changes: int


class Restored(Struct, frozen=True):
    """A restored backup, and where the former content was saved; None if there was none."""

    copied: Copied
    kept: str | None


class Migrated(Struct, frozen=True):
    """A verified copy of a store in another one: both places, and what was copied, by table."""

    source: str
    target: str
    projects: int
    rows: int
    tables: dict[str, int]


def draft_of(path: str) -> str:
    """The temporary path of a file while this process writes it: in the same folder, with the process id in it."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")


def sync(path: str) -> None:
    """Flush a file, or (on POSIX) the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unused(path: str) -> str:
    """The path, with a number appended if it is taken."""
    found, n = path, 1
    while os.path.lexists(found):
        n += 1
        found = f"{path}-{n}"
    return found


def remove_left_drafts(path: str) -> None:
    """Remove the temporary files that processes no longer running left behind."""
    folder, start = os.path.dirname(path) or ".", f".{os.path.basename(path)}."
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(start) and name.endswith(".tmp"):
                number = name[len(start) : -len(".tmp")]
                if number.isdecimal() and not _is_running(int(number)):
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))


def _is_running(process: int) -> bool:
    if os.name == "nt":  # pragma: no cover - there is no harmless way to check there
        return True
    try:
        os.kill(process, 0)
    except OSError as e:
        return not isinstance(e, ProcessLookupError)
    return True
