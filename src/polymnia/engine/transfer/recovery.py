"""Reading JSON that is broken: all of it that still stands is taken, and the report tells what is wrong."""

from __future__ import annotations

from typing import Literal

import msgspec

from polymnia.engine.transfer.broken_text import judge
from polymnia.engine.transfer.item import UNFIT, Flaw, is_document, is_item
from polymnia.engine.transfer.taking import Taking
from polymnia.engine.transfer.walk import Walk

__all__ = ["outline", "salvage"]


def outline(text: str, taking: Taking) -> None:
    """Take a document that is JSON item by item, so that one that cannot be held leaves the others be."""
    Walk(text, taking, line=1, byte=0, sound=True).run()


def salvage(data: bytes, taking: Taking, skipped: int) -> None:
    """Take what can be read of damaged bytes, ``skipped`` of which came before these."""
    if taking.form == "lines":
        _salvage_lines(data, taking)
    else:
        Walk(_lenient(data), taking, line=1, byte=skipped).run()


def _salvage_lines(data: bytes, taking: Taking) -> None:
    """Take the good lines one by one, and whatever is between them as one text.

    A line that is JSON and no item counts as good only when no broken line is next to it: an object over
    several lines has lines such as ``"likes tea"``.
    """
    start = number = 0
    odd: list[tuple[int, int, int]] = []
    broken = False

    def settle() -> None:
        if broken:
            first, begin, _ = odd[0]
            Walk(_lenient(data[begin : odd[-1][2]]), taking, line=first, byte=begin).run()
        else:
            for at, begin, end in odd:
                taking.take(data[begin:end], "lines", at)
        odd.clear()

    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        line = data[start:end]
        if not line.isspace() and line:
            standing = _standing(line)
            if standing == "item":
                settle()
                broken = False
                taking.take(line, "lines", number)
            else:
                odd.append((number, start, end))
                broken = broken or standing == "broken"
        start = end + 1
    settle()


def _standing(line: bytes) -> Literal["item", "other", "broken"]:
    try:
        value = msgspec.json.decode(line)
    except UNFIT:
        try:
            judge(line)
        except Flaw:
            return "broken"
        return "item"
    return "item" if isinstance(value, dict) and (is_document(value) or is_item(value, None)) else "other"


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
