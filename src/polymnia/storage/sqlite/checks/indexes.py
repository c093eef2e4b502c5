"""Indexes and the file: whether they hold what the texts say, which vectors are missing, what makes a project slow."""

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
_TAIL = 20_000  # texts that wait for the word index are read here, up to so many
_UNINDEXED = 5_000  # a healthy store takes in the newest texts by the five hundred,
_UNLISTED = 8_000  # and by the thousand into the word index
_GONE = 1_000
_GONE_SHARE = 0.2
_LONG = 1_000_000  # characters
_HUB = 2_000  # relations
_LOG = 256 << 20  # bytes: a large change makes it long, and its file does not shrink by itself
_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
_OF_INDEX = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


class _Passages:
    """The passages of the word index, as its blocks hold them."""

    def __init__(self, view: CheckView) -> None:
        self.places: dict[tuple[int, int], tuple[int, int]] = {}  # (text, part): the number of its passage, its block
        self.embedded: set[tuple[int, int]] = set()  # those that get a vector
        self.broken: list[int] = []
        self.count = 0
        for first, count, data in view.run(SQL["blocks"], (view.number, 0)):
            if len(data) != count * PASSAGE.size or first != self.count + 1:
                self.broken.append(first)
                continue
            self.count += count
            for i, row in enumerate(PASSAGE.iter_unpack(data)):
                text, part = row[0], row[4]
                if text:  # zeros are what a purge leaves
                    self.places[text, part] = first + i, first
                    if row[7]:
                        self.embedded.add((text, part))
                    else:
                        self.embedded.discard((text, part))
        self.texts = {text for text, _ in self.places}


def characters(view: CheckView) -> None:
    """Every text up to the border is in the substring index and nothing else is; some are looked up."""
    if not view.snapshot._indexed:
        return
    try:
        if is_whole(view):
            apart, unlike = compared(view)
            view.found("characters_wrong", [Spot(id, view.label(id)) for id in sorted(apart | unlike)])
            return
        why = "its pages"
    except DAMAGE as e:
        why = str(e)
    view.found("characters_wrong", [Spot(0, view.project or "", why)], view.snapshot._indexed)


def is_whole(view: CheckView) -> bool:
    """Whether SQLite finds the pages of the substring index sound; it is not asked where they are too many to read."""
    if view.asked.pages is not None:
        (pages,) = view.run("PRAGMA page_count").fetchone()
        if pages > view.asked.pages:
            view.result.passed_over["pages of the substring index"] = "the file is large; a detailed check reads them"
            return True
    refresh(view.run)
    return all(text == "ok" for (text,) in view.run("PRAGMA quick_check(gram)"))


def compared(view: CheckView) -> tuple[set[int], set[int]]:
    """The texts that are there or in the index alone, and those of the sample that it holds otherwise."""
    border = view.base + view.snapshot._indexed
    least = view.base + view.least()
    listed = {id for (id,) in view.ask("indexed_characters", least, border)}
    there = {view.base + number for number in view.texts() if least < view.base + number <= border}
    sample = view.sampled(sorted(there & listed), "texts in the index of characters")
    return listed ^ there, {id for id in sample if not _is_listed(view, id)}


def _is_listed(view: CheckView, id: int) -> bool:
    try:
        form = fold(view.first("text_of", id)[0]).split("\0")[0]
    except UnicodeDecodeError:
        return True  # told by another check
    # From three places, in one question: each costs, and a text that is indexed otherwise differs in one of them.
    middle = len(form) // 2
    pieces = {form[:_PIECE], form[middle : middle + _PIECE], form[-_PIECE:]}
    match = " AND ".join(cover(piece) for piece in sorted(pieces) if len(piece) >= 3)
    return not match or view.first("has_characters", match, id) is not None


def _read_alike(view: CheckView) -> bool:
    """Whether the word index was made by the same reading of texts."""
    return view.snapshot.noted("words") == view.asked.analyst.version


