"""Actionability: whether somebody can act on a text: what to do, who, by when and with what."""

from __future__ import annotations

from typing import Any

from polymnia.engine.analysis.quality.actions import (
    ACTION_KINDS,
    STEPS,
    TASKS,
    commands,
    is_step,
    means,
    vague_step,
    when,
    who,
)
from polymnia.engine.analysis.quality.measuring import dimension, rated, shared, untold
from polymnia.engine.analysis.quality.sheet import Sentence, Sheet
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.models import Record

__all__ = ["actionability"]

_EXPECTED = 0.25  # the share of sentences that are steps from which a text is one to act on, whatever its kind
_FEWEST = 3  # words
_ENOUGH = 0.2  # the share of steps at which a text that should have some has enough
_OWNERS = ("owner", "assignee", "assigned_to", "responsible", "stakeholders", "담당자", "담당")
_DUES = ("due", "due_date", "deadline", "review_by", "마감", "기한", "target_date")


def actionability(sheet: Sheet, record: Record) -> Dimension:
    """Measure how well a text can be acted on, where that is expected of it."""
    named = " ".join((record.kind, record.category or "", *record.tags, str(record.metadata.get("type", ""))))
    if sheet.words < _FEWEST:
        return untold("actionability", f"Too few words to act on: {sheet.words}.")
    steps = _steps(sheet)
    boxes = any(one.kind == "li" and one.done is not None for one in sheet.blocks)
    headed = any(STEPS.search(one.text) for one in sheet.headings)
    kind = ACTION_KINDS.search(named)
    many = len(steps) >= max(2.0, _EXPECTED * len(sheet.sentences))
    if not (kind or boxes or headed or many):
        return untold(
            "actionability",
            f"Nothing shows that it is there to be acted on: {len(steps)} of {len(sheet.sentences)} sentences "
            f"are steps.",
        )
    why = (
        f'it is of the kind or tag "{kind[0]}"' if kind else "it has tasks to tick" if boxes
        else "it has a heading for steps" if headed else f"{len(steps)} of {len(sheet.sentences)} sentences are steps"
    )  # fmt: skip
    metrics: list[Metric | None] = [_has_steps(sheet, steps)]
    if steps:
        tasks = boxes or headed or TASKS.search(named) is not None
        parts = record.metadata.get("decision")
        fields: dict[str, Any] = {**record.metadata, **(parts if isinstance(parts, dict) else {})}
        if tasks:
            owned = any(fields.get(key) for key in _OWNERS)
            dated = any(fields.get(key) for key in _DUES)
            metrics += [
                _told("steps_with_who", steps, who, owned, "It does not say who does it.", "Name one person or team."),
                _told("steps_with_when", steps, when, dated, "It does not say by when.", "Give a date."),
            ]
        else:
            metrics.append(_concrete(sheet, steps))
        metrics.append(_firm(steps))
    return dimension("actionability", metrics, f"Measured because {why}.")


def _steps(sheet: Sheet) -> list[Sentence]:
    found = []
    headed = False
    for at, block in enumerate(sheet.blocks):
        if block.kind == "h":
            headed = STEPS.search(block.text) is not None
        for one in sheet.inside[at] if block.kind in ("p", "li") else ():
            listed = block.kind == "li"
            box = listed and block.done is not None and one.first
            if box or (headed and listed and one.first) or is_step(one.text, sheet.language, listed):
                found.append(one)
    return found


def _has_steps(sheet: Sheet, steps: list[Sentence]) -> Metric:
    share = len(steps) / max(1, len(sheet.sentences))
    first = sheet.sentences[0].text if sheet.sentences else ""
    faults = (
        [] if steps else [Fault(first, "It says nothing of what to do.", "Add the next steps, each with who and when.")]
    )
    return shared("steps_to_take", share, f"{len(steps)} of {len(sheet.sentences)} sentences; one in five is full",
                  full=_ENOUGH, faults=faults, each=_ENOUGH)  # fmt: skip


def _told(name: str, steps: list[Sentence], test: Any, always: bool, problem: str, advice: str) -> Metric:
    lacking = [] if always else [one for one in steps if not test(one.text)]
    faults = [Fault(one.text, problem, advice) for one in lacking]
    against = "told for all in the metadata" if always else f"{len(steps) - len(lacking)} of {len(steps)} steps"
    return shared(name, 1 - len(lacking) / len(steps), against, faults=faults, each=1 / len(steps))


def _concrete(sheet: Sheet, steps: list[Sentence]) -> Metric:
    """A step is concrete that names a thing, or that a block of code follows."""
    coded = {at - 1 for at, one in enumerate(sheet.blocks) if one.kind == "code" and commands(one.text)}
    lacking = [one for one in steps if not means(one.text) and one.block not in coded]
    faults = [
        Fault(one.text, "The step names nothing to act on.", "Give the command, file, link or number.")
        for one in lacking
    ]
    return shared("steps_with_means", 1 - len(lacking) / len(steps), f"{len(steps) - len(lacking)} "
                                                                     f"of {len(steps)} steps; half of them is full",
                  full=0.5,
        weight=0.5, faults=faults, each=1 / len(steps))  # fmt: skip


def _firm(steps: list[Sentence]) -> Metric:
    faults = [
        Fault(
            one.text, f'"{open_}" leaves open whether anything happens.', "Say what will be done, and when it is done."
        )
        for one in steps
        if (open_ := vague_step(one.text))
    ]
    return rated("firm_steps", faults, len(steps), 0.4, unit="steps")
