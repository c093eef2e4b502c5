"""Relationships: typed relationships of a text to other texts, each with its evidence.

Precision comes before recall. A relationship is reported if the text names the other one, if their titles belong to a
numbered series, if one contains a large part of the other, or if the caller measured their similarity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from polymnia.engine.content import RelationshipType, content, title_of, visible
from polymnia.engine.knowledge.associations import neighbours
from polymnia.engine.knowledge.mentions import MentionReader, stated_relationship
from polymnia.engine.text.document import blocks
from polymnia.engine.text.language import sections
from polymnia.engine.text.names import names
from polymnia.models import Record, RelationDraft

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours

__all__ = ["COMPARED", "Candidate", "DetectedRelationship", "RelationshipType", "drafts", "found", "nearby"]

SIMILAR = 0.6
COMPARED = 2000
"""The characters of a text that are compared with others."""

_ID = re.compile(r"content_[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_READ = 200_000  # characters of the text that are searched for mentions
_NEARBY = 30  # candidates of each kind
_WORD = re.compile(r"[^\W_]+")
_CHARACTER = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_SHINGLE = 5
_FEWEST_WORDS = 20  # a shorter text may occur in another by chance
_CONTAINED = 0.6  # of the shorter text's runs of five words
_LONGER = 1.5  # times; texts of similar length are versions of each other
_STRENGTH: dict[RelationshipType, float] = {
    "references": 0.8,
    "cites": 0.85,
    "follows": 0.9,
    "part_of": 0.85,
    "implements": 0.9,
    "resolves": 0.95,
    "causes": 0.85,
    "describes": 0.85,
}
# The weight of a shared name: many texts mention Japan and New York, few the same person.
_WEIGHTS = {"person": 2.0, "organisation": 2.0, "thing": 1.0, "": 0.5}
_MIN_WEIGHT = 2.0
_NAMED = 8000  # characters that are searched for names
_BY_TITLE = 0.9  # unlike an id or an address, a title may occur without referring to its text


class Candidate(Struct, frozen=True, kw_only=True):
    """A text that another may be related to.

    ``text`` may be its beginning only; ``length`` is then its full length in characters. ``similarity`` is that of the
    two, 0 to 1, if measured; ``created`` is in microseconds UTC. ``urls`` are its known addresses.
    """

    id: str
    title: str | None = None
    text: str = ""
    length: int | None = None
    tags: tuple[str, ...] = ()
    similarity: float | None = None
    created: int | None = None
    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Record, similarity: float | None, id: str | None = None) -> Candidate:
        """A record as a candidate, under its name or another id."""
        text = content(record)
        return cls(
            id=id or record.name,
            title=title_of(record),
            text=text[:COMPARED],
            length=len(text),
            tags=record.tags,
            similarity=similarity,
            created=record.created,
        )


class DetectedRelationship(Struct, frozen=True):
    """A relationship from the text to the target: its type, strength (0 to 1) and evidence, in words."""

    target: str
    type: RelationshipType
    strength: float
    evidence: str


def nearby(view: Neighbours, record: Record, embedded: EmbeddedText | None) -> dict[int, float | None]:
    """The numbers of the records a record may be related to, with their similarity if a model measured it.

    They are near to it by meaning, or their ids occur in its text, or they share its words.
    """
    text, own = content(record), record.id - view.base if record.id else 0
    near, by_meaning = neighbours(view, embedded, text, without=own)
    found = {number: similarity if by_meaning else None for number, similarity in list(near.items())[:_NEARBY]}
    named = list(dict.fromkeys(_ID.findall(text[:_READ])))
    ids = view.snapshot.ids_of(named) | view.snapshot.ids(named) if named else {}
    numbers = [id - view.base for id in ids.values()]
    for words in (title_of(record), text[:COMPARED]):
        numbers += [number for number, _ in view.by_words(words, _NEARBY)]
    for number in numbers:
        found.setdefault(number, None)
    found.pop(own, None)
    return found


def drafts(view: Neighbours, record: Record, embedded: EmbeddedText, session: str | None) -> list[RelationDraft]:
    """The relationships to add from an item to those that it names or is near to, and that the session may see."""
    near = nearby(view, record, embedded)
    seen = set(view.snapshot.matching(visible(session), among=list(near))) if near else set()
    loaded = view.load([number for number in near if number in seen])
    candidates = [Candidate.of(one, near[number]) for number, one in loaded.items()]
    return [
        RelationDraft(record.name, one.target, one.type, round(one.strength, 4), one.evidence, origin="auto")
        for one in found(content(record), title_of(record), candidates, tags=record.tags)
    ]


def found(
    text: str, title: str | None, candidates: Sequence[Candidate], *, tags: Sequence[str] = ()
) -> list[DetectedRelationship]:
    """The relationships from a text with these tags to the candidates, strongest first; each target and type once."""
    text = text[:_READ]
    reader = MentionReader(text)
    runs = _runs(text)
    related = _shared(text, tags, candidates)
    best: dict[tuple[str, RelationshipType], DetectedRelationship] = {}
    series = _neighbours_in_series(title, candidates)
    heads = [block.text for block in blocks(text) if block.kind == "h" and block.level > 1] if "##" in text else []
    headings = {" ".join(one.split()).lower(): one for one in heads}
    for other in candidates:
        links = [
            *_stated(reader, other),
            *((series[other.id],) if other.id in series else ()),
            *_containment(runs, text, other, headings),
        ]
        if other.similarity is not None and other.similarity >= SIMILAR:
            strength = round(min(1.0, other.similarity), 4)
            links.append(
                DetectedRelationship(other.id, "similar_to", strength, f"similar in meaning ({other.similarity:.2f})")
            )
        if not links and other.id in related:
            links.append(related[other.id])
        for one in links:
            known = best.get((one.target, one.type))
            if known is None or known.strength < one.strength:
                best[one.target, one.type] = one
    return sorted(best.values(), key=lambda one: (-one.strength, one.target, one.type))


def _stated(reader: MentionReader, other: Candidate) -> Iterator[DetectedRelationship]:
    """The relationships a text states to another one it names; a plain reference only if there is no other."""
    by_type: dict[RelationshipType, DetectedRelationship] = {}
    for mention in reader.mentions(other.id, other.title, other.urls):
        type, words = stated_relationship(mention)
        strength = _STRENGTH[type] * (_BY_TITLE if mention.how == "title" else 1.0)
        one = DetectedRelationship(other.id, type, round(strength, 4), f"names it by its {mention.how}: “{words}”")
        if type not in by_type or by_type[type].strength < one.strength:
            by_type[type] = one
    if len(by_type) > 1:
        by_type.pop("references", None)
    yield from by_type.values()


def _runs(text: str) -> set[int]:
    """Hashes of all runs of five words of a text. In scripts without spaces a character counts as a word."""
    words = [part for word in _WORD.findall(text.lower()) for part in (word if _CHARACTER.search(word) else (word,))]
    return {hash(tuple(words[at : at + _SHINGLE])) for at in range(len(words) - _SHINGLE + 1)}


def _containment(
    runs: set[int], text: str, other: Candidate, headings: dict[str, str]
) -> Iterator[DetectedRelationship]:
    """Whether one of the texts contains most of the other."""
    theirs = _runs(other.text)
    common = len(runs & theirs)
    if min(len(runs), len(theirs)) >= _FEWEST_WORDS and common:
        of_theirs, of_ours = common / len(theirs), common / len(runs)
        length = other.length or len(other.text)
        if of_theirs >= _CONTAINED and len(text) >= _LONGER * length:
            evidence = f"has {of_theirs:.0%} of its runs of five words"
            yield DetectedRelationship(other.id, "contains", round(of_theirs, 4), evidence)
        elif of_ours >= _CONTAINED and length >= _LONGER * len(text):
            evidence = f"{of_ours:.0%} of its runs of five words stand there"
            yield DetectedRelationship(other.id, "part_of", round(of_ours, 4), evidence)
    name = " ".join((other.title or "").split()).lower()
    if name in headings and len(name.split()) >= 2 and common:
        yield DetectedRelationship(
            other.id, "contains", 0.6, f"has a section “{headings[name]}” and words of it in common"
        )


def _shared(text: str, tags: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, DetectedRelationship]:
    """Relationships to the candidates that share rare names or tags with the text."""
    if not candidates:
        return {}
    kinds = {name.text: name.kind for name in names(text[:_NAMED]) if len(name.text) > 3 or name.kind == "person"}
    theirs = [{name for name in kinds if name in one.text} for one in candidates]
    frequency = Counter(name for some in theirs for name in some)
    tagged = Counter(tag for one in candidates for tag in set(one.tags))
    rare = max(2, len(candidates) // 5)
    related: dict[str, DetectedRelationship] = {}
    for one, some in zip(candidates, theirs, strict=True):
        both = sorted(name for name in some if frequency[name] <= rare and _whole(name, one.text))
        same = sorted(tag for tag in set(tags) & set(one.tags) if tagged[tag] <= rare)
        if sum(_weight(name, kinds[name]) for name in both) + len(same) >= _MIN_WEIGHT:
            parts = [f"both mention {', '.join(both[:5])}"] if both else []
            parts += [f"both tagged {', '.join(same[:5])}"] if same else []
            strength = 1 - 0.75 ** len(both) * 0.7 ** len(same)
            related[one.id] = DetectedRelationship(
                one.id, "related_to", round(min(0.8, max(0.3, strength)), 4), "; ".join(parts)
            )
    return related


def _weight(name: str, kind: str) -> float:
    """The weight of a shared name; a first name alone may be another person's."""
    return 1.0 if kind == "person" and name.isascii() and " " not in name else _WEIGHTS[kind]


