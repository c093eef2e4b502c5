"""The answer to a search: a page of the order, made of memories, reasons, passages and what else is worth telling."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from polymnia.engine import paging
from polymnia.engine.items import title_of
from polymnia.engine.search import budget, explain, highlight, words
from polymnia.engine.search.listing import part_of
from polymnia.engine.search.results import Cut, Found, Fragment, Hit, Near, Why
from polymnia.engine.search.search import Ranked, Search
from polymnia.models import Note, Record, Text

__all__ = ["Pages", "answered"]

_SIMILAR = 50  # without a limit, at most so many that do not hold the query as it stands
_LEAST = 10  # and so many whatever their score
_ENOUGH = 0.5  # beyond these, the score must be this share of the best one
_REMEMBERED = 64
_FACETS = 20
_COUNTED = 10_000  # memories that facets are counted over
_PIECES = 3
_WIDTH = 240
_NEAREST = 3
_LABEL = 40  # characters


class Pages:
    """The orders of answers whose later pages may still be asked for, so that these stay as they were."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, list[Ranked]] = OrderedDict()

    def keep(self, order: list[Ranked]) -> int:
        """Remember an order; answers its name."""
        name = secrets.randbits(48)
        self._kept[name] = order
        if len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)
        return name

    def keep_as(self, name: int, order: list[Ranked]) -> None:
        """Remember an order under a name of the caller's."""
        self._kept[name] = order
        self._kept.move_to_end(name)
        if len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)

    def find(self, name: int) -> list[Ranked] | None:
        """The order of that name, if it is still known."""
        return self._kept.get(name)


def answered(
    search: Search,
    pages: Pages,
    *,
    limit: int | None,
    cursor: str | None,
    max_tokens: int | None,
    facets: bool,
    reasons: bool,
    pending: int,
    offset: int | None = None,
) -> Found:
    """A page of the answer: by a cursor, or by how many to skip.

    Pages that are skipped to go on from the order of the first one, whatever was written since.
    """
    mark = _mark(search)
    place = paging.position("search", cursor, 7)
    if place and place[2] != mark:
        raise paging.foreign(cursor)
    order = pages.find(int(place[0])) if place else None
    name = int(place[0]) if order is not None else None
    if offset:
        order = pages.find(-mark - 1)
    if offset is not None and order is None:
        order = _arranged(search, search.order())
        pages.keep_as(-mark - 1, order)
    if offset is not None and order is not None:
        start = offset
    elif order is None:
        order = search.order()
        start = next((i for i, one in enumerate(order) if one.key > place[3:]), len(order)) if place else 0
    else:
        start = int(place[1])
    if limit is None:
        order = _some(order)
    chosen = order[start:] if limit is None else order[start : start + limit]
    end = start + len(chosen)
    following = None
    if end < len(order) and offset is None:
        name = pages.keep(order) if name is None else name
        following = paging.cursor("search", name, end, mark, *order[end - 1].key)
    records = search.load([one.number for one in chosen])
    by_number = {record.id - search.base: record for record in records}
    there = [(one, by_number[one.number]) for one in chosen if one.number in by_number]
    hits = _hits(search, there) if reasons else [_plain(search, one, record) for one, record in there]
    cut = None
    if max_tokens is not None:
        hits, cut = _fitted(hits, max_tokens)
    counted = search.snapshot.facets([one.number for one in order[:_COUNTED]], _FACETS) if facets else {}
    nearest = _nearest(search) if not order else []
    if not order and not search.query.filters.empty:
        search.notes.append(_filtered_out(search))
    return Found(
        hits=hits, total=len(order), next=following, pending=pending, facets=counted, nearest=nearest, cut=cut,
        notes=search.notes + _notes(search, pending, nearest, cut),
    )  # fmt: skip


