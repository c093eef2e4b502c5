"""Relating: what a text says of other texts, as typed relationships with the words that show them.

Precision comes before recall. A relationship is told when the text names the other one, when their titles are counted
in one series, when one holds a large part of the other, or when the caller measured how alike they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from polymnia.engine.relating.mentions import Reader, said_of
from polymnia.engine.relating.series import Place, place
from polymnia.engine.relating.values import Candidate, Relationship, RelationshipType
from polymnia.engine.text.names import names

__all__ = ["Candidate", "Relationship", "RelationshipType", "found"]

SIMILAR = 0.6
_READ = 200_000  # characters of the text in which others are looked for
_HEADING = re.compile(r"^ {0,3}#{2,6}[ \t]+(.{4,120}?)[ \t#]*$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_CHARACTER = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_SHINGLE = 5
_FEWEST_WORDS = 20  # a shorter text may stand in another by chance
_HELD = 0.6  # of the shorter text's runs of five words
_LONGER = 1.5  # times; texts of about one length are versions of each other
_STRENGTH: dict[RelationshipType, float] = {
    "references": 0.8, "cites": 0.85, "follows": 0.9, "part_of": 0.85, "implements": 0.9, "resolves": 0.95,
    "causes": 0.85, "describes": 0.85,
}  # fmt: skip
# What a shared name tells: many texts speak of Japan and of New York, few of one person.
_TELLS = {"person": 2.0, "organisation": 2.0, "thing": 1.0, "": 0.5}
_ENOUGH = 2.0
_NAMED = 8000  # characters in which names are looked for
_BY_TITLE = 0.9  # a title may be written without meaning the text that bears it; an id or an address may not


def found(
    text: str, title: str | None, candidates: Sequence[Candidate], *, tags: Sequence[str] = (), similar: float = SIMILAR
) -> list[Relationship]:
    """The relationships from a text to others, strongest first; each target and type once.

    ``similar`` is the similarity from which on a candidate is similar. ``tags`` are those of the text.
    """
    text = text[:_READ]
    reader = Reader(text)
    runs = _runs(text)
    related = _shared(text, tags, candidates)
    best: dict[tuple[str, RelationshipType], Relationship] = {}
    counted = _neighbours(title, candidates)
    headings = {" ".join(one.split()).lower(): one for one in _HEADING.findall(text)}
    for other in candidates:
        told = [
            *_named(reader, other),
            *((counted[other.id],) if other.id in counted else ()),
            *_held(runs, text, other, headings),
        ]
        if other.similarity is not None and other.similarity >= similar:
            strength = round(min(1.0, other.similarity), 4)
            told.append(Relationship(other.id, "similar_to", strength, f"similar in meaning ({other.similarity:.2f})"))
        if not told and other.id in related:
            told.append(related[other.id])
        for one in told:
            known = best.get((one.target, one.type))
            if known is None or known.strength < one.strength:
                best[one.target, one.type] = one
    return sorted(best.values(), key=lambda one: (-one.strength, one.target, one.type))


def _named(reader: Reader, other: Candidate) -> Iterator[Relationship]:
    """What the text says of another one that it names; a plain reference only where it says nothing more."""
    told: dict[RelationshipType, Relationship] = {}
    for mention in reader.mentions(other):
        type, words = said_of(mention)
        strength = _STRENGTH[type] * (_BY_TITLE if mention.how == "title" else 1.0)
        one = Relationship(other.id, type, round(strength, 4), f"names it by its {mention.how}: “{words}”")
        if type not in told or told[type].strength < one.strength:
            told[type] = one
    if len(told) > 1:
        told.pop("references", None)
    yield from told.values()


def _neighbours(title: str | None, candidates: Sequence[Candidate]) -> dict[str, Relationship]:
    """The members of the title's series just before it and just after it."""
    here = place(title) if title else None
    if here is None:
        return {}
    places = [
        (there, other) for other in candidates if other.title and (there := place(other.title)) and _same(here, there)
    ]
    before = max((one for one in places if one[0].number < here.number), key=_order, default=None)
    after = min((one for one in places if one[0].number > here.number), key=_order, default=None)
    made: dict[str, Relationship] = {}
    ends: tuple[tuple[RelationshipType, tuple[Place, Candidate] | None], ...] = (
        ("follows", before),
        ("precedes", after),
    )
    for type, end in ends:
        if end is not None:
            there, other = end
            if here.kind == "number" and abs(here.number[0] - there.number[0]) != 1:
                continue
            evidence = f"titles of one series: “{title}” and “{other.title}”"
            made[other.id] = Relationship(other.id, type, 0.9 if here.kind != "number" else 0.7, evidence)
    return made


