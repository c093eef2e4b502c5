"""Checks of the indexes and the file: whether they match the texts, missing vectors, and what makes a project slow."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache

import apsw

from polymnia.engine.ports.maintenance import Spot
from polymnia.models import Text, fold
from polymnia.storage.sqlite.checks.view import CheckView
from polymnia.storage.sqlite.grams import DAMAGE, cover, refresh
from polymnia.storage.sqlite.rows import PASSAGE, POSTING
from polymnia.storage.sqlite.statements import MIGRATIONS, SQL, migration

_PIECE = 6  # characters
_TAIL = 20_000  # the most texts outside the word index that are analysed here
_UNINDEXED = 5_000  # a healthy store adds texts to the substring index by the five hundred,
_UNLISTED = 8_000  # and to the word index by the thousand
_GONE = 1_000
_GONE_SHARE = 0.2
_LONG = 1_000_000  # characters
_HUB = 2_000  # relations
_LOG = 256 << 20  # bytes: a large change makes the log long, and its file does not shrink by itself
_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
_OF_INDEX = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


class _Passages:
    """The passages stored in the blocks of the word index."""

    def __init__(self, view: CheckView) -> None:
        self.places: dict[tuple[int, int], tuple[int, int]] = {}  # (text, part) → passage number, block
        self.embedded: set[tuple[int, int]] = set()  # (text, part) of those that get a vector
        self.broken: list[int] = []
        self.count = 0
        for first, count, data in view.run(SQL["blocks"], (view.number, 0)):
            if len(data) != count * PASSAGE.size or first != self.count + 1:
                self.broken.append(first)
                continue
            self.count += count
            for i, row in enumerate(PASSAGE.iter_unpack(data)):
                text, part = row[0], row[4]
                if text:  # a purge leaves zeros
                    self.places[text, part] = first + i, first
                    if row[7]:
                        self.embedded.add((text, part))
                    else:
                        self.embedded.discard((text, part))
        self.texts = {text for text, _ in self.places}


def characters(view: CheckView) -> None:
    """Compare the substring index with the texts it should hold; a sample of them is searched for."""
    if not view.snapshot._indexed:
        return
    try:
        if is_intact(view):
            differing, wrong = compare(view)
            view.found("characters_wrong", [Spot(id, view.label(id)) for id in sorted(differing | wrong)])
            return
        why = "its pages"
    except DAMAGE as e:
        why = str(e)
    view.found("characters_wrong", [Spot(0, view.project or "", why)], view.snapshot._indexed)


def is_intact(view: CheckView) -> bool:
    """Whether SQLite finds the pages of the substring index intact; skipped if there are too many to read."""
    if view.request.pages is not None:
        (pages,) = view.run("PRAGMA page_count").fetchone()
        if pages > view.request.pages:
            view.result.skipped["pages of the substring index"] = "the file is large; a detailed check reads them"
            return True
    refresh(view.run)
    return all(text == "ok" for (text,) in view.run("PRAGMA quick_check(gram)"))


def compare(view: CheckView) -> tuple[set[int], set[int]]:
    """The ids in either the texts or the index but not both, and those of a sample that are indexed wrongly."""
    border = view.base + view.snapshot._indexed
    lowest = view.base + view.lowest()
    indexed = {id for (id,) in view.query("indexed_characters", lowest, border)}
    texts = {view.base + number for number in view.texts() if lowest < view.base + number <= border}
    sample = view.sampled(sorted(texts & indexed), "texts in the index of characters")
    return indexed ^ texts, {id for id in sample if not _is_indexed(view, id)}


def _is_indexed(view: CheckView, id: int) -> bool:
    try:
        form = fold(view.first("text_of", id)[0]).split("\0")[0]
    except UnicodeDecodeError:
        return True  # another check reports it
    # Three places in a single query: queries cost, and a text indexed wrongly differs in one of them.
    middle = len(form) // 2
    pieces = {form[:_PIECE], form[middle : middle + _PIECE], form[-_PIECE:]}
    match = " AND ".join(cover(piece) for piece in sorted(pieces) if len(piece) >= 3)
    return not match or view.run(SQL["is_indexed"], (match, id)).fetchone() is not None


def _is_current(view: CheckView) -> bool:
    """Whether the word index was built by the same version of the analyst."""
    return view.snapshot.noted("words") == view.request.analyst.version


def words(view: CheckView) -> None:
    """Compare the word index with the texts it should hold; of a sample, every term is looked up."""
    border = view.snapshot._listed
    if not border:
        return
    if not _is_current(view):
        view.result.skipped["word index"] = "it was made by another version, and is made anew by a reindex"
        return
    passages = _Passages(view)
    lowest = view.lowest()
    texts = {number for number in view.texts() if lowest < number <= border}
    stale, deleted = set(view.snapshot.stale()), set(view.snapshot.deleted_texts())
    missing = (number for number in texts - passages.texts - stale if any(view.request.analyst(_read(view, [number]))))
    wrong = dict.fromkeys(missing, "not in the word index")
    wrong |= dict.fromkeys(
        (n for n in passages.texts - texts - deleted if n > lowest), "in the word index, but not there"
    )
    wrong |= dict.fromkeys(texts & deleted - stale, "marked as deleted, but there")
    indexed = sorted((texts & passages.texts) - stale - deleted)
    for number in view.sampled(indexed, "texts in the word index"):
        if not _has_terms(view, passages, number):
            wrong[number] = "not found by all its words"
    spots = [Spot(view.base + number, view.label(view.base + number), wrong[number]) for number in sorted(wrong)]
    spots += [Spot(0, f"block {first}", "a block that cannot be read") for first in passages.broken]
    if passages.count != view.snapshot._passages:
        spots.append(Spot(0, "blocks", f"{passages.count} passages, not {view.snapshot._passages}"))
    spots += [Spot(0, term, "a list of places that cannot be read") for term in _broken_postings(view)]
    view.found("words_wrong", spots)


def _read(view: CheckView, numbers: Iterable[int]) -> list[Text]:
    """The readable texts; other checks report broken texts and tags."""
    texts = []
    for number in numbers:
        with suppress(ValueError):
            texts += view.snapshot.texts_of([number])
    return [text for text in texts if all(isinstance(tag, str) for tag in text.tags)]


def _has_terms(view: CheckView, passages: _Passages, number: int) -> bool:
    places: dict[tuple[str, int], list[int]] = {}  # by term and block, so that each postings list is read once
    for one in view.request.analyst(_read(view, [number])):
        place = passages.places.get((one.text, min(one.part, 65535)))
        if place is None:
            return False
        passage, first = place
        for term in one.terms:
            places.setdefault((term, first), []).append(passage)
    for (term, first), numbers in places.items():
        row = view.run(SQL["posting"], (view.number, term, first)).fetchone()
        if row is None or not all(_holds(row[0], passage) for passage in numbers):
            return False
    return True


def _broken_postings(view: CheckView) -> Iterator[str]:
    """The terms whose postings are out of range, judging by the first and last entry of each list."""
    for term, first, data in view.query("postings", view.number):
        if not data or len(data) % POSTING.size:
            yield term
            continue
        low, high = (POSTING.unpack_from(data, at)[0] for at in (0, len(data) - POSTING.size))
        if not first <= low <= high <= view.snapshot._passages:
            yield term


def _holds(postings: bytes, passage: int) -> bool:
    """Whether a passage is in a sorted postings list."""
    count = len(postings) // POSTING.size

    def number(i: int) -> int:
        return int(POSTING.unpack_from(postings, i * POSTING.size)[0])

    at = bisect_left(range(count), passage, key=number)
    return at < count and number(at) == passage


def embeddings(view: CheckView) -> None:
    """Find the passages without a vector of a model in use."""
    if not view.request.models:
        view.result.skipped["embeddings"] = "no model is in use"
        return
    texts, lowest = view.texts(), view.lowest()
    expected: set[tuple[int, int]] = set()
    border, stale = 0, set()
    if _is_current(view):
        border, stale = view.snapshot._listed, set(view.snapshot.stale())
        current = {number for number in texts - stale if number > lowest}
        expected = {one for one in _Passages(view).embedded if one[0] in current}
    tail = sorted(number for number in texts if number > border or number in stale)
    read = tail[-_TAIL:]
    expected.update((one.text, one.part) for one in view.request.analyst(_read(view, read)) if one.embeds)
    view.result.examined["texts with their passages"] = (len(texts) - len(tail) + len(read), len(texts))
    none = expected
    for model in view.request.models:
        have = {(text, part): size for text, part, size in view.query("vectors_of_model", view.number, model)}
        view.found("embedding_missing", _spots(view, model, expected - have.keys()))
        # An empty vector means that the model will never embed the passage.
        none = {one for one in none if have.get(one) == 0}
    view.found("embedding_none", _spots(view, view.request.models[0], none))


def _spots(view: CheckView, model: str, passages: set[tuple[int, int]]) -> Iterator[Spot]:
    owners = {text: view.first("owner", view.base + text) or (str(text), None) for text, _ in passages}
    for text, part in sorted(passages):
        uid, session = owners[text]
        if view.request.session in (None, session):
            yield Spot(view.base + text, uid, (model, part))


# ── performance ────────────────────────────────────────────────────────────────────────────────────────


def performance(view: CheckView) -> None:
    """Find what has grown large enough to be slow."""
    view.find("text_very_long", "observation", long=_LONG)
    hubs = []
    for name, links in view.rows("hubs", "relation", hub=_HUB):
        row = view.first("memory_of_name", view.number, name)
        if row is not None and view.request.session in (None, row[2]):
            hubs.append(Spot(row[0], row[1], links))
    view.found("hub", hubs)
    if view.request.session is not None:
        return
    snapshot = view.snapshot

    def measured(kind: str, size: int, label: str = view.project or "") -> None:
        view.found(kind, [Spot(0, label, size)], size)

    if (behind := snapshot._seq - snapshot._indexed) > _UNINDEXED:
        measured("characters_behind", behind)
    if snapshot._listed and not _is_current(view):
        view.found("words_outdated", [Spot(0, view.project or "", snapshot._listed)])
    elif (pending := snapshot._seq - snapshot._listed) > _UNLISTED:
        measured("words_behind", pending)
    if (marks := len(snapshot.deleted_texts())) > max(_GONE, _GONE_SHARE * snapshot._texts):
        measured("marks_many", marks)
    for model, (_, count) in snapshot.models().items() if view.request.models else ():
        if model not in view.request.models:
            measured("vectors_unused", count, model)


# ── the file, shared by all projects ───────────────────────────────────────────────────────────────────


@cache
def _expected() -> dict[str, tuple[str, str]]:
    """The kind and the statement of every table, index and trigger of this format."""
    empty = apsw.Connection(":memory:")
    for name in MIGRATIONS:
        empty.execute(migration(name)).fetchall()
    found = {name: (kind, sql) for kind, name, sql in empty.execute(_OBJECTS)}
    empty.close()
    return found


def missing_objects(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """The kind, name and statement of everything in the schema that is missing or different."""
    found = {name: sql for _, name, sql in connection.execute(_OBJECTS)}
    return [(kind, name, sql) for name, (kind, sql) in _expected().items() if found.get(name) != sql]


def shape(view: CheckView) -> None:
    """Find tables, indexes and triggers that are missing or different."""
    view.found("shape_differs", [Spot(0, name, kind) for kind, name, _ in missing_objects(view.snapshot._db)])


def damage(view: CheckView, pragma: str = "integrity_check") -> None:
    """Run SQLite's own check of the file; ``quick_check`` does not compare indexes with their tables."""
    lines: list[str] = []
    try:
        refresh(view.run)
        for (text,) in view.run(f"PRAGMA {pragma}(100)"):
            lines += text.splitlines()
    except DAMAGE as e:
        lines.append(str(e))
    (pages,) = view.run("PRAGMA page_count").fetchone()
    view.result.examined["pages of the file"] = (pages, pages)
    spots: dict[str, list[Spot]] = {"characters_wrong": [], "index_damaged": [], "file_damaged": []}
    for line in lines:
        if "fts5" in line.casefold():
            kind = "characters_wrong"
        else:  # a damaged index can be rebuilt from its table
            kind = "index_damaged" if any(sign in line for sign in _OF_INDEX) else "file_damaged"
        if line != "ok":
            spots[kind].append(Spot(0, line))
    for kind, found in spots.items():
        view.found(kind, found)


def foreign_keys(view: CheckView) -> None:
    """Find rows that refer to a project, model or change that does not exist."""
    lost: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in view.run("PRAGMA foreign_key_check"):
        if (table, parent) != ("observation", "memory"):  # reported for its project
            lost[table, parent] = lost.get((table, parent), 0) + 1
    spots = [Spot(0, f"{count} of {table} without {parent}") for (table, parent), count in lost.items()]
    view.found("foreign_key_broken", spots, sum(lost.values()))


def log(view: CheckView) -> None:
    """Find a write-ahead log that is far too long."""
    path = view.snapshot._db.filename + "-wal"
    with suppress(OSError):
        if (size := os.path.getsize(path)) > _LOG:
            view.found("log_long", [Spot(0, os.path.basename(path), size)])