def _mark(search: Search) -> int:
    """A small hash of what was asked: a cursor is good for the same question only."""
    query = search.query
    asked = (query.text, query.filters, search.which, query.recency, query.related, query.at_least)
    return crc32(repr((*asked, query.least_score, query.sort, query.ascending)).encode())


def _arranged(search: Search, order: list[Ranked]) -> list[Ranked]:
    """The order a caller wants who does not want the most relevant first, and without what is not relevant enough."""
    query = search.query
    kept = [one for one in order if one.score >= query.least_score] if query.least_score else order
    if query.sort == "relevance":
        return kept[::-1] if query.ascending else kept
    records = {record.id - search.base: record for record in search.load([one.number for one in kept])}
    there = [one for one in kept if one.number in records]
    if query.sort == "date":
        there.sort(key=lambda one: (records[one.number].created, one.number), reverse=not query.ascending)
    else:
        there.sort(key=lambda one: (title_of(records[one.number]).casefold(), one.number), reverse=not query.ascending)
    return there


def _some(order: list[Ranked]) -> list[Ranked]:
    """All that hold the query as it stands, and of the others those worth reading."""
    first = [one for one in order if one.tier == 0]
    rest = order[len(first) : len(first) + _SIMILAR]
    best = rest[0].score if rest else 0.0
    return first + [one for i, one in enumerate(rest) if i < _LEAST or one.score >= best * _ENOUGH]


def _plain(search: Search, one: Ranked, record: Record) -> Hit:
    # For whom it does not matter, it may be thousands of hits.
    similarity = 0.0 if search.query.at_least is None else round(search.similarity(one.number), 4)
    return Hit(record=record, score=round(one.score, 4), why=Why(sentence=""), similarity=similarity)


class _Matching:
    """Whether a word of a text is one of those asked for. The hits of one answer share many words."""

    def __init__(self, terms: set[str]) -> None:
        self._terms = terms
        self._starts = {term[:2] for term in terms}
        self._known: dict[str, bool] = {}

    def __call__(self, word: str) -> bool:
        known = self._known.get(word)
        if known is None:
            # Every form of a plain word begins as the word does.
            hopeless = word.isascii() and word.isalpha() and word[:2].lower() not in self._starts
            known = self._known[word] = not hopeless and not self._terms.isdisjoint(words.terms(word).counts)
        return known


def _hits(search: Search, there: Sequence[tuple[Ranked, Record]]) -> list[Hit]:
    """The memories with reasons and passages."""
    best = {one.number: search.passages_of(one.number, _PIECES) for one, _ in there}
    wanted = sorted({text for rows in best.values() for text, _, _ in rows} | {one.number for one, _ in there})
    texts = {text.id: text for text in search.snapshot.texts_of(wanted)}
    matches = _Matching({term for one in search.lane.asked for term, _, _ in one.terms})
    row_of = {int(search.index.memories["number"][row]): i for i, row in enumerate(search.scores.memories)}
    return [_hit(search, one, record, best[one.number], texts, matches, row_of) for one, record in there]