def words(view: CheckView) -> None:
    """Every text up to the border has its passages, and no other has; of some, every term is looked up."""
    border = view.snapshot._listed
    if not border:
        return
    if not _read_alike(view):
        view.result.passed_over["word index"] = "it was made by another version, and is made anew by a reindex"
        return
    passages = _Passages(view)
    least = view.least()
    there = {number for number in view.texts() if least < number <= border}
    stale, gone = set(view.snapshot.stale()), set(view.snapshot.gone())
    silent = (number for number in there - passages.texts - stale if any(view.asked.analyst(_read(view, [number]))))
    wrong = dict.fromkeys(silent, "not in the word index")
    wrong |= dict.fromkeys((n for n in passages.texts - there - gone if n > least), "in the word index, but not there")
    wrong |= dict.fromkeys(there & gone - stale, "marked as deleted, but there")
    sound = sorted((there & passages.texts) - stale - gone)
    for number in view.sampled(sound, "texts in the word index"):
        if not _has_terms(view, passages, number):
            wrong[number] = "not found by all its words"
    spots = [Spot(view.base + number, view.label(view.base + number), wrong[number]) for number in sorted(wrong)]
    spots += [Spot(0, f"block {first}", "a block that cannot be read") for first in passages.broken]
    if passages.count != view.snapshot._passages:
        spots.append(Spot(0, "blocks", f"{passages.count} passages, not {view.snapshot._passages}"))
    spots += [Spot(0, term, "a list of places that cannot be read") for term in _broken_postings(view)]
    view.found("words_wrong", spots)


def _read(view: CheckView, numbers: Iterable[int]) -> list[Text]:
    """The texts that can be read; broken tags and broken texts are told by another check."""
    texts = []
    for number in numbers:
        with suppress(ValueError):
            texts += view.snapshot.texts_of([number])
    return [text for text in texts if all(isinstance(tag, str) for tag in text.tags)]


def _has_terms(view: CheckView, passages: _Passages, number: int) -> bool:
    places: dict[tuple[str, int], list[int]] = {}  # by term and block: a list of postings is read once
    for one in view.asked.analyst(_read(view, [number])):
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
    """The terms whose lists name passages that are none, as far as their first and last entries show."""
    for term, first, data in view.ask("postings", view.number):
        if not data or len(data) % POSTING.size:
            yield term
            continue
        low, high = (POSTING.unpack_from(data, at)[0] for at in (0, len(data) - POSTING.size))
        if not first <= low <= high <= view.snapshot._passages:
            yield term


def _holds(postings: bytes, passage: int) -> bool:
    """Whether a passage is in a list of postings, which is in their order."""
    count = len(postings) // POSTING.size

    def number(i: int) -> int:
        return int(POSTING.unpack_from(postings, i * POSTING.size)[0])

    at = bisect_left(range(count), passage, key=number)
    return at < count and number(at) == passage


def embeddings(view: CheckView) -> None:
    """The passages that should have a vector of a model in use and have none."""
    if not view.asked.models:
        view.result.passed_over["embeddings"] = "no model is in use"
        return
    there, least = view.texts(), view.least()
    expected: set[tuple[int, int]] = set()
    border, again = 0, set()
    if _read_alike(view):
        border, again = view.snapshot._listed, set(view.snapshot.stale())
        expected = {
            one for one in _Passages(view).embedded if one[0] in there and one[0] > least and one[0] not in again
        }
    tail = sorted(number for number in there if number > border or number in again)
    read = tail[-_TAIL:]
    expected.update((one.text, one.part) for one in view.asked.analyst(_read(view, read)) if one.embeds)
    view.result.looked["texts with their passages"] = (len(there) - len(tail) + len(read), len(there))
    none = expected
    for model in view.asked.models:
        have = {(text, part): size for text, part, size in view.ask("vectors_of_model", view.number, model)}
        view.found("embedding_missing", _lacking(view, model, expected - have.keys()))
        # An empty vector says that the model gave none and will give none.
        none = {one for one in none if have.get(one) == 0}
    view.found("embedding_none", _lacking(view, view.asked.models[0], none))


def _lacking(view: CheckView, model: str, passages: set[tuple[int, int]]) -> Iterator[Spot]:
    owners = {text: view.first("owner", view.base + text) or (str(text), None) for text, _ in passages}
    for text, part in sorted(passages):
        uid, session = owners[text]
        if view.asked.session in (None, session):
            yield Spot(view.base + text, uid, (model, part))


