"""Snippets: the piece of a text that answers a query, the words in it that matched, and what fits a budget of tokens.

Every place is a pair of offsets into the text as it was given, whatever folding does to the length of its letters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import accumulate, islice, takewhile
from typing import TypeAlias
from unicodedata import category, combining, normalize

from msgspec.structs import replace

from polymnia.engine.search.results import Cut, Fragment, Hit
from polymnia.engine.text.tokens import tokens, trimmed

Range: TypeAlias = tuple[int, int]
Piece: TypeAlias = tuple[str, tuple[Range, ...]]  # of a text, with the ranges within it that matched

# Scripts that put no space between words, and Korean, whose words carry their particles.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FLAG_LETTERS = re.compile("[\U0001f1e6-\U0001f1ff]+\\Z")
_MOST_WEIGHED = 20_000  # matches; beyond so many a better fragment is no news
_SENTENCE = re.compile(r"[.!?…]['\"”’)]*\s+|[。！？；]|\n\s*")


def find(text: str, matches: Callable[[str], bool]) -> list[Range]:
    """The places of the words that match, in order, those that touch joined into one.

    ``matches`` is asked once for each distinct word, as the text has it. Where a script has no spaces it is asked for
    the whole run and then for each pair of characters; of a name such as ``getUserName`` also for its parts.
    """
    known: dict[str, bool] = {}

    def does(word: str) -> bool:
        answer = known.get(word)
        if answer is None:
            answer = known[word] = matches(word)
        return answer

    found: list[Range] = []
    for match in _word_pattern().finditer(text):
        word, start, end = match[0], match.start(), match.end()
        if does(word):
            found.append((start, end))
        elif match.lastgroup == "run":
            found += [(at, at + 2) for at in range(start, end - 1) if does(text[at : at + 2])]
        elif not word.islower() and not word.isdecimal() and len(parts := list(_HUMPS.finditer(word))) > 1:
            found += [(start + part.start(), start + part.end()) for part in parts if does(part[0])]
    return _joined(found)


def phrase(text: str, query: str) -> list[Range]:
    """The places where the text holds the query as it stands, whatever the case and however accents are encoded."""
    wanted = _folded(query.strip())
    if not wanted:
        return []
    parts = [_FOLDS[c] for c in text]
    folded = "".join(parts)
    # Where each character of the text begins in its folded form; most texts keep their length.
    places = None if len(folded) == len(text) else [0, *accumulate(map(len, parts))]
    found: list[Range] = []
    at = folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        start, stop = (at, end) if places is None else (_place(places, at), _place(places, end))
        if start < 0 or stop < 0 or (end < len(folded) and _continues(folded[end])):
            at = folded.find(wanted, at + 1)
        else:
            found.append((start, stop))
            at = folded.find(wanted, end)
    return found


def best_piece(text: str, ranges: Sequence[Range], width: int) -> Piece:
    """The piece of about ``width`` characters with the most different matches.

    Without a match it is the beginning of the text. A piece begins and ends with a sentence or a word where it can.
    """
    marks = _joined(ranges)
    if len(text) <= width:
        return _piece(text, 0, len(text), marks)
    if not marks:
        return _piece(text, 0, _end(text, 0, 0, width), ())
    weighed = marks[:_MOST_WEIGHED]
    first, last = _best(weighed, [_folded(text[start : min(end, start + width)]) for start, end in weighed], width)
    start = _start(text, marks[first][0], marks[last][1], width)
    return _piece(text, start, _end(text, start, min(marks[last][1], start + width), width), marks)


class _Folds(dict[str, str]):
    """Each character in the form it is compared in: decomposed, without case."""

    def __missing__(self, c: str) -> str:
        self[c] = folded = normalize("NFD", normalize("NFD", c).casefold())
        return folded


_FOLDS = _Folds({chr(c): chr(c).lower() for c in range(128)})


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else "".join([_FOLDS[c] for c in text])


def _place(places: list[int], at: int) -> int:
    """The character that begins there in the folded text, or -1 when one goes on across it."""
    index = bisect_left(places, at)
    return index if index < len(places) and places[index] == at else -1


def _continues(c: str) -> bool:
    """Whether a character belongs to the one before: an accent, or a vowel or final of a Korean syllable."""
    return combining(c) != 0 or "\u1160" <= c <= "\u11ff"


@cache
def _word_pattern() -> re.Pattern[str]:
    # A vowel sign or accent of its own is no letter to `re`, yet it does not end a word.
    blocks = (range(0x300, 0x1B00), range(0x1DC0, 0x1E00), range(0x20D0, 0x2100), range(0xA800, 0xAC00))
    marks = "".join(chr(c) for block in blocks for c in block if category(chr(c)) in ("Mn", "Mc"))
    return re.compile(rf"(?P<run>[{_UNSPACED}]+)|[^\W_{_UNSPACED}]+(?:[{marks}]+[^\W_{_UNSPACED}]*)*")


def _joined(ranges: Iterable[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    return joined


def _best(marks: Sequence[Range], words: Sequence[str], width: int) -> Range:
    """The first and last mark of the stretch that shows most: different words first, then how often they stand."""
    best, most = (0, 0), 0.0
    inside: Counter[str] = Counter()
    value, last = 0.0, 0
    for first, (start, _) in enumerate(marks):
        while last < len(marks) and (last <= first or marks[last][1] - start <= width):
            inside[words[last]] += 1
            value += 0.1 if inside[words[last]] > 1 else 1.0
            last += 1
        if value > most + 1e-9:
            best, most = (first, last - 1), value
        inside[words[first]] -= 1
        value -= 0.1 if inside[words[first]] else 1.0
    return best


def _start(text: str, first: int, last: int, width: int) -> int:
    """Where a piece begins: with the nearest sentence that leaves room, or else with a word some way before."""
    room = max(width - (last - first), 0)
    earliest = first - room
    if earliest <= 0:
        return 0
    starts = [match.end() for match in _SENTENCE.finditer(text, earliest, first)]
    start = starts[-1] if starts else first - room // 3
    while not starts and start < first and not text[start - 1].isspace():
        start += 1
    if not starts and start == first and not text[first - 1].isspace():
        start = first - room // 3
    return min(_whole(text, start, 0), first)


def _end(text: str, start: int, least: int, width: int) -> int:
    """Where a piece ends: with a sentence that fills most of the width, or else with a word."""
    end = start + width
    if end >= len(text):
        return len(text)
    best = 0
    for match in _SENTENCE.finditer(text, max(least, start + width * 3 // 5), end):
        best = match.end()
    if best:
        return best
    word = end
    while word > max(least, start + width // 2) and not text[word].isspace():
        word -= 1
    return word if text[word].isspace() else max(_whole(text, end, start + 1), least)


def _whole(text: str, cut: int, low: int) -> int:
    """The cut, or a little before it where it would part an accent from its letter or an emoji from its half."""
    for at in range(cut, max(low, cut - 16), -1):
        if at >= len(text) or not (_joins(text[at]) or text[at - 1] == "\u200d" or _flags(text, at)):
            return at
    return cut


def _joins(c: str) -> bool:
    return c > "\u02ff" and (
        c in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= c <= "\U0001f3ff"
        or category(c) in ("Mn", "Mc", "Me")
        or _continues(c)
    )


def _flags(text: str, at: int) -> bool:
    """Whether the place is within a flag, which is two letters of its own alphabet."""
    before = _FLAG_LETTERS.search(text, max(0, at - 64), at)
    return before is not None and len(before[0]) % 2 == 1 and "\U0001f1e6" <= text[at] <= "\U0001f1ff"


def _piece(text: str, start: int, end: int, marks: Sequence[Range]) -> Piece:
    start, end = end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip())
    end = max(start, end)
    first = bisect_left(marks, start, key=lambda mark: mark[1])
    near = takewhile(lambda mark: mark[0] < end, islice(marks, first, None))
    inside = tuple((max(low, start) - start, min(high, end) - start) for low, high in near if start < min(high, end))
    return text[start:end], inside


def fit(sizes: Sequence[int], budget: int, least: Sequence[int]) -> dict[int, int]:
    """Choose, best first, what fits a budget: the tokens each item may have, by its place; the others find no room.

    ``sizes`` are the items' tokens in the order of their rank. An item too large for what is left is cut, never below
    its ``least``, and a smaller one further down may still fit. A cut item first gets half of what is left, so that one
    long memory does not silence all others; what nobody takes in the end goes to the best cut ones.
    """
    rooms: dict[int, int] = {}
    left = max(budget, 0)
    for place, size in enumerate(sizes):
        if size <= left:
            rooms[place] = size
        elif max(least[place], 1) <= left:
            rooms[place] = max(least[place], 1, left // 2)
        else:
            continue
        left -= rooms[place]
    for place, room in rooms.items():
        more = min(sizes[place] - room, left)
        rooms[place] += more
        left -= more
    return rooms


def fitted(hits: list[Hit], most: int) -> tuple[list[Hit], Cut]:
    """The hits that fit a budget of tokens; of one too long, its best passages."""
    sizes = [sum(map(tokens, (one.record.name, one.record.kind, *one.record.observations))) for one in hits]
    best = [tokens(one.record.name) + tokens(one.fragments[0].text if one.fragments else "") for one in hits]
    rooms = fit(sizes, most, list(map(min, sizes, best)))
    if hits and not rooms:
        rooms[0] = most  # not even the best passage of one fits: its beginning does
    shown = []
    total = 0
    for place, hit in enumerate(hits):
        room = rooms.get(place, 0)
        if place in rooms and room >= sizes[place]:
            shown.append(hit)
            total += sizes[place]
        elif room:
            pieces, used = _cut(hit, room)
            total += used
            if pieces:
                bare = replace(hit.record, observations=())  # what is shown of its texts are the fragments
                shown.append(replace(hit, record=bare, fragments=pieces, cut=True))
    cut = sum(hit.cut for hit in shown)
    left_out = len(hits) - len(shown)
    return shown, Cut(whole=len(shown) - cut, cut=cut, left_out=left_out, tokens=total, budget=most)


def _cut(hit: Hit, room: int) -> tuple[tuple[Fragment, ...], int]:
    kept: list[Fragment] = []
    used = tokens(hit.record.name)
    for fragment in hit.fragments:
        size = tokens(fragment.text)
        if used + size > room and not kept:
            text = trimmed(fragment.text, room - used)
            fragment = replace(
                fragment, text=text, marks=tuple(mark for mark in fragment.marks if mark[1] <= len(text))
            )
            size = tokens(text)
        if fragment.text and used + size <= room:
            kept.append(fragment)
            used += size
    return tuple(kept), used if kept else 0