def _hit(
    search: Search,
    one: Ranked,
    record: Record,
    rows: list[tuple[int, int, float]],
    texts: dict[int, Text],
    matches: _Matching,
    row_of: dict[int, int],
) -> Hit:
    held: set[str] = set()
    if one.number in texts:
        held |= words.terms(part_of(texts[one.number], 0)).counts.keys()
    for number, part, _ in rows:
        if number in texts:
            held |= words.terms(part_of(texts[number], part)).counts.keys()
    found, missing, alike, whole = explain.words_found([] if search.which == "meaning" else search.lane.asked, held)
    at = row_of.get(one.number)
    scores = search.scores
    similarity = meaning = None
    lent = shares = 0.0
    if at is not None:
        lent, shares = float(scores.lent[at]), float(scores.words[at])
        if not np.isnan(scores.similarity[at]):
            similarity, meaning = float(scores.similarity[at]), float(scores.meaning[at])
    timely, told = _timely(search, one.number)
    if timely is not None and search.wanted.time is not None:
        missing = [word for word in missing if word.casefold() not in search.wanted.time.past_words]
    place = one.place if one.tier == 0 and search.query.text.strip() else None
    sentence = explain.sentence(
        place=place, terms=found, missing=missing, alike=alike, whole=whole, similarity=similarity, meaning=meaning,
        lent=lent, timely=timely, told=told, judged=one.judged,
    )  # fmt: skip
    why = Why(
        sentence=sentence,
        exact=None if place is None else ("name", "name", "name", "kind", "observation", "observation")[place],
        terms=tuple(found), missing=tuple(missing), alike=tuple(alike), words=round(min(1.0, max(0.0, shares)), 4),
        meaning=None if meaning is None else round(max(0.0, meaning), 4),
        similarity=None if similarity is None else round(similarity, 4),
        model=None if similarity is None else _model(search),
        lent=round(lent, 4), date=timely is not None, judged=one.judged,
    )  # fmt: skip
    return Hit(
        record=record, score=round(one.score, 4), why=why, fragments=_fragments(search, record, rows, texts, matches),
        similarity=round(search.similarity(one.number), 4),
    )  # fmt: skip


def _model(search: Search) -> str | None:
    """The model whose cosine is told: where two have one, the second."""
    return list(search.asked)[-1] if search.asked else None


def _timely(search: Search, number: int) -> tuple[str | None, bool]:
    """The time asked for, if the memory is of it, and whether it speaks of it itself."""
    lane, time = search.lane, search.wanted.time
    if lane.timely is None or lane.told is None or time is None:
        return None, False
    row = int(search.index.memory_rows(np.array([number], np.uint32))[0])
    here = search.scores.passages[np.flatnonzero(search.index.passages["memory"][search.scores.passages] == row)]
    return (time.text if lane.timely[here].any() else None), bool(lane.told[here].any())


def _fragments(
    search: Search, record: Record, rows: list[tuple[int, int, float]], texts: dict[int, Text], matches: _Matching
) -> tuple[Fragment, ...]:
    """The best passages of a memory, cut to what matters, with the words that match marked."""
    place = {text: i for i, text in enumerate(record.observations)}
    pieces = []
    for number, part, score in rows:
        text = texts.get(number)
        if text is None:
            continue
        said = part_of(text, part)
        marks = highlight.find(said, matches)
        if search.wanted.forms:
            marks = [*marks, *highlight.phrase(said, search.query.text)]
        for piece in highlight.fragments(said, marks, limit=1, width=_WIDTH):
            observation = None if text.body is None else place.get(text.body)
            pieces.append(
                Fragment(text=piece.text, observation=observation, marks=tuple(piece.ranges), score=round(score, 4))
            )
    return tuple(pieces)


def _fitted(hits: list[Hit], most: int) -> tuple[list[Hit], Cut]:
    """The hits that fit a budget of tokens; of one too long, its best passages."""
    sizes = [_tokens(hit.record) for hit in hits]
    fit = budget.fit(sizes, most, least=[min(size, _least(hit)) for size, hit in zip(sizes, hits, strict=True)])
    rooms = dict(fit.cut)
    if hits and not fit.whole and not rooms:
        rooms[0] = most  # not even the best passage of one fits: its beginning does
    shown = []
    total = sum(sizes[i] for i in fit.whole)
    for i, hit in enumerate(hits):
        if i in fit.whole:
            shown.append(hit)
        elif i in rooms:
            pieces, used = _trimmed(hit, rooms[i])
            total += used
            if pieces:
                shown.append(replace(hit, record=_bare(hit.record), fragments=pieces, cut=True))
    cut = sum(hit.cut for hit in shown)
    left_out = len(hits) - len(shown)
    return shown, Cut(whole=len(shown) - cut, cut=cut, left_out=left_out, tokens=total, budget=most)


