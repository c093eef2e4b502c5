"""Substring search: a trigram index over the folded texts of all projects, or a scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import apsw

from polymnia.storage.sqlite.project import OpenProject
from polymnia.storage.sqlite.statements import SQL

DAMAGE = (apsw.CorruptError, apsw.SQLError)
"""What SQLite raises for a damaged index: a wrong page, or a table that cannot be opened at all."""

ENDS = "\x01\x01"
"""Appended to each text, so that a trigram starts at every character."""

_FORMAT = 4  # of FTS5's tables
_PROBE = 9  # characters that are searched for

Run: TypeAlias = Callable[..., Any]


def responds(run: Run, base: int, border: int) -> bool:
    """Whether the index finds the newest text it should contain. The cost does not depend on its size."""
    rows = run(SQL["newest_indexed"], (base, border)).fetchall()
    if not rows:
        return True
    id, text = max(rows)
    form = (text + ENDS)[:_PROBE]
    if len(form) < 3:
        return True
    return run(SQL["is_indexed"], (cover(form), id)).fetchone() is not None


def refresh(run: Run) -> None:
    """Make the connection reread the index: a check would use what it has cached."""
    run("SELECT rowid FROM gram WHERE gram MATCH ? LIMIT 1", (quoted("\x01\x01\x01"),)).fetchall()


def empty(run: Run) -> None:
    """Empty the index, whatever its state. Every project then has to index its texts again."""
    run("DELETE FROM gram_config").fetchall()
    run("INSERT INTO gram_config (k, v) VALUES ('version', ?)", (_FORMAT,)).fetchall()
    run("INSERT INTO gram (gram) VALUES ('delete-all')").fetchall()
    run("UPDATE project SET indexed = 0").fetchall()


def cover(form: str) -> str:
    """The query for adjacent trigrams that cover the form; the last may overlap. More of them would only cost time."""
    starts = [*range(0, len(form) - 2, 3), len(form) - 3]
    return " AND ".join(quoted(form[i : i + 3]) for i in dict.fromkeys(starts))


def quoted(term: str) -> str:
    """A term in the query language of the index."""
    return '"' + term.replace('"', '""') + '"'


_SCAN_BELOW = 256  # a project with fewer texts is scanned faster than searched by index
_SCAN_SHORT_BELOW = 20_000  # the same for queries of one or two characters, which have no trigram
_TERMS = 1000  # if a short query starts more trigrams, a scan is cheaper
_COMMON_TERMS = 200  # a short word that starts more trigrams is common
_LAST = 0x10FFFF
_AS_INDEXED = {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}  # FTS5 reads these two as the replacement character


class SubstringSearch(OpenProject):
    """Searches the folded texts of a project."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        if "" in forms:
            return [id for (id,) in self._run(SQL["ids_after"], (self._base, self._top, -1))]
        found = [self._containing(form) for form in dict.fromkeys(forms)]
        return found[0] if len(found) == 1 else sorted(set().union(*found))

    def _containing(self, form: str) -> list[int]:
        found = self._by_index(form)
        if found is None:
            found = {id for (id,) in self._run(SQL["containing_by_scan"], (self._base, self._top, form))}
        return sorted(found)

    def _by_index(self, form: str) -> set[int] | None:
        """What the index finds; None if a scan is faster or the index is damaged."""
        border = self._base + self._indexed
        try:
            match = self._match(form)
            if match is None:
                return None
            found = {id for (id,) in self._run(SQL["containing"], (self._base, border, self._top, form, match))}
            # An emptied index finds nothing, like an intact one without a match.
            if found or responds(self._run, self._base, border):
                return found
        except DAMAGE:
            pass
        self.damage.add("substring index")
        return None

    def _match(self, form: str) -> str | None:
        """The index query for every text with the form and some others; None if a scan is faster."""
        if not self._indexed or self._texts <= (_SCAN_BELOW if len(form) >= 3 else _SCAN_SHORT_BELOW):
            return None
        match = self._cover(form, _TERMS)
        return quoted("\x01\x01\x01") if match == "" else match

    def _cover(self, form: str, limit: int) -> str | None:
        """The index query for a form, empty if nothing matches; None if more than ``limit`` trigrams start with it."""
        if len(form) >= 3:
            return cover(form)
        start = form.translate(_AS_INDEXED)
        terms = self._run(SQL["terms_starting"], (start, _above(start), limit + 1)).fetchall()
        return None if len(terms) > limit else " OR ".join(quoted(term) for (term,) in terms)

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        if self._texts < limit or not self._indexed:
            return False
        try:
            return any(self._is_in_many(form, limit) for form in forms)
        except DAMAGE:
            self.damage.add("substring index")
            return False

    def _is_in_many(self, form: str, limit: int) -> bool:
        match = self._cover(form, _COMMON_TERMS)
        if not match:
            return match is None
        border = self._base + self._indexed
        row = self._run(SQL["candidates"], (self._base, border, match, limit)).fetchone()
        return row is not None and row[0] >= limit

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        found = self._run(SQL["names_starting"], (self._project, prefix, _above(prefix), limit))
        return [name for (name,) in found]

    def uids_starting(self, prefix: str, limit: int) -> list[str]:
        found = self._run(SQL["uids_starting"], (self._project, prefix, _above(prefix), limit))
        return [uid for (uid,) in found]


def _above(prefix: str) -> str | bytes:
    """The least value greater than every text with the prefix."""
    while prefix and ord(prefix[-1]) == _LAST:
        prefix = prefix[:-1]
    if not prefix:
        return b""  # SQLite sorts every blob after every text
    after = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if after == 0xD800 else after)  # no text holds a surrogate
