"""Highlights: the fragments of a text that answer a query, and where the words stand that matched.

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

from msgspec import Struct

__all__ = ["Fragment", "Range", "find", "fragments", "highlights", "marked", "phrase"]

Range: TypeAlias = tuple[int, int]

# Scripts that put no space between words, and Korean, whose words carry their particles.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MOST_WEIGHED = 20_000  # matches; beyond so many a better fragment is no news
_SENTENCE = re.compile(r"[.!?…]['\"”’)]*\s+|[。！？；]|\n\s*")


class Fragment(Struct, frozen=True):
    """A piece of a text from ``start`` on, the ranges within it that matched, and whether there is text around it."""

    text: str
    start: int
    ranges: tuple[Range, ...]
    cut_before: bool
    cut_after: bool


def highlights(text: str, words: Iterable[str], *, limit: int = 3, width: int = 160) -> list[Fragment]:
    """The best fragments of a text for words that match as they stand, whatever their case."""
    wanted = {_folded(word) for word in words}
    return fragments(text, find(text, lambda word: _folded(word) in wanted), limit=limit, width=width)


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


def fragments(text: str, ranges: Sequence[Range], *, limit: int = 3, width: int = 160) -> list[Fragment]:
    """Up to ``limit`` pieces of about ``width`` characters with the most different matches, in the text's order.

    Without a match it is the beginning of the text. A piece begins and ends with a sentence or a word where it can.
    """
    if limit < 1 or width < 1 or not text:
        return []
    marks = _joined(ranges)
    if len(text) <= width:
        return [_fragment(text, 0, len(text), marks)]
    if not marks:
        return [_fragment(text, 0, _end(text, 0, 0, width), ())]
    weighed = marks[:_MOST_WEIGHED]
    words = [_folded(text[start : min(end, start + width)]) for start, end in weighed]
    chosen: list[Range] = []
    shown: set[str] = set()
    while len(chosen) < limit:
        best = _best(weighed, words, width, chosen, shown)
        if best is None:
            break
        first, last = best
        low = max((end for _, end in chosen if end <= marks[first][0]), default=0)
        high = min((start for start, _ in chosen if start >= marks[first][1]), default=len(text))
        start = _start(text, low, marks[first][0], marks[last][1], width)
        chosen.append((start, min(_end(text, start, min(marks[last][1], start + width), width), high)))
        shown.update(words[first : last + 1])
    pieces = [_fragment(text, start, end, marks) for start, end in sorted(chosen)]
    return [piece for piece in pieces if piece.text]


def marked(
    fragment: Fragment,
    before: str = "**",
    after: str = "**",
    *,
    ellipsis: str = "…",
    escape: Callable[[str], str] = str,
) -> str:
    """A fragment as one string, its matches between ``before`` and ``after``; ``escape`` changes the text alone."""
    pieces = [ellipsis] if fragment.cut_before else []
    done = 0
    for start, end in fragment.ranges:
        pieces += [escape(fragment.text[done:start]), before, escape(fragment.text[start:end]), after]
        done = end
    pieces.append(escape(fragment.text[done:]))
    return "".join(pieces) + (ellipsis if fragment.cut_after else "")


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


def _best(
    marks: Sequence[Range], words: Sequence[str], width: int, chosen: Sequence[Range], shown: set[str]
) -> Range | None:
    """The first and last mark of the stretch that shows most: different words first, new ones above all."""
    best, most = None, 0.0
    inside: Counter[str] = Counter()
    value, last = 0.0, 0
    for first, (start, _) in enumerate(marks):
        last = max(last, first)
        while last < len(marks) and (last == first or marks[last][1] - start <= width):
            if any(low < marks[last][1] and marks[last][0] < high for low, high in chosen):
                break
            inside[words[last]] += 1
            value += 0.1 if inside[words[last]] > 1 else 0.3 if words[last] in shown else 1.0
            last += 1
        if last > first:
            if value > most + 1e-9:
                best, most = (first, last - 1), value
            inside[words[first]] -= 1
            value -= 0.1 if inside[words[first]] else 0.3 if words[first] in shown else 1.0
    return best


def _start(text: str, low: int, first: int, last: int, width: int) -> int:
    """Where a piece begins: with the nearest sentence that leaves room, or else with a word some way before."""
    room = max(width - (last - first), 0)
    earliest = max(low, first - room)
    if earliest == 0:
        return 0
    start = max(low, first - room // 3)
    for match in _SENTENCE.finditer(text, earliest, first):
        start = match.end()
    if not _SENTENCE.search(text, earliest, first):
        while start < first and not text[start - 1].isspace():
            start += 1
        if start == first and not text[first - 1].isspace():
            start = max(low, first - room // 3)
    return min(_whole(text, start, low), first)


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
    before = 0
    while before < 64 and at - before and "\U0001f1e6" <= text[at - before - 1] <= "\U0001f1ff":
        before += 1
    return before % 2 == 1 and "\U0001f1e6" <= text[at] <= "\U0001f1ff"


def _fragment(text: str, start: int, end: int, marks: Sequence[Range]) -> Fragment:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    first = bisect_left(marks, start, key=lambda mark: mark[1])
    near = takewhile(lambda mark: mark[0] < end, islice(marks, first, None))
    inside = tuple((max(low, start) - start, min(high, end) - start) for low, high in near if start < min(high, end))
    before, after = bool(text[max(0, start - 64) : start].strip()), bool(text[end : end + 64].strip())
    return Fragment(text[start:end], start, inside, before, after)
