"""Completeness: whether something is missing that the text itself, or others of its kind, let a reader expect."""

from __future__ import annotations

import re
from typing import Any

from polymnia.engine.analysis.quality.completeness_words import ANNOUNCED, BELOW, BROKEN, PLACEHOLDER, SECTION
from polymnia.engine.analysis.quality.measuring import dimension, missing, rated, shared, untold
from polymnia.engine.analysis.quality.sheet import Block, Sheet
from polymnia.engine.analysis.quality.siblings import Usual
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.engine.items import DECISION
from polymnia.engine.knowledge.content_types import content_type
from polymnia.engine.text.language import fold
from polymnia.models import Record

__all__ = ["completeness", "headings_without_text"]

_FEWEST = 4  # words
_GONE_ON = ("li", "td", "code", "q")
_PARTS = ("context", "decision", "rationale", "alternatives", "impact", "stakeholders")
_SAID = {
    "context": r"context|background|problem|배경|상황|문제|맥락",
    "decision": r"decision|decided|resolution|outcome|결정|결론",
    "rationale": r"rationale|reasons?|why|because|justification|근거|이유|사유",
    "alternatives": r"alternatives?|options?|considered|rejected|대안|선택지|검토한",
    "impact": r"impact|consequences?|effects?|implications|영향|결과|효과",
    "stakeholders": r"stakeholders?|owners?|people|deciders|participants|이해관계자|담당|관계자|참석",
}
_COUNTS = {"rationale": 2.0, "decision": 2.0, "alternatives": 1.5}
_ASKS = re.compile(r"[?？؟][\"'”’)*_]*\s*$")
_END = re.compile(r"[.!?…:。！？][\"'”’)*_`]*\s*$")


def completeness(sheet: Sheet, record: Record, usual: Usual | None) -> Dimension:
    """Measure what is missing in a text, given what others of its kind have."""
    parts = _decision(sheet, record)
    if not sheet.blocks:
        return untold("completeness", "There is no text.")
    metrics = [
        _placeholders(sheet), headings_without_text(sheet), _announced(sheet), _questions(sheet), _end(sheet), parts,
        _fields(record, sheet, usual),
    ]  # fmt: skip
    if sheet.words < _FEWEST and parts is None and metrics[0] is not None and not metrics[0].faults:
        return untold("completeness", f"Too few words to tell whether something is missing: {sheet.words}.")
    note = None if usual is not None else "There are too few others of its kind to say what it should have."
    return dimension("completeness", metrics, note)


def _placeholders(sheet: Sheet) -> Metric:
    faults = []
    for at, block in enumerate(sheet.blocks):
        lines = [one.text for one in sheet.inside[at]] or [block.text]
        for line in lines if block.kind != "code" else block.text.splitlines():
            if match := PLACEHOLDER.search(line):
                faults.append(
                    Fault(
                        line.strip(),
                        f'"{match[0]}" stands for something still to be written or decided.',
                        "Write it, decide it, or say who will and when.",
                    )
                )
    return rated(
        "placeholders",
        faults,
        len(sheet.sentences) + len(sheet.headings),
        0.1,
        weight=1.5,
        unit="sentences and headings",
    )


def headings_without_text(sheet: Sheet) -> Metric | None:
    """Headings under which nothing stands; None without headings."""
    heads = [at for at, one in enumerate(sheet.blocks) if one.kind == "h"]
    if not heads:
        return None
    faults = []
    for at in heads:
        after = sheet.blocks[at + 1] if at + 1 < len(sheet.blocks) else None
        if after is None or (after.kind == "h" and after.level <= sheet.blocks[at].level):
            faults.append(
                Fault(
                    sheet.blocks[at].text,
                    "Nothing stands under this heading.",
                    "Write the part or take the heading out.",
                )
            )
    return rated("headings_without_text", faults, len(heads), 0.3, unit="headings")


def _announced(sheet: Sheet) -> Metric | None:
    faults: list[Fault] = []
    told = 0
    for at, block in enumerate(sheet.blocks):
        if block.kind not in ("p", "li"):
            continue
        after = sheet.blocks[at + 1] if at + 1 < len(sheet.blocks) else None
        last = sheet.inside[at][-1].text if sheet.inside[at] else block.text
        if ANNOUNCED.search(block.text):
            told += 1
            if (
                after is None
                or after.kind == "h"
                or (block.kind == "li" and after.kind == "li" and after.level <= block.level)
            ):
                faults.append(
                    Fault(
                        last,
                        "It announces something that does not come.",
                        "Add what is announced, or end the sentence.",
                    )
                )
        elif match := BELOW.search(block.text):
            told += 1
            quote = next((one.text for one in sheet.inside[at] if BELOW.search(one.text)), block.text)
            if after is None or all(one.kind == "h" for one in sheet.blocks[at + 1 :]):
                faults.append(
                    Fault(quote, f'"{match[0]}" points at nothing: the text ends there.', "Add it, or say where it is.")
                )
    heads = {fold(one.text) for one in sheet.headings}
    for one in sheet.sentences:
        for match in SECTION.finditer(one.text) if heads else ():
            name = fold((match[1] or match[2]).strip())
            told += 1
            if not any(name in head or head in name for head in heads):
                faults.append(
                    Fault(
                        one.text,
                        f'There is no part called "{(match[1] or match[2]).strip()}".',
                        "Name a part that is there.",
                    )
                )
    return rated("announced_but_missing", faults, told, 0.4, unit="announcements") if told else None


