"""JSON in one form only, as RFC 8785 has it: what is equal is equal byte by byte."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["canonical"]


def canonical(value: Any) -> str:
    """A value as canonical JSON."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(one)}" for key, one in members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """A number as ECMAScript writes it."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of JSON")
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    digits, _, exponent = text.partition("e")
    if exponent:
        power = int(exponent)
        if -7 < power < 0:
            return f"{value:.{len(digits.replace('-', '').replace('.', '')) - 1 - power}f}"
        return f"{digits}e{'+' if power > 0 else ''}{power}"
    return text
