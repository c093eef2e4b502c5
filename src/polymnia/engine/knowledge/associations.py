"""Associations: what links two memories, how strongly, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from polymnia.engine.content import content, linked, with_targets
from polymnia.engine.ports import BACKGROUND, Store, Transaction
from polymnia.models import Filters, Record, Relation, RelationDraft

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours

Kind = Literal["semantic", "temporal", "contextual", "explicit"]

TYPE = "associated_with"
"""The type of relations that are added automatically."""
MAX_DRAWN = 10
"""The limit of automatic relations of a memory."""
RELATED = 0.4
"""The similarity from which two memories are about the same subject; see docs/decisions/0018-associations.md."""
READ = 4000
"""The characters of a text whose words and names are compared with others."""

_DEFERRED, _DEFERRED_END = "associate:", "associate;"  # the range of keys of deferred associations
_BATCH = 32
_BY_MEANING = 60  # candidates of each kind
_BY_TAGS = 100
_BY_NAMES = 30
_BY_TIME = 5
_BY_LINKS = 50
_HOUR = 3_600_000_000
_TAG, _NAME = 0.3, 0.25  # the weight of one shared tag or name
_SAME_TIME = 0.15  # the weight of being stored at the same time; it falls to 0 within an hour
_MAX_NAMES = 12
_WORD = re.compile(r"[^\W_][\w'’-]*[^\W_]|[^\W_]", re.UNICODE)
_SENTENCE_ENDS = ".!?:;\n\r\"“”'‘’(-*#>•…"


class Association(Struct, frozen=True, kw_only=True):
    """A memory linked to another one: how strongly (0 to 1), by what kind of evidence, and why, in words.

    ``relation`` is the existing relation between the two, if any.
    """

    record: Record
    strength: float
    kind: Kind
    reason: str
    similarity: float | None = None
    relation: Relation | None = None


class Discovery(Struct, frozen=True):
    """The associations of a memory, strongest first, and how many candidates were examined."""

    source: Record
    associations: list[Association]
    candidates: int


def neighbours(
    view: Neighbours, text: EmbeddedText | None, words: str, *, without: int = 0, most: int = _BY_MEANING
) -> tuple[dict[int, float], bool]:
    """The memories nearest to a text with their similarity, nearest first, and whether a model measured it.

    If no model embedded the text, the share of common words is used.
    """
    if text is not None and any(len(text.rows(model)) for model in text.vectors):
        return {one.number: one.similarity for one in view.nearest(text, most, without=without)}, True
    return {number: share for number, share in view.by_words(words[:READ], most) if number != without}, False


def ranked(view: Neighbours, near: Mapping[int, float]) -> list[tuple[Record, float]]:
    """The records of neighbours with their similarity, in the same order, without deleted ones."""
    loaded = view.load(list(near))
    return [(loaded[number], similarity) for number, similarity in near.items() if number in loaded]


def drafts(record: Record, near: Sequence[tuple[Record, float]], by_meaning: bool) -> list[RelationDraft]:
    """The relations to add from a memory to its nearest ones, which are near by meaning or by words."""
    drawn: list[RelationDraft] = []
    names = _names(content(record))
    for other, similarity in near:
        if similarity < RELATED or len(drawn) == MAX_DRAWN:
            break
        shared = _context([tag for tag in record.tags if tag in other.tags], _shared(names, content(other)))
        reason = "; ".join(filter(None, (_similarity_reason(similarity, by_meaning), shared)))
        drawn.append(RelationDraft(record.name, other.name, TYPE, round(similarity, 4), reason, origin="auto"))
    return drawn


def _similarity_reason(similarity: float, by_meaning: bool) -> str:
    return f"{'similar in meaning' if by_meaning else 'shares its words'} ({similarity:.2f})"


def defer(tx: Transaction, record: Record) -> None:
    """Defer linking a memory to its neighbours until its vectors exist. The request is stored until it is done."""
    tx.note(f"{_DEFERRED}{record.id & 0xFFFFFFFF:010}", "")


def add_deferred(store: Store, project: str, open_view: Callable[[], AbstractContextManager[Neighbours]]) -> None:
    """Add the deferred relations; existing ones are left unchanged."""
    while True:
        with open_view() as view:
            deferred = view.snapshot.notes(_DEFERRED, _DEFERRED_END, _BATCH)
            drawn = {key: _deferred_drafts(view, int(key.removeprefix(_DEFERRED))) for key in deferred}
        if not drawn:
            return
        with store.write(project, "polymnia", BACKGROUND) as tx:
            for key, (name, drafts) in drawn.items():
                if tx.noted(key) is None:
                    continue  # another process was faster
                tx.note(key, None)
                if drafts and tx.ids([name]):
                    links = linked(tx.relations_of([name]), name)
                    automatic = sum(one.origin == "auto" and one.source == name for one in links.values())
                    new = [one for one in drafts if one.target not in links][: max(0, MAX_DRAWN - automatic)]
                    tx.relate(with_targets(tx, new))


def _deferred_drafts(view: Neighbours, number: int) -> tuple[str, list[RelationDraft]]:
    """The name of a memory and the relations to add from it, now that its vectors exist."""
    record = view.load([number]).get(number)
    text = view.stored(number)
    if record is None or text is None:
        return "", []
    near, by_meaning = neighbours(view, text, content(record), without=number)
    return record.name, drafts(record, ranked(view, near), by_meaning)


def discover(view: Neighbours, record: Record, text: EmbeddedText, *, limit: int, threshold: float) -> Discovery:
    """Find associations of a memory: by meaning, shared tags and names, storage time and existing relations."""
    number = record.id - view.base
    near, by_meaning = neighbours(view, text, content(record), without=number)
    named = _names(content(record))
    numbers = dict.fromkeys(near)
    if record.tags:
        numbers |= dict.fromkeys(view.snapshot.matching(Filters(tags=record.tags), limit=_BY_TAGS))
    if named:
        numbers |= dict.fromkeys(number for number, _ in view.by_words(" ".join(named), _BY_NAMES))
    numbers |= dict.fromkeys(id - view.base for id in view.snapshot.around(record.id, _BY_TIME))
    strongest = view.snapshot.strongest([record.name], _BY_LINKS).get(record.name, ())
    links = linked(strongest, record.name)
    there = view.snapshot.ids(list(links)) if links else {}
    relations = {there[name] - view.base: relation for name, relation in links.items() if name in there}
    numbers |= dict.fromkeys(relations)
    numbers.pop(number, None)
    rest = [at for at in numbers if at not in near]
    if rest and near and by_meaning:
        near |= {one.number: one.similarity for one in view.nearest(text, len(rest), among=rest)}
    loaded = view.load(list(numbers))
    found = [
        _associate(record, named, other, near.get(at), relations.get(at), by_meaning) for at, other in loaded.items()
    ]
    # A manual link is always reported, however little the two have in common.
    strong = [one for one in found if one.strength >= threshold or one.kind == "explicit"]
    strong.sort(key=lambda one: (-one.strength, -(one.similarity or 0.0), one.record.id))
    return Discovery(record, strong[:limit], len(loaded))


def _associate(
    record: Record,
    named: Sequence[str],
    other: Record,
    similarity: float | None,
    relation: Relation | None,
    by_meaning: bool,
) -> Association:
    """The association of two memories, with the strongest reason first."""
    tags = [tag for tag in record.tags if tag in other.tags]
    names = _shared(named, content(other))
    distance = abs(record.created - other.created)
    by_hand = relation is not None and relation.origin == "manual"
    drawn = 0.0 if relation is None else relation.strength or 0.0
    if relation is not None and relation.strength is not None and not by_hand:
        similarity = max(similarity or 0.0, drawn)
    evidence: list[tuple[float, Kind, str]] = [
        (similarity or 0.0, "semantic", _similarity_reason(similarity or 0.0, by_meaning)),
        (1 - (1 - _TAG) ** len(tags) * (1 - _NAME) ** len(names), "contextual", _context(tags, names)),
        (_SAME_TIME * max(0.0, 1 - distance / _HOUR), "temporal", f"stored {_distance(distance)} of each other"),
    ]
    evidence.sort(key=lambda one: -one[0])
    strength, kind, _ = evidence[0]
    reasons = [text for value, _, text in evidence if value >= 0.1 and text] or [evidence[0][2]]
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
    """The names in a text: words capitalised inside a sentence, or mixing letters with digits or capitals."""
    found: dict[str, None] = {}
    head = text[:READ]
    for match in _WORD.finditer(head):
        word = match.group()
        inner = any(c.isupper() for c in word[1:]) or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))
        if inner or (word[0].isupper() and len(word) > 1 and not _starts_sentence(head, match.start())):
            found[word] = None
    return list(found)[:_MAX_NAMES]


def _starts_sentence(text: str, at: int) -> bool:
    """Whether a word is the first of a sentence, where every word is capitalised."""
    before = text[max(0, at - 40) : at].rstrip(" \t")
    return not before or before[-1] in _SENTENCE_ENDS


def _shared(names: Sequence[str], other: str) -> list[str]:
    """The names that occur in another text as whole words."""
    if not names:
        return []
    words = {match.group() for match in _WORD.finditer(other[:READ])}
    return [name for name in names if name in words]
