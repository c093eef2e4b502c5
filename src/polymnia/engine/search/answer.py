"""The answer to a search: a page of the order, made of memories, reasons, passages and what else is worth telling."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from polymnia.engine.content import cursor, foreign, position, title_of
from polymnia.engine.search import damage_note, lanes, snippets
from polymnia.engine.search.index import Numbers, Vectors
from polymnia.engine.search.lanes import AskedGroup, top
from polymnia.engine.search.passages import is_spoken, part_of, place_of, speech
from polymnia.engine.search.query import PLACES
from polymnia.engine.search.ranking import FITS, Ranked, RankedSearch, shown
from polymnia.engine.search.results import Cut, Found, Fragment, Hit, Lane, Near, Plan, ResultPage, Turn, Why
from polymnia.engine.text import language as languages
from polymnia.engine.text import words
from polymnia.engine.text.tokens import tokens
from polymnia.models import Note, Record

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Pages

_SIMILAR = 50  # without a limit, at most so many that do not hold the query as it stands
_LEAST = 10  # and so many whatever their score
_ENOUGH = 0.75  # beyond these, the score must be this share of the best one
_FACETS = 20
_COUNTED = 10_000  # memories that facets are counted over
_NEAREST = 3
_LABEL = 40  # characters
_PIECES = 3
_WIDTH = 240
_SAID = 240  # characters told of the turn before and after,
_READ = 1000  # of so many that are looked at
_NAMED = 8  # words that a sentence names


def answer(search: RankedSearch, pages: Pages, page: ResultPage, pending: int) -> Found:
    """A page of the answer; ``pending`` passages have no vector yet."""
    order, start, name = _ordered(search, pages, page)
    if page.limit is None:
        order = _some(order)
    chosen = order[start:][: page.limit]
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
        hits, cut = snippets.fitted(hits, page.max_tokens)
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
        notes=notes,
        cut=cut,
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
    query = search.query
    if query.sort == "relevance":
        return order[::-1] if query.ascending else order
    records = {record.id - search.base: record for record in search.load([one.number for one in order])}
    there = [one for one in order if one.number in records]
    by: Callable[[Record], Any] = (
        (lambda record: record.created) if query.sort == "date" else (lambda record: title_of(record).casefold())
    )
    return sorted(there, key=lambda one: (by(records[one.number]), one.number), reverse=not query.ascending)


def _some(order: list[Ranked]) -> list[Ranked]:
    """All that hold the query as it stands, and of the others those worth reading."""
    first = [one for one in order if one.tier == 0]
    rest = order[len(first) : len(first) + _SIMILAR]
    best = rest[0].score if rest else 0.0
    return first + [one for i, one in enumerate(rest) if i < _LEAST or one.score >= best * _ENOUGH]


def _nearest(search: RankedSearch) -> list[Near]:
    scores = search.scores
    numbers = search.index.memories["number"][scores.memories[:_NEAREST]].tolist()
    value = dict(zip(numbers, shown(scores.fused[:_NEAREST], search.curve).tolist(), strict=True))
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
        for one in search.channels
    )
    if best >= FITS or not read or pending or search.lane.misspelt or timely:
        return []
    what = "that was searched" if filtered else "stored"
    return [Note("nothing_fits", f"Nothing {what} seems to answer this. The nearest there is scores {best:.2f}.")]


def _notes(search: RankedSearch, pending: int, nearest: list[Near], cut: Cut | None) -> list[Note]:
    notes = []
    if damaged := sorted(search.snapshot.damage | search.index.damage):
        notes.append(damage_note(damaged))
    if search.which != "words" and search.query.text.strip() and search.index.count > 1:
        for channel in search.channels:
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


# ── turns of a dialogue ───────────────────────────────────────────────────────────────────────────────────


def with_turns(search: RankedSearch, hits: Sequence[Hit], room: int | None) -> tuple[list[Hit], int]:
    """The hits that are turns of a dialogue with what was said before and after, and the tokens of that.

    ``room`` is how many tokens there are for it: the best hits come first, the reply before what it replies to.
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
    cut = len(text) > _SAID or len(whole) > _READ
    text = text[:_SAID].rstrip() + "…" if cut else text
    return Turn(id=record.uid, name=record.name, who=who, text=text, cut=cut)


def _neighbours(search: RankedSearch, numbers: Sequence[int]) -> dict[int, tuple[Record | None, Record | None]]:
    """The turns before and after those of these memories that are turns, by the numbers of these."""
    index = search.index
    rows = index.memory_rows(np.array(numbers, np.uint32)).astype(np.int64)
    is_turn = lanes.are_turns(index, rows)
    if not is_turn.any():
        return {}
    own = rows[is_turn]
    around = own[:, None] + np.array(lanes.STEPS)
    around[(around < 0) | (around >= index.memories.count)] = 0
    flat = around.ravel()
    follows = lanes.follow_each_other(index, np.repeat(own, len(lanes.STEPS)), flat) & lanes.are_turns(index, flat)
    near: dict[int, list[int]] = {}
    talking = np.array(numbers)[is_turn].tolist()
    for number, places, fits in zip(talking, around, follows.reshape(around.shape), strict=True):
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


