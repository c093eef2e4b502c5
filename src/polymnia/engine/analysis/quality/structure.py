"""Structure: whether a reader finds the way through a text: headings, paragraphs, lists, well-made marks."""

from __future__ import annotations

import re

from polymnia.engine.analysis.quality.measuring import dimension, rated, shared, untold
from polymnia.engine.analysis.quality.sheet import Sheet, said
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.engine.text.language import fold

__all__ = ["levels", "marks", "structure"]

_FEWEST = 3  # sentences below which a text needs no structure
_PER_HEADING = 250  # words a part should not exceed by much
_LED = 0.5  # what a bold beginning counts beside a heading
_UNHEADED = 200  # words a text may have without any heading
_PARAGRAPH = {"ko": 110}
_PARAGRAPH_ELSE = 150  # words
_LISTED = 7  # things in a row that read better as a list
_INLINE = re.compile(
    r"(?:\(?1[.)]\s.{3,160}?[;,.]?\s\(?2[.)]\s.{3,160}?[;,.]?\s\(?3[.)]\s|①.{2,160}②.{2,160}③)", re.DOTALL
)
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(\s*<?([^)\s]*)")
_TIGHT = re.compile(r"^#{1,6}(?![#\s!])\w[^\n]{2,}$", re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)[^`\n]+\1")
_SLUG = re.compile(r"[^\w\- ]+")


def structure(sheet: Sheet) -> Dimension:
    """Measure how well a text is laid out."""
    if sheet.code or sheet.data:
        return untold("structure", "Programs and data are not laid out as prose is.")
    made = marks(sheet) if sheet.marked or _LINK.search(sheet.text) or _FENCE.search(sheet.text) else None
    if len(sheet.sentences) + len(sheet.headings) < _FEWEST:
        if made is not None and made.faults:
            return dimension("structure", [made])
        return untold("structure", f"Too short to need a structure: {len(sheet.sentences)} of {_FEWEST} sentences.")
    return dimension("structure", [_headed(sheet), levels(sheet), _paragraphs(sheet), _lists(sheet), made])


def _headed(sheet: Sheet) -> Metric | None:
    if sheet.words < _UNHEADED and not sheet.headings:
        return None
    wanted = max(1.0, sheet.words / _PER_HEADING)
    # A paragraph or item that begins in bold leads the eye as a small heading does.
    led = sum(one.kind in ("p", "li") and one.text.startswith("**") for one in sheet.blocks)
    have = len(sheet.headings) + led * _LED
    faults = []
    if have < wanted:
        runs: list[tuple[int, str]] = []
        size, first = 0, ""
        for at, block in enumerate(sheet.blocks):
            if block.kind == "h":
                runs.append((size, first))
                size, first = 0, ""
                continue
            for one in sheet.inside[at]:
                size, first = size + one.words, first or one.text
        runs.append((size, first))
        size, first = max(runs)
        faults = [Fault(first, f"{size} words follow without a heading.", "Put headings where the subject changes.")]
    against = (
        f"{len(sheet.headings)} headings and {led} bold beginnings for {sheet.words} words; "
        f"one heading for {_PER_HEADING} is full"
    )
    return shared("headings_for_its_length", min(1.0, have / wanted), against, faults=faults, each=1 / wanted)


def levels(sheet: Sheet) -> Metric | None:
    """Headings whose level does not fit those around them; None where there are not two."""
    heads = sheet.headings
    if len(heads) < 2:
        return None
    faults = []
    seen: dict[tuple[str, ...], int] = {}
    path: list[tuple[int, str]] = []
    highest = min(one.level for one in heads)
    tops = sum(one.level == highest for one in heads)
    for before, one in zip([None, *heads], heads, strict=False):
        if before is not None and one.level > before.level + 1:
            faults.append(
                Fault(
                    one.text,
                    f"The heading is of level {one.level}, right below one of level {before.level}.",
                    f"Make it level {before.level + 1}.",
                )
            )
        while path and path[-1][0] >= one.level:
            path.pop()
        path.append((one.level, fold(one.text)))
        place = tuple(name for _, name in path)
        if place in seen:
            faults.append(Fault(one.text, "The same heading stands here twice.", "Join the two parts or rename one."))
        seen[place] = 1
    if heads[0].level == 1 and tops > 1 and len(heads) > tops:
        faults += [
            Fault(
                one.text,
                "A second heading of the first level stands in one text.",
                "Make it level 2, or a text of its own.",
                0.5,
            )
            for one in [one for one in heads if one.level == 1][1:]
        ]
    return rated("levels_of_headings", faults, len(heads), 0.3, unit="headings")


def _paragraphs(sheet: Sheet) -> Metric:
    limit = _PARAGRAPH.get(sheet.language or "", _PARAGRAPH_ELSE)
    faults = []
    count = 0
    for at, block in enumerate(sheet.blocks):
        if block.kind not in ("p", "li"):
            continue
        count += 1
        inside = sheet.inside[at]
        words = sum(one.words for one in inside)
        if words > limit and inside:
            faults.append(
                Fault(
                    inside[0].text,
                    f"The paragraph that begins here has {words} words; {limit} are a lot.",
                    "Part it where the thought changes.",
                    min(3.0, words / limit),
                )
            )
    return rated("long_paragraphs", faults, count, 0.4, unit="paragraphs")


def _lists(sheet: Sheet) -> Metric:
    faults = []
    for one in sheet.sentences:
        flat = re.sub(r"\([^()]*\)|\d,\d", "", one.said)
        rows = flat.count(",") + flat.count(";") + flat.count("、") + flat.count("·")
        if _INLINE.search(one.text) or rows >= _LISTED - 1:
            faults.append(Fault(one.text, "Many things stand in one sentence.", "Make a list of them, one a line."))
    for at, block in enumerate(sheet.blocks):
        if block.kind == "p" and _INLINE.search(block.text) and not any(_INLINE.search(f.quote) for f in faults):
            first = sheet.inside[at][0].text if sheet.inside[at] else block.text
            faults.append(Fault(first, "Numbered points stand in running text.", "Make a list of them, one a line."))
    return rated("lists_in_running_text", faults, len(sheet.sentences), 0.2)


def marks(sheet: Sheet) -> Metric:
    """Marks that are not well made: fences, emphasis, links, headings, tables."""
    faults = []
    open_code = next((one for one in sheet.blocks if one.kind == "code" and one.done is False), None)
    if open_code is not None:
        first = next(
            (line for line in open_code.text.splitlines() if line.strip()), sheet.text.splitlines()[open_code.line]
        )
        faults.append(
            Fault(first, "The block of code that begins here is never closed.", "Close it with the same marks.", 3.0)
        )
    prose = "\n\n".join(one.text for one in sheet.blocks if one.kind != "code")
    plain = _CODE_SPAN.sub("", prose)
    anchors = {_SLUG.sub("", one.text.lower()).replace(" ", "-") for one in sheet.headings}
    for match in _LINK.finditer(prose):
        if not match[2]:
            faults.append(
                Fault(
                    _line(prose, match.start()),
                    f'The link "{match[1]}" leads nowhere.',
                    "Give it an address or make it plain text.",
                )
            )
        elif match[2].startswith("#") and match[2][1:].lower() not in anchors:
            faults.append(
                Fault(
                    _line(prose, match.start()),
                    f'There is no heading for the link "{match[2]}".',
                    "Link to a heading that is there.",
                )
            )
    for one in sheet.blocks:
        if one.kind in ("p", "li") and (bare := _CODE_SPAN.sub("", one.text)):
            for sign, name in (("**", "bold"), ("`", "code")):
                if bare.count(sign) % 2:
                    faults.append(
                        Fault(
                            _line(one.text, one.text.rfind(sign)),
                            f"A mark for {name} ({sign}) is not closed.",
                            "Close it or take it out.",
                        )
                    )
    for match in _TIGHT.finditer(plain) if sheet.marked else ():
        faults.append(
            Fault(match[0], "The heading has no space after its mark, so it is no heading.", "Put a space after #.")
        )
    faults += _cells(sheet)
    return rated("well_made_marks", faults, len(sheet.blocks), 0.15, unit="blocks")


def _cells(sheet: Sheet) -> list[Fault]:
    faults = []
    wide = 0
    for before, one in zip([None, *sheet.blocks], sheet.blocks, strict=False):
        if one.kind != "td" or "|" not in one.text:
            wide = 0
            continue
        cells = said(one.text).replace("\\|", "").strip().strip("|").count("|") + 1
        if before is None or before.kind != "td":
            wide = cells
        elif cells != wide:
            faults.append(
                Fault(one.text, f"The row has {cells} cells, the head of the table {wide}.", "Add or join cells.")
            )
    return faults


def _line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[start : end if end >= 0 else len(text)].strip()
