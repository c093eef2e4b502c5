"""Snippets: the piece of a text that answers a query, the matching words in it, and what fits a budget of tokens.

Every range is a pair of offsets into the original text, even if folding changes the length of its letters.
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
Piece: TypeAlias = tuple[str, tuple[Range, ...]]  # of a text, with the ranges of it that match

# Scripts that put no space between words, and Korean, whose words carry their particles.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FLAG_LETTERS = re.compile("[\U0001f1e6-\U0001f1ff]+\\Z")
_MOST_COMPARED = 20_000  # matches
_SENTENCE = re.compile(r"[.!?…]['\"”’)]*\s+|[。！？；]|\n\s*")


def find(text: str, matches: Callable[[str], bool]) -> list[Range]:
    """The ranges of the words that match, in order; adjacent ones are joined.

    ``matches`` is called once for each distinct word. In a script without spaces it is called for the whole run and
    then for each pair of characters; for a name such as ``getUserName`` also for its parts.
    """
    does = cache(matches)
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
    """The ranges of the text that are the query verbatim, ignoring case and the encoding of accents."""
    needle = _folded(query.strip())
    if not needle:
        return []
    parts = [_FOLDS[c] for c in text]
    folded = "".join(parts)
    # The offset of each character of the text in its folded form; most texts keep their length.
    places = None if len(folded) == len(text) else [0, *accumulate(map(len, parts))]
    found: list[Range] = []
    at = folded.find(needle)
    while at >= 0:
        end = at + len(needle)
        start, stop = (at, end) if places is None else (_place(places, at), _place(places, end))
        if start < 0 or stop < 0 or (end < len(folded) and _continues(folded[end])):
            at = folded.find(needle, at + 1)
        else:
            found.append((start, stop))
            at = folded.find(needle, end)
    return found


def best_piece(text: str, ranges: Sequence[Range], width: int) -> Piece:
    """The piece of about ``width`` characters with the most different matches, or the beginning of the text.

    A piece begins and ends with a sentence or a word if possible.
    """
    marks = _joined(ranges)
    if len(text) <= width:
        return _piece(text, 0, len(text), marks)
    if not marks:
        return _piece(text, 0, _end(text, 0, 0, width), ())
    compared = marks[:_MOST_COMPARED]
    first, last = _best(compared, [_folded(text[start : min(end, start + width)]) for start, end in compared], width)
    start = _start(text, marks[first][0], marks[last][1], width)
    return _piece(text, start, _end(text, start, min(marks[last][1], start + width), width), marks)


class _Folds(dict[str, str]):
    """Each character as it is compared: decomposed, without case."""

    def __missing__(self, c: str) -> str:
        self[c] = folded = normalize("NFD", normalize("NFD", c).casefold())
        return folded


_FOLDS = _Folds({chr(c): chr(c).lower() for c in range(128)})


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else "".join([_FOLDS[c] for c in text])


def _place(places: list[int], at: int) -> int:
    """The character that begins at an offset of the folded text; -1 if it is inside of one."""
    index = bisect_left(places, at)
    return index if index < len(places) and places[index] == at else -1


def _continues(c: str) -> bool:
    """Whether a character continues the one before: an accent, or a vowel or final of a Korean syllable."""
    return combining(c) != 0 or "\u1160" <= c <= "\u11ff"


@cache
def _word_pattern() -> re.Pattern[str]:
    # A separate vowel sign or accent is no letter to `re`, yet it does not end a word.
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
    """The first and last mark of the best stretch: the most different words, then the most words."""
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
    """The start of a piece: the nearest sentence that leaves room, or else a word some way before."""
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
    """The end of a piece: of a sentence that fills most of the width, or else of a word."""
    end = start + width
    if end >= len(text):
        return len(text)
    if ends := [match.end() for match in _SENTENCE.finditer(text, max(least, start + width * 3 // 5), end)]:
        return ends[-1]
    word = end
    while word > max(least, start + width // 2) and not text[word].isspace():
        word -= 1
    return word if text[word].isspace() else max(_whole(text, end, start + 1), least)


def _whole(text: str, cut: int, low: int) -> int:
    """The cut, or a little before it if it would split a letter from its accent, or an emoji."""
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
    """Whether the offset is inside of a flag, which is two letters of its own alphabet."""
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
    """Choose, best first, what fits a budget: the tokens of each item by its position; the others are left out.

    ``sizes`` are the items' tokens in the order of their rank. An item too large for the rest of the budget is cut,
    never below its ``least``, and a smaller one further down may still fit. A cut item first gets half of the rest, so
    that one long memory does not displace all others; what remains in the end goes to the best cut ones.
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
        rooms[0] = most  # not even the best passage fits: its beginning does
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
                bare = replace(hit.record, observations=())  # the fragments replace its texts
                shown.append(replace(hit, record=bare, fragments=pieces, cut=True))
    cut = sum(hit.cut for hit in shown)
    left_out = len(hits) - len(shown)
    return shown, Cut(whole=len(shown) - cut, cut=cut, left_out=left_out, tokens=total, budget=most)


def _cut(hit: Hit, room: int) -> tuple[tuple[Fragment, ...], int]:
    fragments: list[Fragment] = []
    used = tokens(hit.record.name)
    for fragment in hit.fragments:
        size = tokens(fragment.text)
        if used + size > room and not fragments:
            text = trimmed(fragment.text, room - used)
            fragment = replace(
                fragment, text=text, marks=tuple(mark for mark in fragment.marks if mark[1] <= len(text))
            )
            size = tokens(text)
        if fragment.text and used + size <= room:
            fragments.append(fragment)
            used += size
    return tuple(fragments), used if fragments else 0
