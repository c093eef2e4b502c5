"""The statements of the .sql files in this folder."""

from __future__ import annotations

from functools import cache

from polymnia.storage.statements import named, read

SQL = named("sqlite", "statements.sql")

_among: dict[tuple[str, int], tuple[str, int]] = {}


def among(name: str, count: int) -> tuple[str, int]:
    """The statement with ``count`` placeholders in each ``IN (?)``, and the number of these lists."""
    found = _among.get((name, count))
    if found is not None:
        return found
    lists = SQL[name].count("IN (?)")
    found = _among[name, count] = SQL[name].replace("IN (?)", f"IN ({', '.join('?' * count)})"), lists
    return found


@cache
def checks() -> dict[str, str]:
    """The statements of the checks, which are read when the first check runs."""
    return named("sqlite", "checks", "checks.sql")


# Migration N upgrades a store from version N - 1 to N. Loaded only when a store needs it.
MIGRATIONS = (
    "0001_initial.sql", "0002_search.sql", "0003_scopes.sql", "0004_seen.sql", "0005_authors.sql",
    "0006_same_text.sql",
)  # fmt: skip


def migration(name: str) -> str:
    """The text of one migration."""
    return read("sqlite", "migrations", name)
