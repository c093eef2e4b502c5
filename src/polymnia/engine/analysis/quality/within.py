"""Within: numbers and values that a text gives for the same thing, and that disagree."""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.quantities import common, plainly
from polymnia.engine.analysis.conflicts.slots import slot
from polymnia.engine.analysis.quality.sheet import Sheet
from polymnia.engine.analysis.quality.sums import Disagreement

__all__ = ["values"]

_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_MOST = 400  # sentences that are looked at
_FORM = 2  # sentences that differ in their figures alone: from more on they are filled in like a form


def values(sheet: Sheet) -> tuple[int, list[Disagreement]]:
    """How many sentences give something a figure that could be given twice, and those that another disagrees with."""
    said: dict[str, list[str]] = {}
    for one in sheet.sentences[:_MOST]:
        if not _FIGURE.search(one.said) or cues.is_past(one.text) or cues.is_loose(one.text) or cues.is_told(one.text):
            continue
        said.setdefault(_FIGURE.sub("#", plainly(one.said).lower()), []).append(one.text)
    wrong = []
    for texts in said.values():
        different = list({plainly(text).lower(): text for text in texts}.values())
        if len(different) == _FORM:
            place = slot(*common(*different))
            if place is not None and (place.kind == "one" or (place.left[:1].isdigit() and place.right[:1].isdigit())):
                problem = f'{place.left} here and {place.right} in "{different[1]}"'
                wrong.append(Disagreement(different[0], problem))
    return sum(map(len, said.values())), wrong
