"""The statements of the .sql files in this folder."""

from __future__ import annotations

import re
from functools import cache

from polymnia.storage.statements import named, read

SQL = named("postgres", "statements.sql")

_NAME = re.compile(r"(?<!:):([a-z]+)\b")


@cache
def checks() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The statements of the checks with the names of their values, which are numbered in this order."""
    return {name: _numbered(text) for name, text in named("postgres", "checks", "checks.sql").items()}


def _numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    names = tuple(dict.fromkeys(_NAME.findall(statement)))
    return _NAME.sub(lambda found: f"${names.index(found[1]) + 1}", statement), names


@cache
def with_numbers(statement: str) -> str:
    """A statement put together of parts, with ``$1``, ``$2`` … in place of each ``?``."""
    first, *rest = statement.split("?")
    return first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1))


MIGRATIONS = ("0001_initial.sql", "0002_shared.sql", "0003_tags.sql", "0004_numbers.sql")
"""Migration N upgrades a store from version N - 1 to N."""


def migration(name: str) -> str:
    """The text of one migration."""
    return read("postgres", "migrations", name)
