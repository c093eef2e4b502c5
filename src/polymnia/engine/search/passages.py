"""Passages: the overlapping parts a long text is searched in, cut where sentences end.

The cut depends on the text alone, so a stored vector can be named by its text and part number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["split", "weights"]

# Sizes are weights and not characters: a letter counts 1, an ideograph or syllable 2 (see _weight), so that
# a passage says about as much in any script.
_WHOLE = 1000  # a text up to this is one passage: half of a second passage would be overlap
_SIZE = 700
_OVERLAP = 150

_BORDER = re.compile(
    r"""\n\s*                                                    # a line, a list item or a paragraph ends
      | [.!?\u2026\u0964\u0965\u06D4\u061F\u1362\u17D4\u104B]    # a stop that needs a space after it,
        ["'\u2019\u201D\u00BB)\]]{0,4}\s+                        # which tells 3.14 and a.b.c from an end
      | [\u3002\uFF01\uFF1F\uFF0E\uFF61][\u201D\u2019\u300D\u300F\uFF09\u3011"')\]]{0,4}\s*""",
    re.VERBOSE,
)
# Who speaks next in a written conversation: `user: ...`, `Caroline: ...`, `**Assistant:** ...`.
_TURN = re.compile(r"^(?:\*\*|\[|<)?[^\W\d_][\w .'\u2019-]{0,30}(?:\*\*|\]|>)?:(?:\*\*)?\s", re.MULTILINE)
_ROLE = re.compile(
    r"^(?:\*\*|\[|<)?(?:(user|human|customer|me)|(?:assistant|ai|bot|chatbot|model|system))(?:\*\*|\]|>)?:(?:\*\*)?\s",
    re.MULTILINE | re.IGNORECASE,
)
_MACHINE = 0.4  # what an assistant says is mostly advice anyone could get; what was told it is worth remembering
_PAUSE = re.compile(r"[\s,;:\u3001\uFF0C\uFF1B\u060C]+")


def split(text: str) -> list[tuple[int, int]]:
    """Character ranges of the passages of a text, in order: together they cover it, most overlap the one before."""
    if len(text) <= _WHOLE // 2 or _weight(text, 0, len(text)) <= _WHOLE:
        return [(0, len(text))]
    ends = list(_ends(text))
    starts = [0, *ends[:-1]]
    weights = [_weight(text, start, end) for start, end in zip(starts, ends, strict=True)]
    ranges: list[tuple[int, int]] = []
    turns = _turns(text, starts, weights)
    first, held = 0, 0
    for at, weight in enumerate(weights):
        if held and held + turns.get(at, weight) > _SIZE:
            ranges.append((starts[first], ends[at - 1]))
            first, held = at, 0
            while at not in turns and first - 1 > 0 and held + weights[first - 1] + weight <= _SIZE:
                if held + weights[first - 1] > _OVERLAP or first in turns:
                    break
                first -= 1
                held += weights[first]
        held += weight
    ranges.append((starts[first], ends[-1]))
    return ranges


def weights(text: str, ranges: list[tuple[int, int]]) -> list[float]:
    """How much each passage of a text counts: 1, or less where only an assistant speaks."""
    said = [(match.start(), match[1] is not None) for match in _ROLE.finditer(text)]
    if all(human for _, human in said):
        return [1.0] * len(ranges)
    found: list[float] = []
    at, human = 0, True
    for start, end in ranges:
        while at < len(said) and said[at][0] <= start:
            human = said[at][1]
            at += 1
        within = at
        speaks = human
        while not speaks and within < len(said) and said[within][0] < end:
            speaks = said[within][1]
            within += 1
        found.append(1.0 if speaks else _MACHINE)
    return found


def _turns(text: str, starts: list[int], weights: list[int]) -> dict[int, int]:
    """The sentences that begin a turn of a conversation, each with the weight of its turn.

    A turn is kept whole where it fits: what two people said apart is better found apart.
    """
    said = {match.start() for match in _TURN.finditer(text)}
    found: dict[int, int] = {}
    current = 0
    for at, start in enumerate(starts):
        if start in said:
            current = at
            found[at] = 0
        if found:
            found[current] += weights[at]
    return found if len(found) > 2 else {}


def _ends(text: str) -> Iterator[int]:
    """Where the sentences end; a sentence too long for a passage is cut at a pause, at worst anywhere."""
    start = 0
    for border in _BORDER.finditer(text):
        yield from _cuts(text, start, border.end())
        start = border.end()
        yield start
    if start < len(text):
        yield from _cuts(text, start, len(text))
        yield len(text)


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts inside one sentence, so that each part of it fits a passage."""
    step = _SIZE // 2
    while end - start > _SIZE or (end - start > step and _weight(text, start, end) > _SIZE):
        cut = start + step
        for pause in _PAUSE.finditer(text, start + step // 2, cut):
            cut = pause.end()
        yield cut
        start = cut


def _weight(text: str, start: int, end: int) -> int:
    """How much a range holds: the mean of its characters and its bytes."""
    part = text[start:end]
    return len(part) if part.isascii() else (len(part) + len(part.encode("utf-8", "surrogatepass"))) // 2