def _questions(sheet: Sheet) -> Metric | None:
    asked = [at for at, one in enumerate(sheet.sentences) if _ASKS.search(one.text)]
    if not asked or len(asked) * 2 > len(sheet.sentences) or content_type(sheet.text) == "conversation":
        return None  # it asks on purpose
    faults = []
    for at in asked:
        after = sheet.sentences[at + 1] if at + 1 < len(sheet.sentences) else None
        here = sheet.sentences[at].block
        near = after is not None and not _ASKS.search(after.text) and not any(
            one.kind == "h" for one in sheet.blocks[here + 1 : after.block + 1]
        )  # fmt: skip
        if near and after is not None and sheet.blocks[here].kind == "li" and after.block != here:
            near = sheet.blocks[after.block].level > sheet.blocks[here].level
        if not near:
            faults.append(
                Fault(
                    sheet.sentences[at].text,
                    "The question is not answered.",
                    "Answer it, or say who will find out and by when.",
                )
            )
    return rated("unanswered_questions", faults, len(sheet.sentences), 0.25)


def _end(sheet: Sheet) -> Metric | None:
    last = next((one for one in reversed(sheet.blocks) if one.kind != "td"), None)
    if last is None or last.kind not in ("p", "li") or sheet.code or sheet.data:
        return None
    tail = sheet.sentences[-1].text if sheet.sentences else last.text
    broken = BROKEN.search(last.text) if not _END.search(last.text) else None
    fault = Fault(tail, "The text breaks off.", "Finish the sentence.") if broken else None
    return missing("finished_end", fault, "whether the last sentence is finished")


def _decision(sheet: Sheet, record: Record) -> Metric | None:
    told = record.metadata.get("decision")
    parts: dict[str, Any] = told if isinstance(told, dict) else {}
    if record.kind != DECISION and not parts:
        return None
    heads = " | ".join(one.text for one in sheet.headings)
    here = {
        part: bool(parts.get(part)) or (not parts and _speaks(part, heads, sheet)) for part in _PARTS
    }  # fmt: skip
    total = sum(_COUNTS.get(part, 1.0) for part in _PARTS)
    have = sum(_COUNTS.get(part, 1.0) for part in _PARTS if here[part])
    title = str(parts.get("title") or record.metadata.get("title") or (sheet.blocks[0].text if sheet.blocks else ""))
    quote = str(parts.get("decision") or title)
    faults = [
        Fault(quote, f"The decision says nothing of its {part}.", _ADVICE[part], _COUNTS.get(part, 1.0))
        for part in _PARTS
        if not here[part]
    ]
    return shared(
        "parts_of_a_decision",
        have / total,
        f"{sum(here.values())} of the six parts a decision has",
        weight=1.5,
        faults=faults,
        each=1 / total,
    )


_ADVICE = {
    "context": "Say what made the decision necessary.",
    "decision": "Say in one sentence what was decided.",
    "rationale": "Say why it was decided so.",
    "alternatives": "Name what else was considered, and why it was not taken.",
    "impact": "Say what changes because of it, and for whom.",
    "stakeholders": "Name who decided and who has to know.",
}


def _speaks(part: str, heads: str, sheet: Sheet) -> bool:
    rule = re.compile(_SAID[part], re.IGNORECASE)
    return rule.search(heads) is not None or any(rule.search(one.text) for one in sheet.sentences)


def _fields(record: Record, sheet: Sheet, usual: Usual | None) -> Metric | None:
    if usual is None or not usual.fields:
        return None
    have = usual.have(record, [one.text for one in sheet.headings])
    absent = [one for one in usual.fields if one.key not in have]
    first: Block | None = sheet.blocks[0] if sheet.blocks else None
    quote = sheet.sentences[0].text if sheet.sentences else first.text if first else ""
    faults = [
        Fault(
            quote,
            f"{one.share:.0%} of {usual.count} others {usual.named} have {one.shown}; this one has none.",
            f"Add {one.shown}.",
        )
        for one in absent
    ]
    return shared(
        "fields_of_its_kind",
        1 - len(absent) / len(usual.fields),
        f"{len(usual.fields)} fields that most of {usual.count} others {usual.named} have",
        faults=faults,
        each=1 / len(usual.fields),
    )
