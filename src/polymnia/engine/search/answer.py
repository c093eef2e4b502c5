"""The answer to a search: a page of the ranked memories, each with its reasons and best passages, and notes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from polymnia.engine.content import cursor, foreign, position, title_of
from polymnia.engine.search import lanes, snippets
from polymnia.engine.search.index import Numbers, Vectors
from polymnia.engine.search.lanes import PLACES, MatchedGroup
from polymnia.engine.search.passages import is_spoken, part_of, place_of, speech
from polymnia.engine.search.ranking import FITS, Ranked, RankedSearch, probability
from polymnia.engine.search.results import FACETED, Cut, Found, Fragment, Hit, Lane, Near, Plan, ResultPage, Turn, Why
from polymnia.engine.text import language as languages
from polymnia.engine.text import words
from polymnia.engine.text.tokens import tokens
from polymnia.models import Record, Remark

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Pages

_SIMILAR = 50  # without a limit, at most so many that do not contain the query verbatim
_LEAST = 10  # and so many whatever their score
_ENOUGH = 0.75  # beyond these, the score must be this share of the best one
_FACETS = 20
_NEAREST = 3
_LABEL = 40  # characters
_PIECES = 3
_WIDTH = 240
_QUOTED = 240  # characters quoted of the turn before and after,
_READ = 1000  # out of so many


def answer(search: RankedSearch, pages: Pages, page: ResultPage, pending: int) -> Found:
    """A page of the results; ``pending`` passages have no vector yet."""
    order, start, name = _ordered(search, pages, page)
    if page.limit is None:
        order = _worth_reading(order)
    chosen = order[start:][: page.limit]
    end = start + len(chosen)
    following = None
    if end < len(order) and page.offset is None:
        name = pages.keep(order) if name is None else name
        following = cursor("search", name, end, _fingerprint(search), *order[end - 1].key)
    records = {record.id - search.base: record for record in search.load([one.number for one in chosen])}
    there = [(at, one, records[one.number]) for at, one in enumerate(chosen, start) if one.number in records]
    if page.reasons:
        reasons = _Reasons(search, [one.number for _, one, _ in there])
        hits = [reasons.hit(at, one, record) for at, one, record in there]
    else:
        hits = [Hit(record=record, score=round(one.score, 4), why=Why(), place=at) for at, one, record in there]
    cut = None
    if page.max_tokens is not None:
        hits, cut = snippets.fitted(hits, page.max_tokens)
    if page.turns:
        hits, used = with_turns(search, hits, None if cut is None else cut.budget - cut.tokens)
        cut = cut and replace(cut, tokens=cut.tokens + used)
    nearest = _nearest(search) if not order else []
    return Found(
        hits=hits,
        total=len(order),
        next=following,
        pending=pending,
        facets=search.snapshot.facets([one.number for one in order[:FACETED]], _FACETS) if page.facets else {},
        nearest=nearest,
        notes=[*search.notes, *_misses(search, order, pending), *_notes(search, pending, nearest, cut)],
        cut=cut,
        order=name,
    )


def _ordered(search: RankedSearch, pages: Pages, page: ResultPage) -> tuple[list[Ranked], int, int | None]:
    """The whole order, where the page starts in it, and the key it is cached by.

    Later pages continue the order of the first one, whatever was written since.
    """
    if page.offset is not None:
        key = -_fingerprint(search) - 1 if page.order is None else page.order
        order = pages.find(key) if page.offset or page.order else None
        if order is None:
            order = _without_weak(_sorted(search, search.order()), page.weak)
            key = pages.keep(order, key if page.order is None else None)
        return order, page.offset, key
    if page.cursor is None:
        return search.order(), 0, None
    name, start, fingerprint, *last = position("search", page.cursor, 7)
    if fingerprint != _fingerprint(search):
        raise foreign(page.cursor)
    order = pages.find(int(name))
    if order is not None:
        return order, int(start), int(name)
    order = search.order()
    return order, next((i for i, one in enumerate(order) if one.key > tuple(last)), len(order)), None


def _fingerprint(search: RankedSearch) -> int:
    """A small hash of the query: a cursor is valid for the same query only."""
    query = search.query
    parts = (query.text, query.filters, search.which, query.recency, query.related, query.at_least)
    return crc32(repr((*parts, query.or_nearest, query.sort, query.ascending)).encode())


def _sorted(search: RankedSearch, order: list[Ranked]) -> list[Ranked]:
    query = search.query
    if query.sort == "relevance":
        return order[::-1] if query.ascending else order
    keys = {
        record.id - search.base: record.created if query.sort == "date" else title_of(record).casefold()
        for record in search.load([one.number for one in order])
    }
    there = [one for one in order if one.number in keys]
    return sorted(there, key=lambda one: (keys[one.number], one.number), reverse=not query.ascending)


def _without_weak(order: list[Ranked], weak: tuple[float, float] | None) -> list[Ranked]:
    if weak is None or max((one.score for one in order), default=0.0) < weak[0]:
        return order
    return [one for one in order if one.score >= weak[1]]


def _worth_reading(order: list[Ranked]) -> list[Ranked]:
    """All that contain the query verbatim, and the best of the others."""
    first = [one for one in order if one.tier == 0]
    rest = order[len(first) : len(first) + _SIMILAR]
    best = rest[0].score if rest else 0.0
    return first + [one for i, one in enumerate(rest) if i < _LEAST or one.score >= best * _ENOUGH]


def _nearest(search: RankedSearch) -> list[Near]:
    scores = search.scores
    numbers = search.index.memories["number"][scores.memories[:_NEAREST]].tolist()
    values = dict(zip(numbers, probability(scores.fused[:_NEAREST], search.curve).tolist(), strict=True))
    near = [(record, round(values[record.id - search.base], 4)) for record in search.load(numbers)]
    if not near and search.query.filters.empty:
        near = [(record, 0.0) for record in search.snapshot.newest(_NEAREST)]
    return [Near(record.name, record.kind, score, _label(record)) for record, score in near]


def _label(record: Record) -> str:
    """The name of a memory, or the beginning of its text if it has no name but its id."""
    if record.name != record.uid or not record.observations:
        return record.name
    text = " ".join(record.observations[0].split())
    return text if len(text) <= _LABEL else text[:_LABEL].rstrip() + "…"


def _misses(search: RankedSearch, order: list[Ranked], pending: int) -> list[Remark]:
    """A note if the filters exclude everything, or if nothing found is likely to answer the query.

    The latter is unknown if a model was never measured or has not read everything, if a word is misspelt, and if a
    result is of the time that the query asks for.
    """
    filters, lane = search.query.filters, search.lane
    if not order and not filters.empty:
        return [Remark("filtered", {"passing": search.snapshot.passes_more(filters, 0)})]
    best = max((one.score for one in order), default=1.0)
    read = search.measured and all(
        one.fault is None and (one.ready.is_set() or not one.embedder.knows(search.query.text))
        for one in search.channels
    )
    dated = lane.dated is not None and bool(lane.dated.any())
    if best >= FITS or not read or pending or lane.misspelt or dated:
        return []
    return [Remark("nothing_fits", {"best": best, "filtered": not filters.empty})]


def _notes(search: RankedSearch, pending: int, nearest: list[Near], cut: Cut | None) -> list[Remark]:
    notes = []
    if damaged := sorted(search.snapshot.damage | search.index.damage):
        notes.append(Remark("index_damaged", {"indexes": damaged}))
    if search.which != "words" and search.query.text.strip() and search.index.count > 1:
        for channel in search.channels:
            which = {"model": channel.name, "others": bool(search.vectors)}
            if (fault := channel.fault) is not None:
                notes.append(Remark("no_meaning", which | {"fault": fault.message, "hint": fault.hint}))
            elif not channel.ready.is_set():
                notes.append(Remark("loading", which))
        if search.which == "meaning" and not search.channels:
            notes.append(Remark("no_meaning"))
    if pending and search.query.text.strip():
        notes.append(Remark("pending", {"passages": pending}))
    if nearest:
        matches = bool(search.exact) or bool((search.scores.words > 0).any())
        below = search.query.at_least if matches else None
        notes.append(Remark("nearest", {"names": [near.label for near in nearest], "below": below}))
    else:
        corrected = [one for one in search.lane.groups if one.alike]
        notes += [Remark("alike", {"word": one.word, "term": one.terms[0][0]}) for one in corrected]
    if cut is not None and (cut.cut or cut.left_out):
        counts = {"whole": cut.whole, "cut": cut.cut, "left_out": cut.left_out, "tokens": cut.tokens}
        notes.append(Remark("cut", counts))
    return notes


# ── turns of a conversation ───────────────────────────────────────────────────────────────────────────────


def with_turns(search: RankedSearch, hits: Sequence[Hit], room: int | None) -> tuple[list[Hit], int]:
    """The hits, those that are turns of a conversation with the turns before and after, and the tokens these take.

    ``room`` is how many tokens are left: the best hits come first, the reply before what it replies to.
    """
    near = _neighbours(search, [hit.record.id - search.base for hit in hits]) if hits else {}
    found, used = [], 0
    for hit in hits:
        before, after = near.get(hit.record.id - search.base, (None, None))
        given: dict[str, Turn] = {}
        for side, record in (("next", after), ("previous", before)):
            if record is None:
                continue
            turn = _turn(record)
            size = 0 if room is None else sum(map(tokens, (turn.name, turn.who or "", turn.text)))
            if room is None or used + size <= room:
                given[side] = turn
                used += size
        found.append(replace(hit, **given) if given else hit)
    return found, used


def _turn(record: Record) -> Turn:
    who, whole = speech(record.observations[0])
    text = " ".join(whole[:_READ].split())
    cut = len(text) > _QUOTED or len(whole) > _READ
    text = text[:_QUOTED].rstrip() + "…" if cut else text
    return Turn(id=record.uid, name=record.name, who=who, text=text, cut=cut)


def _neighbours(search: RankedSearch, numbers: Sequence[int]) -> dict[int, tuple[Record | None, Record | None]]:
    """The turns before and after each of these memories that is a turn, by its number."""
    index = search.index
    rows = index.memory_rows(np.array(numbers, np.uint32)).astype(np.int64)
    is_turn = lanes.are_turns(index, rows)
    if not is_turn.any():
        return {}
    own = rows[is_turn]
    around = own[:, None] + np.array(lanes.STEPS)
    around[(around < 0) | (around >= index.memories.count)] = 0
    flat = around.ravel()
    follows = lanes.same_conversation(index, np.repeat(own, len(lanes.STEPS)), flat) & lanes.are_turns(index, flat)
    near: dict[int, list[int]] = {}
    turns = np.array(numbers)[is_turn].tolist()
    for number, places, fits in zip(turns, around, follows.reshape(around.shape), strict=True):
        nearest = [side[there][:1] for side, there in ((places[::2], fits[::2]), (places[1::2], fits[1::2]))]
        near[number] = index.memories["number"][np.concatenate(nearest)].tolist()
    search.load(list({number for row in (near, *near.values()) for number in row}))
    found = {}
    for number, others in near.items():
        if number in search.records and is_spoken(search.records[number]):
            sides = _sides(search.records[number], [search.records[one] for one in others if one in search.records])
            if any(sides):
                found[number] = sides
    return found


def _sides(record: Record, others: Sequence[Record]) -> tuple[Record | None, Record | None]:
    """Which of the memories stored next to a turn come before and after it, as the memories are now."""
    place, number = place_of(record)
    places = [(place_of(other), other) for other in others if is_spoken(other)]
    row = sorted(((its, other.id), other) for (where, its), other in places if where == place)
    before = [other for key, other in row if key < (number, record.id)]
    return (before[-1] if before else None), (row[len(before)][1] if len(before) < len(row) else None)


# ── reasons ───────────────────────────────────────────────────────────────────────────────────────────────


class _Reasons:
    """The reasons and best passages of some memories."""

    def __init__(self, search: RankedSearch, numbers: Sequence[int]) -> None:
        self._search = search
        columns, scores = search.index.passages, search.scores
        self._places = {number: search.passages_of(number) for number in numbers}
        self._best: dict[int, list[tuple[int, int, float]]] = {}  # the best passages: text, part and score
        for number, places in self._places.items():
            rows, values = scores.passages[places[:_PIECES]], scores.passage_scores[places[:_PIECES]]
            parts = columns["text"][rows].tolist(), columns["part"][rows].tolist(), values.tolist()
            self._best[number] = list(zip(*parts, strict=True))
        needed = {text for best in self._best.values() for text, _, _ in best} | set(numbers)
        self._texts = {text.id: text for text in search.snapshot.texts_of(sorted(needed))}
        memories = search.index.memories["number"][scores.memories].tolist()
        self._at = {number: at for at, number in enumerate(memories)}

    def hit(self, rank: int, one: Ranked, record: Record) -> Hit:
        """A memory with its reasons."""
        search, scores = self._search, self._search.scores
        groups = [] if search.which == "meaning" else search.lane.groups
        found, missing, alike, complete = _words_found(groups, self._terms(one.number))
        similarity = meaning = None
        lent = share = 0.0
        if (at := self._at.get(one.number)) is not None:
            lent, share = float(scores.lent[at]), float(scores.words[at])
            if not np.isnan(scores.similarity[at]):
                similarity, meaning = float(scores.similarity[at]), float(scores.meaning[at])
        period, lane = search.parsed.time, search.lane
        here = scores.passages[self._places[one.number]]
        dated = period is not None and lane.dated is not None and bool(lane.dated[here].any())
        if period is not None and dated:
            missing = [word for word in missing if word.casefold() not in period.past_words]
        place = PLACES[one.place] if one.tier == 0 and search.query.text.strip() else None
        why = Why(
            exact=None if place is None else place.field,
            place=None if place is None else place.name,
            terms=tuple(found),
            missing=tuple(missing),
            alike=tuple(alike),
            complete=complete,
            words=round(min(1.0, max(0.0, share)), 4),
            meaning=None if meaning is None else round(max(0.0, meaning), 4),
            similarity=similarity,
            model=None if similarity is None else next(iter(search.vectors), None),  # if two have one, the first
            lent=round(lent, 4),
            date=dated,
            time=period.text if period is not None and dated else None,
            mentions_time=lane.mentioning is not None and bool(lane.mentioning[here].any()),
            judged=one.judged,
        )
        pieces = self._fragments(one.number, record)
        return Hit(record=record, score=round(one.score, 4), why=why, fragments=pieces, place=rank)

    def _terms(self, number: int) -> set[str]:
        terms: set[str] = set()
        for text, part, _ in [(number, 0, 0.0), *self._best[number]]:
            if text in self._texts:
                terms |= words.terms(part_of(self._texts[text], part)).counts.keys()
        return terms

    def _fragments(self, number: int, record: Record) -> tuple[Fragment, ...]:
        place = {text: i for i, text in enumerate(record.observations)}
        pieces = []
        for id, part, score in self._best[number]:
            if (text := self._texts.get(id)) is None:
                continue
            passage = part_of(text, part)
            marks = snippets.find(passage, self._search.matches)
            if self._search.parsed.forms:
                marks += snippets.phrase(passage, self._search.query.text)
            piece, ranges = snippets.best_piece(passage, marks, _WIDTH)
            if piece:
                observation = None if text.body is None else place.get(text.body)
                pieces.append(Fragment(text=piece, observation=observation, marks=ranges, score=round(score, 4)))
        return tuple(pieces)


def _words_found(
    groups: Sequence[MatchedGroup], terms: set[str]
) -> tuple[list[str], list[str], list[tuple[str, str]], bool]:
    """The words of a query that are among the terms, those that are not, and pairs of a word and a similar term.

    A word in a script without spaces is looked up in pairs of characters: the result has the parts of it that were
    found. The last value says whether every word was found whole.
    """
    pairs: dict[str, list[tuple[str, bool]]] = {}
    alike: list[tuple[str, str]] = []
    for one in groups:
        if one.bonus:
            continue
        found = [term for term, _, _ in one.terms if term in terms]
        pairs.setdefault(one.word, []).append((one.terms[0][0] if one.terms else one.word, bool(found)))
        if one.alike and found:
            alike.append((one.word, found[0]))
    there: list[str] = []
    missing: list[str] = []
    for word, parts in pairs.items():
        if all(found for _, found in parts):
            there.append(word)
        elif len(parts) > 1 and any(found for _, found in parts):
            there += _runs(parts)
        else:
            missing.append(word)
    complete = not missing and all(found for parts in pairs.values() for _, found in parts)
    return list(dict.fromkeys(there)), missing, alike, complete


def _runs(parts: Sequence[tuple[str, bool]]) -> list[str]:
    """Overlapping pairs of characters that were found, joined."""
    runs: list[str] = []
    going = False
    for part, found in parts:
        if found and going and runs[-1][-1:] == part[:1]:
            runs[-1] += part[1:]
        elif found:
            runs.append(part)
        going = found
    return runs


# ── the plan of a search ──────────────────────────────────────────────────────────────────────────────────


def plan(search: RankedSearch, pages: Pages, limit: int) -> Plan:
    """The plan of a search, with its results."""
    began = time.perf_counter()
    found = answer(search, pages, ResultPage(limit=limit), 0)
    text, period = search.query.text, search.parsed.time
    terms: dict[str, list[tuple[str, float, int]]] = {}
    for one in search.lane.groups:
        if not one.bonus:
            terms.setdefault(one.word, []).extend(one.terms)
    fusion = [
        (
            hit.record.name,
            {"words": hit.why.words, "meaning": hit.why.meaning or 0.0, "lent": hit.why.lent, "score": hit.score},
        )
        for hit in found.hits
    ]
    return Plan(
        query=text,
        language=languages.language(text.casefold().split()),
        script=languages.script(text),
        words=list(terms.items()),
        time=None if period is None else (period.text, list(period.terms)),
        lanes=list(_lanes(search, tuple(terms), limit)),
        fusion=fusion,
        found=found,
        milliseconds=_since(began),
    )


def _lanes(search: RankedSearch, terms: tuple[str, ...], limit: int) -> Iterator[Lane]:
    """The results of each lane alone."""
    index, scores = search.index, search.lane.memories
    exact = [(number, 1.0) for number in sorted(search.exact)[:limit]]
    yield _lane(search, exact, name="exact", terms=search.parsed.forms[:1])
    rows = lanes.top(scores, limit)
    rows = rows[np.argsort(-scores[rows], kind="stable")]
    shares = scores[rows] / max(search.lane.memory_weight, 1e-9)
    best = zip(index.memories["number"][rows].tolist(), shares.tolist(), strict=True)
    yield _lane(search, best, name="words", terms=terms)
    for model, vector in search.vectors.items():
        if (vectors := index.vectors.get(model)) is not None:
            yield _lane(search, _nearest_to(search, vectors, vector, limit), name="meaning", model=model)


def _lane(search: RankedSearch, found: Iterable[tuple[int, float]], **lane: Any) -> Lane:
    began = time.perf_counter()
    best = list(found)
    names = {record.id - search.base: record.name for record in search.load([number for number, _ in best])}
    named = [(names[number], round(score, 4)) for number, score in best if number in names]
    return Lane(best=named, milliseconds=_since(began), **lane)


def _nearest_to(search: RankedSearch, vectors: Vectors, vector: Numbers, limit: int) -> Iterator[tuple[int, float]]:
    index = search.index
    rows = vectors.nearest(vector, index.count, index.passages["alive"], max(200, limit * 4))
    cosines = vectors.cosines(search.snapshot, vector, rows)
    order = np.argsort(-cosines, kind="stable")
    owners = index.memories["number"][index.passages["memory"][rows[order]]].tolist()
    best: dict[int, float] = {}
    for number, cosine in zip(owners, cosines[order].tolist(), strict=True):
        best.setdefault(number, cosine)
    yield from islice(best.items(), limit)


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
