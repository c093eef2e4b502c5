"""The substring index: trigrams of folded texts, one index for all projects, and finding by it or by a scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import apsw

from polymnia.storage.sqlite.project import OpenProject
from polymnia.storage.sqlite.statements import SQL

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


_SCAN_BELOW = 256  # a project with fewer texts than this is scanned faster than its index is asked
_SCAN_SHORT_BELOW = 20_000  # the same for queries of one or two characters, which have no trigram
_TERMS = 1000  # a short query that starts more trigrams than this is everywhere: a scan is cheaper
_TELLING = 200  # a short word that starts more trigrams than this tells nothing apart
_LAST = 0x10FFFF
_AS_INDEXED = {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}  # FTS5 reads these two as the replacement character


class Substrings(OpenProject):
    """The folded texts of a project."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records that contain one of the folded forms in name, kind or an observation."""
        if "" in forms:
            return [id for (id,) in self._run(SQL["all_ids"], (self._base, self._top, -1))]
        found = [self._containing(form) for form in dict.fromkeys(forms)]
        return found[0] if len(found) == 1 else sorted(set().union(*found))

    def _containing(self, form: str) -> list[int]:
        found = self._by_index(form)
        if found is None:
            found = {id for (id,) in self._run(SQL["containing_by_scan"], (self._base, self._top, form))}
        return sorted(found)

    def _by_index(self, form: str) -> set[int] | None:
        """What the index finds; None where a scan is better, or where the index is damaged."""
        border = self._base + self._indexed
        try:
            match = self._match(form)
            if match is None:
                return None
            found = {id for (id,) in self._run(SQL["containing"], (self._base, border, self._top, form, match))}
            # An emptied index answers like a sound one that has nothing.
            if found or answers(self._run, self._base, border):
                return found
        except DAMAGE:
            pass
        self.damage.add("substring index")
        return None

    def _match(self, form: str) -> str | None:
        """The index query that finds every text with the form and some others; None where a scan is better."""
        if not self._indexed or self._texts <= (_SCAN_BELOW if len(form) >= 3 else _SCAN_SHORT_BELOW):
            return None
        match = self._cover(form, _TERMS)
        return quoted("\x01\x01\x01") if match == "" else match

    def _cover(self, form: str, most: int) -> str | None:
        """What the index is asked for a form, empty where it has nothing; None where more trigrams start with it."""
        if len(form) >= 3:
            return cover(form)
        start = form.translate(_AS_INDEXED)
        terms = self._run(SQL["terms_starting"], (start, _above(start), most + 1)).fetchall()
        return None if len(terms) > most else " OR ".join(quoted(term) for (term,) in terms)

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts hold one of the folded forms."""
        if self._texts < limit or not self._indexed:
            return False
        try:
            return any(self._holds_many(form, limit) for form in forms)
        except DAMAGE:
            self.damage.add("substring index")
            return False

    def _holds_many(self, form: str, limit: int) -> bool:
        match = self._cover(form, _TELLING)
        if not match:
            return match is None
        border = self._base + self._indexed
        row = self._run(SQL["candidates"], (self._base, border, match, limit)).fetchone()
        return row is not None and row[0] >= limit

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix, in alphabetical order."""
        found = self._run(SQL["names_starting"], (self._project, prefix, _above(prefix), limit))
        return [name for (name,) in found]

    def uids_starting(self, prefix: str, limit: int) -> list[str]:
        """Public ids that start with the prefix, in alphabetical order."""
        found = self._run(SQL["uids_starting"], (self._project, prefix, _above(prefix), limit))
        return [uid for (uid,) in found]


def _above(prefix: str) -> str | bytes:
    """What is greater than every text with the prefix and smaller than any other greater text."""
    while prefix and ord(prefix[-1]) == _LAST:
        prefix = prefix[:-1]
    if not prefix:
        return b""  # SQLite holds any blob to be greater than any text
    after = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if after == 0xD800 else after)  # no text holds a surrogate
