"""Associations: what links two memories, how strongly, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from polymnia.engine.content import content, linked, still_there
from polymnia.engine.ports import DRAWN_LATER, Store, Transaction
from polymnia.models import Filters, Record, Relation, RelationDraft

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours

Kind = Literal["semantic", "temporal", "contextual", "explicit"]

TYPE = "associated_with"
"""The type of the relations that are drawn by themselves."""
MOST = 10
"""So many of them are drawn for a memory at most."""
RELATED = 0.4
"""From this similarity on two memories are held to be about the same thing; see docs/decisions/0018-associations.md."""
READ = 4000
"""So many characters of a text are compared with others by their words and names."""

_PUT_OFF, _PUT_OFF_END = "associate:", "associate;"  # the keys of what is to be drawn when the vectors are there
_AT_ONCE = 32
_BY_MEANING = 60  # candidates of each kind
_BY_TAGS = 100
_BY_NAMES = 30
_BY_TIME = 5
_BY_LINKS = 50
_HOUR = 3_600_000_000
_TAG, _NAME = 0.3, 0.25  # what one shared tag or name says
_MOMENT = 0.15  # and to have been stored at the same moment; after an hour it says nothing
_MOST_NAMES = 12
_WORD = re.compile(r"[^\W_][\w'’-]*[^\W_]|[^\W_]", re.UNICODE)
_SENTENCE_ENDS = ".!?:;\n\r\"“”'‘’(-*#>•…"


class Association(Struct, frozen=True, kw_only=True):
    """A memory linked to another one: how strongly (0 to 1), what carries the link, and why, in words.

    ``relation`` is the one that stands between the two already, if one does.
    """

    record: Record
    strength: float
    kind: Kind
    reason: str
    similarity: float | None = None
    relation: Relation | None = None


class Discovery(Struct, frozen=True):
    """What was found around a memory, strongest first, and how many memories were looked at."""

    source: Record
    associations: list[Association]
    candidates: int


def neighbours(
    look: Neighbours, text: EmbeddedText | None, words: str, *, without: int = 0, most: int = _BY_MEANING
) -> tuple[dict[int, float], bool]:
    """The memories nearest to a text and how similar each is, nearest first; and whether a model says so.

    Where no model can tell, those are near that share its words.
    """
    if text is not None and any(len(text.rows(model)) for model in text.vectors):
        return {one.number: one.similarity for one in look.nearest(text, most, without=without)}, True
    return {number: share for number, share in look.by_words(words[:READ], most) if number != without}, False


def ranked(look: Neighbours, near: Mapping[int, float]) -> list[tuple[Record, float]]:
    """The memories of neighbours with how similar they are, in their order; those that are gone are left out."""
    loaded = look.load(list(near))
    return [(loaded[number], similarity) for number, similarity in near.items() if number in loaded]


def drafts(record: Record, near: Sequence[tuple[Record, float]], by_meaning: bool) -> list[RelationDraft]:
    """The relations to draw from a memory to its nearest ones, which are near by meaning or by words."""
    drawn: list[RelationDraft] = []
    names = _names(content(record))
    for other, similarity in near:
        if similarity < RELATED or len(drawn) == MOST:
            break
        shared = _context([tag for tag in record.tags if tag in other.tags], _shared(names, content(other)))
        reason = "; ".join(filter(None, (_alike(similarity, by_meaning), shared)))
        drawn.append(RelationDraft(record.name, other.name, TYPE, round(similarity, 4), reason, origin="auto"))
    return drawn


def _alike(similarity: float, by_meaning: bool) -> str:
    return f"{'similar in meaning' if by_meaning else 'shares its words'} ({similarity:.2f})"


def put_off(tx: Transaction, record: Record) -> None:
    """Have a memory linked to its neighbours when the vectors are there. Kept in the store until it is done."""
    tx.note(f"{_PUT_OFF}{record.id & 0xFFFFFFFF:010}", "")


def draw_put_off(store: Store, project: str, look: Callable[[], AbstractContextManager[Neighbours]]) -> None:
    """Draw the relations that were put off. What a memory is linked to already is left as it is."""
    while True:
        with look() as moment:
            waiting = moment.snapshot.notes(_PUT_OFF, _PUT_OFF_END, _AT_ONCE)
            drawn = {key: _put_off(moment, int(key.removeprefix(_PUT_OFF))) for key in waiting}
        if not drawn:
            return
        with store.write(project, "polymnia", DRAWN_LATER) as tx:
            for key, (name, drafts) in drawn.items():
                if tx.noted(key) is None:
                    continue  # another process was faster
                tx.note(key, None)
                if drafts and tx.ids([name]):
                    links = linked(tx.relations_of([name]), name)
                    drawn_by_itself = sum(one.origin == "auto" and one.source == name for one in links.values())
                    new = [one for one in drafts if one.target not in links][: max(0, MOST - drawn_by_itself)]
                    tx.relate(still_there(tx, new))


def _put_off(look: Neighbours, number: int) -> tuple[str, list[RelationDraft]]:
    """The relations to draw from a memory, now that its vectors are there."""
    record = look.load([number]).get(number)
    text = look.held(number)
    if record is None or text is None:
        return "", []
    near, by_meaning = neighbours(look, text, content(record), without=number)
    return record.name, drafts(record, ranked(look, near), by_meaning)


def discover(look: Neighbours, record: Record, text: EmbeddedText, *, limit: int, threshold: float) -> Discovery:
    """Look around a memory: at meaning, shared tags, shared names, the time of storing and existing relations."""
    number = record.id - look.base
    near, by_meaning = neighbours(look, text, content(record), without=number)
    named = _names(content(record))
    numbers = dict.fromkeys(near)
    if record.tags:
        numbers |= dict.fromkeys(look.snapshot.matching(Filters(tags=record.tags), limit=_BY_TAGS))
    if named:
        numbers |= dict.fromkeys(number for number, _ in look.by_words(" ".join(named), _BY_NAMES))
    numbers |= dict.fromkeys(id - look.base for id in look.snapshot.around(record.id, _BY_TIME))
    strongest = look.snapshot.strongest([record.name], _BY_LINKS).get(record.name, ())
    links = linked(strongest, record.name)
    there = look.snapshot.ids(list(links)) if links else {}
    relations = {there[name] - look.base: relation for name, relation in links.items() if name in there}
    numbers |= dict.fromkeys(relations)
    numbers.pop(number, None)
    rest = [at for at in numbers if at not in near]
    if rest and near and by_meaning:
        near |= {one.number: one.similarity for one in look.nearest(text, len(rest), among=rest)}
    loaded = look.load(list(numbers))
    found = [_judged(record, named, other, near.get(at), relations.get(at), by_meaning) for at, other in loaded.items()]
    # What somebody linked is told however little the two have in common.
    strong = [one for one in found if one.strength >= threshold or one.kind == "explicit"]
    strong.sort(key=lambda one: (-one.strength, -(one.similarity or 0.0), one.record.id))
    return Discovery(record, strong[:limit], len(loaded))


def _judged(
    record: Record,
    named: Sequence[str],
    other: Record,
    similarity: float | None,
    relation: Relation | None,
    by_meaning: bool,
) -> Association:
    """What links two memories, with the strongest of its reasons in front."""
    tags = [tag for tag in record.tags if tag in other.tags]
    names = _shared(named, content(other))
    apart = abs(record.created - other.created)
    by_hand = relation is not None and relation.origin == "manual"
    drawn = 0.0 if relation is None else relation.strength or 0.0
    if relation is not None and relation.strength is not None and not by_hand:
        similarity = max(similarity or 0.0, drawn)
    says: list[tuple[float, Kind, str]] = [
        (similarity or 0.0, "semantic", _alike(similarity or 0.0, by_meaning)),
        (1 - (1 - _TAG) ** len(tags) * (1 - _NAME) ** len(names), "contextual", _context(tags, names)),
        (_MOMENT * max(0.0, 1 - apart / _HOUR), "temporal", f"stored {_distance(apart)} of each other"),
    ]
    says.sort(key=lambda one: -one[0])
    strength, kind, _ = says[0]
    reasons = [text for value, _, text in says if value >= 0.1 and text] or [says[0][2]]
    if relation is not None and by_hand:
        strength, kind = max(strength, drawn), "explicit"
        reasons.insert(0, f"linked by hand: {relation.source} -{relation.type}-> {relation.target}")
    return Association(
        record=other,
        strength=round(strength, 4),
        kind=kind,
        reason="; ".join(reasons),
        similarity=None if similarity is None else round(similarity, 4),
        relation=relation,
    )


def _context(tags: Sequence[str], names: Sequence[str]) -> str:
    parts = [f"both tagged {', '.join(tags[:5])}"] if tags else []
    parts += [f"both mention {', '.join(names[:5])}"] if names else []
    return "; ".join(parts)


def _distance(microseconds: int) -> str:
    minutes = microseconds // 60_000_000
    return "within a minute" if minutes < 1 else f"within {minutes + 1} minutes"


def _names(text: str) -> list[str]:
    """The names in a text: what has a capital inside a sentence, or mixes letters with digits or capitals."""
    found: dict[str, None] = {}
    head = text[:READ]
    for match in _WORD.finditer(head):
        word = match.group()
        inner = any(c.isupper() for c in word[1:]) or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))
        if inner or (word[0].isupper() and len(word) > 1 and not _begins(head, match.start())):
            found[word] = None
    return list(found)[:_MOST_NAMES]


def _begins(text: str, at: int) -> bool:
    """Whether a word is the first of a sentence, where everything has a capital."""
    before = text[max(0, at - 40) : at].rstrip(" \t")
    return not before or before[-1] in _SENTENCE_ENDS


def _shared(names: Sequence[str], other: str) -> list[str]:
    """Those of the names that stand in another text, as whole words."""
    if not names:
        return []
    words = {match.group() for match in _WORD.finditer(other[:READ])}
    return [name for name in names if name in words]
