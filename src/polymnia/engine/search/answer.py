"""The answer to a search: a page of the order, made of memories, reasons, passages and what else is worth telling."""

from __future__ import annotations

import time
from zlib import crc32

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.content import cursor, foreign, position, title_of
from polymnia.engine.search import budget, damage_note, fusion
from polymnia.engine.search.cache import Pages
from polymnia.engine.search.hits import with_reasons, with_turns
from polymnia.engine.search.lanes import top
from polymnia.engine.search.ranking import Ranked, RankedSearch
from polymnia.engine.search.results import Cut, Found, Hit, Lane, Near, Plan, Why
from polymnia.engine.text import language as languages
from polymnia.models import Note, Record

_SIMILAR = 50  # without a limit, at most so many that do not hold the query as it stands
_LEAST = 10  # and so many whatever their score
_ENOUGH = 0.75  # beyond these, the score must be this share of the best one
_FACETS = 20
_COUNTED = 10_000  # memories that facets are counted over
_NEAREST = 3
_LABEL = 40  # characters


class ResultPage(Struct, frozen=True, kw_only=True):
    """Which part of an answer is wanted, and what of it.

    Without a limit: all that hold the query as it stands, and the best others. A page is asked for by a cursor, or by
    how many to skip. With ``turns``, a hit that is a turn of a dialogue has the turns before and after it.
    """

    limit: int | None
    cursor: str | None = None
    offset: int | None = None
    max_tokens: int | None = None
    facets: bool = False
    reasons: bool = True
    turns: bool = True


def answer(search: RankedSearch, pages: Pages, page: ResultPage, pending: int) -> Found:
    """A page of the answer; ``pending`` passages have no vector yet."""
    order, start, name = _ordered(search, pages, page)
    if page.limit is None:
        order = _some(order)
    chosen = order[start:] if page.limit is None else order[start : start + page.limit]
    end = start + len(chosen)
    following = None
    if end < len(order) and page.offset is None:
        name = pages.keep(order) if name is None else name
        following = cursor("search", name, end, _mark(search), *order[end - 1].key)
    by_number = {record.id - search.base: record for record in search.load([one.number for one in chosen])}
    there = [(one, by_number[one.number]) for one in chosen if one.number in by_number]
    if page.reasons:
        hits = with_reasons(search, there)
    else:
        hits = [Hit(record=record, score=round(one.score, 4), why=Why(sentence="")) for one, record in there]
    cut = None
    if page.max_tokens is not None:
        hits, cut = budget.fitted(hits, page.max_tokens)
    if page.turns:
        hits, used = with_turns(search, hits, None if cut is None else cut.budget - cut.tokens)
        cut = cut and replace(cut, tokens=cut.tokens + used)
    facets = search.snapshot.facets([one.number for one in order[:_COUNTED]], _FACETS) if page.facets else {}
    nearest = _nearest(search) if not order else []
    notes = [*search.notes, *_misses(search, order, pending), *_notes(search, pending, nearest, cut)]
    return Found(
        hits=hits,
        total=len(order),
        next=following,
        pending=pending,
        facets=facets,
        nearest=nearest,
        cut=cut,
        notes=notes,
    )


def _ordered(search: RankedSearch, pages: Pages, page: ResultPage) -> tuple[list[Ranked], int, int | None]:
    """The whole order, where the page starts in it, and the name it is remembered by.

    Later pages go on from the order of the first one, whatever was written since.
    """
    mark = _mark(search)
    place = position("search", page.cursor, 7)
    if place and place[2] != mark:
        raise foreign(page.cursor)
    if page.offset is not None:
        order = pages.find(-mark - 1) if page.offset else None
        if order is None:
            order = _arranged(search, search.order())
            pages.keep(order, -mark - 1)
        return order, page.offset, None
    if not place:
        return search.order(), 0, None
    order = pages.find(int(place[0]))
    if order is not None:
        return order, int(place[1]), int(place[0])
    order = search.order()
    return order, next((i for i, one in enumerate(order) if one.key > place[3:]), len(order)), None