# ── what is slow ───────────────────────────────────────────────────────────────────────────────────────


def performance(view: CheckView) -> None:
    """Measure what grows."""
    view.find("text_very_long", "observation", long=_LONG)
    hubs = []
    for name, links in view.rows("hubs", "relation", hub=_HUB):
        row = view.first("memory_of_name", view.number, name)
        if row is not None and view.asked.session in (None, row[2]):
            hubs.append(Spot(row[0], row[1], links))
    view.found("hub", hubs)
    if view.asked.session is not None:
        return
    snapshot = view.snapshot

    def measured(kind: str, size: int, label: str = view.project or "") -> None:
        view.found(kind, [Spot(0, label, size)], size)

    if (behind := snapshot._seq - snapshot._indexed) > _UNINDEXED:
        measured("characters_behind", behind)
    if snapshot._listed and not _read_alike(view):
        view.found("words_outdated", [Spot(0, view.project or "", snapshot._listed)])
    elif (waiting := snapshot._seq - snapshot._listed) > _UNLISTED:
        measured("words_behind", waiting)
    if (marks := len(snapshot.gone())) > max(_GONE, _GONE_SHARE * snapshot._texts):
        measured("marks_many", marks)
    for model, (_, count) in snapshot.models().items() if view.asked.models else ():
        if model not in view.asked.models:
            measured("vectors_unused", count, model)


# ── the file, which all projects share ─────────────────────────────────────────────────────────────────


@cache
def _expected() -> dict[str, tuple[str, str]]:
    """Every table, index and trigger of a store of this format: its kind and its statement."""
    empty = apsw.Connection(":memory:")
    for name in MIGRATIONS:
        empty.execute(migration(name)).fetchall()
    found = {name: (kind, sql) for kind, name, sql in empty.execute(_OBJECTS)}
    empty.close()
    return found


def missing_objects(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """The kind, name and statement of what is missing, or not as this version makes it."""
    there = {name: sql for _, name, sql in connection.execute(_OBJECTS)}
    return [(kind, name, sql) for name, (kind, sql) in _expected().items() if there.get(name) != sql]


def shape(view: CheckView) -> None:
    """Tables, indexes and triggers that are missing, or not as this version makes them."""
    view.found("shape_differs", [Spot(0, name, kind) for kind, name, _ in missing_objects(view.snapshot._db)])


def damage(view: CheckView, pragma: str = "integrity_check") -> None:
    """What SQLite itself finds wrong in the file; by ``quick_check`` without comparing indexes with their tables."""
    lines: list[str] = []
    try:
        refresh(view.run)
        for (text,) in view.run(f"PRAGMA {pragma}(100)"):
            lines += text.splitlines()
    except DAMAGE as e:
        lines.append(str(e))
    (pages,) = view.run("PRAGMA page_count").fetchone()
    view.result.looked["pages of the file"] = (pages, pages)
    told: dict[str, list[Spot]] = {"characters_wrong": [], "index_damaged": [], "file_damaged": []}
    for line in lines:
        if "fts5" in line.casefold():
            kind = "characters_wrong"
        else:  # an index alone can be made again from its table
            kind = "index_damaged" if any(sign in line for sign in _OF_INDEX) else "file_damaged"
        if line != "ok":
            told[kind].append(Spot(0, line))
    for kind, spots in told.items():
        view.found(kind, spots)


def foreign_keys(view: CheckView) -> None:
    """Rows that belong to a project, model or change that is not there."""
    lost: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in view.run("PRAGMA foreign_key_check"):
        if (table, parent) != ("observation", "memory"):  # told for its project
            lost[table, parent] = lost.get((table, parent), 0) + 1
    spots = [Spot(0, f"{count} of {table} without {parent}") for (table, parent), count in lost.items()]
    view.found("foreign_key_broken", spots, sum(lost.values()))


def log(view: CheckView) -> None:
    """The write-ahead log, if it has grown far beyond what a healthy one has."""
    path = view.snapshot._db.filename + "-wal"
    try:
        size = os.path.getsize(path)
    except OSError:
        size = 0
    if size > _LOG:
        view.found("log_long", [Spot(0, os.path.basename(path), size)])
