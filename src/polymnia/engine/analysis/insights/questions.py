"""Questions: those that a project asks and does not answer.

Whether a question is answered is told by the words: how many of them the memory that says most of them says. Measured
on questions whose answering text was in the store and then was not (Korean and English, half and half): a question
is without an answer with the odds exp(3.03 - 4.79 · share). The vectors told next to nothing beyond that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from polymnia.engine.analysis.actions import UNWRITTEN, Relate, Store
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural
from polymnia.engine.items import title_of
from polymnia.engine.text.sentences import sentences
from polymnia.models import Record

__all__ = ["Asked", "asked", "open_questions", "unanswered"]

_BASE, _SAID = 3.03, -4.79  # log odds of no answer when none of the words is said anywhere, and when all are
_LEAST = 0.7  # what has an answer one time in three is not told
_COMPARED = (100, 300, 1500)  # questions, by depth; the newest
_NEAREST = 20
_SHORTEST = 8  # characters: "why?" is asked of somebody who is there
# Syllables that end in ㅂ: 합니까 asks, 하니까 gives a reason.
_CLOSED = "".join(chr(0xAC00 + 28 * syllable + 17) for syllable in range(399))
_ASKS = re.compile(rf"(?:[?？][\"'”’)\]*_]*|(?:[{_CLOSED}]니까|까요|나요|은가요|는가)[.。]?)$")
_MARKED = re.compile(r"[?？]|니까|까요|나요|는가")
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_LED = re.compile(r"[ \t]*(?:[-*+•◦‣·>]|\d{1,3}[.)]|#{1,6})?[ \t]*(?:\[[ xX]\][ \t]+)?")
_ITEM = re.compile(r"[ \t]*(?:[-*+•◦‣·]|\d{1,3}[.)])[ \t]")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]")
_TURN = re.compile(r"\s*\W{0,2}([^\W\d_][\w .'’-]{0,30}?)\W{0,2}:\s")
_RESOLVES = re.compile(r"answer|resolv|solve|답|해결", re.IGNORECASE)


class Asked(NamedTuple):
    """A question that a record asks and does not go on to answer."""

    record: Record
    sentence: str


def asked(record: Record, text: str) -> Iterator[Asked]:
    """The questions of a text that nothing in their place answers: the last words of it, or items of a list."""
    if not _MARKED.search(text):
        return
    lines = [line for line in _prose(text) if line.strip()]
    for at, line in enumerate(lines):
        if not _MARKED.search(line):
            continue
        said = sentences(_LED.sub("", line, count=1).strip())
        if not said or not _ASKS.search(said[-1]):
            continue  # what follows a question on its line answers it
        after = lines[at + 1] if at + 1 < len(lines) else ""
        listed = _ITEM.match(line) is not None and (_ITEM.match(after) or _HEADING.match(after))
        if not after or listed or _asks(after):
            yield from (Asked(record, one) for one in said if _ASKS.search(one) and len(one) >= _SHORTEST)


def _asks(line: str) -> bool:
    said = sentences(_LED.sub("", line, count=1).strip())
    return bool(said) and all(_ASKS.search(one) for one in said)


def _prose(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def unanswered(share: float) -> float:
    """How likely a question has no answer when the memory that says most of its words says this share of them."""
    return 1.0 / (1.0 + math.exp(-(_BASE + _SAID * share)))


def open_questions(view: View, looked: Looked) -> None:
    """Questions that no other memory answers, those of one record together."""
    material = view.material
    found: list[Asked] = []
    before: tuple[str | None, list[Asked]] = (None, [])
    for at, record in enumerate(view.records):
        if at % 500 == 0:
            view.tick(at, 2 * len(view.records))
        text = material.text(record)
        turn = _TURN.match(text, 0, 80)
        speaker = turn[1] if turn else None
        if before[0] is None or speaker in (None, before[0]):
            found += before[1]  # else another speaker took the turn, and what was asked was asked of them
        before = (speaker, list(asked(record, text)))
    found += before[1]
    most = _COMPARED[view.budget.rank]
    looked.looked_at["questions"] = len(found)
    looked.looked_at["questions_compared"] = min(most, len(found))
    closed = {one.target for one in material.relations if _RESOLVES.search(one.type)}
    questioning: dict[int, bool] = {}
    by_record: dict[int, list[tuple[float, float, str, Record | None]]] = {}
    for one in sorted(found, key=lambda q: (-q.record.created, q.record.id, q.sentence))[:most]:
        view.tick()
        if one.record.name in closed:
            continue
        share, nearest = _best(view, one, questioning)
        if (open_ := unanswered(share)) >= _LEAST:
            by_record.setdefault(one.record.id, []).append((open_, share, one.sentence, nearest))
    for id, some in by_record.items():
        some.sort(key=lambda four: (-four[0], four[2]))
        looked.add(_told(view, material.by_id[id], some), len(some))


def _best(view: View, one: Asked, questioning: dict[int, bool]) -> tuple[float, Record | None]:
    """The share of a question's words that another memory says, at most, and which; questions answer nothing."""
    look = view.material.look
    near = [(number, share) for number, share in look.by_words(one.sentence, _NEAREST)]
    loaded = look.load([number for number, _ in near])
    for number, share in near:
        record = loaded.get(number)
        if record is None or record.id == one.record.id or record.id not in view.whole.by_id:
            continue
        if number not in questioning:
            said = sentences(" ".join(view.material.text(record)[-2000:].split()))
            questioning[number] = bool(said) and all(_ASKS.search(s) for s in said)
        if not questioning[number]:
            return share, record
    return 0.0, None


def _told(view: View, record: Record, some: list[tuple[float, float, str, Record | None]]) -> Insight:
    open_, share, sentence, nearest = some[0]
    more = f" and {plural(len(some) - 1, 'more question')}" if len(some) > 1 else ""
    closest = (
        f"the nearest other memory, {view.title(nearest)}, says {share:.0%} of its words"
        if nearest is not None
        else "no other memory says any of its words"
    )
    # A memory that is nothing but its question has no other title.
    who = "Somebody asks" if title_of(record) == sentence else f"{view.title(record)} asks"
    shown = [
        {"question": text, "confidence": round(sure, 4), "words_said": round(said, 4), "nearest": near and near.uid}
        for sure, said, text, near in some[: view.budget.examples]
    ]
    answer = Store(content=UNWRITTEN, tags=record.tags, draft=True)
    link = Relate(source=UNWRITTEN, target=record.uid, type="resolves", draft=True)
    return Insight(
        type="content_gaps", name="open_question",
        summary=f"{who} “{sentence}”{more}, and nothing answers it: {closest}.",
        confidence=round(open_, 4),
        explanation="The share of the question's words that the best other memory says, and how often a question with "
        "such a share had no answer in stores from which the answering text was taken away (half of them).",
        evidence={"questions": shown, "count": len(some), "record": {"id": record.uid}}, members=(record.id,),
        **view.advised("Store the answer, then say what it answers.", answer, link),
    )  # fmt: skip
