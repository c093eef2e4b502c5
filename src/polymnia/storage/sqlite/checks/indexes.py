"""Indexes: whether they hold what the texts say, which vectors are missing, and what makes a project slow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from struct import Struct

from polymnia.engine.ports.maintenance import Spot
from polymnia.models import Text, fold
from polymnia.storage.sqlite.checks.view import CheckView
from polymnia.storage.sqlite.grams import DAMAGE, cover, refresh
from polymnia.storage.sqlite.statements import SQL

_PASSAGE = Struct("<IIIHHBBBB")  # as storage/sqlite/words.py packs them
_POSTING = Struct("<IBB")
_PIECE = 6  # characters
_TAIL = 20_000  # texts that wait for the word index are read here, up to so many
_UNINDEXED = 5_000  # a healthy store takes in the newest texts by the five hundred,
_UNLISTED = 8_000  # and by the thousand into the word index
_GONE = 1_000
_GONE_SHARE = 0.2
_LONG = 1_000_000  # characters
_HUB = 2_000  # relations


class _Passages:
    """The passages of the word index, as its blocks hold them."""

    def __init__(self, view: CheckView) -> None:
        self.places: dict[tuple[int, int], tuple[int, int]] = {}  # (text, part): the number of its passage, its block
        self.embedded: set[tuple[int, int]] = set()  # those that get a vector
        self.broken: list[int] = []
        self.count = 0
        for first, count, data in view.run(SQL["blocks"], (view.number, 0)):
            if len(data) != count * _PASSAGE.size or first != self.count + 1:
                self.broken.append(first)
                continue
            self.count += count
            for i, row in enumerate(_PASSAGE.iter_unpack(data)):
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
            view.passed_over["pages of the substring index"] = "the file is large; a detailed check reads them"
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
        form = fold(
            view.ask(
                "text_of",
                id,
            ).fetchone()[0]
        ).split("\0")[0]
    except UnicodeDecodeError:
        return True  # told by another check
    # From three places, in one question: each costs, and a text that is indexed otherwise differs in one of them.
    middle = len(form) // 2
    pieces = {form[:_PIECE], form[middle : middle + _PIECE], form[-_PIECE:]}
    match = " AND ".join(cover(piece) for piece in sorted(pieces) if len(piece) >= 3)
    return not match or view.ask("has_characters", match, id).fetchone() is not None


def read_alike(view: CheckView) -> bool:
    """Whether the word index was made by the same reading of texts."""
    return view.snapshot.noted("words") == view.asked.analyst.version


def words(view: CheckView) -> None:
    """Every text up to the border has its passages, and no other has; of some, every term is looked up."""
    border = view.snapshot._listed
    if not border:
        return
    if not read_alike(view):
        view.passed_over["word index"] = "it was made by another version, and is made anew by a reindex"
        return
    passages = _Passages(view)
    least = view.least()
    there = {number for number in view.texts() if least < number <= border}
    stale, gone = set(view.snapshot.stale()), set(view.snapshot.gone())
    wrong = {number: "not in the word index" for number in there - passages.texts - stale if _says(view, number)}
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
    found = []
    for number in numbers:
        with suppress(ValueError):
            found += view.snapshot.texts_of([number])
    return [text for text in found if all(isinstance(tag, str) for tag in text.tags)]


def _says(view: CheckView, number: int) -> bool:
    """Whether a text has passages at all."""
    return any(True for _ in view.asked.analyst(_read(view, [number])))


def _has_terms(view: CheckView, passages: _Passages, number: int) -> bool:
    wanted: dict[tuple[str, int], list[int]] = {}  # by term and block: a list of postings is read once
    for one in view.asked.analyst(_read(view, [number])):
        place = passages.places.get((one.text, min(one.part, 65535)))
        if place is None:
            return False
        passage, first = place
        for term in one.terms:
            wanted.setdefault((term, first), []).append(passage)
    for (term, first), numbers in wanted.items():
        row = view.run(SQL["posting"], (view.number, term, first)).fetchone()
        if row is None or not all(_holds(row[0], passage) for passage in numbers):
            return False
    return True


def _broken_postings(view: CheckView) -> Iterator[str]:
    """The terms whose lists name passages that are none, as far as their first and last entries show."""
    last = view.snapshot._passages
    for term, first, data in view.ask(
        "postings",
        view.number,
    ):
        if not data or len(data) % _POSTING.size:
            yield term
            continue
        low, high = (_POSTING.unpack_from(data, at)[0] for at in (0, len(data) - _POSTING.size))
        if not first <= low <= high <= last:
            yield term


def _holds(postings: bytes, passage: int) -> bool:
    """Whether a passage is in a list of postings, which is in their order."""
    low, high = 0, len(postings) // _POSTING.size
    while low < high:
        middle = (low + high) // 2
        found = _POSTING.unpack_from(postings, middle * _POSTING.size)[0]
        if found == passage:
            return True
        if found < passage:
            low = middle + 1
        else:
            high = middle
    return False


def embeddings(view: CheckView) -> None:
    """The passages that should have a vector of a model in use and have none."""
    if not view.asked.models:
        view.passed_over["embeddings"] = "no model is in use"
        return
    there = view.texts()
    least = view.least()
    wanted: set[tuple[int, int]] = set()
    border = 0
    if read_alike(view):
        border = view.snapshot._listed
        again = set(view.snapshot.stale())
        wanted = {one for one in _Passages(view).embedded if one[0] in there and one[0] > least and one[0] not in again}
    else:
        again = set()
    tail = sorted(number for number in there if number > border or number in again)
    read = tail[-_TAIL:]
    texts = _read(view, read)
    wanted.update((one.text, one.part) for one in view.asked.analyst(texts) if one.embeds)
    view.looked["texts with their passages"] = (len(there) - len(tail) + len(read), len(there))
    none = wanted
    for model in view.asked.models:
        have = {(text, part): size for text, part, size in view.ask("vectors_of_model", view.number, model)}
        missing = sorted(wanted - have.keys())
        spots = _spots(view, model, missing)
        view.found("embedding_missing", spots)
        # An empty vector says that the model gave none and will give none.
        none = {one for one in none if have.get(one) == 0}
    view.found("embedding_none", _spots(view, view.asked.models[0], sorted(none)))


def _spots(view: CheckView, model: str, missing: list[tuple[int, int]]) -> list[Spot]:
    session = view.asked.session
    known: dict[int, tuple[str, str | None]] = {}
    spots = []
    for text, part in missing:
        if text not in known:
            known[text] = _owner(view, view.base + text)
        uid, belongs = known[text]
        if session is None or belongs == session:
            spots.append(Spot(view.base + text, uid, (model, part)))
    return spots


def _owner(view: CheckView, id: int) -> tuple[str, str | None]:
    row = view.ask(
        "owner",
        id,
    ).fetchone()
    return (row[0], row[1]) if row else (str(id - view.base), None)


# ── what is slow ───────────────────────────────────────────────────────────────────────────────────────


def performance(view: CheckView) -> None:
    """Measure what grows."""
    view.found(
        "text_very_long",
        [Spot(id, uid, size) for id, uid, size in view.rows("long_texts", "observation", long=_LONG)],
    )
    view.found("hub", _hubs(view))
    if view.asked.session is not None:
        return
    snapshot, name = view.snapshot, view.project or ""
    behind = snapshot._seq - snapshot._indexed
    if behind > _UNINDEXED:
        view.found("characters_behind", [Spot(0, name, behind)], behind)
    if snapshot._listed and not read_alike(view):
        view.found("words_outdated", [Spot(0, name, snapshot._listed)])
    elif (waiting := snapshot._seq - snapshot._listed) > _UNLISTED:
        view.found("words_behind", [Spot(0, name, waiting)], waiting)
    marks = len(snapshot.gone())
    if marks > _GONE and marks > _GONE_SHARE * snapshot._texts:
        view.found("marks_many", [Spot(0, name, marks)], marks)
    if view.asked.models:
        for model, (_, count) in snapshot.models().items():
            if model not in view.asked.models:
                view.found("vectors_unused", [Spot(0, model, count)], count)


def _hubs(view: CheckView) -> list[Spot]:
    found = []
    for name, links in view.rows("hubs", "relation", hub=_HUB):
        row = view.ask("memory_of_name", view.number, name).fetchone()
        if row is not None and view.asked.session in (None, row[2]):
            found.append(Spot(row[0], row[1], links))
    return found
