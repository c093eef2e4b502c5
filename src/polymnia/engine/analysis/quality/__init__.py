"""Quality: eight dimensions of an item, each measured by checks that quote what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.accuracy import accuracy, contraries, relevance
from polymnia.engine.analysis.quality.clarity import clarity, consistency, gibberish, readable, spellings
from polymnia.engine.analysis.quality.completeness import actionability, completeness, structure, usual
from polymnia.engine.analysis.quality.page import Dimension, Flaw, Metric, ParsedPage, page, product, unknown
from polymnia.engine.content import title_of
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

__all__ = ["DIMENSIONS", "Compared", "Dimension", "Flaw", "Metric", "Quality", "Suggestion", "analyze"]

DIMENSIONS = (
    "clarity",
    "completeness",
    "accuracy",
    "relevance",
    "structure",
    "consistency",
    "readability",
    "actionability",
)
"""The dimensions of quality, in the order of the answer."""

_PEERS = 2000  # items an item is compared with, the newest
_SPELLED = 200  # of which the spelling of the project is taken from
_SUGGESTED = 20
_FEWEST = 4  # different words of a text that can have a good score
_LABELS = ("parts_of_a_decision", "fields_of_its_kind", "title_and_text", "tags_and_text")  # go beyond the text


class Improvement(Struct, frozen=True, kw_only=True):
    """What to improve, and by how much the score of its dimension and the overall score would rise."""

    dimension: str
    metric: str
    fault: Flaw
    dimension_gain: float
    gain: float

    @property
    def quote(self) -> str:
        """The passage it is about, as it is written."""
        return self.fault.quote


class Compared(Struct, frozen=True, kw_only=True):
    """Another item by the same measures, and how much better (+) or worse (-) ours is on each dimension."""

    id: str
    title: str
    score: float | None
    dimensions: dict[str, float | None] = field(default_factory=dict)
    differences: dict[str, float | None] = field(default_factory=dict)


class Quality(Struct, frozen=True, kw_only=True):
    """The quality of an item: the mean of the measurable dimensions, their metrics, and its rank among others."""

    id: str
    title: str
    score: float | None
    dimensions: list[Dimension]
    suggestions: list[Improvement] = []
    compared: list[Compared] = []
    standing: dict[str, JsonObject] = field(default_factory=dict)
    looked_at: JsonObject = field(default_factory=dict)


def analyze(
    project: ProjectView,
    record: Record,
    *,
    dimensions: Sequence[str] = DIMENSIONS,
    suggestions: bool = True,
    metrics: bool = True,
    against: Sequence[Record] = (),
) -> Quality:
    """The quality of an item on some dimensions, compared with others; the best suggestions come first."""
    if unfit := [name for name in dimensions if name not in DIMENSIONS]:
        raise Invalid(
            f"quality_dimensions has {unfit[0]!r:.40}, but must be some of: {', '.join(DIMENSIONS)}",
            field="quality_dimensions",
        )
    chosen = [name for name in DIMENSIONS if name in dimensions or not dimensions]
    peers = _peers(project)
    others = [project.text(one) for one in peers if one.id != record.id][-_SPELLED:]
    spelled = spellings(others) if "consistency" in chosen else {}
    project.tick(0, 1 + len(against))
    read, ours = _measured(project, record, chosen, peers, spelled)
    compared = []
    for at, other in enumerate(against, 1):
        project.tick(at, 1 + len(against))
        compared.append(_compared(ours, other, _measured(project, other, chosen, peers, spelled)[1]))
    return Quality(
        id=record.uid,
        title=title_of(record),
        score=_mean(ours),
        dimensions=ours if metrics else [replace(one, metrics=()) for one in ours],
        suggestions=_suggestions(ours) if suggestions else [],
        compared=compared,
        standing=_standing(ours, compared) if compared else {},
        looked_at={
            "characters": len(read.text),
            "words": read.words,
            "sentences": len(read.sentences),
            "headings": len(read.headings),
            "language": read.language,
            "contents_compared_with": sum(one.id != record.id for one in peers),
        },
    )


def _peers(project: ProjectView) -> list[Record]:
    base = project.neighbours.base
    newest = project.snapshot.newest(_PEERS)[::-1]
    visible = set(project.snapshot.matching(project.filters, among=[one.id - base for one in newest]) if newest else ())
    return [one for one in newest if one.id - base in visible and project.in_period(one.created, one.updated)]


def _measured(
    project: ProjectView,
    record: Record,
    names: Sequence[str],
    peers: Sequence[Record],
    spelled: Mapping[str, Counter[str]],
) -> tuple[ParsedPage, list[Dimension]]:
    read = page(project.text(record), record.content_type)
    others = [one for one in peers if one.id != record.id]
    no_words = gibberish(read, map(project.text, others))
    checks = {
        "clarity": lambda: clarity(read),
        "completeness": lambda: completeness(read, record, usual(peers, record, project.text)),
        "accuracy": lambda: accuracy(read, contraries(project, record) if others else None),
        "relevance": lambda: relevance(project, read, record, peers),
        "structure": lambda: structure(read),
        "consistency": lambda: consistency(read, spelled),
        "readability": lambda: readable(read),
        "actionability": lambda: actionability(read, record),
    }
    return read, [_judged(read, checks[name](), no_words) for name in names]


def _judged(read: ParsedPage, made: Dimension, no_words: Remark | None) -> Dimension:
    """A dimension, or an unknown one if the text is too short to judge."""
    wrong = made.name in ("completeness", "accuracy") and any(metric.faults for metric in made.metrics)
    if made.score is None or wrong:
        return made
    if no_words is not None:
        return unknown(made.name, no_words)
    labelled = any(metric.name in _LABELS for metric in made.metrics)
    if labelled or not read.prosaic or read.different >= _FEWEST:
        return made
    return unknown(made.name, Remark("quality.few_different", {"words": read.different, "least": _FEWEST}))


def _mean(dimensions: Sequence[Dimension]) -> float | None:
    known = [one.score for one in dimensions if one.score is not None]
    return round(sum(known) / len(known), 4) if known else None


def _suggestions(dimensions: Sequence[Dimension]) -> list[Improvement]:
    """Suggestions by gain: the score of each dimension without one fault."""
    known = [one for one in dimensions if one.score is not None]
    found = []
    for one in known:
        before = product(one.metrics)
        for at, metric in enumerate(one.metrics):
            for fault, score in zip(metric.faults, metric.score_without, strict=True):
                after = product([*one.metrics[:at], replace(metric, score=score), *one.metrics[at + 1 :]])
                gain = after - before
                found.append(
                    Improvement(
                        dimension=one.name,
                        metric=metric.name,
                        fault=fault,
                        dimension_gain=round(gain, 4),
                        gain=round(gain / len(known), 4),
                    )
                )
    return sorted(found, key=lambda one: -one.gain)[:_SUGGESTED]


def _scores(dimensions: Sequence[Dimension]) -> dict[str, float | None]:
    return {"overall": _mean(dimensions), **{one.name: one.score for one in dimensions}}


def _compared(ours: Sequence[Dimension], other: Record, theirs: Sequence[Dimension]) -> Compared:
    here, there = _scores(ours), _scores(theirs)
    differences = {
        name: None if value is None or (their := there[name]) is None else round(value - their, 4)
        for name, value in here.items()
    }
    return Compared(
        id=other.uid,
        title=title_of(other),
        score=there["overall"],
        dimensions={one.name: one.score for one in theirs},
        differences=differences,
    )


def _standing(ours: Sequence[Dimension], compared: Sequence[Compared]) -> dict[str, JsonObject]:
    """The rank of an item on each dimension among those it is compared with, itself included."""
    found: dict[str, JsonObject] = {}
    for name, value in _scores(ours).items():
        theirs = [one.score if name == "overall" else one.dimensions[name] for one in compared]
        known = [one for one in theirs if one is not None]
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
