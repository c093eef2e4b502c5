"""The normal form of a text: two texts are the same when theirs is.

It evens out only what is proven to carry no meaning. Whatever is not listed here keeps two texts apart: a word, its
place, a number, a sign, the case of a letter. To store a text twice costs a line; to drop one that said something
else loses it.
"""

from __future__ import annotations

import re
from unicodedata import normalize

_LONG = 20_000  # characters; of longer texts only the ends and the line breaks are evened out
# Layout and quotes may carry meaning where a text is, or quotes, code: brackets, back quotes, operators, indentation,
# calls, quoted blanks. There they stay as they are.
_CODE = re.compile(r"[`{}\[\]<>=\\|\t]")
_CALL = re.compile(r"(?<=\w)\(")
_QUOTED_BLANK = re.compile(r"[\"'“”‘’]\s*[\"'“”‘’]")
_IDENTIFIER = re.compile(r"[_/@#]|[.:]\w|[a-z][A-Z]")
_TYPOGRAPHY = str.maketrans(
    {"“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "‑": "-"} | dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")
)
_CONTRACTED = re.compile(r"\b(\w+)n't\b|(?<=[A-Za-z])'(re|ve|ll|m)\b")
_ENDINGS = {"re": " are", "ve": " have", "ll": " will", "m": " am"}
_IRREGULAR = {
    "ca": "cannot",
    "Ca": "Cannot",
    "wo": "will not",
    "Wo": "Will not",
    "sha": "shall not",
    "Sha": "Shall not",
}
_FIRST = re.compile(r"([^\W\d_])([^\W\d_]+) ")
_LAST = re.compile(r"\W?[^\W_]+(?:['-][^\W_]+)*")


def normal(text: str) -> str:
    """The form a text shares with those that say exactly the same.

    In every text: Unicode's composed form (NFC), the line breaks, white space at the ends. In prose also: runs of white
    space, typographic quotes, invisible characters, written-out contractions, a full stop at the end, and the capital
    of an ordinary first word.
    """
    shown = text if text.isascii() else normalize("NFC", text)
    shown = shown.replace("\r\n", "\n").rstrip().lstrip("\n\ufeff")
    if len(text) > _LONG or _is_code(shown):
        return shown
    if not shown.isascii():
        shown = shown.translate(_TYPOGRAPHY)
    if "'" in shown:
        shown = _CONTRACTED.sub(_written_out, shown)
    shown = " ".join(shown.split())
    if shown.endswith((".", "。")) and _LAST.fullmatch(shown[:-1].rpartition(" ")[2]):
        shown = shown[:-1]
    first = _FIRST.match(shown)
    if first is not None and first[1].isupper() and first[2].islower() and not _IDENTIFIER.search(shown):
        shown = first[1].lower() + shown[1:]
    return shown


def _is_code(text: str) -> bool:
    return (
        "\n " in text
        or (text.startswith(" ") and "\n" in text)
        or _CODE.search(text) is not None
        or ("(" in text and _CALL.search(text) is not None)
        or _QUOTED_BLANK.search(text) is not None
    )


def _written_out(found: re.Match[str]) -> str:
    verb, ending = found.groups()
    return _ENDINGS[ending] if verb is None else _IRREGULAR.get(verb, f"{verb} not")
