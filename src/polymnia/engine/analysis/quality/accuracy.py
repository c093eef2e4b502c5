"""Accuracy: only what can be known here: dates that cannot be, numbers that disagree, and what the project denies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from polymnia.engine.analysis.quality.agreement import Contrary
from polymnia.engine.analysis.quality.calendar import Day, days, spans
from polymnia.engine.analysis.quality.measuring import dimension, rated, untold
from polymnia.engine.analysis.quality.sheet import Sheet
from polymnia.engine.analysis.quality.sums import Disagreement, counted, equations, partitions, totals
from polymnia.engine.analysis.quality.tenses import AHEAD, PAST
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.engine.analysis.quality.within import values

__all__ = ["accuracy"]

_FEWEST = 4  # words that can say something
_AGREES = "agreement_with_the_project"
_HALF = 0.3  # of the dates or numbers that are wrong; a wrong one is worse than a vague word
_SENTENCES = 0.15  # of the sentences that the project denies


def accuracy(sheet: Sheet, written: int, contraries: Sequence[Contrary], others: bool) -> Dimension:
    """Measure what can be checked in a text ``written`` then (in microseconds), and whether ``others`` agree."""
    dates = [(one.text, found) for one in sheet.sentences if (found := days(one.text))]
    spoken = len(dates)
    dates += [(one.text, found) for one in sheet.blocks if one.kind in ("h", "td") and (found := days(one.text))]
    metrics = [
        _dates(dates),
        _spans(dates),
        _future(dates[:spoken], written),
        *(_numbers(name, look, sheet) for name, look in _LOOKS),
        _agreement(sheet, contraries, others),
    ]
    if sheet.words < _FEWEST and all(one is None or one.name == _AGREES for one in metrics):
        return untold("accuracy", f"Too few words to be right or wrong: {sheet.words}, and {_FEWEST} are needed.")
    note = "Only dates, numbers and agreement with the project can be checked here, not whether a statement is true."
    return dimension(
        "accuracy", metrics, note, "The text has no full date, sum or count to check, and nothing else to agree with."
    )


_LOOKS: tuple[tuple[str, Callable[[Sheet], tuple[int, list[Disagreement]]]], ...] = (
    ("sums", equations),
    ("totals", totals),
    ("shares_of_a_whole", partitions),
    ("announced_counts", counted),
    ("figures_for_one_thing", values),
)


def _dates(dates: list[tuple[str, list[Day]]]) -> Metric | None:
    faults = [
        Fault(quote, f'"{day.shown}": {day.wrong}.', "Look the date up and put it right.")
        for quote, found in dates
        for day in found
        if day.wrong
    ]
    count = sum(len(found) for _, found in dates)
    return rated("possible_dates", faults, count, _HALF, unit="dates") if count else None


def _spans(dates: list[tuple[str, list[Day]]]) -> Metric | None:
    faults: list[Fault] = []
    count = 0
    for quote, found in dates:
        for first, last in spans(quote, found):
            begins, ends = _ordered(first, last)
            if begins is None or ends is None:
                continue
            count += 1
            if ends < begins:
                faults.append(
                    Fault(
                        quote,
                        f'It ends ("{last.shown}") before it begins ("{first.shown}").',
                        "Put the dates in order.",
                    )
                )
    return rated("order_of_dates", faults, count, _HALF, unit="spans") if count else None


def _ordered(first: Day, last: Day) -> tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]:
    """Both ends, the year of one standing for the other where it says none."""
    if first.wrong or last.wrong:
        return None, None
    year = first.year or last.year
    if not first.year and last.year and (first.month, first.day) > (last.month, last.day):
        return None, None  # December 28 to January 3, 2026
    return (first.year or year, first.month, first.day), (last.year or year, last.month, last.day)


def _future(dates: list[tuple[str, list[Day]]], written: int) -> Metric | None:
    said = datetime.fromtimestamp(written / 1_000_000, UTC).date() + timedelta(days=1)  # whatever the zone
    faults: list[Fault] = []
    count = 0
    for quote, found in dates:
        told = [day.date for day in found if day.date is not None]
        if not told or not PAST.search(quote) or AHEAD.search(quote):
            continue
        count += 1
        if min(told) > said:
            faults.append(
                Fault(
                    quote,
                    f"It tells of {min(told)} as past, but was written before that.",
                    "Put the date or the tense right.",
                )
            )
    return (
        rated("past_that_is_to_come", faults, count, _HALF, unit="sentences of the past with a date") if count else None
    )


def _numbers(name: str, look: Callable[[Sheet], tuple[int, list[Disagreement]]], sheet: Sheet) -> Metric | None:
    count, wrong = look(sheet)
    faults = [
        Fault(one.quote, f"The numbers disagree: {one.problem}.", "Count again and put the wrong one right.")
        for one in wrong
    ]
    return rated(name, faults, count, _HALF, unit="places to check") if count else None


def _agreement(sheet: Sheet, contraries: Sequence[Contrary], others: bool) -> Metric | None:
    if not others or not sheet.sentences:
        return None
    faults = [
        Fault(
            one.ours,
            f'"{one.title}" ({one.id}) says otherwise: "{one.theirs}" ({one.difference}).',
            "Find out which is right and correct the other.",
            round(one.confidence, 3),
        )
        for one in contraries
    ]
    return rated(_AGREES, faults, len(sheet.sentences), _SENTENCES, weight=1.5)
