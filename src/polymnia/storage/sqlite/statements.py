"""The named statements of the .sql files in this folder."""

from __future__ import annotations

import os

_HERE = os.path.dirname(__file__)


def _read(*parts: str) -> str:
    with open(os.path.join(_HERE, *parts), encoding="utf-8") as file:
        return file.read()


def named(*parts: str) -> dict[str, str]:
    """The statements of a file, each headed by a line ``-- name: …``."""
    found = {}
    for part in _read(*parts).split("-- name: ")[1:]:
        name, _, statement = part.partition("\n")
        found[name.strip()] = statement.strip().rstrip(";")
    return found


SQL = named("statements.sql")

_among: dict[tuple[str, int], str] = {}


def among(name: str, count: int) -> str:
    """The statement with ``count`` placeholders in each ``IN (?)``."""
    found = _among.get((name, count))
    if found is None:
        found = _among[name, count] = SQL[name].replace("IN (?)", f"IN ({', '.join('?' * count)})")
    return found


# Migration N upgrades a store from version N - 1 to N. Loaded only when a store needs it.
MIGRATIONS = (
    "0001_initial.sql", "0002_search.sql", "0003_scopes.sql", "0004_seen.sql", "0005_authors.sql",
    "0006_same_text.sql",
)  # fmt: skip


def migration(name: str) -> str:
    """The text of one migration."""
    return _read("migrations", name)
