"""Within: numbers that a text gives for the same thing, and that disagree."""

from __future__ import annotations

import re

from polymnia.engine.analysis.quality.sheet import Sheet
from polymnia.engine.analysis.quality.sums import Disagreement
from polymnia.engine.knowledge import duplicates

__all__ = ["values"]

_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_AMOUNT = re.compile(r"\d+(?:[.,:]\d+)*\s?[^\W\d_]*")  # with whatever it counts
_MOST = 400  # sentences that are looked at
_FORM = 2  # sentences that differ in their figures alone: from more on they are filled in like a form


def values(sheet: Sheet) -> tuple[int, list[Disagreement]]:
    """How many sentences give something a figure that could be given twice, and those that another disagrees with."""
    said: dict[str, list[str]] = {}
    for one in sheet.sentences[:_MOST]:
        if _FIGURE.search(one.said):
            said.setdefault(_AMOUNT.sub("#", one.said.lower()), []).append(one.text)
    wrong = []
    for texts in said.values():
        different = list({text.lower(): text for text in texts}.values())
        if len(different) == _FORM and (apart := duplicates.clash(*different)) is not None and apart.kind == "number":
            wrong.append(Disagreement(different[0], f'{apart.left} here and {apart.right} in "{different[1]}"'))
    return sum(map(len, said.values())), wrong
