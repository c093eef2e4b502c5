"""The substring index as a table: what is in it, whether it answers, and emptying it whatever state it is in.

It is one for all projects of a store. Everything in it is made of the texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import apsw

from polymnia.storage.sqlite.statements import SQL

__all__ = ["DAMAGE", "ENDS", "answers", "cover", "empty", "quoted", "refresh"]

DAMAGE = (apsw.CorruptError, apsw.SQLError)
"""What SQLite raises for a damaged index: a wrong page, or a table that cannot be opened at all."""

ENDS = "\x01\x01"
"""Two characters after each text, so that a trigram starts at its every character."""

_FORMAT = 4  # of the tables behind the index, as SQLite makes them
_PROBE = 9  # characters that are looked up

Run: TypeAlias = Callable[..., Any]


def answers(run: Run, base: int, border: int) -> bool:
    """Whether the index finds the newest text it should hold. Costs the same however many there are."""
    rows = run(SQL["newest_indexed"], (base, border)).fetchall()
    if not rows:
        return True
    id, text = max(rows)
    form = (text + ENDS)[:_PROBE]
    if len(form) < 3:
        return True
    return run(SQL["is_indexed"], (cover(form), id)).fetchone() is not None


def refresh(run: Run) -> None:
    """Have the connection read the index anew: a check would go by what it has read before, a search does not."""
    run("SELECT rowid FROM gram WHERE gram MATCH ? LIMIT 1", (quoted("\x01\x01\x01"),)).fetchall()


def empty(run: Run) -> None:
    """Empty the index, whatever is in it. Every project then has to index its texts again."""
    run("DELETE FROM gram_config").fetchall()
    run("INSERT INTO gram_config (k, v) VALUES ('version', ?)", (_FORMAT,)).fetchall()
    run("INSERT INTO gram (gram) VALUES ('delete-all')").fetchall()
    run("UPDATE project SET indexed = 0").fetchall()


def cover(form: str) -> str:
    """Trigrams side by side that cover the form; a last one may overlap. More of them would only cost."""
    starts = [*range(0, len(form) - 2, 3), len(form) - 3]
    return " AND ".join(quoted(form[i : i + 3]) for i in dict.fromkeys(starts))


def quoted(term: str) -> str:
    """A term as the query language of the index takes it."""
    return '"' + term.replace('"', '""') + '"'
