"""Threads: which memories are turns of one conversation.

A turn is often understood only with the turns around it, so turns that follow each other in one thread lend each
other score. Paragraphs, abstracts and ordinary entities stand for themselves and belong to none.
"""

from __future__ import annotations

import re

__all__ = ["speaker", "thread"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SPOKEN_KINDS = _set(
    "message messages turn turns utterance utterances chat chats dialog dialogue dialogs conversation "
    "conversations speech reply post comment chat_message chat-message conversation_turn"
)
_ROLES = _set("user assistant human ai system bot agent model customer operator me you")
_NOT_SPEAKERS = _set(
    "note notes todo title summary abstract warning example background objective objectives purpose methods method "
    "results result conclusion conclusions introduction date time question answer q a fact facts tip important "
    "http https description name type status source url context decision rationale author tags"
)
_LABEL = re.compile(r"\s*(?:\*\*|\[|<)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})(?:\*\*|\]|>)?:(?:\*\*)?\s")
_LATER_LABEL = re.compile(
    r"^(?:\*\*|\[|<)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})(?:\*\*|\]|>)?:(?:\*\*)?\s", re.MULTILINE
)
_NUMBER = re.compile(r"(?<!\d)\d+\Z")


def thread(name: str, kind: str, session: str | None, text: str) -> str | None:
    """The conversation a memory is a turn of, by what a store knows of it; None when it is no turn.

    A session names the conversation. Without one, the memory must look like a turn, by its kind or by a speaker
    before its text, and its name must be one of a numbered row: `talk/D1:3`, `talk/D1:4`. Contents have no names: of
    those, turns that were stored one after the other are one conversation.
    """
    if session:
        return f"session {session}"
    said_by = speaker(text)
    kind_speaks = kind.strip().casefold() in _SPOKEN_KINDS
    if not (said_by or kind_speaks) or (said_by and _is_transcript(text, said_by)):
        return None
    if said_by and not name:
        return "contents"
    row, apart = _numbered(name.strip())
    if row:
        # `p0`, `doc12`: a plain row of numbers is how paragraphs are named too; only a speaker tells them apart.
        if said_by or apart or not row.isalpha():
            return f"row {row}"
        return None
    return f"kind {kind.strip().casefold()}" if said_by and kind_speaks else None


def _numbered(name: str) -> tuple[str, bool]:
    """The name of a row without its number, and whether anything stands between them; nothing where it has none."""
    number = _NUMBER.search(name)
    end = start = number.start() if number else 0
    while end and not name[end - 1].isalnum():
        end -= 1
    row = name[:end]
    return (row, end < start) if any(map(str.isalpha, row)) else ("", False)


def speaker(text: str) -> str | None:
    """Who speaks, when a text begins as a turn does: `Caroline: ...`, `user: ...`."""
    label = _LABEL.match(text[:128])
    if label is None:
        return None
    said_by = label[1]
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
