"""Consistency: one spelling for one thing, one form for dates and units, one manner of address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from polymnia.engine.analysis.quality.actions import started
from polymnia.engine.analysis.quality.consistency_words import DATES, STYLES, UNITS, VARIETIES, loanwords
from polymnia.engine.analysis.quality.measuring import dimension, rated, untold
from polymnia.engine.analysis.quality.sheet import Block, Sheet, said
from polymnia.engine.analysis.quality.spellings import Spelling, spellings
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric

__all__ = ["consistency"]

_FEWEST = 12  # words in which something can be said twice
_FORMS = 0.25  # the rate of odd ones at which a measure is one half
_USUAL = 5  # how often the project must spell a word otherwise,
_NEARLY = 0.9  # and in what share of cases, before a spelling is called unusual
_QUOTED = re.compile(r"[\"“”'‘’」』]")
_ENDS = re.compile(r"[.!?。]$")


def consistency(sheet: Sheet, project: Mapping[str, Counter[str]] | None = None) -> Dimension:
    """Measure how consistent a text is in itself and, where ``project`` has its spellings, with the project."""
    if sheet.words < _FEWEST:
        return untold(
            "consistency", f"Too few words to differ from one another: {sheet.words}, and {_FEWEST} are needed."
        )
    prose = [one.text for one in sheet.sentences] + [one.text for one in sheet.headings]
    ours = spellings(prose)
    shared = spellings(prose, project) if project else ours
    metrics = [
        _spelling(prose, ours),
        _countries(prose) if sheet.language == "en" else None,
        _forms("forms_of_dates", prose, DATES),
        *(_forms("forms_of_units", prose, unit) for unit in UNITS),
        _styles(sheet),
        _items(sheet),
        _openings(sheet),
        _project(prose, shared, project),
    ]
    return dimension("consistency", _merged(metrics))


def _merged(metrics: Iterable[Metric | None]) -> list[Metric | None]:
    """The measures, of several with one name the worst."""
    found: dict[str, Metric] = {}
    for one in metrics:
        if one is not None and (one.name not in found or one.score < found[one.name].score):
            found[one.name] = one
    return list(found.values())


def _where(prose: list[str], form: str) -> str:
    """The sentence in which a form stands, with the same capitals if there is one."""
    sign = rf"(?<!\w){re.escape(form)}" + (r"(?!\w)" if form[-1:].isascii() else "")
    for flags in (re.NOFLAG, re.IGNORECASE):
        for one in prose:
            if re.search(sign, one, flags):
                return one
    return form


def _spelling(prose: list[str], ours: Mapping[str, Spelling]) -> Metric:
    faults = []
    for one in ours.values():
        usual, *odd = one.ordered()
        faults += [
            Fault(
                _where(prose, form),
                f'"{form}" is elsewhere in the text written "{usual}".',
                f'Write "{usual}" everywhere.',
            )
            for form in odd
        ]
    whole = "\n".join(prose)
    for standard, *others in loanwords():
        used = [form for form in (standard, *others) if form in whole]
        if len(used) > 1:
            usual = max(used, key=lambda form: (whole.count(form), form == standard))
            faults += [
                Fault(
                    _where(prose, form),
                    f'"{form}" is elsewhere in the text written "{usual}".',
                    f'Write "{usual}" everywhere.',
                )
                for form in used
                if form != usual
            ]
    return rated("one_spelling_for_one_thing", faults, len(prose), 0.15, weight=1.5, unit="sentences and headings")


def _countries(prose: list[str]) -> Metric | None:
    whole = "\n".join(said(one) for one in prose)
    faults: list[Fault] = []
    count = 0
    for one, other, this, that in VARIETIES:
        here, there = this.findall(whole), that.findall(whole)
        count += len(here) + len(there)
        odd, name, usual = (here, one, other) if len(here) < len(there) else (there, other, one)
        faults += [
            Fault(
                _where(prose, word), f'"{word}" is {name} spelling, the rest is {usual}.', f"Keep to {usual} spelling."
            )
            for word in dict.fromkeys(odd)
        ]
    return rated("british_or_american", faults, count, _FORMS, unit="words that differ") if count else None


def _forms(name: str, prose: list[str], forms: Mapping[str, re.Pattern[str]]) -> Metric | None:
    found = [(form, one) for one in prose for form, rule in forms.items() for _ in rule.finditer(said(one))]
    if len(found) < 2:
        return None
    usual = Counter(form for form, _ in found).most_common(1)[0][0]
    faults = [
        Fault(one, f'It is written like "{form}", elsewhere like "{usual}".', f'Write it like "{usual}" everywhere.')
        for form, one in found
        if form != usual
    ]
    return rated(name, faults, len(found), _FORMS, unit="places")


def _styles(sheet: Sheet) -> Metric | None:
    if sheet.language != "ko":
        return None
    found = []
    for one in sheet.sentences:
        if sheet.blocks[one.block].kind == "q" or _QUOTED.search(one.text):
            continue  # what somebody else says is said in their manner
        style = next((name for name, rule in STYLES if rule.search(one.text)), None)
        if style:
            found.append((style, one.text))
    if len(found) < 2:
        return None
    usual = Counter(style for style, _ in found).most_common(1)[0][0]
    faults = [
        Fault(text, f'The sentence ends in the manner of "{style}", the others of "{usual}".', f'Keep to "{usual}".')
        for style, text in found
        if style != usual
    ]
    return rated("manner_of_address", faults, len(found), _FORMS)


def _lists(sheet: Sheet) -> list[list[Block]]:
    found: list[list[Block]] = []
    for before, one in zip([None, *sheet.blocks], sheet.blocks, strict=False):
        if one.kind == "li":
            if before is not None and before.kind == "li" and found:
                found[-1].append(one)
            else:
                found.append([one])
    return [items for items in found if len(items) > 2]


def _items(sheet: Sheet) -> Metric | None:
    faults: list[Fault] = []
    count = 0
    for items in _lists(sheet):
        texts = [one.text for one in items if one.text]
        count += len(texts)
        for odd, problem, advice in (
            (
                [one for one in texts if _ENDS.search(one)],
                "ends with a full stop",
                "all items alike, with a full stop or without",
            ),
            (
                [one for one in texts if one[:1].islower()],
                "begins with a small letter",
                "all items alike, with a capital or without",
            ),
        ):
            if 0 < len(odd) < len(texts):
                rare = odd if len(odd) * 2 <= len(texts) else [one for one in texts if one not in odd]
                faults += [
                    Fault(
                        one,
                        f"The item {problem if rare is odd else _unlike(problem)}, others do not.",
                        f"Write {advice}.",
                        0.5,
                    )
                    for one in rare
                ]
    return rated("items_of_lists", faults, count, _FORMS, unit="items") if count else None


def _unlike(problem: str) -> str:
    return {"ends with a full stop": "ends without a full stop", "begins with a small letter": "begins with a capital"}[
        problem
    ]


def _openings(sheet: Sheet) -> Metric | None:
    """Items of a list that tell what to do, some as a command and some as a report."""
    faults: list[Fault] = []
    count = 0
    for items in _lists(sheet):
        forms = [(form, one.text) for one in items if (form := started(one.text))]
        if len(forms) < 3:
            continue
        count += len(forms)
        usual = Counter(form for form, _ in forms).most_common(1)[0][0]
        faults += [
            Fault(text, f"The step begins with {form}, the others with {usual}.", f"Begin every step with {usual}.")
            for form, text in forms
            if form != usual
        ]
    return rated("form_of_steps", faults, count, _FORMS, unit="steps") if count else None


def _project(
    prose: list[str], ours: Mapping[str, Spelling], project: Mapping[str, Counter[str]] | None
) -> Metric | None:
    if not project:
        return None
    faults = []
    compared = 0
    for key, one in ours.items():
        there = project.get(key)
        total = sum(there.values()) if there else 0
        if there is None or total < _USUAL:
            continue
        compared += 1
        usual, times = there.most_common(1)[0]
        faults += [
            Fault(
                _where(prose, form),
                f'The project writes "{usual}" ({times} of {total} times), not "{form}".',
                f'Write "{usual}".',
            )
            for form in one.ordered()
            if form != usual and times >= _NEARLY * total
        ]
    return (
        rated("spelling_of_the_project", faults, compared, 0.3, unit="terms the project has too") if compared else None
    )
