"""Hits: what is told of a memory that was found: its reasons, and the passages that answer the query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from polymnia.engine.search import budget, highlight, lanes
from polymnia.engine.search.lanes import AskedGroup
from polymnia.engine.search.passages import part_of
from polymnia.engine.search.query import PLACES
from polymnia.engine.search.ranking import Ranked, RankedSearch
from polymnia.engine.search.results import Fragment, Hit, Turn, Why
from polymnia.engine.search.turns import is_spoken, place_of, speech
from polymnia.engine.text import words
from polymnia.models import Record

_PIECES = 3
_WIDTH = 240
_SAID = 240  # characters told of the turn before and after,
_READ = 1000  # of so many that are looked at
_NAMED = 8  # words that a sentence names


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
            size = 0 if room is None else sum(map(budget.tokens, (turn.name, turn.who or "", turn.text)))
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
    before: list[tuple[tuple[int | None, int], Record]] = []
    after: list[tuple[tuple[int | None, int], Record]] = []
    for other in others:
        where, its_number = place_of(other)
        if where == place and is_spoken(other):
            key = its_number, other.id
            (before if key < (number, record.id) else after).append((key, other))
    return (max(before)[1] if before else None), (min(after)[1] if after else None)


# ── reasons ───────────────────────────────────────────────────────────────────────────────────────────────


def with_reasons(search: RankedSearch, there: Sequence[tuple[Ranked, Record]]) -> list[Hit]:
    """The memories with reasons and passages."""
    reasons = _Reasons(search, [one.number for one, _ in there])
    return [reasons.hit(one, record) for one, record in there]


class _Reasons:
    """What there is to say about the memories of one page."""

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
        terms = {term for one in search.lane.asked for term, _, _ in one.terms}
        self._terms, self._starts = terms, {term[:2] for term in terms}
        self._matching: dict[str, bool] = {}  # the hits of one answer share many words
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
        """The terms of a memory: of its head and its best passages."""
        held: set[str] = set()
        for text, part, _ in [(number, 0, 0.0), *self._best[number]]:
            if text in self._texts:
                held |= words.terms(part_of(self._texts[text], part)).counts.keys()
        return held

    def _timely(self, number: int) -> tuple[str | None, bool]:
        """The time asked for, if the memory is of it, and whether it speaks of it itself."""
        lane, time = self._search.lane, self._search.parsed.time
        if lane.timely is None or lane.told is None or time is None:
            return None, False
        here = self._search.scores.passages[self._places[number]]
        return (time.text if lane.timely[here].any() else None), bool(lane.told[here].any())

    def _fragments(self, number: int, record: Record) -> tuple[Fragment, ...]:
        """The best passages of a memory, cut to what matters, with the words that match marked."""
        place = {text: i for i, text in enumerate(record.observations)}
        pieces = []
        for id, part, score in self._best[number]:
            if (text := self._texts.get(id)) is None:
                continue
            said = part_of(text, part)
            marks = highlight.find(said, self._matches)
            if self._search.parsed.forms:
                marks += highlight.phrase(said, self._search.query.text)
            piece, ranges = highlight.best_piece(said, marks, _WIDTH)
            if piece:
                observation = None if text.body is None else place.get(text.body)
                pieces.append(Fragment(text=piece, observation=observation, marks=ranges, score=round(score, 4)))
        return tuple(pieces)

    def _matches(self, word: str) -> bool:
        """Whether a word of a text is one of those asked for."""
        known = self._matching.get(word)
        if known is None:
            # Every form of a plain word begins as the word does.
            hopeless = word.isascii() and word.isalpha() and word[:2].lower() not in self._starts
            known = self._matching[word] = not hopeless and not self._terms.isdisjoint(words.terms(word).counts)
        return known


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
    """Pairs of characters that were found, joined where one goes on where the other ends."""
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
