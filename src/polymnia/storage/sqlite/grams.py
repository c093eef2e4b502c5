"""Substring search: a trigram index over the folded texts of all projects, or a scan."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from polymnia.errors import Damaged
from polymnia.storage.indexes import BATCH, IndexWriter
from polymnia.storage.project import OpenProject
from polymnia.storage.sqlite.connections import SqliteStatements
from polymnia.storage.statements import StatementRunner, following

DAMAGE = (apsw.CorruptError, apsw.SQLError, apsw.NoMemError)
"""What SQLite raises for a damaged index: a wrong page, or a table that cannot be opened at all."""
DAMAGE_WRITING = (*DAMAGE, apsw.ConstraintError)
"""What it raises for one that is written to, which may take what is new for what it has already."""

ENDS = "\x01\x01"
"""Appended to each text, so that a trigram starts at every character."""
_FORMAT = 4  # of FTS5's tables
_PROBE = 9  # characters that are searched for


def responds(run: StatementRunner, base: int, border: int) -> bool:
    """Whether the index finds the newest text it should contain. The cost does not depend on its size."""
    rows = run("newest_indexed", (base, border)).fetchall()
    if not rows:
        return True
    id, text = max(rows)
    form = (text + ENDS)[:_PROBE]
    if len(form) < 3:
        return True
    return run("is_indexed", (cover(form), id)).fetchone() is not None


def refresh(connection: apsw.Connection) -> None:
    """Make the connection reread the index: a check would use what it has cached."""
    connection.execute("SELECT rowid FROM gram WHERE gram MATCH ? LIMIT 1", (_quoted("\x01\x01\x01"),)).fetchall()


def empty(connection: apsw.Connection) -> None:
    """Empty the index, whatever its state. Every project then has to index its texts again."""
    connection.execute("DELETE FROM gram_config").fetchall()
    connection.execute("INSERT INTO gram_config (k, v) VALUES ('version', ?)", (_FORMAT,)).fetchall()
    connection.execute("INSERT INTO gram (gram) VALUES ('delete-all')").fetchall()
    connection.execute("UPDATE project SET indexed = 0").fetchall()


def cover(form: str) -> str:
    """The query for adjacent trigrams that cover the form; the last may overlap. More of them would only cost time."""
    starts = [*range(0, len(form) - 2, 3), len(form) - 3]
    return " AND ".join(_quoted(form[i : i + 3]) for i in dict.fromkeys(starts))


def _quoted(term: str) -> str:
    """A term in the query language of the index."""
    return '"' + term.replace('"', '""') + '"'


_SCAN_BELOW = 256  # a project with fewer texts is scanned faster than searched by index
_SCAN_SHORT_BELOW = 20_000  # the same for queries of one or two characters, which have no trigram
_TERMS = 1000  # if a short query starts more trigrams, a scan is cheaper
_COMMON_TERMS = 200  # a short word that starts more trigrams is common
_AS_INDEXED = {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}  # FTS5 reads these two as the replacement character


class TrigramSearch(OpenProject):
    """Searches the folded texts of a project."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        if "" in forms:
            return [id for (id,) in self._run("ids_after", (self._base, self._top, -1))]
        found = [self._containing(form) for form in dict.fromkeys(forms)]
        return found[0] if len(found) == 1 else sorted(set().union(*found))

    def _containing(self, form: str) -> list[int]:
        found = self._by_index(form)
        if found is None:
            found = {id for (id,) in self._run("containing_by_scan", (self._base, self._top, form))}
        return sorted(found)

    def _by_index(self, form: str) -> set[int] | None:
        """What the index finds; None if a scan is faster or the index is damaged."""
        border = self._base + self._indexed
        try:
            match = self._match(form)
            if match is None:
                return None
            found = {id for (id,) in self._run("containing", (self._base, border, self._top, form, match))}
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
        return _quoted("\x01\x01\x01") if match == "" else match

    def _cover(self, form: str, limit: int) -> str | None:
        """The index query for a form, empty if nothing matches; None if more than ``limit`` trigrams start with it."""
        if len(form) >= 3:
            return cover(form)
        start = form.translate(_AS_INDEXED)
        end = following(start)
        terms = self._run("terms_starting", (start, b"" if end is None else end, limit + 1)).fetchall()
        return None if len(terms) > limit else " OR ".join(_quoted(term) for (term,) in terms)

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
        row = self._run("candidates", (self._base, border, match, limit)).fetchone()
        return row is not None and row[0] >= limit


class TrigramIndex(TrigramSearch, IndexWriter):
    """Keeps the index up to date. A damaged one does not fail a change: texts are scanned until it is rebuilt."""

    def _index_new(self, limit: int) -> None:
        last = min(self._indexed + limit, self._seq)
        while self._indexed < last:
            end = min(self._indexed + BATCH, last)
            new = self._run("unindexed", (self._base + self._indexed, self._base + end)).fetchall()
            try:
                self._run.many("index", ((id, text + ENDS) for id, text in new))
                self._run("flush_index").fetchall()  # here, where damage is caught, instead of anywhere later
            except DAMAGE_WRITING:
                self._drop_substring_index()
                return
            self._indexed = end

    def _index_text(self, id: int, folded: str) -> None:
        self._update_index(id, "index", folded + ENDS)

    def _unindex(self, id: int) -> None:
        self._update_index(id, "unindex")

    def _update_index(self, id: int, statement: str, *values: object) -> None:
        if id <= self._base + self._indexed:
            try:
                self._run(statement, (id, *values))
            except DAMAGE_WRITING:
                self._drop_substring_index()

    def reindex_text(self, id: int) -> None:
        """Index a text again, whatever the index holds of it."""
        self._run("unindex", (id,))
        for number, text in self._run("unindexed", (id - 1, id)).fetchall():
            self._run("index", (number, text + ENDS))

    def _drop_substring_index(self) -> None:
        self._noted = True
        assert isinstance(self._run, SqliteStatements)
        connection = self._run.connection
        try:
            if not connection.in_transaction:  # SQLite rolled it back: what follows would be half of the change
                raise apsw.CorruptError("the change was rolled back")
            empty(connection)  # one table for all projects
        except DAMAGE as e:
            raise Damaged(
                f"The substring index of the store {connection.filename} is damaged and cannot be emptied ({e}); "
                "the change was not made",
                hint="Stop every process that uses it and copy it with `polymnia migrate --from STORE --to NEW`: "
                "memories and history are copied, indexes are made again. Or put a backup in its place.",
            ) from e
        self._indexed = 0

    def _merge_substring_index(self) -> None:
        """Merge the index into one segment: deleting from it only marks entries."""
        if self._indexed:
            try:
                self._run("merge_index").fetchall()
            except DAMAGE_WRITING:
                self._drop_substring_index()