def _whole(name: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![a-zA-Z0-9])", text) is not None


# ── Series: titles that differ only in a number, a part or a date ───────────────────────────────────────────────────

_COUNTED = (
    "i ii iii iv v vi vii viii ix x xi xii",
    "one two three four five six seven eight nine ten",
    "eins zwei drei vier fünf",
    "uno dos tres cuatro cinco",
    "un deux trois quatre cinq",
    "一 二 三 四 五",
)
_NUMBERS = {word: at for some in _COUNTED for at, word in enumerate(some.split(), 1)}
_SPELLED = "|".join(word for some in _COUNTED[1:] for word in some.split())
_UNIT = (
    r"part|chapter|episode|volume|vol\.?|week|day|sprint|session|lesson|lecture|step|phase|iteration|round"
    r"|stage|version|release|book|section|issue|no\.?|nr\.?|teil|kapitel|folge|band|woche|tag|lektion|schritt"
    r"|parte|capítulo|episodio|semana|día|lección|paso|fase"
    r"|partie|chapitre|épisode|semaine|jour|leçon|étape|часть|глава"
)
_KINDS = (
    ("date", re.compile(r"(?<!\d)(\d{4})[-./년年]\s?(\d{1,2})(?:[-./월月]\s?(\d{1,2})[일日]?)?(?!\d)")),
    (
        "part",
        re.compile(
            rf"(?<!\w)(?:{_UNIT})\s?#?\s?(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}|[ivx]{{1,4}}|{_SPELLED})(?!\w)", re.IGNORECASE
        ),
    ),
    (
        "part",
        re.compile(
            r"제?\s?(\d{1,4}|[一二三四五])\s?(?:부|장|편|화|회차|회|권|주차|일차|단계|차시|차|강|호)(?![가-힣])"
            r"|第\s?(\d{1,4}|[一二三四五])\s?[章部回話话集期卷巻篇編课課周週日]"
        ),
    ),
    ("part", re.compile(r"[(\[]\s?(\d{1,3})\s?(?:/|of|von|de|sur)\s?\d{1,3}\s?[)\]]")),
    ("version", re.compile(r"(?<!\w)v(\d{1,4}(?:\.\d{1,4}){0,3})(?!\w)", re.IGNORECASE)),
    ("number", re.compile(r"(?<=[^\W\d_] )#?(\d{1,2})$")),
)
_LETTER = re.compile(r"[^\W\d_]")
_DENSE = re.compile("[\u3041-\u9fff\uac00-\ud7af]")


