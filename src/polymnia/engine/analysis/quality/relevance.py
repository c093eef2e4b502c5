"""Relevance: whether a text speaks of what it says it is about, belongs to the project, and is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from polymnia.engine.analysis.quality.measuring import dimension, shared, untold
from polymnia.engine.analysis.quality.places import Place
from polymnia.engine.analysis.quality.sheet import Sheet
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.engine.text.keywords import telling
from polymnia.engine.text.words import terms

if TYPE_CHECKING:
    from polymnia.models import Record

__all__ = ["relevance"]

_FEWEST = 5  # words
_LOW = 0.25  # who stands higher than this share of the project has full marks: somebody must be the farthest
_SAID = 0.6  # the share of the words of a title or summary that a text need say


def relevance(
    sheet: Sheet, record: Record, *, tagged: Mapping[str, Place], near: Place | None, read: Place | None
) -> Dimension:
    """Measure how relevant a text is, given its place among those of each tag, in the project and among the read."""
    if sheet.words < _FEWEST:
        return untold(
            "relevance", f"Too few words to say what they are about: {sheet.words}, and {_FEWEST} are needed."
        )
    metrics = [
        _title(sheet, record),
        _summary(sheet, record),
        _tags(sheet, record, tagged),
        _near(sheet, near),
        _read(sheet, read),
    ]
    note = " ".join(
        why
        for why, known in (
            ("The project is too small, or has no vectors, to say how near it is to the rest.", near),
            ("Too little was read, or it is too new, to say whether it is asked for.", read),
        )
        if known is None
    )
    empty = "No title, summary or tags were given to compare it with, and the project is too small to compare it with."
    return dimension("relevance", metrics, note or None, empty)


def _spoken(sheet: Sheet, words: str) -> tuple[list[str], list[str]]:
    """The telling words of a line, and those of them that the text does not say."""
    said = telling(words, None, most=20) or [word for word in words.split() if len(word) > 1]
    have = terms("\n".join(one.text for one in sheet.blocks if one.kind != "h")).counts
    single = list(dict.fromkeys(part for one in said for part in one.split()))
    return single, [one for one in single if not set(terms(one).counts) & set(have)]


def _compared(sheet: Sheet, name: str, line: str, what: str) -> Metric | None:
    single, absent = _spoken(sheet, line)
    if not single:
        return None
    faults = (
        [
            Fault(
                line,
                f"The {what} speaks of {', '.join(absent[:5])}, the text does not.",
                f"Write of it, or change the {what}.",
                float(len(absent)),
            )
        ]
        if absent
        else []
    )
    against = f"{len(single) - len(absent)} of the {len(single)} telling words of the {what}; {_SAID:g} of them is full"
    return shared(name, 1 - len(absent) / len(single), against, full=_SAID, faults=faults, each=1 / len(single))


def _title(sheet: Sheet, record: Record) -> Metric | None:
    given = record.metadata.get("title")
    title = given if isinstance(given, str) and given.strip() else record.name if record.name != record.uid else None
    if title is None and sheet.headings and sheet.blocks[0].kind == "h":
        title = sheet.headings[0].text
    return _compared(sheet, "title_and_text", title, "title") if title else None


def _summary(sheet: Sheet, record: Record) -> Metric | None:
    return _compared(sheet, "summary_and_text", record.summary, "summary") if record.summary else None


def _tags(sheet: Sheet, record: Record, tagged: Mapping[str, Place]) -> Metric | None:
    if not record.tags:
        return None
    have = terms(sheet.text).counts
    odd: dict[str, Place] = {}
    known = 0
    for tag in record.tags:
        words = terms(tag.replace("/", " ").replace("-", " ").replace("_", " ")).counts
        place = tagged.get(tag)
        said = bool(set(words) & set(have))
        known += said or place is not None  # a tag that too few others bear may be right without being said
        if not said and place is not None and place.share < _LOW:
            odd[tag] = place
    if not known:
        return None
    quote = sheet.sentences[0].text if sheet.sentences else sheet.text.strip()[:200]
    faults = [
        Fault(
            quote,
            f'The text neither says "{tag}" nor is like the {len(place.others)} others with that tag.',
            f'Take the tag "{tag}" off, or write of it.',
        )
        for tag, place in odd.items()
    ]
    against = f"{known - len(odd)} of {known} tags are said in the text or fit the others that bear them"
    return shared("tags_and_text", 1 - len(odd) / known, against, faults=faults, each=1 / known)


def _near(sheet: Sheet, near: Place | None) -> Metric | None:
    if near is None:
        return None
    quote = sheet.sentences[0].text if sheet.sentences else sheet.text.strip()[:200]
    faults = []
    if near.share < _LOW:
        faults = [
            Fault(
                quote,
                f"{1 - near.share:.0%} of the project are nearer to their neighbours than this.",
                "Say how it belongs to the project, or keep it elsewhere.",
            )
        ]
    against = f"nearer to its neighbours than {near.share:.0%} of {len(near.others)} contents; {_LOW:.0%} is full"
    return shared("nearness_to_the_project", near.share, against, full=_LOW, faults=faults, each=_LOW)


def _read(sheet: Sheet, read: Place | None) -> Metric | None:
    if read is None:
        return None
    quote = sheet.sentences[0].text if sheet.sentences else sheet.text.strip()[:200]
    faults = []
    if read.share < _LOW:
        faults = [
            Fault(
                quote,
                f"It was found or opened less often for its age than {1 - read.share:.0%} of the project.",
                "Give it words people search for, tags and relations, or put it away.",
            )
        ]
    against = f"read more often for its age than {read.share:.0%} of {len(read.others)} contents; {_LOW:.0%} is full"
    return shared("asked_for", read.share, against, full=_LOW, weight=0.5, faults=faults, each=_LOW)