def _least(hit: Hit) -> int:
    """The tokens of a hit cut to its best passage."""
    best = hit.fragments[0].text if hit.fragments else ""
    return budget.tokens(hit.record.name) + budget.tokens(best)


def _trimmed(hit: Hit, room: int) -> tuple[tuple[Fragment, ...], int]:
    kept: list[Fragment] = []
    used = budget.tokens(hit.record.name)
    for fragment in hit.fragments:
        size = budget.tokens(fragment.text)
        if used + size > room and not kept:
            text = budget.trimmed(fragment.text, room - used)
            marks = tuple(mark for mark in fragment.marks if mark[1] <= len(text))
            fragment = Fragment(text=text, observation=fragment.observation, marks=marks, score=fragment.score)
            size = budget.tokens(text)
        if fragment.text and used + size <= room:
            kept.append(fragment)
            used += size
    return tuple(kept), used if kept else 0


def _bare(record: Record) -> Record:
    """The record without its texts: what is shown of them are the fragments."""
    return replace(record, observations=())


def _tokens(record: Record) -> int:
    return sum(map(budget.tokens, (record.name, record.kind, *record.observations)))


def _nearest(search: Search) -> list[Near]:
    """What comes closest when nothing matches."""
    scores = search.scores
    numbers = search.index.memories["number"][scores.memories[:_NEAREST]].tolist()
    value = {number: float(scores.score[i]) for i, number in enumerate(numbers)}
    near = [Near(r.name, r.kind, round(value[r.id - search.base], 4), _label(r)) for r in search.load(numbers)]
    if near or not search.query.filters.empty:
        return near
    return [Near(record.name, record.kind, 0.0, _label(record)) for record in search.snapshot.newest(_NEAREST)]


def _label(record: Record) -> str:
    """The name of a memory, or the beginning of one that bears none but its id."""
    if record.name != record.uid or not record.observations:
        return record.name
    text = " ".join(record.observations[0].split())
    return text if len(text) <= _LABEL else text[:_LABEL].rstrip() + "…"


def _filtered_out(search: Search) -> Note:
    """What the filters have to do with a miss."""
    if not search.snapshot.passes_more(search.query.filters, 0):
        return Note("filtered", "No memory passes the filters.")
    return Note("filtered", "Nothing that passes the filters matches; without them there may be more.")


def _notes(search: Search, pending: int, nearest: list[Near], cut: Cut | None) -> list[Note]:
    notes = []
    if search.which != "words" and search.query.text.strip() and search.index.count > 1:
        for channel in search.channels.values():
            if channel.fault is not None:
                how = f"Searched without {channel.name}" if search.asked else "Searched by words alone, not by meaning"
                notes.append(Note("no_meaning", f"{how}: {channel.fault.message}. {channel.fault.hint}"))
            elif not channel.ready.is_set():
                text = f"Searched by words alone: the model {channel.name} is not ready yet."
                notes.append(Note("loading", text))
        if search.which == "meaning" and not search.channels:
            notes.append(Note("no_meaning", "There is no model to search by meaning: --embedder is none."))
    if pending:
        text = (
            f"{pending:,} passages were searched by words alone: they have no vectors yet. "
            "A server makes them in the background, `polymnia reindex` at once."
        )
        notes.append(Note("pending", text))
    for one in search.lane.asked:
        if one.alike and not nearest:
            notes.append(Note("alike", f"Nothing has {one.word!r}; searched for {one.terms[0][0]!r} instead."))
    if nearest:
        names = ", ".join(repr(near.label) for near in nearest)
        notes.append(Note("nearest", f"Nothing matches. The nearest there is: {names}."))
    if cut is not None and (cut.cut or cut.left_out):
        said = f"{cut.whole} shown whole, {cut.cut} cut to the best passages, {cut.left_out} left out"
        notes.append(Note("cut", f"Of {cut.whole + cut.cut + cut.left_out} found, {said} ({cut.tokens:,} tokens)."))
    return notes