class _Place(NamedTuple):
    """The position of a title in a series: the name of the series, how its members are numbered, and the number."""

    series: str
    kind: str
    number: tuple[int, ...]


def _neighbours_in_series(title: str | None, candidates: Sequence[Candidate]) -> dict[str, DetectedRelationship]:
    """Relationships to the previous and next members of the title's series."""
    here = _place(title) if title else None
    if here is None:
        return {}
    places = [
        (there.number, other.created or 0, other)
        for other in candidates
        if other.title and (there := _place(other.title)) and _same_series(here, there)
    ]
    before = max((one for one in places if one[0] < here.number), key=lambda one: one[:2], default=None)
    after = min((one for one in places if one[0] > here.number), key=lambda one: one[:2], default=None)
    related: dict[str, DetectedRelationship] = {}
    for type, end in (("follows", before), ("precedes", after)):
        if end is None or (here.kind == "number" and abs(here.number[0] - end[0][0]) != 1):
            continue
        evidence = f"titles of one series: “{title}” and “{end[2].title}”"
        strength = 0.9 if here.kind != "number" else 0.7
        related[end[2].id] = DetectedRelationship(end[2].id, type, strength, evidence)  # type: ignore[arg-type]
    return related


def _same_series(here: _Place, there: _Place) -> bool:
    return here.series == there.series and here.kind == there.kind and len(here.number) == len(there.number)


