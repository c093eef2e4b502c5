"""What is told of a memory that was found: its reasons, and the passages that answer the query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from polymnia.engine.search import budget, dialogue, explain, highlight
from polymnia.engine.search.exact import PLACES
from polymnia.engine.search.listing import part_of
from polymnia.engine.search.results import Fragment, Hit, Turn, Why
from polymnia.engine.search.search import Ranked, Search
from polymnia.engine.search.threads import said
from polymnia.engine.text import words
from polymnia.models import Record, Text

__all__ = ["plain", "with_reasons", "with_turns"]

_PIECES = 3
_WIDTH = 240
_SAID = 240  # characters told of the turn before and after,
_READ = 1000  # of so many that are looked at


def plain(search: Search, one: Ranked, record: Record) -> Hit:
    """A memory without reasons and passages."""
    return Hit(record=record, score=round(one.score, 4), why=Why(sentence=""))


def with_turns(search: Search, hits: Sequence[Hit], room: int | None) -> tuple[list[Hit], int]:
    """The hits that are turns of a dialogue with what was said before and after, and the tokens of that.

    ``room`` is how many tokens there are for it: the best hits come first, the reply before what it replies to.
    """
    near = dialogue.neighbours(search, [hit.record.id - search.base for hit in hits]) if hits else {}
    told, used = [], 0
    for hit in hits:
        before, after = near.get(hit.record.id - search.base, (None, None))
        given: dict[str, Turn] = {}
        for side, record in (("next", after), ("previous", before)):
            if record is None:
                continue
            turn = _turn(record)
            size = 0 if room is None else sum(map(budget.tokens, (turn.name, turn.who or "", turn.text)))
            if room is None or used + size <= room:
                given[side] = turn
                used += size
        told.append(replace(hit, **given) if given else hit)
    return told, used


def _turn(record: Record) -> Turn:
    who, whole = said(record.observations[0])
    text = " ".join(whole[:_READ].split())
    cut = len(text) > _SAID or len(whole) > _READ
    text = text[:_SAID].rstrip() + "…" if cut else text
    return Turn(id=record.uid, name=record.name, who=who, text=text, cut=cut)


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


def with_reasons(search: Search, there: Sequence[tuple[Ranked, Record]]) -> list[Hit]:
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
        exact=None if place is None else PLACES[place].field,
        terms=tuple(found), missing=tuple(missing), alike=tuple(alike), words=round(min(1.0, max(0.0, shares)), 4),
        meaning=None if meaning is None else round(max(0.0, meaning), 4),
        similarity=None if similarity is None else round(similarity, 4),
        model=None if similarity is None else _model(search),
        lent=round(lent, 4), date=timely is not None, judged=one.judged,
    )  # fmt: skip
    return Hit(
        record=record, score=round(one.score, 4), why=why, fragments=_fragments(search, record, rows, texts, matches),
    )  # fmt: skip


def _model(search: Search) -> str | None:
    """The model whose cosine is told: where two have one, the first."""
    return next(iter(search.asked), None)


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
