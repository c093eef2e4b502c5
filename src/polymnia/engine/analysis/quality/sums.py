"""Sums: numbers of a text that disagree with one another: parts with their total, counts with what is counted."""

from __future__ import annotations

import re
from typing import NamedTuple

from polymnia.engine.analysis.quality.sheet import Block, Sheet

__all__ = ["Disagreement", "counted", "equations", "partitions", "totals"]

_NUMBER = r"(?<![\d.,])[-+]?(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,10})?(?!\d)"
_EQUATION = re.compile(
    rf"((?:{_NUMBER})(?:\s*[+*×x/÷–−-]\s*(?:{_NUMBER})){{1,20}})\s*=\s*({_NUMBER})(?![\d.,]*[+*/%-])"
)
_TERM = re.compile(rf"({_NUMBER})")
_TOTAL = re.compile(
    r"^\W*(?:(?:grand |sub)?total|sum|overall|altogether|총계|합계|총합|소계|전체)(?![a-z])", re.IGNORECASE
)
_STATED = re.compile(
    rf"(?:\b(?:a )?total of|\bin total|\baltogether|\bin all|합계|총)\s*:?\s*({_NUMBER})(?!\d)"
    rf"|({_NUMBER})\s*(?:[a-z]+\s+)?(?:in total|altogether|in all)",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)\s?(?:%|percent\b|per cent\b|퍼센트)")
_PARTED = re.compile(
    r"\b(?:split|breakdown|made up|consists?|composed|distribution|divided|allocat\w+)\b|비율|구성|차지"
    r"|분포|비중|배분",
    re.IGNORECASE,
)
_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "both": 2,
    "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10,
}  # fmt: skip
_COUNTED = re.compile(
    r"\b(?<!these )(?<!those )(?<!between )(two|three|four|five|six|seven|eight|nine|ten|[2-9]"
    r"|1\d)\s+(?:[a-z-]+\s+){0,3}?([a-z]{3,}s)\b[^.!?:]{0,60}:\s*[*_]*$"
    r"|(?<![가-힣\d])(두|세|네|다섯|여섯|일곱|여덟|아홉|열|\d{1,2})\s?(?:가지|개|단계|명|항목|곳"
    r"|번)[가-힣\s]{0,24}[.:：]?\s*[*_]*$",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten)\s+(?:[a-z-]+\s+){0,2}?([a-z]{3,}s)\b[^.!?:,()]{0,30}:\s*"
    r"([^.!?:;]{5,200})[.]?$"
    r"|(?<![가-힣\d])(두|세|네|다섯|여섯)\s?(?:가지|개|단계|명|항목|곳)[가-힣\s]{0,16}[:：]\s*([^.!?:;]{3,120})[.]?$",
    re.IGNORECASE,
)
_CLOSE = 0.005  # what rounding may lose, of the total
_MOST_WORDS = 4  # an item of an enumeration in running text


class Disagreement(NamedTuple):
    """Words as they stand, and what in them does not agree."""

    quote: str
    problem: str


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _shown(value: float) -> str:
    return f"{value:,.10g}"


def equations(sheet: Sheet) -> tuple[int, list[Disagreement]]:
    """Sums that are written out, such as 3 + 4 = 8: how many there are, and those that are wrong."""
    seen, wrong = 0, []
    for one in sheet.sentences:
        for match in _EQUATION.finditer(one.text):
            terms = re.split(r"(?<!\s)\s*([+*×x/÷–−]|(?<=\d)\s*-)\s*", match[1])
            signs = {sign.strip() for sign in terms[1::2]}
            if signs != {"+"}:
                continue
            seen += 1
            total = sum(_value(term) for term in terms[::2])
            if abs(total - _value(match[2])) > 1e-6 + _CLOSE * abs(total) * ("." in match[0]):
                wrong.append(Disagreement(one.text, f"{match[1]} is {_shown(total)}, not {match[2]}"))
    return seen, wrong


def totals(sheet: Sheet) -> tuple[int, list[Disagreement]]:
    """Lists, tables and sentences that state a total: how many there are, and those whose parts sum to another."""
    seen, wrong = 0, []
    for rows in _runs(sheet.blocks):
        for at, row in enumerate(rows):
            if at < 2 or not _TOTAL.match(row.text.strip("| *_")):
                continue
            for column in range(len(_numbers(row))):
                parts = [_numbers(one) for one in rows[:at] if _numbers(one)]
                if len(parts) < 2 or any(len(part) != len(_numbers(row)) for part in parts):
                    continue
                seen += 1
                total, stated = sum(part[column] for part in parts), _numbers(row)[column]
                if abs(total - stated) > max(1e-6, _CLOSE * abs(total)):
                    wrong.append(
                        Disagreement(
                            row.text, f"the {len(parts)} parts above sum to {_shown(total)}, not {_shown(stated)}"
                        )
                    )
    for one in sheet.sentences:
        match = _STATED.search(one.text)
        parts_of = (
            [_value(n) for n in _TERM.findall(one.text[: match.start()] + one.text[match.end() :])] if match else []
        )
        if match is None or len(parts_of) < 2 or not re.search(r"[:(,]|과 |와 |및", one.text) or "%" in one.text:
            continue
        stated = _value(match[1] or match[2])
        if (
            any(1900 <= part <= 2100 for part in parts_of)
            or max(parts_of) > stated * 10
            or re.search(r"\d[-:/.]\d", one.text)
        ):
            continue
        seen += 1
        total = sum(parts_of)
        if total != stated and all(part < stated for part in parts_of) and 0.5 * stated <= total <= 2 * stated:
            wrong.append(
                Disagreement(
                    one.text, f"the parts sum to {_shown(total)}, but the total is said to be {_shown(stated)}"
                )
            )
    return seen, wrong