def _order(one: tuple[Place, Candidate]) -> tuple[tuple[int, ...], int]:
    return one[0].number, one[1].created or 0


def _same(here: Place, there: Place) -> bool:
    return here.series == there.series and here.kind == there.kind and len(here.number) == len(there.number)


def _runs(text: str) -> set[int]:
    """The runs of five words a text has, in any order. In scripts without spaces a character is a word."""
    words = [part for word in _WORD.findall(text.lower()) for part in (word if _CHARACTER.search(word) else (word,))]
    return {hash(tuple(words[at : at + _SHINGLE])) for at in range(len(words) - _SHINGLE + 1)}


def _held(runs: set[int], text: str, other: Candidate, headings: dict[str, str]) -> Iterator[Relationship]:
    """Whether one of the texts stands in the other, for the most part."""
    theirs = _runs(other.text)
    common = len(runs & theirs)
    if min(len(runs), len(theirs)) >= _FEWEST_WORDS and common:
        of_theirs, of_ours = common / len(theirs), common / len(runs)
        length = other.length or len(other.text)
        if of_theirs >= _HELD and len(text) >= _LONGER * length:
            evidence = f"has {of_theirs:.0%} of its runs of five words"
            yield Relationship(other.id, "contains", round(of_theirs, 4), evidence)
        elif of_ours >= _HELD and length >= _LONGER * len(text):
            evidence = f"{of_ours:.0%} of its runs of five words stand there"
            yield Relationship(other.id, "part_of", round(of_ours, 4), evidence)
    name = " ".join((other.title or "").split()).lower()
    if name in headings and len(name.split()) >= 2 and common:
        yield Relationship(other.id, "contains", 0.6, f"has a section “{headings[name]}” and words of it in common")


def _shared(text: str, tags: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, Relationship]:
    """The candidates that share rare names or tags with the text."""
    if not candidates:
        return {}
    said = {name.text: name.kind for name in names(text[:_NAMED]) if len(name.text) > 3 or name.kind == "person"}
    theirs = [{name for name in said if name in one.text} for one in candidates]
    often = Counter(name for some in theirs for name in some)
    tagged = Counter(tag for one in candidates for tag in set(one.tags))
    rare = max(2, len(candidates) // 5)
    made: dict[str, Relationship] = {}
    for one, some in zip(candidates, theirs, strict=True):
        both = sorted(name for name in some if often[name] <= rare and _whole(name, one.text))
        same = sorted(tag for tag in set(tags) & set(one.tags) if tagged[tag] <= rare)
        if sum(_tells(name, said[name]) for name in both) + len(same) >= _ENOUGH:
            parts = [f"both mention {', '.join(both[:5])}"] if both else []
            parts += [f"both tagged {', '.join(same[:5])}"] if same else []
            strength = 1 - 0.75 ** len(both) * 0.7 ** len(same)
            made[one.id] = Relationship(one.id, "related_to", round(min(0.8, max(0.3, strength)), 4), "; ".join(parts))
    return made


def _tells(name: str, kind: str) -> float:
    """How much a shared name tells; a first name alone may be another person's."""
    return 1.0 if kind == "person" and name.isascii() and " " not in name else _TELLS[kind]


def _whole(name: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![a-zA-Z0-9])", text) is not None
