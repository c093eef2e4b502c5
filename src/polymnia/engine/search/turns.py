"""Turns: which memories may be turns of one conversation.

A turn is often understood only with the turns around it, so turns that follow each other in one conversation lend each
other score, and a hit names them. One text alone seldom proves that it is a turn: "Ann: in Busan" is a reply or a fact
about Ann. So a text tells here where it would belong and who would speak; `lanes.py` looks at its neighbours.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from zlib import crc32

from polymnia.models import Record

# A turn as the number that an index keeps of it.
SURE = 0x1  # it is a turn, whatever stands beside it
ASKS = 0x2
SPEAKER = 0x3FFC
CONVERSATION = 0xFFFFC000
_FIRST = 0x4000  # the least number of a conversation


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TURNS = _set(
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
    """A text that may be a turn: the conversation it would belong to, who speaks, and what speaks for it."""

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
    """What a store knows of a memory, as a turn of a conversation; None when it cannot be one.

    It must be of a kind that is said, or have a speaker before its text. What is of one session, one scope and, for
    memories with names, one numbered row (`talk/D1:3`, `talk/D1:4`) may be one conversation; a name that is an id is
    given as "".
    """
    who, words = speech(text)
    of_kind = _is_said(kind)
    if not (who or of_kind) or (who and _is_transcript(text, who)):
        return None
    row, apart, _ = _numbered(name.strip())
    if row:
        # `p0`, `doc12`: a plain row of numbers is how paragraphs are named too; only a speaker tells them apart.
        if not (who or apart or session or not row.isalpha()):
            return None
    elif not (who and (of_kind or not name)) and not (session and (who or of_kind)):
        return None
    machine = who in _MACHINES
    asks = any(mark in words for mark in _QUESTION_MARKS)
    return DialogueTurn(repr((session, scope, row)), who, of_kind or machine, asks)


def place_of(record: Record) -> tuple[tuple[str | None, str | None, str], int | None]:
    """Where a memory stands if it is a turn: session, scope and row, and its number in the row."""
    row, _, number = _numbered("" if record.name == record.uid else record.name.strip())
    return (record.session, record.scope, row), number


def is_spoken(record: Record) -> bool:
    """Whether a memory says one thing as a turn does: an index may have been made when that was seen otherwise."""
    return len(record.observations) == 1 and (_is_said(record.kind) or speech(record.observations[0])[0] is not None)


def _is_said(kind: str) -> bool:
    return kind.strip().casefold() in _TURNS


def _numbered(name: str) -> tuple[str, bool, int | None]:
    """The name of a row, whether anything stands between it and its number, and that; nothing where it has none."""
    number = _NUMBER.search(name)
    end = start = number.start() if number else 0
    while end and not name[end - 1].isalnum():
        end -= 1
    row = name[:end]
    if number is None or not any(map(str.isalpha, row)):
        return "", False, None
    return row, end < start, int(number[0][-18:])


def speech(text: str) -> tuple[str | None, str]:
    """Who speaks and what, when a text begins as a turn does: `Caroline: ...`, `user: ...`; None and the text else."""
    label = _LABEL.match(text[:128])
    who = None if label is None else _speaker(label[1])
    return (None, text) if label is None or who is None else (who, text[label.end() :])


def _speaker(said_by: str) -> str | None:
    folded = said_by.casefold()
    if folded in _ROLES:
        return folded
    if folded in _NOT_SPEAKERS or folded.split()[0] in _NOT_SPEAKERS:
        return None
    if any(any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in said_by.split()):
        return None  # `ADR-012:` is what a text is called by
    return said_by if all(not part[0].islower() for part in said_by.split()) else None


def _is_transcript(text: str, said_by: str) -> bool:
    """Whether a text holds a conversation of its own: two turns or more after the first."""
    turns = _LATER_LABEL.findall(text)
    return len(turns) > 2 and any(turn.casefold() != said_by.casefold() for turn in turns)