def with_reasons(search: RankedSearch, there: Sequence[tuple[Ranked, Record]]) -> list[Hit]:
    """The memories with reasons and passages."""
    reasons = _Reasons(search, [one.number for one, _ in there])
    return [reasons.hit(one, record) for one, record in there]


class _Reasons:
    def __init__(self, search: RankedSearch, numbers: Sequence[int]) -> None:
        self._search = search
        columns, scores = search.index.passages, search.scores
        self._places = {number: search.passages_of(number) for number in numbers}
        self._best: dict[int, list[tuple[int, int, float]]] = {}  # the best passages: text, part and score
        for number, places in self._places.items():
            rows, values = scores.passages[places[:_PIECES]], scores.passage_scores[places[:_PIECES]]
            parts = columns["text"][rows].tolist(), columns["part"][rows].tolist(), values.tolist()
            self._best[number] = list(zip(*parts, strict=True))
        wanted = {text for best in self._best.values() for text, _, _ in best} | set(numbers)
        self._texts = {text.id: text for text in search.snapshot.texts_of(sorted(wanted))}
        memories = search.index.memories["number"][scores.memories].tolist()
        self._at = {number: at for at, number in enumerate(memories)}

    def hit(self, one: Ranked, record: Record) -> Hit:
        """A memory with its reasons."""
        search, scores = self._search, self._search.scores
        asked = [] if search.which == "meaning" else search.lane.asked
        found, missing, alike, whole = _words_found(asked, self._held(one.number))
        similarity = meaning = None
        lent = share = 0.0
        if (at := self._at.get(one.number)) is not None:
            lent, share = float(scores.lent[at]), float(scores.words[at])
            if not np.isnan(scores.similarity[at]):
                similarity, meaning = float(scores.similarity[at]), float(scores.meaning[at])
        timely, told = self._timely(one.number)
        if timely is not None and search.parsed.time is not None:
            missing = [word for word in missing if word.casefold() not in search.parsed.time.past_words]
        place = one.place if one.tier == 0 and search.query.text.strip() else None
        said = []
        if place is not None:
            said.append(f"the query stands in {PLACES[place].said} as it is")
        said += _about_words(found, missing, alike, whole)
        if meaning is not None and meaning > 0.15:
            how = "very close" if meaning > 0.6 else "close" if meaning > 0.35 else "somewhat close"
            said.append(f"its meaning is {how} (cosine {similarity:.2f})")
        if timely is not None:
            said.append(f"it speaks of the time asked for ({timely})" if told else f"it was stored then ({timely})")
        if lent > 0.02:
            said.append("what stands next to it in the conversation matches too")
        if one.judged is not None:
            said.append(f"read together with the query it was judged {one.judged:.2f}")
        if not said:
            said.append("nothing more was asked for" if place is None and not missing else "nothing else is nearer")
        text = "; ".join(said)
        why = Why(
            sentence=f"{text[0].upper()}{text[1:]}.",
            exact=None if place is None else PLACES[place].field,
            terms=tuple(found),
            missing=tuple(missing),
            alike=tuple(alike),
            words=round(min(1.0, max(0.0, share)), 4),
            meaning=None if meaning is None else round(max(0.0, meaning), 4),
            similarity=None if similarity is None else round(similarity, 4),
            model=None if similarity is None else next(iter(search.vectors), None),  # where two have one, the first
            lent=round(lent, 4),
            date=timely is not None,
            judged=one.judged,
        )
        return Hit(record=record, score=round(one.score, 4), why=why, fragments=self._fragments(one.number, record))

    def _held(self, number: int) -> set[str]:
        held: set[str] = set()
        for text, part, _ in [(number, 0, 0.0), *self._best[number]]:
            if text in self._texts:
                held |= words.terms(part_of(self._texts[text], part)).counts.keys()
        return held

    def _timely(self, number: int) -> tuple[str | None, bool]:
        lane, time = self._search.lane, self._search.parsed.time
        if lane.timely is None or lane.told is None or time is None:
            return None, False
        here = self._search.scores.passages[self._places[number]]
        return (time.text if lane.timely[here].any() else None), bool(lane.told[here].any())

    def _fragments(self, number: int, record: Record) -> tuple[Fragment, ...]:
        place = {text: i for i, text in enumerate(record.observations)}
        pieces = []
        for id, part, score in self._best[number]:
            if (text := self._texts.get(id)) is None:
                continue
            said = part_of(text, part)
            marks = snippets.find(said, self._search.matches)
            if self._search.parsed.forms:
                marks += snippets.phrase(said, self._search.query.text)
            piece, ranges = snippets.best_piece(said, marks, _WIDTH)
            if piece:
                observation = None if text.body is None else place.get(text.body)
                pieces.append(Fragment(text=piece, observation=observation, marks=ranges, score=round(score, 4)))
        return tuple(pieces)


