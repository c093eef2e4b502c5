"""Terms: the words of a statement as they are compared, and the figures, dates and denials beside them."""

from __future__ import annotations

import re
from typing import NamedTuple

from polymnia.engine.analysis.conflicts.cues import IDIOMS, WILL, stating
from polymnia.engine.analysis.conflicts.quantities import plainly
from polymnia.engine.duplicates.denials import denials
from polymnia.engine.duplicates.figures import clock, number
from polymnia.engine.duplicates.lexicon import VAGUE, denies
from polymnia.engine.duplicates.roots import dense_words
from polymnia.engine.search.calendar_words import WORDS as CALENDAR
from polymnia.engine.search.languages import DENSE, fold, stem
from polymnia.engine.search.stopwords import STOPWORDS

__all__ = ["Terms", "read"]

# ``n't`` and what an apostrophe joins stay with their word until they are looked at.
_TOKEN = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?!\d)|\d{1,2}(?::\d\d){1,2}(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?"
    rf"|\d+(?:[.,/]\d+)*(?![^\W{DENSE}])|[^\W_](?:\w|['’.+#-](?=\w)|(?<=\w)[+#]+)*"
)
_WHOLE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_DENSE = re.compile(f"[{DENSE}]")
_DIGIT = re.compile(r"\d")
_LED = re.compile(r"\d+(?:[.,]\d+)*")
_KOREAN_VERB = re.compile(
    r"([가-힣]{2,20}?|[가-힣](?=입니다|이다))(?:하|한|합|해|했|할|함|되|된|됩|돼|됐|될|됨|입|이|였)[가-힣]*"
    r"(?<=[다요오라고며지서면는은어함됨])$"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of nearly every statement, which make no two of them about the same thing.
_LIGHT = _words("""
    use used using always never avoid recommend recommended prefer preferred ensure currently current new old longer
    anymore actually instead since still yet however therefore also per via make made will set should must shall need
    needs cannot dont doesnt isnt please today yesterday tomorrow
    이제 현재 더 이상 항상 절대 반드시 다시 그리고 그러나 하지만 마세요 말아야 않는다 않습니다 않다 말라 마십시오
    않아야 하지 것 것이다 있다 있습니다 없다 없습니다 됩니다 합니다 한다 하세요 해야 안 못 지금 사용 쓰세요 쓴다 씁니다
    하십시오 아니다 아닙니다 아니에요 아니며 아님
""")
_UNSAID = frozenset(STOPWORDS["english"]) | VAGUE | _LIGHT
_UNITS = frozenset("년월일시분초개명번")
_DATED = {"년": "y", "월": "m", "일": "d"}
_ENOUGH = 200_000  # words held between statements

# Words that advise, if the whole statement does.
_ADVISING = frozenset(WILL.split("|")) | _words("""
    should must shall ought need needs always never prefer recommend recommended required encouraged preferred practice
    recommendation avoid avoided don't dont do not stop refrain shouldn't mustn't discouraged forbidden prohibited
    banned allowed deprecated please ensure
""")

_SIDES = _words("before after with without above below over under inside outside left right on off up down")

_NOTHING, _WORD, _FIGURE, _DAY, _DENIAL, _ADVICE, _UNIT, _STATE, _SIDE = range(9)
_STATING = stating()
_CALENDAR = re.compile(r"[1-9]|[12]\d|3[01]|(?:19|20)\d\d")


class Terms(NamedTuple):
    """A statement in terms: its words of content in order, its figures, its days and months, how often it denies."""

    words: tuple[str, ...]
    figures: tuple[str, ...]
    days: tuple[str, ...]
    sides: tuple[str, ...]
    """Small words that turn a statement round: before and after."""
    denied: int
    advises: bool
    """Whether it may be advice."""
    stated: bool
    """Whether it may say in which state something is."""


_known: dict[str, tuple[tuple[int, str], ...]] = {}


def read(text: str) -> Terms:
    """Take a statement apart. Figures beside a month, or with the word for a year, month or day, are of a date."""
    text = plainly(text)
    words: list[str] = []
    figures: list[str] = []
    days: list[str] = []
    sides: list[str] = []
    denied = 0 if text.isascii() else denials(text)
    advises = stated = not text.isascii()
    month = False
    before = _NOTHING
    for token in _TOKEN.findall(text):
        for kind, key in _known.get(token) or _term(token):
            if kind == _WORD:
                words.append(key)
            elif kind == _FIGURE:
                if month and _CALENDAR.fullmatch(key):
                    days.append(key)
                else:
                    figures.append(key)
            elif kind == _DAY:
                if key[0] == "m":
                    month = True
                    if before == _FIGURE and figures and _CALENDAR.fullmatch(figures[-1]):
                        days.append(figures.pop())
                days.append(key)
            elif kind == _UNIT:
                if before == _FIGURE and figures:
                    days.append(f"{key}{figures.pop()}")
            elif kind == _DENIAL:
                denied += 1
            elif kind == _SIDE:
                sides.append(key)
                continue
            elif kind == _ADVICE:
                advises = True
                continue
            elif kind == _STATE:
                stated = True
                continue
            before = kind
            month = month and kind in (_FIGURE, _DAY)
    if denied and (idioms := len(IDIOMS.findall(text))):
        denied = max(0, denied - idioms)
    return Terms(tuple(words), tuple(figures), tuple(days), tuple(sides), denied, advises, stated)


def _term(token: str) -> tuple[tuple[int, str], ...]:
    if len(_known) > _ENOUGH:
        _known.clear()
    parts = _parts(token)
    if fold(token.replace("’", "'")) in _ADVISING:
        parts.append((_ADVICE, ""))
    if fold(token) in _SIDES:
        parts.append((_SIDE, fold(token)))
    if fold(token) in _STATING:
        parts.append((_STATE, ""))
    found = _known[token] = tuple(parts) or ((_NOTHING, ""),)
    return found


def _parts(token: str) -> list[tuple[int, str]]:
    if _DENSE.search(token):
        return _dense(token)
    if token[0].isdigit():
        if _WHOLE.fullmatch(token):
            year, month, day = token.split("-")
            return [(_DAY, f"y{year}"), (_DAY, f"m{int(month)}"), (_DAY, str(int(day)))]
        if ":" in token or token.rstrip(".").lower().endswith("m"):
            return [(_FIGURE, clock(token))] if re.match(r"\d{1,2}(?::|\s?[ap])", token.lower()) else [_led(token)]
        return [(_FIGURE, number(token))] if not re.search(r"[^\W\d]", token) else [_led(token)]
    said = fold(token.replace("’", "'"))
    if said.endswith("n't") or denies(said, "english"):
        return [(_DENIAL, "")]
    said = said.removesuffix("'s").split("'")[0]
    letter, value = CALENDAR.get(said) or CALENDAR.get(said.removesuffix("s"), ("", 0))
    if letter == "m" or letter == "W" or (letter == "w" and token[0].isupper()):
        return [(_DAY, f"{'m' if letter in 'mw' else 'd'}{value}")]
    if letter == "d" and value > 1 and said not in ("couple", "due", "dos", "sei", "elf"):
        return [(_FIGURE, str(value))]
    if said in _UNSAID or len(said) < 2:
        return []
    if _DIGIT.search(said):
        return [(_WORD, said)]
    return [(_WORD, stem(said, "english") if said.isascii() else said)]


def _led(token: str) -> tuple[int, str]:
    """A figure with its unit joined to it: 30s, 10GB; or a name that begins with one: 3com."""
    figure = _LED.match(token)
    return (_FIGURE, number(figure[0])) if figure and len(token) - figure.end() <= 3 else (_WORD, fold(token))


def _dense(token: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    led = _LED.match(token)
    if led:
        found.append((_FIGURE, number(led[0])))
        token = token[led.end() :]
    for key, kind, shown in dense_words(token):
        if kind == "day":
            found.append((_DAY, key))
        elif kind == "number":
            found.append((_FIGURE, key))
        elif kind in ("word", "char") and shown not in _UNSAID and key not in _UNSAID:
            verb = _KOREAN_VERB.match(key)
            root = fold(verb[1] if verb else key)
            if root in _DATED:
                found.append((_UNIT, _DATED[root]))
            elif root not in _UNSAID and root not in _UNITS:
                found.append((_WORD, root))
    return found
