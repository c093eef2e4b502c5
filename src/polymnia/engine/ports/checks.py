"""Checking a store: what is asked of it, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Collection
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
