"""Figures: numbers and times of day as they are compared, however they are written."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clock", "number"]

_THOUSANDS = re.compile(r"^[-+]?\d{1,3}(?:,\d{3})+(?![\d,])|^[-+]?\d{1,3}(?: \d{3})+$")
_ZEROS = re.compile(r"[.,]0+$")


def number(token: str) -> str:
    """A number without thousands separators, leading zeros and empty decimals; but 3.10 is not 3.1."""
    value = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in token).replace("−", "-").lstrip("+")
    grouped = _THOUSANDS.match(value)
    if grouped:
        value = grouped[0].replace(",", "") + value[grouped.end() :]
    if sum(not c.isdecimal() for c in value.lstrip("-")) == 1:
        value = _ZEROS.sub("", value)
    sign, digits = ("-", value[1:]) if value.startswith("-") else ("", value)
    bare = digits.lstrip("0")
    return sign + (bare if bare[:1].isdecimal() else "0" + bare)


def clock(token: str) -> str:
    """A time of day by 24 hours, without empty minutes: 5 pm and 17:00 are both 17."""
    low = token.lower().replace(".", "").replace(" ", "")
    half = low[-2:] if low.endswith("m") else ""
    hour, _, rest = low.removesuffix(half).partition(":")
    count = int(hour)
    if half and count <= 12:
        count = count % 12 + (12 if half == "pm" else 0)
    while rest.endswith("00"):
        rest = rest[:-2].removesuffix(":")
    return f"{count}:{rest}" if rest else str(count)
