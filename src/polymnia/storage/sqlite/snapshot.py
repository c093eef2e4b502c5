"""Reading one project of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import apsw
from msgspec.json import encode

from polymnia.models import Change, Event, Filters, Record, Relation, Seen, Session, Text, Touch, skeleton
from polymnia.storage.sqlite import rows, words
from polymnia.storage.sqlite.statements import SQL, among

__all__ = ["SqliteSnapshot"]

T = TypeVar("T")

_PAGE = 1000
_FEW = 16  # so many are named in the statement itself, which is faster than a list
_SCAN_BELOW = 256  # a project with fewer texts than this is scanned faster than its index is asked
_SCAN_SHORT_BELOW = 20_000  # the same for queries of one or two characters, which have no trigram
_TERMS = 1000  # a short query that starts more trigrams than this is everywhere: a scan is cheaper
_TELLING = 200  # a short word that starts more trigrams than this tells nothing apart
_LAST = 0x10FFFF
_AS_INDEXED = {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}  # FTS5 reads these two as the replacement character


class SqliteSnapshot:
    """One consistent view of one project. A project that does not exist yet is empty."""

    def __init__(self, connection: apsw.Connection, project: str) -> None:
        self._db = connection
        self._run: Callable[..., Any] = connection.execute
        self._project_name = project
        row = self._run(SQL["project"], (project,)).fetchone()
        if row is None:
            row = self._no_project()
        self._project: int = row[0]
        self._seq: int = row[1]
        self._indexed: int = row[2]
        self._texts: int = row[3]
        self._touched: int = row[4]
        self._listed: int = row[5]
        self._passages: int = row[6]
        self._edition: int = row[7]
        self._last_change: int | None = None
        self._base = self._project * rows.SPAN
        self._top = self._base + rows.SPAN - 1

    def _no_project(self) -> tuple[int, ...]:
        return (0, 0, 0, 0, 0, 0, 0, 0)

    @property
    def touched(self) -> int:
        """When the project was last changed: no two changes have one time."""
        return self._touched

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those of the names that exist."""
        if len(names) == 1:
            row = self._run(SQL["id_of"], (self._project, names[0])).fetchone()
            return {} if row is None else {names[0]: row[0]}
        return dict(self._run(SQL["ids_of"], (self._project, encode(names).decode())))

    def ids_ever(self, name: str) -> list[int]:
        """The ids of all records that bear the name or bore it when they were deleted."""
        deleted = self._run(SQL["deleted_named"], (self._base, self._top, name))
        return sorted({*self.ids([name]).values(), *(id for (id,) in deleted)})

    def ids_of(self, uids: Sequence[str]) -> dict[str, int]:
        """The ids of the records with these public ids."""
        return dict(self._run(SQL["ids_of_uids"], (self._project, encode(list(uids)).decode())))

    def uids(self, ids: Sequence[int]) -> dict[int, str]:
        """The public ids of those of the records that are there."""
        mine = [id for id in ids if self._base < id <= self._top]
        return dict(self._run(SQL["uids_of_ids"], (encode(mine).decode(),)))

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records of these ids in the order of their making."""
        loaded: list[Record] = []
        ordered = sorted(id for id in ids if self._base < id <= self._top)
        if not ordered:
            return loaded
        if len(ordered) <= _FEW:
            few = _padded(ordered)
            texts: dict[int, list[str]] = {id: [] for id in ordered}
            for _, memory, text in sorted(self._run(among("texts_of_few", len(few)), few)):
                texts[memory].append(text)
            return [rows.record(row, texts[row[0]]) for row in self._run(among("few_memories", len(few)), few)]
        for start in range(0, len(ordered), _PAGE):
            page = encode(ordered[start : start + _PAGE]).decode()
            loaded += self._with_texts(self._run(SQL["memories"], (page,)).fetchall())
        return loaded

    def _with_texts(self, memories: list[Any]) -> list[Record]:
        texts: dict[int, list[str]] = {row[0]: [] for row in memories}
        for _, memory, text in sorted(self._run(SQL["texts_of_many"], (encode(list(texts)).decode(),))):
            texts[memory].append(text)
        return [rows.record(row, texts[row[0]]) for row in memories]

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record above an id, in the order of their making, a page at a time."""
        after = max(after, self._base)
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(limit, _PAGE)
            page = self._run(SQL["memories_after"], (after, self._top, size)).fetchall()
            if page:
                yield from self._with_texts(page)
                after = page[-1][0]
            if len(page) < size:
                return
            if limit is not None:
                limit -= size

    def newest(self, limit: int) -> list[Record]:
        """The records made last, newest first."""
        ids = [id for (id,) in self._run(SQL["newest"], (self._base, self._top, limit))]
        return self.load(ids)[::-1] if ids else []

    def page(self, skip: int, limit: int) -> list[Record]:
        """The records made last, newest first, without the first so many."""
        ids = [id for (id,) in self._run(SQL["page"], (self._base, self._top, limit, skip))]
        return self.load(ids)[::-1] if ids else []

    def around(self, id: int, reach: int) -> list[int]:
        """The ids of up to so many records made just before a record, and as many made just after it."""
        before = self._run(SQL["ids_before"], (self._base, id, reach)).fetchall()
        after = self._run(SQL["ids_after"], (id, self._top, reach)).fetchall()
        return [near for (near,) in (*reversed(before), *after)]

    def scopes(self) -> list[tuple[str | None, int]]:
        """Every scope that has memories, with how many, in order of their paths; None is the default one."""
        return [(path or None, count) for path, count in self._run(SQL["scopes"], (self._project,))]

    def sessions(self) -> list[Session]:
        """Every session, in the order they began."""
        found = self._run(SQL["sessions"], (self._project,))
        return [
            Session(name, min(began, created or began), updated or began, memories)
            for name, began, memories, created, updated in found
        ]

    def has_session(self, name: str) -> bool:
        """Whether there is a session of that name."""
        return self._run(SQL["session"], (self._project, name)).fetchone() is not None

    def strongest(self, names: Sequence[str], each: int) -> dict[str, list[Relation]]:
        """For each of the names its strongest relations, up to so many: those without a strength first."""
        found: dict[str, dict[int, Relation]] = {}
        for row in self._run(SQL["strongest"], (self._project, encode(list(names)).decode(), each)):
            found.setdefault(row[0], {})[row[1]] = rows.relation(row[1:])
        return {name: sorted(many.values(), key=_weakness)[:each] for name, many in found.items()}

    def relations(self) -> Iterator[Relation]:
        """Every relation, in the order of their making."""
        return map(rows.relation, self._run(SQL["relations"], (self._base, self._top, -1)))

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start or end at one of the names, each once, in the order of their making."""
        # One whose both ends are among the names comes twice; sorting here is cheaper than a union there.
        if not names:
            return []
        if len(names) <= _FEW:
            few = (self._project, *_padded(names))
            found = {row[0]: row for row in self._run(among("relations_of", len(few) - 1), few + few)}
        else:
            given = (self._project, encode(names).decode())
            found = {row[0]: row for row in self._run(SQL["relations_of_many"], given)}
        return [rows.relation(found[id]) for id in sorted(found)]

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start at one of the names, in the order of their making."""
        found = self._run(SQL["relations_from"], (self._project, encode(names).decode()))
        return [rows.relation(row) for row in found]

    def loose_relations(self) -> list[Relation]:
        """The relations whose source names nothing."""
        found = self._run(SQL["loose_relations"], (self._project, self._base, self._top))
        return [rows.relation(row) for row in found]

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        """Every stored relation with one of these (source, target, type)."""
        return [rows.relation(row) for one in ends for row in self._run(SQL["same_relation"], (self._project, *one))]

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records that contain one of the folded forms in name, kind or an observation."""
        if "" in forms:
            return [id for (id,) in self._run(SQL["all_ids"], (self._base, self._top, -1))]
        found = [self._containing(form) for form in dict.fromkeys(forms)]
        return found[0] if len(found) == 1 else sorted(set().union(*found))

    def _containing(self, form: str) -> list[int]:
        match = self._match(form)
        if match is None:
            found = self._run(SQL["containing_by_scan"], (self._base, self._top, form))
        else:
            border = self._base + self._indexed
            found = self._run(SQL["containing"], (self._base, border, self._top, form, match))
        return sorted({id for (id,) in found})

    def _match(self, form: str) -> str | None:
        """The index query that finds every text with the form and some others; None where a scan is better."""
        if not self._indexed or self._texts <= _SCAN_BELOW:
            return None
        if len(form) >= 3:
            return _cover(form)
        if self._texts <= _SCAN_SHORT_BELOW:
            return None
        terms = self._terms(form, _TERMS + 1)
        if len(terms) > _TERMS:
            return None
        return " OR ".join(_quoted(term) for (term,) in terms) or _quoted("\x01\x01\x01")

    def _terms(self, start: str, limit: int) -> list[Any]:
        start = start.translate(_AS_INDEXED)
        found: list[Any] = self._run(SQL["terms_starting"], (start, _above(start), limit)).fetchall()
        return found

    def saying(self, texts: Sequence[str], last: int) -> dict[str, list[int]]:
        """For each of the texts that is an observation, the ids of its records."""
        digests = encode([rows.digest(text) for text in texts]).decode()
        wanted, found = set(texts), dict[str, list[int]]()
        for memory, text in self._run(SQL["saying"], (self._base, self._base + last, digests)):
            if text in wanted:
                found.setdefault(text, []).append(memory)
        return found

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts hold one of the folded forms."""
        if self._texts < limit or not self._indexed:
            return False
        border = self._base + self._indexed
        for form in forms:
            if len(form) < 3:
                terms = self._terms(form, _TELLING + 1)
                if len(terms) > _TELLING:
                    return True
                match = " OR ".join(_quoted(term) for (term,) in terms)
            else:
                match = _cover(form)
            if match:
                row = self._run(SQL["candidates"], (self._base, border, match, limit)).fetchone()
                if row is not None and row[0] >= limit:
                    return True
        return False

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix, in alphabetical order."""
        found = self._run(SQL["names_starting"], (self._project, prefix, _above(prefix), limit))
        return [name for (name,) in found]

    def look_alikes(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs (given name, stored name) that differ but could be taken for one another."""
        pairs = []
        for name in names:
            for (other,) in self._run(SQL["same_look"], (self._project, rows.look(name), name)):
                if skeleton(other) == skeleton(name):
                    pairs.append((name, other))
        return pairs

    def size(self) -> int:
        """About how many texts there are, at least 1."""
        return max(1, self._texts)

    def count(self) -> tuple[int, int]:
        """How many records and relations there are."""
        row = self._run(SQL["count"], (self._base, self._top)).fetchone()
        return (row[0], row[1]) if row else (0, 0)

    def noted(self, key: str) -> str | None:
        """What was kept under the key."""
        row = self._run(SQL["fact"], (self._project, key)).fetchone()
        return row[0] if row else None

    def changes(self, limit: int) -> list[Change]:
        """The newest changes of this project, newest first."""
        from polymnia.storage.sqlite.journal import change

        return [change(self._run, row) for row in self._run(SQL["changes"], (self._project, limit))]

    def change(self, number: int) -> Change | None:
        """One change of this project by its number."""
        from polymnia.storage.sqlite.journal import change

        row = self._run(SQL["change"], (self._project, number)).fetchone()
        return None if row is None else change(self._run, row)

    def history(self, name: str) -> list[Event]:
        """Everything that happened to memories of this name, oldest first."""
        from polymnia.storage.sqlite.journal import history

        return history(self._run, self._project, name)

    def versions(self, id: int) -> list[tuple[Change, Record]]:
        """A memory as it was after each change that is known of it, newest first."""
        from polymnia.storage.sqlite.journal import versions

        return versions(self._run, self._project, id)

    def as_of(self, at: int, name: str | None = None) -> tuple[list[Record], list[Relation]]:
        """The project (or the one name with its relations) as it was at a time."""
        from polymnia.storage.sqlite.journal import as_of

        return as_of(self._run, self._project, at, name)

    def touches(self, start: int | None = None, end: int | None = None) -> list[Touch]:
        """What every change did to each memory, oldest first."""
        from polymnia.storage.sqlite import activity

        return activity.touches(self._run, self._project, self._base, self._top, start, end)

    def seen(self, start: int | None = None, end: int | None = None) -> list[Seen]:
        """How often each memory was read in each hour, oldest first."""
        from polymnia.storage.sqlite import activity

        return activity.seen(self._run, self._base, self._top, start, end)

    @property
    def stamp(self) -> int:
        """A number that another change of the project makes another one."""
        return self._touched

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """The project, its last row, its last indexed text, and the last change of the store."""
        if self._last_change is None:
            self._last_change = self._run(SQL["last_change"]).fetchone()[0]
        return self._project, self._seq, self._listed, self._last_change

    @property
    def edition(self) -> tuple[int, int]:
        """How often the word index was begun anew, and the number of its last passage."""
        return self._edition, self._passages

    def texts(self, after: int, last: int) -> Iterator[Text]:
        """The searchable texts with numbers above one and up to another, in order."""
        return map(words.text, self._run(SQL["texts_between"], (self._base + after, self._base + last)))

    def texts_of(self, numbers: Sequence[int]) -> list[Text]:
        """The searchable texts of these numbers that are there, in order."""
        return list(map(words.text, self._run(SQL["texts_among"], (self._base, encode(list(numbers)).decode()))))

    def passages(self, after: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """The indexed passages above a number, block by block."""
        blocks: Iterator[tuple[int, int, bytes]] = self._run(SQL["blocks"], (self._project, after))
        return blocks

    def postings(self, term: str) -> list[bytes]:
        """Where a term stands."""
        return [data for (data,) in self._run(SQL["postings"], (self._project, term))]

    def terms(self, start: str, end: str, limit: int) -> list[str]:
        """Terms of the word index in a range, in order."""
        return [term for (term,) in self._run(SQL["words_starting"], (self._project, start, end, limit))]

    def gone(self) -> list[int]:
        """The numbers of indexed texts that have been deleted."""
        return [id - self._base for (id,) in self._run(SQL["gone"], (self._base, self._top))]

    def stale(self) -> list[int]:
        """The numbers of texts that the word index has passed but does not hold as they are."""
        return [id - self._base for (id,) in self._run(SQL["stale"], (self._base, self._top))]

    def moved(self, change: int) -> list[int]:
        """The numbers of texts that came, went or changed otherwise than by being made, since a change."""
        return [id - self._base for (id,) in self._run(SQL["moved"], (change, self._project))]

    def vectors(self, model: str, after: int, limit: int) -> list[tuple[int, int, int, bytes]]:
        """Vectors that arrived after another one, in the order of arrival."""
        known = self._run(SQL["model"], (model,)).fetchone()
        if known is None:
            return []
        found: list[tuple[int, int, int, bytes]] = self._run(
            SQL["vectors"], (self._project, known[0], after, limit)
        ).fetchall()
        return found

    def halves(self, arrivals: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors with these arrival numbers."""
        found: list[tuple[int, bytes]] = self._run(SQL["halves"], (encode(list(arrivals)).decode(),)).fetchall()
        return found

    def vectors_of(self, number: int) -> dict[str, list[bytes]]:
        """The vectors of a memory's texts, model by model."""
        id, found = self._base + number, dict[str, list[bytes]]()
        for ref in (id, *(row for row, _ in sorted(self._run(SQL["texts"], (id,)).fetchall()))):
            for model, half in self._run(SQL["halves_of_text"], (ref,)):
                if half:
                    found.setdefault(model, []).append(half)
        return found

    def models(self) -> dict[str, tuple[int, int]]:
        """The models there are vectors of, each with its dimensions and how many vectors there are."""
        return {name: (dimensions, count) for _, name, dimensions, count in self._run(SQL["models"], (self._project,))}

    def matching(self, wanted: Filters, among: Sequence[int] | None = None, limit: int | None = None) -> list[int]:
        """The numbers of the memories that pass the filters, of all or of some; in order, with a limit any so many."""
        from polymnia.storage.sqlite import filters

        statement, values = filters.statement(wanted, self._project, self._base, among, limit)
        return sorted(id - self._base for (id,) in self._run(statement, values))

    def passes_more(self, wanted: Filters, count: int) -> bool:
        """Whether more than so many memories pass the filters."""
        from polymnia.storage.sqlite import filters

        statement, values = filters.statement(wanted, self._project, self._base, None, 1)
        return self._run(f"{statement} OFFSET ?", (*values, count)).fetchone() is not None

    def facets(self, numbers: Sequence[int], limit: int) -> dict[str, list[tuple[str, int]]]:
        """How often each value occurs among these memories, most often first."""
        from polymnia.storage.sqlite import filters

        given = (self._base, encode(list(numbers)).decode(), limit)
        return {facet: self._run(SQL[name], given).fetchall() for facet, name in filters.FACETS.items()}


def _weakness(relation: Relation) -> tuple[float, int]:
    """What relations are put in order by, strongest first: one that somebody drew without a number is sure."""
    return (-1.0 if relation.strength is None else -relation.strength, relation.id)


def _padded(items: Sequence[T]) -> tuple[T, ...]:
    """The items with the last one repeated up to a power of two: so that few statements serve all lengths."""
    size = 1 << (len(items) - 1).bit_length()
    return (*items, *(items[-1],) * (size - len(items)))


def _above(prefix: str) -> str | bytes:
    """What is greater than every text with the prefix and smaller than any other greater text."""
    while prefix and ord(prefix[-1]) == _LAST:
        prefix = prefix[:-1]
    if not prefix:
        return b""  # SQLite holds any blob to be greater than any text
    after = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if after == 0xD800 else after)  # no text holds a surrogate


def _cover(form: str) -> str:
    """Trigrams side by side that cover the form; a last one may overlap. More of them would only cost."""
    starts = [*range(0, len(form) - 2, 3), len(form) - 3]
    return " AND ".join(_quoted(form[i : i + 3]) for i in dict.fromkeys(starts))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
