"""Substring search: an index over the one, two and three adjacent characters of each folded text, or a scan."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from polymnia.models import fold
from polymnia.storage.indexes import BATCH, IndexWriter
from polymnia.storage.project import OpenProject

_SCAN_BELOW = 256  # a project with fewer texts is scanned faster than searched by index


def _hash(project: int, characters: str) -> int:
    """The entry of some characters of one project in the index that projects share: a signed number of 32 bits."""
    return crc32(characters.encode(), project & 0xFFFFFFFF) - (1 << 31)


def _entries(project: int, folded: str) -> list[int]:
    """The entries of a text. Single ASCII characters have none: nearly every text has them, and a scan is as fast."""
    found = set(folded) - _ASCII
    for form in folded.split("\0"):
        found.update(form[i : i + 2] for i in range(len(form) - 1))
        found.update(form[i : i + 3] for i in range(len(form) - 2))
    return sorted({_hash(project, characters) for characters in found})


_ASCII = frozenset(map(chr, range(128)))


def _cover(project: int, form: str) -> list[int] | None:
    """The entries that every text with the form has: adjacent ones that cover it. None if a scan is needed."""
    if len(form) < 3:
        return None if form in _ASCII else [_hash(project, form)]
    starts = [*range(0, len(form) - 2, 3), len(form) - 3]
    return sorted({_hash(project, form[i : i + 3]) for i in starts})


class GramSearch(OpenProject):
    """Searches the folded texts of a project."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        if "" in forms:
            return [id for (id,) in self._run("ids_after", (self._base, self._top, -1))]
        found: set[int] = set()
        for form in dict.fromkeys(forms):
            found |= self._containing(form)
        return sorted(found)

    def _containing(self, form: str) -> set[int]:
        if "\0" in form:
            return set()  # no text holds it
        needed = _cover(self._project, form) if self._indexed and self._texts > _SCAN_BELOW else None
        if needed is None:
            found = self._run("containing_by_scan", (self._base, self._top, form, form.encode()))
        else:
            border = self._base + self._indexed
            found = self._run("containing", (self._base, border, self._top, form, form.encode(), needed))
        return {id for (id,) in found}

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        if self._texts < limit or not self._indexed:
            return False
        return any(self._is_in_many(form, limit) for form in forms)

    def _is_in_many(self, form: str, limit: int) -> bool:
        needed = _cover(self._project, form)
        if needed is None:
            return True
        row = self._run("candidates", (self._base, self._base + self._indexed, needed, limit)).fetchone()
        return bool(row[0] >= limit)


class GramIndex(GramSearch, IndexWriter):
    """Keeps the index up to date."""

    def _index_new(self, limit: int) -> None:
        last = min(self._indexed + limit, self._seq)
        while self._indexed < last:
            end = min(self._indexed + BATCH, last)
            new = self._run("unindexed", (self._base + self._indexed, self._base + end)).fetchall()
            self._run.many("index", ((row[0], _array(_entries(self._project, _folded(*row[1:])))) for row in new))
            self._indexed = end

    def _index_text(self, id: int, folded: str) -> None:
        if id <= self._base + self._indexed:
            self._run("index", (id, _entries(self._project, folded)))

    def _unindex(self, id: int) -> None:
        if id <= self._base + self._indexed:
            self._run("unindex", (id,))

    def reindex_text(self, id: int) -> None:
        """Index a text again, whatever the index holds of it."""
        self._run("unindex", (id,))
        for row in self._run("unindexed", (id - 1, id)).fetchall():
            self._run("index", (row[0], _entries(self._project, _folded(*row[1:]))))

    def _drop_substring_index(self) -> None:
        self._noted = True
        self._run("empty_grams", (self._project,))
        self._indexed = 0
        self._run("set_indexed", (0, self._project))

    def _merge_substring_index(self) -> None:
        pass  # a deleted entry holds hashes alone, and vacuum removes it


def _array(entries: list[int]) -> str:
    """An array as text: arrays of several lengths are no array."""
    return f"{{{','.join(map(str, entries))}}}"


def _folded(name: str | None, kind: str | None, text: str | None) -> str:
    """What is searched of a row: the name and the kind of a memory, or an observation."""
    return f"{fold(name)}\x01{fold(kind)}" if name is not None and kind is not None else fold(text or "")


def index_entries(project: int, folded: str) -> str:
    """The entries of a folded text, as the statements that index many texts take them."""
    return _array(_entries(project, folded))


def entries_of(project: int, name: str | None, kind: str | None, text: str | None) -> list[int]:
    """The entries the index should have for a row."""
    return _entries(project, _folded(name, kind, text))
