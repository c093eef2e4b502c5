"""Discovery: what a record's text says of other records, and theirs of it, without a relation that says so.

And how sure a relation is that nobody drew by hand, and which types say the same as others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from polymnia.engine.content import content, title_of
from polymnia.engine.knowledge import relationships
from polymnia.engine.search.neighbours import Neighbours
from polymnia.models import Record, Relation, folded_forms

Direction: TypeAlias = Literal["outgoing", "incoming"]
ALIKE = frozenset({"similar_to", "related_to", "associated_with"})
"""Types that say that two records are about the same, and no more."""

_BY_MEANING = frozenset({"similar_to", "associated_with"})
_INVERSE = {"contains": "part_of", "part_of": "contains", "follows": "precedes", "precedes": "follows"}
# Of pairs of sentences with this similarity, the share that people place at "about the same topic" or closer (graded
# 2.5 or more of 5), English and Korean together; see docs/decisions/0027-graphs.md.
_KNOTS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
_SHARES = (0.03, 0.08, 0.17, 0.34, 0.50, 0.63, 0.76, 0.86, 0.91, 0.96)

# The number by which people call an entry of a list: ADR-7, issue #12.
_KEY = re.compile(
    r"\W*((?:[A-Z][A-Z0-9]{1,9}-|(?:issue|ticket|bug|pr|adr|rfc|task|이슈|티켓)\s?#?\s?)\d{1,7})\b", re.IGNORECASE
)
_NAMING = 50  # records that name this one
_COMMON = 50  # a name in one of so many texts is a word like others
_FEW = 10  # and in so many texts at least
_LETTERS = 4  # of a name that stands for a record in a text; three where a letter is a syllable
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SAYS_MORE = frozenset({"references", "cites", "follows", "part_of", "implements", "resolves", "causes", "describes"})

Passing = Callable[[Sequence[int]], Collection[int]]
"""Those of the numbers of records that may be seen."""


class Discovered(NamedTuple):
    """What a text shows: the other record, and the words that show it."""

    record: Record
    type: str
    direction: Direction
    strength: float
    evidence: str


def discovered(
    look: Neighbours, record: Record, passing: Passing, existing: Iterable[Relation]
) -> tuple[list[Discovered], int]:
    """What the texts show that no relation says yet, strongest first; and how many records were looked at."""
    own = record.id - look.base
    text, title = content(record), title_of(record)
    near = relationships.nearby(look, record, look.held(own))
    naming = [number for number in _naming(look, record, title) if number != own]
    numbers = list(dict.fromkeys([*near, *naming]))
    seen = set(passing(numbers)) if numbers else set()
    loaded = look.load([number for number in numbers if number in seen])
    candidates = {number: _candidate(look, one, text, near.get(number)) for number, one in loaded.items()}
    by_id = {candidates[number].id: one for number, one in loaded.items()}
    found = [
        Discovered(
            by_id[one.target], one.type, "outgoing", one.strength, _worded(one.evidence, by_id[one.target], text)
        )
        for one in relationships.found(text, title, list(candidates.values()), tags=record.tags)
        if _meant(one, by_id[one.target])
    ]
    for number in naming:
        if number in loaded:
            found += _said_of(look, record, loaded[number])
    return _new(found, record.name, existing), len(loaded)


def _naming(look: Neighbours, record: Record, title: str) -> list[int]:
    """The records whose texts hold this one's id, name, title or number; the newest, if they are many."""
    found: set[int] = set()
    key = _KEY.match(title)
    for name in dict.fromkeys((record.uid, record.name, title, *((key[1],) if key else ()))):
        if name == record.uid or _is_name(look, name):
            found |= set(look.snapshot.containing(folded_forms(name)))
    return sorted((id - look.base for id in found), reverse=True)[: _NAMING + 1]


def _said_of(look: Neighbours, record: Record, other: Record) -> list[Discovered]:
    """What another record's text says of this one that it names."""
    text = content(other)
    asked = _candidate(look, record, text, None)
    told = relationships.found(text, title_of(other), [asked], tags=())
    return [
        Discovered(other, one.type, "incoming", one.strength, _worded(one.evidence, record, text))
        for one in told
        if one.type not in ALIKE and _meant(one, record)
    ]


def _candidate(look: Neighbours, record: Record, text: str, similarity: float | None) -> relationships.Candidate:
    """A record as one that a text may be related to. A name that its author chose counts where it tells something."""
    named = record.name != record.uid and record.name in text and _is_name(look, record.name)
    return relationships.Candidate.of(record, similarity, record.name if named else record.uid)


