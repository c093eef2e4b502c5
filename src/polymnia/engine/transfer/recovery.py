"""Reading JSON that is broken: what of it still stands, and what is wrong with the rest.

The reader walks over the text outside of the items, trusting nothing but what it sees next: an item, the
key of a section, a bracket. An item that does not parse is mended as far as it goes. Where nothing fits,
the reader looks for the next place that begins like an item and goes on from there.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import Any

from msgspec import Struct

from polymnia.engine.transfer.graph_file import (
    KIND_KEYS,
    LINK_KEYS,
    NAME_KEYS,
    OBSERVATION_KEYS,
    SECTIONS,
    SOURCE_KEYS,
    TARGET_KEYS,
    Flaw,
    Taking,
    is_document,
    quoted,
    shape,
)

__all__ = ["Mended", "judge", "mend", "outline", "salvage"]

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(
    rf"[ \t\r\n]*+(?:(?P<mark>[{{}}\[\],:])|(?P<text>{_STRING})"
    r"|(?P<word>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity|undefined))",
    re.DOTALL,
)
_KEY = re.compile(rf"({_STRING})[ \t\r\n]*+:[ \t\r\n]*+", re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*+:")
# What may come after a text. Anything else means that its closing quote is the opening one of the next.
_AFTER_TEXT = re.compile(r'[ \t\r\n]*+(?:[,:\]}"]|\Z)')
_SKIPPED = re.compile(r"[ \t\r\n,]*+")
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)', re.DOTALL)
_ITEM_KEYS = {*NAME_KEYS, *KIND_KEYS, *OBSERVATION_KEYS, *SOURCE_KEYS, *TARGET_KEYS, *LINK_KEYS}
_ITEM = re.compile(rf'\{{\s*+"(?:{"|".join(_ITEM_KEYS)})"\s*+:')
_ANCHOR = re.compile(rf'{_ITEM.pattern}|\{{?\s*+"(?:{"|".join(SECTIONS)})"\s*+:\s*+[\[{{]')


class Mended(Struct, frozen=True):
    """What was read of a broken object or list: its value, where reading ended, whether it was closed."""

    value: Any
    end: int
    complete: bool
    faults: tuple[str, ...]


def judge(raw: bytes) -> str:
    """Why JSON that is in order cannot be held; raises Flaw when it is not JSON."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        raise Flaw(e.start, "a byte that is not UTF-8") from None
    try:
        value = _STRICT.decode(text)
    except json.JSONDecodeError as e:
        at = len(text[: e.pos].encode())
        why = "the file ends too early" if e.pos >= len(text.rstrip()) else e.msg[:1].lower() + e.msg[1:]
        raise Flaw(at, why) from None
    except RecursionError:
        start = _SKIPPED.match(text).end()  # type: ignore[union-attr]
        mended = mend(text, start)
        if not mended.complete or mended.faults or text[mended.end :].strip():
            raise Flaw(len(text[: mended.end].encode()), (*mended.faults, "unexpected text")[0]) from None
        return "It is nested too deeply"
    if half := _half_pair(value):
        return f"It holds a lone surrogate (U+{ord(half):04X}), which cannot be stored"
    return "It holds a number out of range"
