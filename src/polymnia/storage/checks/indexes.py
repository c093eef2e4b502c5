"""Checks of the word index and the vectors, and of what makes a project slow."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress

from polymnia.engine.ports.maintenance import Spot
from polymnia.models import Text
from polymnia.storage.checks.view import CheckView
from polymnia.storage.rows import PASSAGE, POSTING

_TAIL = 20_000  # the most texts outside the word index that are analysed here
_UNINDEXED = 5_000  # a healthy store adds texts to the substring index by the five hundred,
_UNLISTED = 8_000  # and to the word index by the thousand
_GONE = 1_000
_GONE_SHARE = 0.2
_LONG = 1_000_000  # characters
_HUB = 2_000  # relations


class _Passages:
    """The passages stored in the blocks of the word index."""

    def __init__(self, view: CheckView) -> None:
        self.places: dict[tuple[int, int], tuple[int, int]] = {}  # (text, part) → passage number, block
        self.embedded: set[tuple[int, int]] = set()  # (text, part) of those that get a vector
        self.broken: list[int] = []
        self.count = 0
        for first, count, data in view.run("blocks", (view.number, 0)):
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
        row = view.run("posting", (view.number, term, first)).fetchone()
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