def partitions(sheet: Sheet) -> tuple[int, list[Disagreement]]:
    """Shares of one whole: how many wholes are parted, and those whose shares are more than 100 %."""
    seen, wrong = 0, []
    for rows in _runs(sheet.blocks):
        shares = [
            float(found[0])
            for one in rows
            if len(found := _PERCENT.findall(one.text)) == 1 and not _TOTAL.match(one.text)
        ]
        before = sheet.blocks[max(0, sheet.blocks.index(rows[0]) - 1)].text
        if len(shares) >= 3 and len(shares) >= len(rows) - 1 and _PARTED.search(before):
            seen += 1
            if sum(shares) > 100.5:
                wrong.append(Disagreement(rows[-1].text, f"the {len(shares)} shares sum to {_shown(sum(shares))} %"))
    for one in sheet.sentences:
        shares = [float(share) for share in _PERCENT.findall(one.text)]
        if len(shares) >= 2 and _PARTED.search(one.text):
            seen += 1
            if sum(shares) > 100.5 and max(shares) <= 100:
                wrong.append(Disagreement(one.text, f"the {len(shares)} shares sum to {_shown(sum(shares))} %"))
    return seen, wrong


def counted(sheet: Sheet) -> tuple[int, list[Disagreement]]:
    """Announced numbers of things ("three reasons:"): how many there are, and those another number follows."""
    seen, wrong = 0, []
    for at, block in enumerate(sheet.blocks):
        match = _COUNTED.search(block.text) if block.kind in ("p", "li", "h") else None
        if match is None:
            continue
        items: list[Block] = []
        for one in sheet.blocks[at + 1 :]:
            if one.kind != "li" or (items and one.level < items[0].level):
                break
            items.append(one)
        items = [one for one in items if one.level == items[0].level]
        if not items:
            continue
        seen += 1
        said = _count(match[1] or match[3])
        if said != len(items):
            last = sheet.inside[at][-1].text if sheet.inside[at] else block.text
            wrong.append(Disagreement(last, f"it announces {said}, but {len(items)} follow"))
    for sentence in sheet.sentences:
        match = _INLINE.search(sentence.text)
        if match is None:
            continue
        listed = match[3] or match[5]
        parts = [
            part
            for part in re.split(
                r",\s*(?:(?:and|or)\s*)?|(?<!\s)\s+(?:and|or)\s+|(?<!\s)\s*(?:및|그리고)\s*|(?<=[가-힣])[와과]\s",
                listed,
            )
            if part.strip()
        ]
        if len(parts) < 2 or any(len(part.split()) > _MOST_WORDS for part in parts):
            continue
        seen += 1
        said = _count(match[1] or match[4])
        if said != len(parts):
            wrong.append(Disagreement(sentence.text, f"it announces {said}, but names {len(parts)}"))
    return seen, wrong


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.lower()]


def _runs(blocks: list[Block]) -> list[list[Block]]:
    """Items of one list or rows of one table, each list apart."""
    found: list[list[Block]] = []
    for before, one in zip([None, *blocks], blocks, strict=False):
        if one.kind not in ("li", "td") or re.fullmatch(r"[\s|:-]+", one.text):
            continue
        follows = before is not None and before.kind == one.kind and (one.kind == "li" or found)
        if follows and found:
            found[-1].append(one)
        else:
            found.append([one])
    return [rows for rows in found if len(rows) > 1]


def _numbers(row: Block) -> list[float]:
    """The numbers that stand as values: in cells of a table, or at the end of an item."""
    if row.kind == "td":
        cells = [cell.strip().strip("*_$€₩ ") for cell in row.text.strip("|").split("|")[1:]]
        return [
            _value(match[0])
            for cell in cells
            if (match := re.fullmatch(rf"(?:{_NUMBER})\s*(?:[^\d\s]{{1,5}})?", cell)) and (match := _TERM.match(cell))
        ]
    match = re.search(rf"({_NUMBER})\s*(?:[^\W\d]{{1,12}}|%|원|개|명)?\s*[.;]?\s*$", row.text)
    return [_value(match[1])] if match and "%" not in row.text else []
