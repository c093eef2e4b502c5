"""Passages: the overlapping parts that a long text is searched in, and the analysis of each for the index.

The split depends on the text alone, so a stored vector is identified by its text and part number.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from polymnia.engine.text import dates, words
from polymnia.engine.text.language import script_number
from polymnia.models import Passage, Record, Text

# Sizes are weights and not characters: a letter counts 1, an ideograph or syllable 2 (see _weight), so that
# a passage has about as much content in any script.
_WHOLE = 1000  # a text up to this is one passage: half of a second passage would be overlap
_SIZE = 700
_OVERLAP = 150

_BORDER = re.compile(
    r"""\n\s*                                                    # a line, a list item or a paragraph ends
      | [.!?\u2026\u0964\u0965\u06D4\u061F\u1362\u17D4\u104B]    # a stop that needs a space after it,
        ["'\u2019\u201D\u00BB)\]]{0,4}\s+                        # so that 3.14 and a.b.c have no end
      | [\u3002\uFF01\uFF1F\uFF0E\uFF61][\u201D\u2019\u300D\u300F\uFF09\u3011"')\]]{0,4}\s*""",
    re.VERBOSE,
)
# The next speaker in a written conversation: `user: ...`, `Caroline: ...`, `**Assistant:** ...`.
_TURN = re.compile(r"^(?:\*\*|\[|<)?[^\W\d_][\w .'\u2019-]{0,30}(?:\*\*|\]|>)?:(?:\*\*)?\s", re.MULTILINE)
_ROLE = re.compile(
    r"^(?:\*\*|\[|<)?(?:(user|human|customer|me)|(?:assistant|ai|bot|chatbot|model|system))(?:\*\*|\]|>)?:(?:\*\*)?\s",
    re.MULTILINE | re.IGNORECASE,
)
_MACHINE = 0.4  # weight of what an assistant says: mostly advice that anyone could get
_PAUSE = re.compile(r"[\s,;:\u3001\uFF0C\uFF1B\u060C]+")

_DAY = 86_400_000_000
_NAME = 2  # a word in the name counts as so many in the text
_LONG = 10_000  # characters
_HEAD_LIMIT = 4000  # characters of a summary that are searched

_ahead: dict[tuple[str, int], list[_Part]] = {}


def read(texts: Iterable[Text]) -> Iterator[Passage]:
    """The passages of the texts, in order."""
    for text in texts:
        if text.body is None:
            yield _head(text)
        else:
            yield from _body(text, text.body)


def _head(text: Text) -> Passage:
    """Name, kind, tags, category and summary as one passage."""
    counts, length = words.terms(text.name)
    found = {term: count * _NAME for term, count in counts.items()}
    for part in (text.kind, " ".join(text.tags), text.category or "", (text.summary or "")[:_HEAD_LIMIT]):
        if part:
            counts, more = words.terms(part)
            length += more
            for term, count in counts.items():
                found[term] = found.get(term, 0) + count
    # Tags alone are not embedded: everything with the same tags would look alike. Words find them all the same.
    embeds = bool(text.summary) or (bool(text.name) and (text.bare or bool(text.tags)))
    return Passage(
        text.id, text.memory, 0, found, length, 0, _day(text), script_number(text.summary or text.name), embeds
    )


def _body(text: Text, body: str) -> Iterator[Passage]:
    name = words.terms(text.name).counts if natural(text.name) else {}
    dialogue = turn(text.name, text.kind, text.session, text.scope, body)
    thread = 0 if dialogue is None else dialogue.packed()
    day = _day(text)
    parts = _ahead.pop((body, day), None) if _ahead else None
    for part, one in enumerate(_parts(body, day) if parts is None else parts):
        counts = one.terms
        for term in name:
            counts[term] = counts.get(term, 0) + _NAME
        for term in one.dates:
            counts.setdefault(term, 1)
        yield Passage(text.id, text.memory, part, counts, one.length, thread, day, one.script, True, one.weight)


class _Part(NamedTuple):
    """The analysis of a passage, independent of the text it is part of."""

    terms: dict[str, int]
    dates: list[str]
    length: int
    script: int
    weight: int


def _parts(body: str, day: int) -> Iterator[_Part]:
    ranges = _ranges(body)
    for (start, end), share in zip(ranges, weights(body, ranges), strict=True):
        piece = body if len(ranges) == 1 else body[start:end]
        counts, length = words.terms(piece)
        yield _Part(counts, dates.find_dates(piece, day * _DAY), length, script_number(piece), round(100 * share))


@contextmanager
def read_ahead(bodies: Sequence[str], now: int) -> Iterator[None]:
    """Analyse texts that are about to be written, so that nobody waits for it while the store is locked.

    Each analysis is used once, for the same text on the same day; at the end the rest is dropped.
    """
    day = max(0, now // _DAY)
    try:
        for body in bodies:
            _ahead[body, day] = list(_parts(body, day))
        yield
    finally:
        for body in bodies:
            _ahead.pop((body, day), None)


def _ranges(body: str) -> list[tuple[int, int]]:
    return _long_ranges(body) if len(body) > _LONG else split(body)


@lru_cache(maxsize=4)
def _long_ranges(body: str) -> list[tuple[int, int]]:
    return split(body)


def _day(text: Text) -> int:
    return max(0, text.created // _DAY)


def natural(name: str) -> bool:
    """Whether a name consists of words and is no identifier with digits."""
    return bool(name) and (" " in name or not any(c.isdigit() for c in name)) and any(c.isalpha() for c in name)


def part_of(text: Text, part: int) -> str:
    """One passage of a text."""
    if text.body is None:
        return " ".join(filter(None, (text.name, text.kind, ", ".join(text.tags), text.summary)))
    ranges = _ranges(text.body)
    start, end = ranges[min(part, len(ranges) - 1)]
    return text.body[start:end]


def embedder_text(text: Text, part: int) -> str:
    """The input of an embedder for a passage: its text after the name of the memory."""
    piece = part_of(text, part)
    if text.body is None or not natural(text.name) or piece.startswith(text.name):
        return piece
    return f"{text.name}: {piece}"


# ── splitting a text ──────────────────────────────────────────────────────────────────────────────────────


def split(text: str) -> list[tuple[int, int]]:
    """The character ranges of the passages of a text: together they cover it, most overlap the one before."""
    if len(text) <= _WHOLE // 2 or _weight(text, 0, len(text)) <= _WHOLE:
        return [(0, len(text))]
    ends = list(_ends(text))
    starts = [0, *ends[:-1]]
    weights = [_weight(text, start, end) for start, end in zip(starts, ends, strict=True)]
    ranges: list[tuple[int, int]] = []
    turns = _turns(text, starts, weights)
    first, size = 0, 0
    for at, weight in enumerate(weights):
        if size and size + turns.get(at, weight) > _SIZE:
            ranges.append((starts[first], ends[at - 1]))
            first, size = at, 0
            while at not in turns and first - 1 > 0 and size + weights[first - 1] + weight <= _SIZE:
                if size + weights[first - 1] > _OVERLAP or first in turns:
                    break
                first -= 1
                size += weights[first]
        size += weight
    ranges.append((starts[first], ends[-1]))
    return ranges


def weights(text: str, ranges: list[tuple[int, int]]) -> list[float]:
    """The weight of each passage of a text: 1, or less if only an assistant speaks in it."""
    turns = [(match.start(), match[1] is not None) for match in _ROLE.finditer(text)]
    if all(human for _, human in turns):
        return [1.0] * len(ranges)
    found: list[float] = []
    at, human = 0, True
    for start, end in ranges:
        while at < len(turns) and turns[at][0] <= start:
            human = turns[at][1]
            at += 1
        stop = bisect_left(turns, (end,), at)
        found.append(1.0 if human or any(human for _, human in turns[at:stop]) else _MACHINE)
    return found


def _turns(text: str, starts: list[int], weights: list[int]) -> dict[int, int]:
    """The sentences that begin a turn of a conversation, each with the weight of its turn.

    A turn is not split if it fits: what two people say is better found separately.
    """
    turns = {match.start() for match in _TURN.finditer(text)}
    found: dict[int, int] = {}
    current = 0
    for at, start in enumerate(starts):
        if start in turns:
            current = at
            found[at] = 0
        if found:
            found[current] += weights[at]
    return found if len(found) > 2 else {}


def _ends(text: str) -> Iterator[int]:
    """The ends of the sentences; a sentence too long for a passage is split at a pause, or else anywhere."""
    start = 0
    for border in _BORDER.finditer(text):
        yield from _cuts(text, start, border.end())
        start = border.end()
        yield start
    if start < len(text):
        yield from _cuts(text, start, len(text))
        yield len(text)


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    step = _SIZE // 2
    while end - start > _SIZE or (end - start > step and _weight(text, start, end) > _SIZE):
        cut = start + step
        for pause in _PAUSE.finditer(text, start + step // 2, cut):
            cut = pause.end()
        yield cut
        start = cut


def _weight(text: str, start: int, end: int) -> int:
    """The weight of a range: the mean of its characters and its bytes."""
    part = text[start:end]
    return len(part) if part.isascii() else (len(part) + len(part.encode("utf-8", "surrogatepass"))) // 2


# ── turns of a dialogue ───────────────────────────────────────────────────────────────────────────────────
#
# A turn is often understood only with the turns around it, so turns that follow each other in one conversation lend
# each other score, and a hit comes with them. One text alone seldom proves that it is a turn: "Ann: in Busan" is a
# reply or a fact about Ann. Here is the conversation and the speaker of a text; `lanes.py` compares its neighbours.

# A turn as a number in the index.
SURE = 0x1  # it is a turn, whatever its neighbours are
ASKS = 0x2
SPEAKER = 0x3FFC
CONVERSATION = 0xFFFFC000
_FIRST = 0x4000  # the least number of a conversation


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TURN_KINDS = _set(
    "message messages turn turns utterance utterances reply replies comment comments chat_message chat-message "
    "conversation_turn"
)
_ROLES = _set("user assistant human ai system bot agent model customer operator me you")
_MACHINES = _set("assistant ai bot")  # nobody writes facts about these as "assistant: ..."
_NOT_SPEAKERS = _set(
    "note notes todo title summary abstract warning example background objective objectives purpose methods method "
    "results result conclusion conclusions introduction date time question answer q a fact facts tip important "
    "http https description name type status source url context decision rationale author tags"
)
_LABEL = re.compile(r"\s*(?:\*\*|\[|<)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})(?:\*\*|\]|>)?(?::(?:\*\*)?\s|：)")
_LATER_LABEL = re.compile(
    r"^(?:\*\*|\[|<)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})(?:\*\*|\]|>)?(?::(?:\*\*)?\s|：)", re.MULTILINE
)
_NUMBER = re.compile(r"(?<!\d)\d+\Z")
_QUESTION_MARKS = "?？؟"


class DialogueTurn(NamedTuple):
    """A text that may be a turn: its conversation, the speaker, whether it is a turn for certain, and a question."""

    conversation: str
    speaker: str | None
    sure: bool
    asks: bool

    def packed(self) -> int:
        """The turn as a number, never 0. Conversations and speakers are hashes."""
        conversation = crc32(self.conversation.encode("utf-8", "surrogatepass")) & CONVERSATION or _FIRST
        speaker = crc32((self.speaker or "").encode("utf-8", "surrogatepass")) & SPEAKER
        return conversation | speaker | (ASKS if self.asks else 0) | (SURE if self.sure else 0)


def turn(name: str, kind: str, session: str | None, scope: str | None, text: str) -> DialogueTurn | None:
    """A memory as a turn of a conversation; None if it cannot be one.

    It must have the kind of a message, or a speaker before its text. Memories of one session, one scope and, if they
    have names, one numbered series (`talk/D1:3`, `talk/D1:4`) may be one conversation. A name that is an id is passed
    as "".
    """
    who, words = speech(text)
    of_kind = _is_message(kind)
    if not (who or of_kind) or (who and _is_transcript(text, who)):
        return None
    row, apart, _ = _numbered(name.strip())
    if row:
        # `p0`, `doc12`: paragraphs are named like that too, unless there is a speaker.
        if not (who or apart or session or not row.isalpha()):
            return None
    elif not (who and (of_kind or not name)) and not (session and (who or of_kind)):
        return None
    machine = who in _MACHINES
    asks = any(mark in words for mark in _QUESTION_MARKS)
    return DialogueTurn(repr((session, scope, row)), who, of_kind or machine, asks)


def place_of(record: Record) -> tuple[tuple[str | None, str | None, str], int | None]:
    """The position of a memory that is a turn: its session, scope and series, and its number in the series."""
    row, _, number = _numbered("" if record.name == record.uid else record.name.strip())
    return (record.session, record.scope, row), number


def is_spoken(record: Record) -> bool:
    """Whether a memory has the form of a turn; the index may be older than the present rules."""
    return len(record.observations) == 1 and (_is_message(record.kind) or speech(record.observations[0])[0] is not None)


def _is_message(kind: str) -> bool:
    return kind.strip().casefold() in _TURN_KINDS


def _numbered(name: str) -> tuple[str, bool, int | None]:
    """The name of a series, whether it is separated from the number, and the number; nothing if there is none."""
    number = _NUMBER.search(name)
    end = start = number.start() if number else 0
    while end and not name[end - 1].isalnum():
        end -= 1
    row = name[:end]
    if number is None or not any(map(str.isalpha, row)):
        return "", False, None
    return row, end < start, int(number[0][-18:])


def speech(text: str) -> tuple[str | None, str]:
    """The speaker and the speech of a text such as `Caroline: ...` or `user: ...`; otherwise None and the text."""
    label = _LABEL.match(text[:128])
    who = None if label is None else _speaker(label[1])
    return (None, text) if label is None or who is None else (who, text[label.end() :])


def _speaker(label: str) -> str | None:
    folded = label.casefold()
    if folded in _ROLES:
        return folded
    if folded in _NOT_SPEAKERS or folded.split()[0] in _NOT_SPEAKERS:
        return None
    if any(any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in label.split()):
        return None  # `ADR-012:` is an identifier
    return label if all(not part[0].islower() for part in label.split()) else None


def _is_transcript(text: str, speaker: str) -> bool:
    """Whether a text is a whole conversation: two turns or more after the first."""
    turns = _LATER_LABEL.findall(text)
    return len(turns) > 2 and any(turn.casefold() != speaker.casefold() for turn in turns)
