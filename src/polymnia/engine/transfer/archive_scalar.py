"""A single value in YAML: how it is written, and what an unquoted word means when it is read.

An unquoted word is null, a truth value or a number only where YAML 1.1, YAML 1.2 and JSON agree that it is; all else is
text. So no date, no ``yes``, no ``0x1F`` and no ``1e3`` ever turns into something its author did not write. What
is written holds to the same: whatever any reader could take for something else stands in quotes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import isfinite
from typing import Any

from msgspec.json import encode

from polymnia.engine.transfer.archive_legal import LEAST, MOST

__all__ = ["key_of", "meaning", "scalar"]

# Characters a YAML reader refuses, takes for a line end, or drops; and those that are escaped anyway.
_ODD = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_ESCAPED = re.compile(f"[{_ODD}]")
_ONE_LINE = re.compile(f"[^\t\n{_ODD}]+")
# What no unquoted text begins with: marks with a meaning, and all a number or a date could begin with.
_NEVER_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`0123456789.+=<~")
# Lines that can stand as they are, the first one showing where they begin.
_LINES = re.compile(rf"(?=[^\s{_ODD}])[^{_ODD}]+")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
# A reader need not look for the colon of a key further than 1,024 characters.
_LONG_KEY = 500

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+(?:[eE][-+]?[0-9]+)?)?")
_MEANS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def scalar(value: Any, indent: str) -> str:
    """A value that is no list and no object, as it stands behind its key; raises ValueError for what no archive holds.

    ``indent`` is what stands before the lines of a text of several lines.
    """
    kind = type(value)
    if kind is str:
        return _text(value, indent)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        if not LEAST <= value <= MOST:
            raise ValueError("an integer beyond 64 bits")
        return str(value)
    if kind is float:
        if not isfinite(value):
            raise ValueError("a number that is not finite")
        written = repr(value)
        return written if "." in written else written.replace("e", ".0e")
    raise ValueError(f"a value of type {kind.__name__}")


@lru_cache(maxsize=4096)
def key_of(text: str) -> str:
    """A key with its colon. One too long to be seen as a key from its beginning is announced by a question mark."""
    written = text if _is_plain(text) else _quoted(text)
    return f"{written}:" if len(written) <= _LONG_KEY else f"? {written}\n:"


def _text(text: str, indent: str) -> str:
    if "\n" in text:
        if _LINES.fullmatch(text) is None:
            return _quoted(text)
        body = text.rstrip("\n")
        ends = len(text) - len(body)
        mark = "|-" if ends == 0 else "|" if ends == 1 else "|+"
        lines = body.replace("\n", f"\n{indent}")
        if "\n\n" in body:
            lines = lines.replace(f"\n{indent}\n", "\n\n")
            lines = lines.replace(f"\n{indent}\n", "\n\n")
        return f"{mark}\n{indent}{lines}" + "\n" * (ends - 1)
    return text if _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    """Whether a text can stand without quotes: nothing in it is a mark with a meaning."""
    return (
        text != ""
        and text[0] not in _NEVER_FIRST
        and not text[0].isspace()
        and text[-1] not in ": "
        and ": " not in text
        and " #" not in text
        and _ONE_LINE.fullmatch(text) is not None
        and (len(text) > 5 or text.lower() not in _WORDS)
    )


def _quoted(text: str) -> str:
    written = encode(text).decode()
    return _ESCAPED.sub(_escape, written) if not written.isascii() or "\x7f" in written else written


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def meaning(word: str) -> Any:
    """What an unquoted word means; raises ValueError for a number that no archive may hold."""
    if word in _MEANS:
        return _MEANS[word]
    if word[0] not in "-+.0123456789":
        return word
    if (number := _NUMBER.fullmatch(word)) is None:
        if _NO_NUMBER.fullmatch(word):
            raise ValueError(f"{word}, which is no finite number")
        return word
    if number[1]:
        if not isfinite(real := float(word)):
            raise ValueError("a number out of range")
        return real
    if len(word) > 20 or not LEAST <= (whole := int(word)) <= MOST:
        raise ValueError(f"an integer beyond 64 bits ({word[:24]}{'…' if len(word) > 24 else ''})")
    return whole
