"""Untidy: contents whose layout is broken: open code, links to nowhere, headings over nothing, walls of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.issues.subjects import example, many, pattern, subjects
from polymnia.engine.analysis.quality.completeness import headings_without_text
from polymnia.engine.analysis.quality.sheet import sheet
from polymnia.engine.analysis.quality.structure import levels, marks
from polymnia.engine.analysis.quality.values import Fault
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["badly_structured", "doubtful"]

_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}", re.MULTILINE)
_LINK = re.compile(r"\]\(\s*(?:\)|#)")
_WALL = 2500  # characters of a paragraph that is too long for any text, about 400 words; of a dense script half
_LONGEST = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_READ = 5000  # contents that are read closely
_LARGE = 100_000  # characters; a larger text is a file and not laid out by hand


def doubtful(text: str) -> bool:
    """Whether a text might have broken marks: a quick look that lets no broken one pass."""
    if len(text) > _LARGE:
        return False
    if "#" in text and _HEADING.search(text):
        return True
    if "](" in text and _LINK.search(text):
        return True
    if ("```" in text or "~~~" in text) and len(_FENCE.findall(text)) % 2:
        return True
    return len(text) > _WALL // 2 and _wall(text) is not None


def _wall(text: str) -> str | None:
    if len(text) < _WALL // 2:
        return None
    for match in _LONGEST.finditer(text):
        size = len(match[0]) * (
            1 if match[0][:400].isascii() or not re.search("[\u3041-\u9fff\uac00-\ud7af]", match[0][:400]) else 2
        )
        if (
            size > _WALL
            and not match[0].lstrip().startswith(("-", "*", "|", ">", "1."))
            and match[0].count("\n") * 60 < size
        ):
            return match[0]
    return None


def _faults(record: Record, text: str) -> list[Fault]:
    """What is broken in a text for certain."""
    read = sheet(text, record.content_type)
    if read.code or read.data:
        return []
    found: list[Fault] = []
    if read.marked or "](" in text:
        found += marks(read).faults
        for one in (headings_without_text(read), levels(read)):
            found += [fault for fault in one.faults if fault.weight >= 1.0] if one is not None else []
    if wall := _wall(text):
        found.append(Fault(wall, f"A paragraph of {len(wall):,} characters.", "Part it where the thought changes."))
    return found


def badly_structured(material: Material) -> tuple[Pattern | None, list[str]]:
    """The contents whose layout is broken, and what was not looked at."""
    asked = subjects(material)
    candidates = []
    for at, record in enumerate(asked):
        if at % 1000 == 0:
            material.tick(at, len(asked))
        text = material.text(record)
        if doubtful(text):
            candidates.append((record, text))
    notes = []
    step = max(1, -(-len(candidates) // _READ))
    if step > 1:
        notes.append(
            f"Of {len(candidates):,} contents with headings, links or long paragraphs every {step}th was read closely."
        )
        candidates = candidates[::step]
    found = []
    for at, (record, text) in enumerate(candidates):
        if at % 100 == 0:
            material.tick(at, len(candidates))
        if faults := _faults(record, text):
            found.append((record, faults))
    if not found:
        return None, notes
    found.sort(key=lambda one: (-sum(fault.weight for fault in one[1]), one[0].id))
    total = sum(len(faults) for _, faults in found)
    return pattern(
        "badly_structured",
        f"{many(len(found), 'content')} of {len(asked):,} {'has' if len(found) == 1 else 'have'} a broken layout, "
        f"{many(total, 'fault')} in all.",
        "Headings, fences, links, tables and paragraphs were read as a page would show them; what is told is "
        "there letter by letter, "
        "so the confidence is 1. Whether it is worth mending is a matter of taste.",
        1.0,
        [record for record, _ in found],
        len(asked),
        (example(record, faults[0].problem, faults[0].quote) for record, faults in found),
        faults=total,
        read_closely=len(candidates),
    ), notes