def _mark(search: RankedSearch) -> int:
    """A small hash of what was asked: a cursor is good for the same question only."""
    query = search.query
    asked = (query.text, query.filters, search.which, query.recency, query.related, query.at_least)
    return crc32(repr((*asked, query.or_nearest, query.sort, query.ascending)).encode())


def _arranged(search: RankedSearch, order: list[Ranked]) -> list[Ranked]:
    """The order a caller wants who does not want the most relevant first."""
    query = search.query
    if query.sort == "relevance":
        return order[::-1] if query.ascending else order
    records = {record.id - search.base: record for record in search.load([one.number for one in order])}
    there = [one for one in order if one.number in records]
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


def _nearest(search: RankedSearch) -> list[Near]:
    """What comes closest when nothing matches."""
    scores = search.scores
    numbers = search.index.memories["number"][scores.memories[:_NEAREST]].tolist()
    value = dict(zip(numbers, fusion.shown(scores.fused[:_NEAREST], search.curve).tolist(), strict=True))
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


def _misses(search: RankedSearch, order: list[Ranked], pending: int) -> list[Note]:
    """What the filters have to do with a miss; or that nothing found is likely to answer the query.

    The models cannot tell the latter where they were never measured or have not read everything, where a word is
    misspelt, and where what was found is of the time that was asked for.
    """
    filtered = not search.query.filters.empty
    if not order and filtered:
        if not search.snapshot.passes_more(search.query.filters, 0):
            return [Note("filtered", "No memory passes the filters.")]
        return [Note("filtered", "Nothing that passes the filters matches; without them there may be more.")]
    best = max((one.score for one in order), default=1.0)
    timely = search.lane.timely is not None and bool(search.lane.timely.any())
    read = search.measured and all(
        one.fault is None and (one.ready.is_set() or not one.embedder.knows(search.query.text))
        for one in search.channels.values()
    )
    if best >= fusion.FITS or not read or pending or search.lane.misspelt or timely:
        return []
    what = "that was searched" if filtered else "stored"
    return [Note("nothing_fits", f"Nothing {what} seems to answer this. The nearest there is scores {best:.2f}.")]


def _notes(search: RankedSearch, pending: int, nearest: list[Near], cut: Cut | None) -> list[Note]:
    notes = []
    if damaged := sorted(search.snapshot.damage | search.index.damage):
        notes.append(damage_note(damaged))
    if search.which != "words" and search.query.text.strip() and search.index.count > 1:
        for channel in search.channels.values():
            if channel.fault is not None:
                how = (
                    f"Searched without {channel.name}" if search.vectors else "Searched by words alone, not by meaning"
                )
                notes.append(Note("no_meaning", f"{how}: {channel.fault.message}. {channel.fault.hint}"))
            elif not channel.ready.is_set():
                how = f"Searched without {channel.name}" if search.vectors else "Searched by words alone"
                notes.append(Note("loading", f"{how}: the model is not ready yet."))
        if search.which == "meaning" and not search.channels:
            notes.append(Note("no_meaning", "There is no model to search by meaning: --embedder is none."))
    if pending:
        single = "1 passage was searched by words alone: it has"
        some = single if pending == 1 else f"{pending:,} passages were searched by words alone: they have"
        text = "no vector yet. Where the store can be written, a server makes it in the background, `polymnia reindex`"
        notes.append(Note("pending", f"{some} {text} at once."))
    for one in search.lane.asked:
        if one.alike and not nearest:
            notes.append(Note("alike", f"Nothing has {one.word!r}; searched for {one.terms[0][0]!r} instead."))
    if nearest:
        names = ", ".join(repr(near.label) for near in nearest)
        below = search.query.at_least and (search.exact or (search.scores.words > 0).any())
        miss = f"What matches scores below {search.query.at_least:g}." if below else "Nothing matches."
        notes.append(Note("nearest", f"{miss} The nearest there is: {names}."))
    if cut is not None and (cut.cut or cut.left_out):
        said = f"{cut.whole} shown whole, {cut.cut} cut to the best passages, {cut.left_out} left out"
        notes.append(Note("cut", f"Of {cut.whole + cut.cut + cut.left_out} found, {said} ({cut.tokens:,} tokens)."))
    return notes