def _words_found(
    asked: Sequence[AskedGroup], terms: set[str]
) -> tuple[list[str], list[str], list[tuple[str, str]], bool]:
    """Of the words of a query those that stand among the terms, those that do not, and those taken for another.

    A word of a script without spaces is looked for in pairs of characters: told is what of it was found. The last value
    says whether all was found, whole.
    """
    pairs: dict[str, list[tuple[str, bool]]] = {}
    alike: list[tuple[str, str]] = []
    for one in asked:
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
    whole = not missing and all(found for parts in pairs.values() for _, found in parts)
    return list(dict.fromkeys(there)), missing, alike, whole


def _runs(parts: Sequence[tuple[str, bool]]) -> list[str]:
    runs: list[str] = []
    going = False
    for part, found in parts:
        if found and going and runs[-1][-1:] == part[:1]:
            runs[-1] += part[1:]
        elif found:
            runs.append(part)
        going = found
    return runs


def _about_words(found: list[str], missing: list[str], alike: list[tuple[str, str]], whole: bool) -> list[str]:
    """The words of the query that a memory has and lacks, in words."""
    taken = dict(alike)
    plain = [word for word in found if word not in taken]
    said = []
    if plain:
        every = whole and not alike and len(plain) > 1
        said.append(f"all its words are there: {_listed(plain)}" if every else f"it has {_listed(plain)}")
    said += [f"{found!r} was taken for {word!r}" for word, found in alike]
    if missing and said:
        said.append(f"it lacks {_listed(missing)}")
    return said


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(f"“{word}”" for word in words[:_NAMED])
    return shown if len(words) <= _NAMED else f"{shown} and {len(words) - _NAMED} more"


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
        (
            one.record.name,
            {"words": one.why.words, "meaning": one.why.meaning or 0.0, "lent": one.why.lent, "score": one.score},
        )
        for one in found.hits
    ]
    when = search.parsed.time
    return Plan(
        query=text,
        language=languages.language(text.casefold().split()),
        script=languages.script(text),
        words=list(asked.items()),
        time=None if when is None else f"{when.text}: {', '.join(when.terms[:6])}",
        lanes=list(_lanes(search, limit)),
        fusion=fusion,
        found=found,
        milliseconds=round((time.perf_counter() - began) * 1000, 2),
    )


def _lanes(search: RankedSearch, limit: int) -> Iterator[Lane]:
    """What each lane alone would answer."""
    index, lane = search.index, search.lane
    numbers = index.memories["number"]
    asked = f"the query as it stands: {search.parsed.forms[0]!r}" if search.parsed.forms else "nothing: too long"
    yield _lane(search, "exact", asked, lambda: [(number, 1.0) for number in sorted(search.exact)[:limit]])
    rows = top(lane.memories, limit)
    rows = rows[np.argsort(-lane.memories[rows], kind="stable")]
    asked = ", ".join(dict.fromkeys(one.word for one in lane.asked if not one.bonus)) or "no words"
    most = max(lane.memory_asked, 1e-9)
    yield _lane(search, "words", asked, lambda: zip(numbers[rows].tolist(), lane.memories[rows] / most, strict=True))
    asked = "the cosine of each passage to the query"
    for name, vector in search.vectors.items():
        if (vectors := index.vectors.get(name)) is not None:
            yield _lane(search, f"meaning ({name})", asked, partial(_nearest_to, search, vectors, vector, limit))


def _lane(search: RankedSearch, name: str, asked: str, ask: Callable[[], Iterable[tuple[int, float]]]) -> Lane:
    began = time.perf_counter()
    best = list(ask())
    names = {record.id - search.base: record.name for record in search.load([number for number, _ in best])}
    named = [(names[number], round(float(score), 4)) for number, score in best if number in names]
    return Lane(name=name, asked=asked, best=named, milliseconds=_since(began))


def _nearest_to(search: RankedSearch, vectors: Vectors, vector: Numbers, limit: int) -> list[tuple[int, float]]:
    index = search.index
    rows = vectors.nearest(vector, index.count, index.passages["alive"], max(200, limit * 4))
    cosines = vectors.cosines(search.snapshot, vector, rows)
    order = np.argsort(-cosines, kind="stable")
    owners = index.memories["number"][index.passages["memory"][rows[order]]].tolist()
    best: dict[int, float] = {}
    for number, cosine in zip(owners, cosines[order].tolist(), strict=True):
        best.setdefault(number, cosine)
    return list(best.items())[:limit]


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
