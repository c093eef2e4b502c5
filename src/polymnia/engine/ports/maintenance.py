"""Maintenance: what a store is asked and tells when it is checked, copied and restored; and files in the making."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from polymnia.engine.ports import Analyst


class Spot(Struct, frozen=True):
    """Where a check found something: a row, what people call it, and what about it."""

    id: int
    label: str
    detail: Any = None


class Fact(Struct, frozen=True):
    """One kind of thing a check found in a project (None: in the store itself): how often, and the first places."""

    kind: str
    project: str | None
    count: int
    spots: tuple[Spot, ...] = ()


class CheckResult(Struct, frozen=True):
    """What checks found, and for each thing they looked at how many of how many; a reason where they did not look."""

    facts: list[Fact]
    looked: dict[str, tuple[int, int]]
    passed_over: dict[str, str]


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What to check. ``checks`` are names of the six checks of integrity, ``session`` narrows them to one session.

    ``models`` are the models in use. ``spots`` is how many places a fact names, ``rows`` how many rows of a table are
    looked at (the newest), ``sample`` how many texts are compared with the indexes letter by letter, ``pages`` up to
    which size of the file the pages of the substring index are read (None: always).
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
    """A verified copy of a store: where it is (or was taken from), and what it holds."""

    path: str
    bytes: int
    memories: int
    observations: int
    relations: int
    changes: int


class Restored(Struct, frozen=True):
    """A backup that was brought back, and where that is kept which was there before; None if nothing was."""

    copied: Copied
    kept: str | None


def draft_of(path: str) -> str:
    """What a file is called while this process makes it: beside its place, and with our number in it."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")


def remove_left_drafts(path: str) -> None:
    """Remove the drafts of a file whose makers are gone."""
    folder, start = os.path.dirname(path) or ".", f".{os.path.basename(path)}."
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(start) and name.endswith(".tmp"):
                number = name[len(start) : -len(".tmp")]
                if number.isdecimal() and not _is_running(int(number)):
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))


def _is_running(process: int) -> bool:
    if os.name == "nt":  # pragma: no cover - there is no way to ask there that does no harm
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
