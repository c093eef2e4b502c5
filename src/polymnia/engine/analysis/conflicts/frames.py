"""Frames: what two statements have in common, what each has beside, and whether they are about one thing."""

from __future__ import annotations

import re
from typing import NamedTuple

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.facts import Differing, differing
from polymnia.engine.analysis.conflicts.kinds import Kind
from polymnia.engine.analysis.conflicts.quantities import common
from polymnia.engine.analysis.conflicts.slots import slot
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.terms import Terms, read
from polymnia.engine.duplicates.opposites import excludes
from polymnia.engine.duplicates.synonyms import synonymous
from polymnia.engine.search.languages import stem

__all__ = ["Frame", "framed", "in_common", "names"]

_JOINED = frozenset({"a", "ab", "re", "de", "im", "counter"})
_STEM, _SUFFIX = 5, 3  # letters that forms of a word have in common, and that each has beside at most
_ROOT = 4  # letters of a word that un- or in- turns into its opposite
_FEW = 3  # words that leave the subject to what stands around

_VERB = re.compile(
    r"\b(?:is|are|was|were|will|has|have|had|can|should|must|does|do|did|isn't|aren't|may|shall|needs?|cannot|can't)\b"
    r"|[:=](?!\d)|(?<=[가-힣\d])(?:은|는|이|가)(?=\s)",
    re.IGNORECASE,
)
_LEADING = re.compile(  # up to what looks like a verb, and not beyond what only comes after one
    r"\W*(?=\w)(?:(?!(?:after|at|by|every|for|from|in|on|to|with|within)\b)[\w'’.-]+ ){1,5}?(?=[a-z]{2,}(?:s|ed)\b)"
)
_LETTER = re.compile(r"(?<=\w )[A-Z]\b")  # customer A and customer B
_SAID_SO = """moved moves changed changes switched migrated replaced updated renamed became raised lowered reduced
increased effective nowadays new superseded dropped extended postponed rescheduled upgraded
변경 전환 교체 수정 인상 인하 이전 새로 바뀌었다 바뀌었습니다 바꿨다 바꿨습니다 옮겼다 옮겼습니다"""
_CHANGING = frozenset(stem(word, "english") if word.isascii() else word for word in _SAID_SO.split())
# What a thing with a number of its own is called, or not: ticket PAY-112 is PAY-112.
_SORTS = """ticket issue bug task story request incident case invoice order card pr
티켓 이슈 버그 작업 주문 요청"""
_CALLED = frozenset(stem(word, "english") if word.isascii() else word for word in _SORTS.split())
_NUMBERED = re.compile(r"[a-z]+-?\d+")
_WHEN = re.compile(  # at some times only
    r"\W*(?:after|before|at|on|during|in|between|from) (?:\d|one|two|three|four|five|six|seven|eight|nine|ten|noon"
    r"|night|midnight|lunch|dark|sunset|sunrise|weekends?|weekdays?|holidays?|[a-z]+days?\b|summer|winter|spring|autumn"
    r"|the (?:morning|evening|afternoon|night|weekend|summer|winter))"
    r"|(?:밤|낮|주말|평일|저녁|아침|오후|오전|휴일)에는?\s",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\(([^()]{2,40})\)")  # those that are left narrow: the code (front) and the code (back)
_PURPOSE = re.compile(r"\b(?:for|as|when|in|on|to)\b|에는?\s|로\s|때")
_CHOICE = re.compile(
    r"\W*(?:please |always |we should |we |you should )*(?:use|choose|pick|prefer|take|adopt|select)\b"
    r"|.*(?:사용|선택|쓰세요|택)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=\s)(?:[A-Z][\w-]+|[a-z]+[-_]?(?:\d|[A-Z])[\w-]*)")


class Frame(NamedTuple):
    """A pair of statements: the words only one of them has, beside opposites, and what else differs.

    ``value`` says whether their figures or dates differ, ``several`` whether more than one does, ``dates`` whether
    dates do, ``denied`` whether one of them denies, ``opposed`` whether words of them exclude each other, ``single``
    whether what they say has one value at a time, ``named`` whether both call what they have of their own by name.
    ``apart`` says that they are about different things, ``narrow`` that one is about a part of what the other is about,
    ``aligned`` that their subjects have a word in common. ``place`` says what the one place takes
    in which they differ, where there is only one; ``values`` is that where they were read as facts. ``numbered``
    says that both name one thing that has a number of its own.
    """

    shared: int
    left: tuple[str, ...]
    right: tuple[str, ...]
    value: bool
    several: bool
    dates: bool
    denied: bool
    opposed: bool
    single: bool
    named: bool
    apart: bool
    narrow: bool
    aligned: bool
    place: Kind | None
    values: Differing | None = None
    numbered: bool = False


def framed(table: Table, a: int, b: int) -> Frame:
    """Compare the words of two statements."""
    here, there = table.terms[a], table.terms[b]
    left, right = _paired(_over(here.words, there.words), _over(there.words, here.words))
    numbered = any(_NUMBERED.fullmatch(word) for word in {*here.words} & {*there.words})
    if numbered:
        left, right = (tuple(word for word in over if word not in _CALLED) for over in (left, right))
    texts = common(table.said(a), table.said(b))
    advised = bool(table.stance[a] and table.stance[b])
    heads = _head(texts[0], advised), _head(texts[1], advised)
    opposites = [(x, y) for x in left[:6] for y in right[:6] if _opposite(x, y)]
    # Opposites before the verb make two subjects: what the sender pays and what the receiver pays.
    apart = any(x in heads[0].words and y in heads[1].words for x, y in opposites)
    left = tuple(word for word in left if all(word != x for x, _ in opposites))
    right = tuple(word for word in right if all(word != y for _, y in opposites))
    named = _named(texts[0], left) and _named(texts[1], right)
    aside = set(left) & set(heads[0].words), set(right) & set(heads[1].words)
    figures = {*heads[0].figures, *heads[0].days}, {*heads[1].figures, *heads[1].days}
    at_times = (_WHEN.match(texts[0]) is None) != (_WHEN.match(texts[1]) is None)
    only = slot(*texts)
    place = only.kind if only is not None and (left or right or opposites or table.apart(a, b)) else None
    if place == "holder":
        aside, figures = (set(), set()), (set(), set())
    values = differing(table.facts[a], table.facts[b]) if place not in ("one", "holder") else None
    if values is not None:
        return _factual(table, a, b, texts, values)
    return Frame(
        shared=len({*here.words, *here.days, *here.figures} & {*there.words, *there.days, *there.figures}),
        left=left,
        right=right,
        value=_differ(here.figures, there.figures) or _differ(here.days, there.days),
        several=_several(here, there),
        dates=_differ(here.days, there.days),
        denied=bool(table.denied[a] != table.denied[b]),
        opposed=bool(opposites),
        single=place in ("one", "holder") or _single(texts, named, advised),
        named=named,
        apart=apart
        or bool(aside[0] and aside[1])
        or _differ(*map(tuple, figures))
        or _differ(*(tuple(_LETTER.findall(text)) for text in texts))
        or not _around(table, a, b, texts)
        or _differ(*(tuple(_BRACKETS.findall(text.lower())) for text in texts))
        or (at_times and bool(table.state[a] and table.state[b])),
        narrow=at_times or bool(aside[0] or aside[1] or figures[0] ^ figures[1]),
        aligned=advised or place == "holder" or bool(set(heads[0].words) & set(heads[1].words)),
        place=place,
        numbered=numbered,
    )


def in_common(here: tuple[str, ...], there: tuple[str, ...]) -> float:
    """The share of the words of the shorter statement that the other has too, in any form or as a synonym."""
    left, _ = _paired(tuple(set(here) - set(there)), tuple(set(there) - set(here)))
    return (len(set(here)) - len(left)) / max(1, min(len(set(here)), len(set(there))))


def _factual(table: Table, a: int, b: int, texts: tuple[str, str], values: Differing) -> Frame:
    """The frame of two statements that give one thing two values, however they say it."""
    here, there = table.terms[a], table.terms[b]
    left, right = (read(value).words for value in (values.left, values.right))
    return Frame(
        shared=len({*here.words} & {*there.words}), left=left, right=right, value=False, several=False, dates=False,
        denied=False, opposed=False, single=True, named=True, apart=not _around(table, a, b, texts), narrow=False,
        aligned=True, place=values.kind, values=values,
    )  # fmt: skip


def _derived(one: str, other: str) -> bool:
    """Whether two words look like forms of one; a name with a number in it is no form of another."""
    same = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
    if not one.isascii() and same and one.endswith("지") != other.endswith("지"):
        return True  # a Korean verb as it stands before its denial
    return one.isalpha() and other.isalpha() and same >= _STEM and max(len(one), len(other)) - same <= _SUFFIX


def _opposite(one: str, other: str) -> bool:
    """Whether two words exclude each other. Re- and a- make another word, not an opposite: source and resource."""
    short, long = sorted((one, other), key=len)
    joined = long.endswith(short) and (long[: -len(short)] in _JOINED or len(short) < _ROOT) and short.isascii()
    return not joined and excludes((one, one), (other, other))


def _named(text: str, over: tuple[str, ...]) -> bool:
    """Whether a statement calls by name what it has of its own."""
    return bool({stem(name, "english") for name in names(text)} & set(over))


def _single(texts: tuple[str, str], named: bool, advised: bool) -> bool:
    """Whether what both say has one value at a time; what is called by name is one thing and no other."""
    if advised:
        return all(_PURPOSE.search(text) and _CHOICE.match(text) for text in texts)
    return all(cues.is_single(text) for text in texts) or (named and all(cues.is_equation(text) for text in texts))


def _differ(here: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Whether both have figures of their own."""
    return bool(set(here) - set(there)) and bool(set(there) - set(here))


def _several(here: Terms, there: Terms) -> bool:
    """Whether two statements differ in more than one figure, or in a figure and in a date."""
    figures = sum(one != other for one, other in zip(here.figures, there.figures, strict=False))
    return figures + _differ(here.days, there.days) > 1


def _over(words: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Words that the other lacks, each once; those that only say that something changed do not count."""
    known = set(others)
    return tuple(word for word in dict.fromkeys(words) if word not in known and word not in _CHANGING)


def _paired(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is left when words that say the same are paired off."""
    rest = list(right)
    kept = []
    for word in left:
        for other in rest[:8]:
            if synonymous((word, word), (other, other)) or _derived(word, other):
                rest.remove(other)
                break
        else:
            kept.append(word)
    return tuple(kept), tuple(rest)


def _around(table: Table, a: int, b: int, texts: tuple[str, str]) -> bool:
    """Whether what stands around two statements lets them be about one thing, where they leave that to it."""
    together = table.owner[a] == table.owner[b]
    if (cues.is_led(texts[0]) or cues.is_led(texts[1])) and not together:
        return False
    entities = table.name(a), table.name(b)
    if not together and all(entities):
        words = set(table.terms[a].words) & set(table.terms[b].words)
        return any(set(read(name).words) <= words for name in entities if read(name).words)
    here, there = set(table.terms[a].words), set(table.terms[b].words)
    if together or min(len(here), len(there)) > _FEW:
        return True
    if table.stance[a] * table.stance[b] < 0 and here == there and len(here) == _FEW:
        return True  # to do and not to do the same, said in full
    around = table.about(a), table.about(b)
    return not (around[0] and around[1]) or bool(around[0] & around[1])


def _head(text: str, advised: bool) -> Terms:
    """The subject: what stands before the verb, or the first word where no verb is known; of advice, none."""
    if verb := _VERB.search(text, 1):
        return read(text[: verb.start()])
    if not advised and (led := _LEADING.match(text)):
        return read(led[0])
    terms = read(text)
    return terms._replace(words=() if advised else terms.words[:1], figures=(), days=())


def names(text: str) -> set[str]:
    """What a statement calls by name: words with a capital or a figure in them, but for the first."""
    return {match[0].lower() for match in _NAME.finditer(text, 1)}