# ── the plan: a search laid open ──────────────────────────────────────────────────────────────────────────


def planned(search: RankedSearch, pages: Pages, limit: int) -> Plan:
    """The plan of a search, with its answer."""
    began = time.perf_counter()
    found = answer(search, pages, ResultPage(limit=limit), 0)
    text = search.query.text
    asked: dict[str, list[tuple[str, float, int]]] = {}
    for one in search.lane.asked:
        if not one.bonus:
            asked.setdefault(one.word, []).extend(one.terms)
    fusion = [
        (one.record.name, {"words": why.words, "meaning": why.meaning or 0.0, "lent": why.lent, "score": one.score})
        for one in found.hits
        for why in (one.why,)
    ]
    when = search.parsed.time
    return Plan(
        query=text,
        language=languages.language(text.casefold().split()),
        script=languages.script(text),
        words=list(asked.items()),
        time=None if when is None else f"{when.text}: {', '.join(when.terms[:6])}",
        lanes=[*_exact_lane(search, limit), _words_lane(search, limit), *_meaning_lanes(search, limit)],
        fusion=fusion,
        found=found,
        milliseconds=round((time.perf_counter() - began) * 1000, 2),
    )


def _named(search: RankedSearch, scored: list[tuple[int, float]]) -> list[tuple[str, float]]:
    numbers = [number for number, _ in scored]
    names = {record.id - search.base: record.name for record in search.load(numbers)}
    return [(names[number], round(score, 4)) for number, score in scored if number in names]


def _exact_lane(search: RankedSearch, limit: int) -> list[Lane]:
    began = time.perf_counter()
    exact = sorted(search.exact)
    best = _named(search, [(number, 1.0) for number in exact[:limit]])
    asked = f"the query as it stands: {search.parsed.forms[0]!r}" if search.parsed.forms else "nothing: too long"
    return [Lane(name="exact", asked=asked, best=best, milliseconds=_since(began))]


def _words_lane(search: RankedSearch, limit: int) -> Lane:
    began = time.perf_counter()
    lane = search.lane
    rows = top(lane.memories, limit)
    rows = rows[np.argsort(-lane.memories[rows], kind="stable")]
    most = max(lane.memory_asked, 1e-9)
    numbers = search.index.memories["number"]
    best = _named(search, [(int(numbers[row]), float(lane.memories[row]) / most) for row in rows])
    asked = ", ".join(dict.fromkeys(one.word for one in lane.asked if not one.bonus)) or "no words"
    return Lane(name="words", asked=asked, best=best, milliseconds=_since(began))


def _meaning_lanes(search: RankedSearch, limit: int) -> list[Lane]:
    lanes = []
    index = search.index
    for name, vector in search.vectors.items():
        vectors = index.vectors.get(name)
        if vectors is None:
            continue
        began = time.perf_counter()
        rows = vectors.nearest(vector, index.count, index.passages["alive"], max(200, limit * 4))
        cosines = vectors.cosines(search.snapshot, vector, rows)
        best: dict[int, float] = {}
        for at in np.argsort(-cosines, kind="stable"):
            number = int(index.memories["number"][index.passages["memory"][rows[at]]])
            best.setdefault(number, float(cosines[at]))
            if len(best) >= limit:
                break
        asked, named = "the cosine of each passage to the query", _named(search, list(best.items()))
        lanes.append(Lane(name=f"meaning ({name})", asked=asked, best=named, milliseconds=_since(began)))
    return lanes


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
