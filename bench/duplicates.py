"""``python -m bench.duplicates --data FOLDER``: what memory_store drops as a duplicate.

It drops a text only when it says exactly the same as a stored one: texts in which one word was changed, or two changed
places, say what is dropped wrongly; texts written a little otherwise say what is recognised. What the judge calls the
same in other words is measured by ``bench.analysis.conflicts``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["main"]

SEED = 20_261_115
AGREED = {"en": "stsb_en", "ko": "korsts_ko"}

_NUMBER = re.compile(r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten)\b|(?<= )(?:두|세|네)(?= )", re.IGNORECASE)
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_YEAR = ("January", "February", "April", "June", "July", "August", "September", "October", "November", "December")
_KOREAN_WEEK = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_NAMES = ("Ingrid", "Mateo", "Lisbon", "Kenya", "Toyota", "Priya", "Quebec", "Ahmed", "Portugal", "Olivia")
_VERB = re.compile(r"\b(?:is|are|was|were|can|will|should|would|could)\b(?!')")
_OPPOSITES = (
    "more less|up down|first last|open closed|high low|good bad|big small|new old|before after|inside outside|win lose"
    "|start stop|buy sell|hot cold|left right|easy difficult|happy sad|increase decrease|rise fall|early late"
    "|top bottom|fast slow"
    "|always never|with without|all some|over under|increased decreased|north south|true false|he she|his her"
    "|best worst|love hate|front back|most least|on off|add remove|long short|full empty|accept reject|same different"
)
_KOREAN_OPPOSITES = (
    "증가 감소|상승 하락|남자 여자|소년 소녀|이전 이후|찬성 반대|승리 패배|성공 실패|시작 종료|큰 작은|남성 여성"
)
_PLAIN = re.compile(r"(?<![\w'-])[a-z]{5,}(?![\w'-])")
_KOREAN_NOUN = re.compile(r"(?<![가-힣])[가-힣]{2,4}(?=[을를](?![가-힣]))")


class Pair(NamedTuple):
    """Two texts and what they are: a kind of contradiction, or a grade."""

    kind: str
    a: str
    b: str


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep them with --results; 0 when the targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.duplicates", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--results", help="a folder to write duplicates.md to")
    given = parser.parse_args(arguments)
    page, met = _page(given.data)
    print(page)
    if given.results:
        os.makedirs(given.results, exist_ok=True)
        with open(os.path.join(given.results, "duplicates.md"), "w", encoding="utf-8") as file:
            file.write(page)
    return 0 if met else 1


def _page(data: str) -> tuple[str, bool]:
    lines = ["# Duplicates, measured", "", "Written by `python -m bench.duplicates`."]
    dropped, strict = _dropped(data, ("en", "ko"))
    lines += ["", "## Dropped by memory_store", "", "Texts of the sets, each with one thing changed.", ""]
    lines += ["| what was changed | pairs | dropped |", "|---|---|---|", *dropped]
    return "\n".join(lines) + "\n", strict


def _dropped(data: str, languages: Iterable[str]) -> tuple[list[str], bool]:
    """What memory_store drops of texts that say something else, and of texts that say the same."""
    from polymnia.models import normal

    counts: dict[str, list[int]] = {}
    for language in languages:
        for group, pairs in (
            ("one word", _changed(data, language)),
            ("two words swapped", _swapped(data, language)),
            ("nothing that carries meaning", _rewritten(data, language)),
        ):
            for pair in pairs:
                for kind in (pair.kind, f"all: {group}"):
                    count = counts.setdefault(kind, [0, 0])
                    count[0] += 1
                    count[1] += normal(pair.a) == normal(pair.b)
    lines = [f"| {kind} | {n} | {dropped} ({dropped / n:.2%}) |" for kind, (n, dropped) in sorted(counts.items())]
    words, swaps, same = (counts[f"all: {group}"] for group in ("one word", "two words swapped",
                                                                 "nothing that carries meaning"))  # fmt: skip
    return lines, words[1] <= 0.005 * words[0] and swaps[1] == 0 and same[1] >= 0.9 * same[0]


def _texts(data: str, language: str) -> list[str]:
    return list(dict.fromkeys(row["b"] for row in _rows(os.path.join(data, AGREED[language], "pairs.jsonl.gz"))))


def _swapped(data: str, language: str) -> Iterator[Pair]:
    """Texts in which two words have changed places."""
    draw = random.Random(SEED)
    for text in _texts(data, language):
        words = text.split()
        places = [at for at, word in enumerate(words) if word.isalpha() and len(word) >= (4 if language == "en" else 2)]
        if len(places) >= 2:
            one, other = draw.sample(places, 2)
            if words[one].lower() != words[other].lower():
                words[one], words[other] = words[other], words[one]
                yield Pair(f"{language}: two words swapped", text, " ".join(words))


def _rewritten(data: str, language: str) -> Iterator[Pair]:
    """Texts written a little otherwise: spaced, quoted, ended or begun in another way, in another Unicode form."""
    from unicodedata import normalize

    for text in _texts(data, language):
        for kind, other in (
            ("white space", "  ".join(text.split()) + "\n"),
            ("a full stop at the end", text.removesuffix(".") if text.endswith(".") else f"{text}."),
            ("typographic quotes", text.replace("'", "’")),
            ("Unicode form", normalize("NFD", text)),
            ("a small first letter", text[0].lower() + text[1:]),
        ):
            if other != text and text[-1].isalnum() | text.endswith("."):
                yield Pair(f"{language}, harmless: {kind}", text, other)


def _changed(data: str, language: str) -> Iterator[Pair]:
    draw = random.Random(SEED)
    texts = _texts(data, language)
    week = _WEEK if language == "en" else _KOREAN_WEEK
    table = [entry.split() for entry in (_OPPOSITES if language == "en" else _KOREAN_OPPOSITES).split("|")]
    nouns = _PLAIN if language == "en" else _KOREAN_NOUN
    stock = sorted({word for text in texts for word in nouns.findall(text)})
    for text in texts:
        for kind, other in (
            ("a number", _replaced(text, _NUMBER, lambda old: _other_number(old, draw))),
            ("a day or month", _either(text, (week, _YEAR), draw)),
            ("a name", _replaced(text, _NAME, lambda _: draw.choice(_NAMES)) if language == "en" else None),
            ("an opposite", _opposite(text, table, language)),
            ("a negation", _negated(text, language)),
            ("another word, drawn", _drawn(text, nouns, stock, draw)),
        ):
            if other is not None and other != text:
                yield Pair(f"{language}: {kind}", text, other)
    if language == "en":
        yield from _denied(os.path.join(data, "negnli_en", "nli.jsonl.gz"))
    yield from _one_place(
        os.path.join(data, "negnli_en" if language == "en" else "kornli_ko", "nli.jsonl.gz"), language
    )


def _replaced(text: str, what: re.Pattern[str], by: Any) -> str | None:
    found = what.search(text)
    return text[: found.start()] + by(found[0]) + text[found.end() :] if found else None


def _other_number(old: str, draw: random.Random) -> str:
    if old.isdecimal():
        return str(int(old) + draw.choice((1, 2, 10)))
    return draw.choice([word for word in (_NUMBERS if old.isascii() else ("두", "세", "네")) if word != old.lower()])


def _either(text: str, tables: Iterable[tuple[str, ...]], draw: random.Random) -> str | None:
    for table in tables:
        found = re.search("|".join(table), text)
        if found:
            other = draw.choice([word for word in table if word != found[0]])
            return text[: found.start()] + other + text[found.end() :]
    return None


def _opposite(text: str, table: list[list[str]], language: str) -> str | None:
    for word, other in table:
        what = rf"\b{word}\b" if language == "en" else rf"(?<![가-힣]){word}"
        found = re.search(what, text)
        if found:
            return text[: found.start()] + other + text[found.end() :]
    return None


def _negated(text: str, language: str) -> str | None:
    if language == "en":
        return _replaced(text, _VERB, lambda old: f"{old} not")
    for end, other in (("고 있다", "고 있지 않다"), ("했다", "하지 않았다"), ("한다", "하지 않는다")):
        if text.rstrip(". ").endswith(end):
            return text.rstrip(". ").removesuffix(end) + other
    return None


def _drawn(text: str, what: re.Pattern[str], stock: list[str], draw: random.Random) -> str | None:
    found = list(what.finditer(text))
    if not found:
        return None
    chosen = draw.choice(found)
    return text[: chosen.start()] + draw.choice(stock) + text[chosen.end() :]


def _denied(path: str) -> Iterator[Pair]:
    """Sentences that people wrote with and without a negation, and with nothing else changed."""
    without = re.compile(
        r"\b(?:not|no|never|do|does|did|is|are|was|were|has|have|had|can|will|an?|any|to)\b|n't\b", re.I
    )
    denying = re.compile(r"\b(?:not|no|never)\b|n't\b", re.I)
    shelves: dict[str, dict[bool, str]] = {}
    for row in _rows(path):
        for text in (row["a"], row["b"]):
            bare = re.sub(r"(?<=\w\w\w)(?:s|es|ed|ing|e|ies|y)\b", "", without.sub(" ", text.lower()))
            shelf = shelves.setdefault(" ".join(re.findall(r"\w+", bare)), {})
            shelf.setdefault(denying.search(text) is not None, text)
    for shelf in shelves.values():
        if len(shelf) == 2:
            yield Pair("en: a negation, NegNLI", shelf[False], shelf[True])


def _one_place(path: str, language: str) -> Iterator[Pair]:
    """Contradictions that people wrote and that differ in one place, by a word or two."""
    from difflib import SequenceMatcher

    for row in _rows(path):
        a, b = (re.findall(r"\w+", row[side].lower()) for side in "ab")
        if row["label"] == "contradiction" and abs(len(a) - len(b)) <= 2:
            steps = [step for step in SequenceMatcher(None, a, b, False).get_opcodes() if step[0] != "equal"]
            if len(steps) == 1 and max(steps[0][2] - steps[0][1], steps[0][4] - steps[0][3]) <= 2:
                yield Pair(f"{language}: one place, NLI", row["a"], row["b"])


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
