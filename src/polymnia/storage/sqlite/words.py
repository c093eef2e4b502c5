"""The word index of one project: passages and postings, packed so that a search reads them as they lie.

What stands in a text is the analyst's to say; here it is only kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log2
from struct import Struct
from typing import Any, TypeAlias

from polymnia.models import Passage, Text
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.statements import SQL

# The layouts are a promise to the reader, engine/search/index.py.
_PASSAGE = Struct("<IIIHHBBBB")  # text, memory, thread, day, part, script, length, whether it has a vector, weight
_POSTING = Struct("<IBB")  # passage, how often, length of the passage

Run: TypeAlias = Callable[..., Any]


def text(row: tuple[Any, ...]) -> Text:
    """A text from the columns of the text statements."""
    return Text(
        id=row[0] % rows.SPAN,
        memory=row[1] % rows.SPAN,
        name="" if row[2] == row[10] else row[2],  # a name that is the id says nothing
        kind=row[3],
        body=row[4],
        session=row[5],
        created=row[6],
        tags=tuple(rows.decode(row[7])) if row[7] else (),
        category=row[8],
        summary=row[9],
        bare=bool(row[11]),
        scope=row[12],
    )


def add(run: Run, many: Run, project: int, last: int, passages: Iterable[Passage]) -> int:
    """Add passages behind the last one; answers the number of the last one now."""
    packed = bytearray()
    postings: dict[str, bytearray] = {}
    first, low, high = last + 1, rows.SPAN, 0
    for one in passages:
        last += 1
        length = min(255, int(16 * log2(1 + one.length)))  # steps of 4.4 %
        packed += _PASSAGE.pack(
            one.text, one.memory, one.thread, min(one.day, 65535), min(one.part, 65535), one.script, length, one.embeds,
            one.weight,
        )  # fmt: skip
        low, high = min(low, one.text), max(high, one.text)
        for term, count in one.terms.items():
            piece = _POSTING.pack(last, min(count, 255), length)
            if term in postings:
                postings[term] += piece
            else:
                postings[term] = bytearray(piece)
    if last >= first:
        run(SQL["add_block"], (project, first, last - first + 1, low, high, bytes(packed)))
        # In order, so that neighbours in the table are written together.
        many(SQL["add_posting"], ((project, term, first, bytes(postings[term])) for term in sorted(postings)))
    return last


def forget(run: Run, project: int, number: int, passages: Sequence[Passage]) -> None:
    """Take every trace of a text out of the index. ``passages`` are the text's, if it is as it was when indexed."""
    numbers: dict[int, int] = {}
    for first, count, data in run(SQL["blocks_with"], (project, number)).fetchall():
        kept = bytearray(data)
        for i in range(min(count, len(data) // _PASSAGE.size)):  # fewer where it is damaged
            at = i * _PASSAGE.size
            if _PASSAGE.unpack_from(data, at)[0] == number:
                kept[at : at + _PASSAGE.size] = bytes(_PASSAGE.size)
                numbers[first + i] = first
        run(SQL["set_block"], (bytes(kept), project, first))
    if len(passages) == len(numbers):
        places = {(term, first) for one in passages for term in one.terms for first in numbers.values()}
    else:  # deleted before, or changed since: its terms are not known, so every term of its time is looked at
        places = {
            (term, first)
            for first in set(numbers.values())
            for (term,) in run(SQL["terms_of_block"], (project, first)).fetchall()
        }
    for term, first in places:
        row = run(SQL["posting"], (project, term, first)).fetchone()
        pieces = [row[0][i : i + _POSTING.size] for i in range(0, len(row[0]), _POSTING.size)] if row else []
        left = [piece for piece in pieces if len(piece) == _POSTING.size and _POSTING.unpack(piece)[0] not in numbers]
        if len(left) == len(pieces):
            continue
        if left:
            run(SQL["set_posting"], (b"".join(left), project, term, first))
        else:
            run(SQL["drop_posting"], (project, term, first))
