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
    """The findings of checks; ``looked`` is (examined, total) for each subject, ``passed_over`` why one was skipped."""

    facts: list[Fact]
    looked: dict[str, tuple[int, int]]
    passed_over: dict[str, str]


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


def draft_of(path: str) -> str:
    """The temporary path of a file while this process writes it: in the same folder, with the process id in it."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")


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
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