def _place(title: str) -> _Place | None:
    """The position of a title in a series; None if no series is recognised."""
    title = " ".join(title.split())
    for kind, pattern in _KINDS:
        match = pattern.search(title)
        number = _number(match, kind) if match else None
        if match is None or number is None:
            continue
        tail = title[match.end() :]
        if kind == "part" and match.start() and re.match(r"\s?[:：–—-]", tail):
            tail = ""  # the member's own name: `Guide, part 2: Installing`
        rest = re.sub(r"[\W_]+", " ", f"{title[: match.start()]} # {tail}").strip().lower()
        if len(_LETTER.findall(rest)) < (2 if _DENSE.search(rest) else 4):
            continue
        if kind == "number" and len(rest.split()) < 2:
            continue  # "Windows 11" is not a sequel
        return _Place(rest, kind, number)
    return None


def _number(match: re.Match[str], kind: str) -> tuple[int, ...] | None:
    if kind == "date":
        year, month, day = int(match[1]), int(match[2]), int(match[3] or 0)
        return (year, month, day) if 1 <= month <= 12 and day <= 31 else None
    text = next(group for group in match.groups() if group).lower()
    if text in _NUMBERS:
        return (_NUMBERS[text],)
    return tuple(int(part) for part in text.split(".")) if text[0].isdigit() else None


# ── Relation types that imply an order, and their direction ──────────────────────────────────────────────────────────


@cache
def _orders() -> dict[str, tuple[str, bool]]:
    found: dict[str, tuple[str, bool]] = {}
    for name, types in sections("relation_types.txt").items():
        order, way = name.split()
        found |= dict.fromkeys(types.split(), (order, way == "forwards"))
    return found


def order_of(type: str) -> tuple[str, bool] | None:
    """The order a relation of this type implies, and whether forwards; None if it implies none."""
    return _orders().get(re.sub(r"[\W_]+", "_", type.strip()).strip("_").lower())