def _is_name(look: Neighbours, name: str) -> bool:
    """Whether who writes this means the record that is called so: long enough, no plain word, and rare."""
    dense = _DENSE.search(name) is not None
    if len(name) < (_LETTERS - 1 if dense else _LETTERS):
        return False
    if not dense and " " not in name and not any(c.isupper() or c.isdigit() for c in name):
        return False
    return not look.snapshot.is_common(folded_forms(name), max(_FEW, look.snapshot.size() // _COMMON))


def _meant(one: relationships.Relationship, record: Record) -> bool:
    """Whether a text means the record it names. One line without a title has only itself for one, and a text that
    holds it says the same rather than speaks of it."""
    untitled = record.name == record.uid and content(record).strip() == title_of(record)
    return not (untitled and one.evidence.startswith("names it by its title"))


def _worded(evidence: str, record: Record, text: str) -> str:
    evidence = in_whole_words(evidence, text)
    return evidence if record.name == record.uid else evidence.replace("names it by its id:", "names it:", 1)


def _new(found: list[Discovered], name: str, existing: Iterable[Relation]) -> list[Discovered]:
    """Without what relations say already, and each once."""
    known: dict[str, set[tuple[str, Direction]]] = {}
    for relation in existing:
        outgoing = relation.source == name
        other = relation.target if outgoing else relation.source
        known.setdefault(other, set()).add((relation.type, "outgoing" if outgoing else "incoming"))
    told: dict[tuple[int, str, Direction], Discovered] = {}
    found.sort(key=lambda one: (-one.strength, one.record.id, one.type, one.direction))
    # What says most is told first, so that what says less of the same record is seen to repeat it.
    for one in sorted(found, key=lambda one: one.type in ALIKE):
        said = known.setdefault(one.record.name, set())
        if not _repeats(one, said):
            said.add((one.type, one.direction))
            told[one.record.id, one.type, one.direction] = one
    return [one for one in found if told.get((one.record.id, one.type, one.direction)) is one]


def _repeats(one: Discovered, said: set[tuple[str, Direction]]) -> bool:
    """Whether what is said of a record already says this too."""
    back: Direction = "incoming" if one.direction == "outgoing" else "outgoing"
    if (one.type, one.direction) in said or (inverse(one.type), back) in said:
        return True
    if one.type == "related_to":
        return bool(said)
    if one.type == "similar_to":
        return any(type in ALIKE for type, _ in said)
    return one.type == "references" and any(type in _SAYS_MORE and way == one.direction for type, way in said)


def trust(type: str, origin: str, strength: float) -> float:
    """How sure a relation is, from 0 to 1. What somebody drew is certain.

    A relation drawn from a similarity is as sure as people agree on pairs so similar. One read off a text (a name, a
    title, a series) is as sure as the rule that read it, which is its strength.
    """
    if origin == "manual":
        return 1.0
    return _agreed(strength) if type in _BY_MEANING else strength


def _agreed(similarity: float) -> float:
    if similarity <= _KNOTS[0]:
        return _SHARES[0] * max(0.0, similarity) / _KNOTS[0]
    if similarity >= _KNOTS[-1]:
        return _SHARES[-1] + (1 - _SHARES[-1]) * (min(1.0, similarity) - _KNOTS[-1]) / (1 - _KNOTS[-1])
    at = bisect_right(_KNOTS, similarity)
    share = (similarity - _KNOTS[at - 1]) / (_KNOTS[at] - _KNOTS[at - 1])
    return _SHARES[at - 1] + share * (_SHARES[at] - _SHARES[at - 1])


def inverse(type: str) -> str | None:
    """The type that says the same from the other end; None where there is none."""
    return type if type in ALIKE else _INVERSE.get(type)


def widened(types: Collection[str] | None) -> frozenset[str] | None:
    """The types asked for, and those that say the same from the other end; None where all are asked for."""
    if types is None:
        return None
    return frozenset(types) | {_INVERSE[type] for type in types if type in _INVERSE}


def in_whole_words(evidence: str, text: str) -> str:
    """Evidence whose quotation of a text neither begins nor ends within a word."""
    before, opening, rest = evidence.partition("“")
    quote, closing, after = rest.rpartition("”")
    return f"{before}{opening}{_whole(quote, ' '.join(text.split()))}{closing}{after}" if quote else evidence


def _whole(quote: str, text: str) -> str:
    start = text.find(quote)
    if start < 0:
        return quote
    end = start + len(quote)
    if end < len(text) and _joins(text[end - 1]) and _joins(text[end]):
        quote = quote.rpartition(" ")[0] or quote
    if start and _joins(text[start - 1]) and _joins(text[start]):
        quote = quote.partition(" ")[2] or quote
    return quote


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"
