"""StatementRunner by name: what the code that all engines share asks an engine to run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from polymnia.storage.filters import FilterSyntax


class Rows(Protocol):
    """The answer to a statement."""

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""


class StatementRunner(Protocol):
    """Runs the named statements of an engine on one connection."""

    def __call__(self, name: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement."""

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement that answers nothing once for each row of values."""

    def few(self, name: str, project: int, values: Sequence[Any]) -> Rows:
        """Run a statement about a few ids or names of a project."""

    def text(self, statement: str, values: Sequence[Any]) -> Rows:
        """Run a statement that was put together of the engine's own parts, with ``?`` for each value."""

    @property
    def filters(self) -> FilterSyntax:
        """How filters are written."""

    def check(self, name: str, values: Sequence[Any] | dict[str, Any]) -> Rows:
        """Run one of the statements of the checks."""

    def array(self, values: Iterable[Any]) -> Any:
        """A list as one value of a statement."""

    def folded(self, text: str) -> Any:
        """The folded form of a text as its column holds it; None if it is the text itself."""

    def above(self, prefix: str) -> Any:
        """A value greater than every text with the prefix."""


def named(*parts: str) -> dict[str, str]:
    """The statements of a file, each headed by a line ``-- name: …``."""
    found = {}
    for part in read(*parts).split("-- name: ")[1:]:
        name, _, statement = part.partition("\n")
        found[name.strip()] = statement.strip().rstrip(";")
    return found


def read(*parts: str) -> str:
    """The text of a file of this package."""
    with open(os.path.join(os.path.dirname(__file__), *parts), encoding="utf-8") as file:
        return file.read()


_LAST = 0x10FFFF


def following(prefix: str) -> str | None:
    """The least text greater than every text with the prefix, by code points; None if there is none."""
    while prefix and ord(prefix[-1]) == _LAST:
        prefix = prefix[:-1]
    if not prefix:
        return None
    after = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if after == 0xD800 else after)  # no text holds a surrogate
