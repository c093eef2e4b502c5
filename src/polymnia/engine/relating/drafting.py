"""The relationships of an item that is being stored: who may be at their other end, and what is told of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polymnia.engine import associations, content, items
from polymnia.engine.relating import Candidate, found
from polymnia.models import Record, RelationDraft

if TYPE_CHECKING:
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["drafts"]

_ID = r"content_[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_READ = 200_000  # characters in which ids are looked for
_SAID = 2000  # characters of a text that are compared with others
_CANDIDATES = 30


def drafts(look: Look, record: Record, said: Said, session: str | None) -> list[RelationDraft]:
    """The relationships to draw from an item: to what its text names, and to what is near to it and may be seen."""
    (text,) = record.observations
    own = record.id - look.base if record.id else 0
    near = associations.neighbours(look, said, text, without=own)[:_CANDIDATES]
    alike = {one.number: one.similarity for one in near if one.model}
    numbers = dict.fromkeys(one.number for one in near)
    named = list(dict.fromkeys(re.findall(_ID, text[:_READ])))
    ids = look.snapshot.ids_of(named) | look.snapshot.ids(named) if named else {}
    numbers |= dict.fromkeys(id - look.base for id in ids.values())
    for words in (items.title_of(record), text[:_SAID]):
        numbers |= dict.fromkeys(number for number, _ in look.by_words(words, _CANDIDATES))
    numbers.pop(own, None)
    seen = set(look.snapshot.matching(items.visible(session), among=list(numbers))) if numbers else set()
    loaded = look.load([n for n in numbers if n in seen])
    candidates = [
        Candidate(
            id=one.name, title=items.title_of(one), text=content.content(one)[:_SAID],
            length=len(content.content(one)), tags=one.tags, similarity=alike.get(number), created=one.created,
        )
        for number, one in loaded.items()
    ]  # fmt: skip
    told = found(text, items.title_of(record), candidates, tags=record.tags)
    return [
        RelationDraft(record.name, one.target, one.type, round(one.strength, 4), one.evidence, origin="auto")
        for one in told
    ]
