"""Analyzing: all sides of the quality of a content, what to mend first, and how it stands beside others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from polymnia.engine.analysis.quality.accuracy import accuracy
from polymnia.engine.analysis.quality.actionability import actionability
from polymnia.engine.analysis.quality.agreement import contraries
from polymnia.engine.analysis.quality.babble import babble
from polymnia.engine.analysis.quality.clarity import clarity
from polymnia.engine.analysis.quality.company import company
from polymnia.engine.analysis.quality.completeness import completeness
from polymnia.engine.analysis.quality.consistency import consistency
from polymnia.engine.analysis.quality.measuring import joined, untold
from polymnia.engine.analysis.quality.places import nearness, reads, tags
from polymnia.engine.analysis.quality.readable import readable
from polymnia.engine.analysis.quality.relevance import relevance
from polymnia.engine.analysis.quality.sheet import Sheet, sheet
from polymnia.engine.analysis.quality.siblings import siblings, usual
from polymnia.engine.analysis.quality.spellings import counted
from polymnia.engine.analysis.quality.structure import structure
from polymnia.engine.analysis.quality.values import DIMENSIONS, Compared, Dimension, Quality, Suggestion
from polymnia.engine.items import title_of
from polymnia.errors import Invalid
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["analyze"]

_SUGGESTED = 20
_BESIDE = ("parts_of_a_decision", "fields_of_its_kind", "title_and_text", "tags_and_text")  # not of the words alone
_FEWEST = 4  # different words that a text must say before anything of it is praised
_SPELLED = 200  # other contents whose spelling is the project's


def analyze(
    material: Material,
    record: Record,
    *,
    dimensions: Sequence[str] = DIMENSIONS,
    suggestions: bool = True,
    metrics: bool = True,
    against: Sequence[Record] = (),
) -> Quality:
    """The quality of a content, by some of its sides, beside that of others.

    The overall score is the plain mean of the sides that could be measured. Suggestions come in the order of what
    mending them would add to it.
    """
    asked = tuple(dict.fromkeys(dimensions)) or DIMENSIONS
    for name in asked:
        if name not in DIMENSIONS:
            raise Invalid(
                f"quality_dimensions has {name!r:.40}, but must be some of: {', '.join(DIMENSIONS)}",
                field="quality_dimensions",
            )
    asked = tuple(name for name in DIMENSIONS if name in asked)
    around = company(material)
    spelled = _spelled(material, around, record) if "consistency" in asked else None
    total = 1 + len(against)
    material.tick(0, total)
    read, sides = _sides(material, record, asked, around, spelled)
    beside = []
    for at, other in enumerate(against, 1):
        material.tick(at, total)
        beside.append((other, _sides(material, other, asked, around, spelled)[1]))
    score = _mean(sides)
    shown = sides if metrics else [replace(one, metrics=()) for one in sides]
    return Quality(
        id=record.uid,
        title=title_of(record),
        score=score,
        dimensions=shown,
        suggestions=_suggestions(sides) if suggestions else [],
        compared=[_compared(sides, score, other, theirs) for other, theirs in beside],
        standing=_standing(sides, score, [theirs for _, theirs in beside]) if beside else {},
        looked_at={
            "characters": len(read.text),
            "words": read.words,
            "sentences": len(read.sentences),
            "headings": len(read.headings),
            "language": read.language,
            "contents_compared_with": sum(one.id != record.id for one in around),
        },
        notes=[f"{one.name} is not part of the score: {one.note}" for one in sides if one.score is None],
    )


def _sides(
    material: Material,
    record: Record,
    asked: Sequence[str],
    around: Sequence[Record],
    spelled: Mapping[str, Counter[str]] | None,
) -> tuple[Sheet, list[Dimension]]:
    """A content as a sheet, and its sides that are asked for."""
    read = sheet(material.text(record), record.content_type)
    struck = None
    if not (read.code or read.data):
        struck = babble(read, (material.text(one) for one in around if one.id != record.id))
    found = []
    for name in asked:
        if name == "clarity":
            made = clarity(read)
        elif name == "completeness":
            named, others = siblings(around, record)
            made = completeness(read, record, usual(named, others, (material.text(one) for one in others)))
        elif name == "accuracy":
            alone = not any(one.id != record.id for one in around)
            made = accuracy(read, record.updated, [] if alone else contraries(material, record), not alone)
        elif name == "relevance":
            made = relevance(
                read,
                record,
                tagged=tags(material, record, around),
                near=nearness(material, record, around),
                read=reads(material, record, around),
            )
        elif name == "structure":
            made = structure(read)
        elif name == "consistency":
            made = consistency(read, spelled)
        elif name == "readability":
            made = readable(read)
        else:
            made = actionability(read, record)
        found.append(_judged(read, made, struck))
    return read, found


def _judged(read: Sheet, made: Dimension, struck: str | None) -> Dimension:
    """A side of quality, or that there is too little to tell: where next to nothing is said, nothing is well said.

    ``struck`` says why the text is no words at all, if so.
    """
    wrong = made.name in ("completeness", "accuracy") and any(metric.faults for metric in made.metrics)
    if made.score is not None and struck is not None and not wrong:
        return untold(made.name, f"There is too little to judge by: {struck}.")
    stands = wrong or any(metric.name in _BESIDE for metric in made.metrics)
    if made.score is None or stands or read.code or read.data or read.different >= _FEWEST:
        return made
    return untold(made.name, f"Too few different words to judge by: {read.different}, and {_FEWEST} are needed.")


def _spelled(material: Material, around: Sequence[Record], record: Record) -> dict[str, Counter[str]]:
    others = [one for one in around if one.id != record.id][-_SPELLED:]
    return counted(material.text(one) for one in others)


def _mean(sides: Sequence[Dimension]) -> float | None:
    known = [one.score for one in sides if one.score is not None]
    return round(sum(known) / len(known), 4) if known else None


def _suggestions(sides: Sequence[Dimension]) -> list[Suggestion]:
    """What could be mended, by how much the scores would rise: each is reckoned again without that one fault."""
    known = sum(one.score is not None for one in sides)
    found = []
    for side in sides:
        if side.score is None:
            continue
        before = joined(side.metrics)
        for at, metric in enumerate(side.metrics):
            for fault, better in zip(metric.faults, metric.mended, strict=True):
                after = joined([*side.metrics[:at], replace(metric, score=better), *side.metrics[at + 1 :]])
                found.append(
                    Suggestion(
                        dimension=side.name,
                        metric=metric.name,
                        quote=fault.quote,
                        problem=fault.problem,
                        advice=fault.advice,
                        dimension_gain=round(after - before, 4),
                        gain=round((after - before) / known, 4),
                    )
                )
    return sorted(found, key=lambda one: -one.gain)[:_SUGGESTED]


def _scores(sides: Sequence[Dimension], overall: float | None) -> dict[str, float | None]:
    return {"overall": overall, **{one.name: one.score for one in sides}}


def _compared(ours: Sequence[Dimension], score: float | None, other: Record, theirs: Sequence[Dimension]) -> Compared:
    here, there = _scores(ours, score), _scores(theirs, _mean(theirs))
    return Compared(
        id=other.uid,
        title=title_of(other),
        score=there.pop("overall"),
        dimensions=dict(there),
        differences={
            name: None
            if value is None or (their := _scores(theirs, _mean(theirs))[name]) is None
            else round(value - their, 4)
            for name, value in here.items()
        },
    )


def _standing(
    ours: Sequence[Dimension], score: float | None, others: Sequence[Sequence[Dimension]]
) -> dict[str, dict[str, Any]]:
    """For each side the rank of a content among those it is compared with, itself included."""
    found: dict[str, dict[str, Any]] = {}
    theirs = [_scores(sides, _mean(sides)) for sides in others]
    for name, value in _scores(ours, score).items():
        known = [one for scores in theirs if (one := scores[name]) is not None]
        if value is None or not known:
            continue
        better, equal = sum(one > value for one in known), sum(one == value for one in known)
        found[name] = {
            "rank": better + 1,
            "of": len(known) + 1,
            "percentile": round((len(known) - better - equal / 2) / len(known), 4),
            "mean_of_others": round(sum(known) / len(known), 4),
        }
    return found
