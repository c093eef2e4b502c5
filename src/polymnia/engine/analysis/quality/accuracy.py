"""Accuracy and relevance: impossible dates, wrong sums, conflicts with the project; and whether a text fits its title,
summary, tags and project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts import deduplicated
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.page import Dimension, Flaw, Metric, ParsedPage, dimension, few, share
from polymnia.engine.content import title_of
from polymnia.engine.knowledge import duplicates
from polymnia.engine.text.date_grammar import WORDS
from polymnia.engine.text.document import Block
from polymnia.engine.text.extraction import key_phrases
from polymnia.engine.text.words import terms
from polymnia.importing import importing
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView
    from polymnia.models import Record

_FEWEST = 4  # words


def accuracy(page: ParsedPage, contraries: Sequence[Flaw] | None) -> Dimension:
    """Check what can be checked in a text; ``contraries`` are its conflicts with others, None without others."""
    dates = [(one.text, found) for one in page.sentences if (found := days(one.text))]
    dates += [(one.text, found) for one in page.blocks if one.kind in ("h", "td") and (found := days(one.text))]
    metrics = [_dates(dates), _spans(dates), *(_numbers(name, check, page) for name, check in _CHECKS.items())]
    if page.words < _FEWEST and not any(metrics):
        return few("accuracy", page.words, _FEWEST)
    if contraries is not None and page.sentences:
        metrics.append(share("agreement_with_the_project", contraries, len(page.sentences)))
    return dimension("accuracy", metrics, Remark("quality.only_checks"), Remark("quality.nothing_to_check"))


def contraries(project: ProjectView, record: Record) -> list[Flaw]:
    """The sentences of an item that conflict with another item, most certain first."""
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts_of

    found = []
    for one in deduplicated(conflicts_of(project, record, suggest=False).clashes):
        ours, theirs = (one.left, one.right) if one.left.record.id == record.id else (one.right, one.left)
        if ours.record.id == record.id and theirs.record.id != record.id and ours.sentence:
            other = theirs.record
            values = {"title": title_of(other), "id": other.uid, "theirs": theirs.sentence, "differs": one.differs}
            found.append(Flaw(ours.sentence, "denied", values, round(one.confidence, 3)))
    return sorted(found, key=lambda one: (-one.weight, one.values["id"], one.quote))


_KOREAN_WEEKDAYS = "월화수목금토일"
_NAME = r"[^\W\d_가-힣]{3,10}"  # of a month or a weekday
_BEFORE = rf"(?:(?P<before>\b{_NAME})\.?,?\s+(?:the\s+)?)?"
_AFTER = rf"(?:\s*[(,]?\s*(?P<after>\b{_NAME}\b)\)?)?"
_KOREAN = rf"(?:\s*[(（]?(?P<korean>[{_KOREAN_WEEKDAYS}])(?:요일|[)）]))?"
_YEAR = r"(?:,?\s+(?P<y>\d{4}))?"
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_BEFORE}(?P<core>(?<![\d.-])(?P<y>\d{{4}})-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}})(?![\d-]){_KOREAN}){_AFTER}",
        rf"(?P<y>\d{{4}})\s*년\s*(?P<m>\d{{1,2}})\s*월\s*(?P<d>\d{{1,2}})\s*일{_KOREAN}",
        rf"(?<![\d.])(?P<y>\d{{4}})[./]\s?(?P<m>\d{{1,2}})[./]\s?(?P<d>\d{{1,2}})(?!\d)\.?{_KOREAN}",
        rf"{_BEFORE}(?P<core>\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<name>{_NAME})\b\.?{_YEAR}){_AFTER}",
        rf"{_BEFORE}(?P<core>\b(?P<name>{_NAME})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]){_YEAR}){_AFTER}",
        rf"(?<![\d.년])(?<!년 )(?P<m>\d{{1,2}})월\s*(?P<d>\d{{1,2}})일{_KOREAN}",
        r"(?<![\d./-])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?![\d.])",
    )
]
_LEAP = 2000  # a leap year
_JOIN = re.compile(r"\s*(?:-|–|—|~|to|until|till|through|부터|에서|까지)\s*(?:the\s+)?(?:~\s*)?", re.IGNORECASE)


class Day(NamedTuple):
    """A date in a text: its place, its parts (year 0 without one), and its stated weekday."""

    start: int
    end: int
    shown: str
    year: int
    month: int
    day: int
    weekday: int | None

    @property
    def date(self) -> date | None:
        """The date; None if it does not exist or has no year."""
        try:
            return date(self.year, self.month, self.day)
        except ValueError:
            return None

    @property
    def fault(self) -> Flaw | None:
        """What is wrong with it: it does not exist, or is another weekday."""
        values = {"shown": self.shown, "month": self.month, "day": self.day, "year": self.year}
        if self._replace(year=self.year or _LEAP).date is None:
            return Flaw("", "no_such_day", values)
        if self.date is not None and self.weekday is not None and self.date.weekday() != self.weekday:
            return Flaw("", "wrong_weekday", values | {"right": self.date.weekday(), "wrong": self.weekday})
        return None


def days(text: str) -> list[Day]:
    """The dates of a text in order."""
    found: list[Day] = []
    for form in _FORMS:
        for match in form.finditer(text):
            parts = match.groupdict()
            year, name, korean = int(parts.get("y") or 0), parts.get("name"), parts.get("korean")
            before, after = _number(parts.get("before"), "W"), _number(parts.get("after"), "W")
            start = match.start("core") if "core" in parts and before is None else match.start()
            end = match.end("core") if "core" in parts and after is None else match.end()
            month = _number(name, "mw") if name else int(parts["m"])
            taken = any(start < one.end and one.start < end for one in found)
            verb = name in ("may", "mar", "march")  # in small letters
            if month is None or taken or verb or (year and not 1000 <= year <= 2999):
                continue
            weekday = _KOREAN_WEEKDAYS.index(korean) if korean else after if before is None else before
            found.append(Day(start, end, text[start:end].strip(), year, month, int(parts["d"]), weekday))
    return sorted(found)


def _number(name: str | None, sorts: str) -> int | None:
    """The number of a month (sorts mw) or weekday (W) by its name."""
    sort, value = WORDS.get((name or "").lower(), ("", 0))
    return value if sort and sort in sorts else None


def _dates(dates: list[tuple[str, list[Day]]]) -> Metric | None:
    wrong = [(quote, fault) for quote, found in dates for day in found if (fault := day.fault)]
    faults = [Flaw(quote, fault.name, fault.values) for quote, fault in wrong]
    places = sum(len(found) for _, found in dates)
    return share("possible_dates", faults, places, "dates") if places else None


def _spans(dates: list[tuple[str, list[Day]]]) -> Metric | None:
    """The order of dates that are joined by a dash, "to", "until", 부터."""
    faults, places = [], 0
    for quote, found in dates:
        for first, last in pairwise(found):
            begins, ends = first.date, last.date
            if begins and ends and _JOIN.fullmatch(quote[first.end : last.start]):
                places += 1
                if ends < begins:
                    faults.append(Flaw(quote, "order_of_dates", {"first": first.shown, "last": last.shown}))
    return share("order_of_dates", faults, places, "spans") if places else None


def _numbers(name: str, check: Callable[[ParsedPage], Iterator[Flaw | None]], page: ParsedPage) -> Metric | None:
    found = list(check(page))
    return share(name, [one for one in found if one is not None], len(found), "places to check") if found else None


_NUMBER = r"(?<![\d.,])[-+]?(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,10})?(?!\d)"
_SUM = re.compile(rf"((?:{_NUMBER})(?:\s*\+\s*(?:{_NUMBER})){{1,20}})\s*=\s*({_NUMBER})(?![\d.,]*[+*/%-])")
_TOTAL = re.compile(r"^\W*(?:(?:grand |sub)?total|sum|총계|합계|총합|소계)(?![a-z])", re.IGNORECASE)
_CELL = re.compile(rf"({_NUMBER})\s*(?:[^\d\s]{{1,5}})?")
_LAST = re.compile(rf"({_NUMBER})\s*(?:[^\W\d]{{1,12}}|원|개|명)?\s*[.;]?\s*$")
_CLOSE = 0.005  # of the total, for rounding


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _sums(page: ParsedPage) -> Iterator[Flaw | None]:
    for one in page.sentences:
        for match in _SUM.finditer(one.text):
            total = sum(map(_value, match[1].split("+")))
            right = abs(total - _value(match[2])) <= 1e-6 + _CLOSE * abs(total) * ("." in match[0])
            values = {"sum": match[1], "total": total, "stated": match[2]}
            yield None if right else Flaw(one.text, "sums", values)


def _totals(page: ParsedPage) -> Iterator[Flaw | None]:
    for rows in _lists(page.blocks):
        for at, row in enumerate(rows):
            stated = _figures(row)
            parts = [figures for one in rows[:at] if (figures := _figures(one))]
            total_row = _TOTAL.match(row.text.strip("| *_")) and len(parts) > 1
            if total_row and stated and all(len(part) == len(stated) for part in parts):
                for given, *column in zip(stated, *parts, strict=True):
                    total = sum(column)
                    right = abs(total - given) <= max(1e-6, _CLOSE * abs(total))
                    values = {"parts": len(column), "total": total, "stated": given}
                    yield None if right else Flaw(row.text, "totals", values)


def _lists(blocks: list[Block]) -> list[list[Block]]:
    found: list[list[Block]] = []
    before = None
    for one in blocks:
        if one.kind in ("li", "td"):
            if before is not None and before.kind == one.kind:
                found[-1].append(one)
            else:
                found.append([one])
        before = one
    return found


def _figures(row: Block) -> list[float]:
    """The numbers in the cells of a table, or at the end of a list item."""
    if row.kind == "td":
        cells = [cell.strip().strip("*_$€₩ ") for cell in row.text.strip("|").split("|")[1:]]
        return [_value(match[1]) for cell in cells if (match := _CELL.fullmatch(cell))]
    match = _LAST.search(row.text)
    return [_value(match[1])] if match and "%" not in row.text else []


_KOREAN_COUNTS = ("두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열")
_COUNTED = re.compile(
    r"\b(?<!these )(?<!those )(?<!between )(two|three|four|five|six|seven|eight|nine|ten|[2-9]|1\d)\s+"
    r"(?:[a-z-]+\s+){0,3}?[a-z]{3,}s\b[^.!?:]{0,60}:\s*[*_]*$"
    r"|(?<![가-힣\d])(두|세|네|다섯|여섯|일곱|여덟|아홉|열|\d{1,2})\s?(?:가지|개|단계|명|항목|곳)[가-힣\s]{0,24}[.:：]?\s*[*_]*$",
    re.IGNORECASE,
)


def _announced(page: ParsedPage) -> Iterator[Flaw | None]:
    for at, block in enumerate(page.blocks):
        match = _COUNTED.search(block.text) if block.kind in ("p", "h") else None
        items: list[Block] = []
        for one in page.blocks[at + 1 :] if match else ():
            if one.kind != "li":
                break
            items.append(one)
        listed = sum(one.level == items[0].level for one in items)
        if match and listed:
            stated = _count(match[1] or match[2])
            quote = page.inside[at][-1].text if page.inside[at] else block.text
            yield None if stated == listed else Flaw(quote, "announced_counts", {"said": stated, "listed": listed})


def _count(word: str) -> int:
    if word in _KOREAN_COUNTS:
        return 2 + _KOREAN_COUNTS.index(word)
    return int(word) if word.isdigit() else WORDS[word.lower()][1]


_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_AMOUNT = re.compile(r"\d+(?:[.,:]\d+)*\s?[^\W\d_]*")  # with its unit
_MOST = 400  # sentences compared
_PAIR = 2  # more sentences that differ in their figures alone are a form that is filled in


def _figures_for_one_thing(page: ParsedPage) -> Iterator[Flaw | None]:
    """Pairs of sentences that differ in their figures alone."""
    found: dict[str, list[str]] = {}
    for one in page.sentences[:_MOST]:
        if _FIGURE.search(one.prose):
            found.setdefault(_AMOUNT.sub("#", one.prose.lower()), []).append(one.text)
    for texts in found.values():
        yield from [None] * (len(texts) - 1)
        different = list({text.lower(): text for text in texts}.values())
        apart = duplicates.clash(*different) if len(different) == _PAIR else None
        if apart is None or apart.kind != "number":
            yield None
        else:
            values = {"here": apart.left, "there": apart.right, "other": different[1]}
            yield Flaw(different[0], "figures_for_one_thing", values)


_CHECKS: dict[str, Callable[[ParsedPage], Iterator[Flaw | None]]] = {
    "sums": _sums,
    "totals": _totals,
    "announced_counts": _announced,
    "figures_for_one_thing": _figures_for_one_thing,
}


_FEWEST_WORDS = 5  # words
_LOW = 0.25  # the share of others that a relevant item must be closer than
_OTHERS = 10  # items of the project, at least
_SAMPLE = 1500  # items compared, the newest
_NEAR = 5  # nearest neighbours whose mean similarity counts
_TAGGED = 3  # others with a tag, at least


def relevance(project: ProjectView, page: ParsedPage, record: Record, peers: Sequence[Record]) -> Dimension:
    """Measure how well a text fits its title, summary and tags and the rest of the project."""
    if page.words < _FEWEST_WORDS:
        return few("relevance", page.words, _FEWEST_WORDS)
    others = [one for one in peers if one.id != record.id]
    near = _project(project, page, record, others)
    metrics = [
        _label(page, "title", _title(page, record)),
        _label(page, "summary", record.summary),
        _tags(project, page, record, others),
        near,
    ]
    note = Remark("quality.no_neighbours") if near is None else None
    return dimension("relevance", metrics, note, Remark("quality.no_labels"))


def _title(page: ParsedPage, record: Record) -> str | None:
    given = record.metadata.get("title")
    if isinstance(given, str) and given.strip():
        return given
    if record.name != record.uid:
        return record.name
    return page.blocks[0].text if page.blocks and page.blocks[0].kind == "h" else None


def _label(page: ParsedPage, what: str, label: str | None) -> Metric | None:
    if not label:
        return None
    phrases = key_phrases(label, None, limit=20) or [word for word in label.split() if len(word) > 1]
    words = list(dict.fromkeys(word for phrase in phrases for word in phrase.split()))
    present = set(terms("\n".join(one.text for one in page.blocks if one.kind != "h")).counts)
    absent = [word for word in words if not set(terms(word).counts) & present]
    values = {"what": what, "words": absent[:5]}
    faults = [Flaw(label, "label_and_text", values, float(len(absent)))] if absent else []
    return share(f"{what}_and_text", faults, len(words), f"telling words of the {what}") if words else None


def _tags(project: ProjectView, page: ParsedPage, record: Record, others: Sequence[Record]) -> Metric | None:
    """The share of the tags that are in the text, or whose other items are like it."""
    present = set(terms(page.text).counts)
    faults, places = [], 0
    for tag in record.tags:
        if set(terms(tag.replace("/", " ").replace("-", " ").replace("_", " ")).counts) & present:
            places += 1
            continue
        tagged = [one for one in others if tag in one.tags][-_SAMPLE:]
        nearer = _share_below(_to_middle(project, record, tagged)) if len(tagged) >= _TAGGED else None
        if nearer is not None:
            places += 1
            if nearer < _LOW:
                faults.append(Flaw(page.first, "tags_and_text", {"tag": tag, "others": len(tagged)}))
    return share("tags_and_text", faults, places, "tags") if places else None


def _project(project: ProjectView, page: ParsedPage, record: Record, others: Sequence[Record]) -> Metric | None:
    """How close an item is to its neighbours, compared with others; None if unknown."""
    nearer = _share_below(_to_neighbours(project, record, others[-_SAMPLE:]))
    if nearer is None:
        return None
    fault = Flaw(page.first, "nearness_to_the_project", {"share": 1 - nearer}, 1 - nearer / _LOW)
    return share("nearness_to_the_project", [fault] if nearer < _LOW else [], 1, "places in the project")


def _share_below(values: Sequence[float] | None) -> float | None:
    """The share of the other values below the first; equal ones count half."""
    if not values:
        return None
    ours, *others = values
    return sum((one < ours) + (one == ours) / 2 for one in others) / len(others)


def _vectors(project: ProjectView, record: Record, others: Sequence[Record]) -> NDArray[Any] | None:
    if project.model is None:
        return None
    vectors = project.vectors_of([record.id, *(one.id for one in others)])
    known = np.flatnonzero(np.abs(vectors).sum(axis=1) > 0)
    return vectors[known] if len(known) and known[0] == 0 else None


def _to_neighbours(project: ProjectView, record: Record, others: Sequence[Record]) -> list[float] | None:
    """The mean similarity of an item to its nearest neighbours, and of each of the others to theirs."""
    vectors = _vectors(project, record, others)
    if vectors is None or len(vectors) <= _OTHERS:
        return None
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, -1.0)
    found: list[float] = np.partition(alike, -_NEAR, axis=1)[:, -_NEAR:].mean(axis=1).tolist()
    return found


def _to_middle(project: ProjectView, record: Record, others: Sequence[Record]) -> list[float] | None:
    """The similarity of an item to the mean of some others, and of each of those to the mean of the rest."""
    vectors = _vectors(project, record, others)
    if vectors is None or len(vectors) <= _TAGGED:
        return None
    middles = np.concatenate((vectors[1:].sum(axis=0)[None], vectors[1:].sum(axis=0) - vectors[1:]))
    lengths = np.maximum(np.linalg.norm(middles, axis=1), 1e-9)
    found: list[float] = (np.einsum("ij,ij->i", vectors, middles) / lengths).tolist()
    return found
