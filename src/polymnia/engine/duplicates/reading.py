"""Reading: a text taken apart into what must agree before two texts may count as one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from polymnia.engine.duplicates.denials import denials
from polymnia.engine.duplicates.figures import clock, number
from polymnia.engine.duplicates.lexicon import ARTICLES, PERSONS, SIGNS, VAGUE, denies
from polymnia.engine.duplicates.roots import dense_words
from polymnia.engine.search.calendar_words import WORDS as CALENDAR
from polymnia.engine.search.languages import DENSE, fold, language, plausible, stem
from polymnia.engine.search.stopwords import STOPWORDS

__all__ = ["Reading", "Word", "plain", "read", "spoken"]


class Word(NamedTuple):
    """A word: what it is compared by, what it is, how it was written, and that without case and accents.

    It is a ``number``, a ``day``, a ``name``, a ``code`` (an identifier), a ``unit``, a ``word`` or a ``char`` of a
    script without spaces; or grammar: an ``article`` or another ``small`` word.
    """

    key: str
    kind: str
    shown: str
    said: str

    @property
    def says(self) -> bool:
        """Whether it is more than grammar."""
        return self.kind not in ("small", "article")


class Reading(NamedTuple):
    """A text as it is compared: its words in order, how many negations it holds, its language, whether it asks."""

    words: tuple[Word, ...]
    denied: int
    tongue: str | None
    asks: bool


_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_QUOTES = str.maketrans("‘’ʼ`´“”„«»", "'''''\"\"\"\"\"")
_LETTER = rf"(?:(?![{DENSE}])[^\W\d_])"
_PUNCTUATION = r"!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u2027\u2030-\u205e\u3001-\u3020\u060c\u061b\u0964"
# Marks that decide in commands, formulas and grades: C++, a != b, -x and --x, A+ and A-, a && b, .*, ../
_SYMBOL = (
    r"(?<=\w)(?:\+\+|\#)|!=|[<>=]+|&&|\|\||(?<!\S)--?(?=[^\W\d])|(?<=[^\W\d_])[+-](?!\w)|[*^~+]|\.\.(?=/|$)"
    rf"|[^\w\s{_PUNCTUATION}]"
)
_KEPT = re.compile(rf"[-−+]?\d+(?:[.,:/–-]\d+)*|[^\W_\d]+|[%$€£¥₩₽₹°&@|\\/_?؟]|{_SYMBOL}")
_TOKEN = re.compile(
    rf"""(?P<iso>\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))
      | (?P<clock>\d{{1,2}}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?|\d{{1,2}}\s?[ap]\.?m\b\.?)
      | (?P<number>(?<![\w.)])[-−+]?\d+(?:[.,/–-]\d+)*|\d+(?:[.,/:–-]\d+)*)
      | (?P<code>{_LETTER}+(?:[-_]?\d[\w-]*|(?:[_@/\\.:]|::)(?={_LETTER}|\d))(?:[\w@/\\.:-]*\w)?)
      | (?P<sign>[%$€£¥₩₽₹°℃℉])
      | (?P<symbol>{_SYMBOL})
      | (?P<letters>[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e'])*)
      | (?P<stop>[.!?:;。！？\n]+)""",
    re.VERBOSE,
)
_INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]\.){2,}(?!\w)")
_DENSE = re.compile(f"[{DENSE}]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_CLITIC = re.compile(r"'(?:s|re|ll|d|ve|m|t)?$")
_ELIDED = re.compile(r"^(?:l|d|qu|j|m|t|s|c|n|jusqu|lorsqu|puisqu|dell|nell|all|un|dall|sull)'(?=.)", re.IGNORECASE)
_ACCENTED = frozenset({"thé", "té", "año", "pèche"})
_EVIDENCE = 4000  # so many characters tell the language of a text, and whether its capitals mean anything
_TITLED = 0.6  # the share of words with a capital above which a text is a headline


def plain(text: str) -> str:
    """A text without what a writer may leave out: case, white space, punctuation, Unicode form.

    What changes a number or a name in code stays, and so does a question mark.
    """
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).translate(_QUOTES).casefold()
    return " ".join(_KEPT.findall(text))


def spoken(*texts: str) -> str | None:
    """The language that texts are in together: short ones alone show too little of it."""
    heard = [word.strip(".,;:!?\"()'") for text in sorted(texts) for word in text[:_EVIDENCE].replace("’", "'").split()]
    # A name may be a small word of some language: Tom is "about that" in Czech.
    found = language(fold(word) for word in heard if word[:1].islower())
    if found is None:
        found = language(fold(word) for word in heard)
        hints = sum(fold(word) in STOPWORDS.get(found or "", ()) for word in heard)
        if found is not None and all(text.isascii() for text in texts) and hints < 2 * len(texts):
            return None
    return found


def read(text: str, tongue: str | None) -> Reading:
    """Take a text apart, given its language."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).translate(_QUOTES)
    text = _INITIALS.sub(lambda match: match[0].replace(".", ""), text)
    titled = _titled(text)
    words: list[Word] = []
    denied = denials(text)
    begins = True
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "stop":
            begins = True
            continue
        if kind == "letters" and not _DENSE.search(token):
            for part in _parts(token):
                if denies(fold(part), tongue):
                    denied += 1
                else:
                    words.append(_word(part, tongue, begins or titled))
        elif kind == "letters":
            words.extend(Word(key, sort, shown, shown.casefold()) for key, sort, shown in dense_words(token))
        elif kind == "iso":
            year, month, day = token.split("-")
            words += [_number(year), Word(f"m{int(month)}", "day", token, token), _number(day)]
        elif kind == "clock":
            words.append(Word(clock(token), "number", token, token))
        elif kind == "number":
            words.append(_number(token))
        elif kind == "sign":
            words.append(Word(SIGNS[token], "unit", token, SIGNS[token]))
        elif kind == "symbol":
            words.append(Word(token, "code" if token.isascii() else "word", token, token))
        else:
            words.append(Word(fold(token), "code", token, fold(token)))
        begins = False
    return Reading(tuple(words), denied, tongue, "?" in text or "؟" in text)


def _titled(text: str) -> bool:
    """Whether capitals say nothing in a text: a headline, or one that has none."""
    words = re.findall(r"(?<![\w'])[^\W\d_]{4,}", text[:_EVIDENCE])
    high = sum(word[0].isupper() for word in words)
    return len(words) > 3 and high > _TITLED * len(words)


def _parts(token: str) -> list[str]:
    """A word without what an apostrophe joins to it; a negation so joined stands alone."""
    if "'" not in token:
        return [token]
    low = token.lower()
    if low.endswith("n't"):
        return [part for part in (token[:-3], "not") if part]
    return [part for part in _CLITIC.sub("", _ELIDED.sub("", token)).split("'") if part]


def _number(token: str) -> Word:
    return Word(number(token), "number", token, token)


@lru_cache(maxsize=30_000)
def _word(token: str, tongue: str | None, begins: bool) -> Word:
    """A word of an alphabet."""
    said = fold(token)
    found = _dated(token, said, begins)
    if found is not None:
        return found
    capitals = len(token) > 1 and token.isupper() and not begins
    if not capitals and token.casefold() not in _ACCENTED:
        if said in ARTICLES.get(tongue or "english", ()):
            return Word(said, "article", token, said)
        if said in STOPWORDS.get(tongue or "english", ()) or said in VAGUE or said in PERSONS.get(tongue or "", ()):
            return Word(said, "small", token, said)
    if _CAMEL.search(token):
        return Word(said, "code", token, said)
    rules = plausible(said, tongue or "english")
    key = (stem(token.casefold(), rules[0]) if rules else said) or said or token
    named = token[0].isupper() and len(token) > 1 and not begins
    return Word(key, "name" if named and tongue != "german" else "word", token, said)


def _dated(token: str, said: str, begins: bool) -> Word | None:
    """A word of the calendar, or a number in letters; one that is also an ordinary word only with a capital."""
    letter, value = CALENDAR.get(token.casefold(), ("", 0))
    if letter == "m" or (letter == "w" and token[0].isupper() and not begins):
        return Word(f"m{value}", "day", token, said)
    if letter == "W":
        return Word(f"d{value}", "day", token, said)
    if letter == "r":
        return Word(f"r{value}", "day", token, said)
    if letter == "d" and value > 1 and said not in ("couple", "due", "dos", "sei", "elf"):
        return Word(str(value), "number", token, said)
    return None
