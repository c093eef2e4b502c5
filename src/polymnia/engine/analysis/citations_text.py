"""The text of a citation: from marks to typographic punctuation, and from there to plain text and HTML."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

__all__ = [
    "CLOSE_ITALIC", "CLOSE_QUOTE", "Marked", "OPEN_ITALIC", "OPEN_QUOTE", "curled", "finished",
    "linked", "titled", "unmarked",
]  # fmt: skip

# Noncharacters of Unicode, which are taken out of every text before it is cited.
OPEN_QUOTE, CLOSE_QUOTE, OPEN_ITALIC, CLOSE_ITALIC = "\ufdd0\ufdd1\ufdd2\ufdd3"

_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff]")
_CLOSERS = f"[{CLOSE_QUOTE}{CLOSE_ITALIC}’”]"
# A sentence that has ended needs no second full stop, also when something closes in between.
_ENDED = re.compile(rf"(?:(?<=[.?!…。？！])({_CLOSERS}+)|(?<=[?!…。？！]))\.(?=[\s{OPEN_QUOTE}-{CLOSE_ITALIC}]|$)")
_BEFORE = re.compile(rf"({CLOSE_QUOTE})({CLOSE_ITALIC}?)([.,])(?!\w)")
_NUMBER = re.compile(r"(\[\d+\])(?=\S)")
_QUOTED = re.compile(f"{OPEN_QUOTE}([^{OPEN_QUOTE}{CLOSE_QUOTE}]*){CLOSE_QUOTE}")
_SINGLE = re.compile(r"‘([^‘’]*)’(?!\w)")
_OPENING = re.compile(r"""(?:(?<=^)|(?<=[\s(\[{“‘—–-]))(["'])(?=\S)""")
_LETTERS = re.compile(r"[^\w]|_")
_FIRST = re.compile(r"[^\W\d_]")
# A word with such marks inside is a name out of a program.
_CODE = re.compile(r"\w[_.:/\\(=<@]\w|[_()={}<>]|^\d")
_SMALL = frozenset((
    "a", "an", "and", "as", "at", "but", "by", "down", "for", "from", "in", "into", "nor", "of", "off", "on",
    "onto", "or", "out", "over", "per", "so", "than", "the", "till", "to", "up", "via", "vs", "with", "yet",
))  # fmt: skip
_TURNED = {'"': "“”", "'": "‘’"}


class Marked(NamedTuple):
    """A citation with marks in it; the quotation marks of its language, and whether stops go ``inside`` of them.

    ``apart`` says that the number at its beginning stands apart from the rest.
    """

    text: str
    open: str
    close: str
    inside: bool
    apart: bool


def unmarked(text: str) -> str:
    """A text of the user on one line, without what cannot be seen."""
    return " ".join(_STRANGE.sub(" ", text).split())


def curled(text: str) -> str:
    """A text with typographic quotation marks and apostrophes in place of those of a typewriter."""
    if '"' not in text and "'" not in text:
        return text
    text = _OPENING.sub(lambda found: _TURNED[found[1]][0], text)
    return text.replace('"', "”").replace("'", "’")


def finished(marked: Marked) -> tuple[str, str]:
    """The citation as plain text and as HTML."""
    text = " ".join(marked.text.split())
    if marked.apart:
        text = _NUMBER.sub(r"\1 ", text, count=1)
    text = _ENDED.sub(r"\1", text)
    if marked.inside:
        text = _BEFORE.sub(r"\3\1\2", text)
    text = _QUOTED.sub(lambda found: marked.open + _inner(found[1], marked.open) + marked.close, text)
    plain = text.replace(OPEN_ITALIC, "").replace(CLOSE_ITALIC, "")
    html = escape(text, quote=False).replace(OPEN_ITALIC, "<i>").replace(CLOSE_ITALIC, "</i>")
    return plain, html


def _inner(text: str, around: str) -> str:
    """Quotation marks within quotation marks are of the other kind."""
    if around == "“":
        return text.replace("“", "‘").replace("”", "’")
    return _SINGLE.sub(r"“\1”", text)


def linked(plain: str, html: str, address: str) -> tuple[str, str]:
    """A citation with one more address behind it; whether it ends with a full stop stays as it is."""
    ended = plain.endswith((".", "?", "!", "…", "。", "？", "！", "”", "’"))
    more = ("" if ended else ".") + f" {address}" + ("." if plain.endswith((".", "”", "’")) else "")
    return plain + more, html + more


_INITIAL = re.compile(r"[^\W\d_]\.")


def titled(text: str) -> str:
    """An English title with capitals, as styles call for them; words that have capitals already stay as they are."""
    words = text.split(" ")
    begins = True
    # Whoever writes capitals writes one behind the end of a sentence: the stop of "J. of Graphs" ends none.
    ends = (":", "?", "!", "—", "–") if any(map(str.isupper, text)) else (":", ".", "?", "!", "—", "–")
    for at, word in enumerate(words):
        small = _LETTERS.sub("", word) in _SMALL and not begins and at < len(words) - 1
        if word.islower() and not small and not _CODE.search(word):
            words[at] = _FIRST.sub(lambda found: found[0].upper(), word, count=1)
        begins = word.endswith(ends) and not _INITIAL.fullmatch(word)
    return " ".join(words)
