"""The room of an answer: what a model can read at once. Findings that do not fit are counted, not told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import json

__all__ = ["ROOM", "fitting"]

ROOM = 64_000
"""Bytes of findings in one answer: some sixteen thousand tokens of English, more of Korean."""

_NAMED = (25, 10)  # members that each finding names where more would not fit; how many there are is told beside them


def fitting(found: Sequence[dict[str, Any]], how: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The findings that fit into an answer, in their order, and for each type of which some do not a note.

    Before a finding is left out all of them name fewer of their members. Every type has the same room; what one does
    not need is the others'. ``how`` says how to hear of the rest.
    """
    for most in _NAMED:
        if sum(len(json.encode(one)) for one in found) <= ROOM:
            break
        found = [one | {"content_ids": one["content_ids"][:most]} if "content_ids" in one else one for one in found]
    sizes: dict[str, list[int]] = {}
    for one in found:
        sizes.setdefault(one["type"], []).append(len(json.encode(one)))
    room = _shared({type: sum(some) for type, some in sizes.items()})
    kept = {type: _first(some, room[type]) for type, some in sizes.items()}
    told: list[dict[str, Any]] = []
    seen = dict.fromkeys(sizes, 0)
    for one in found:
        seen[one["type"]] += 1
        if seen[one["type"]] <= kept[one["type"]]:
            told.append(one)
    notes = {
        type: f"{len(some) - kept[type]:,} more were found that do not fit into one answer; {how}."
        for type, some in sizes.items()
        if kept[type] < len(some)
    }
    return told, notes


def _shared(wanted: dict[str, int]) -> dict[str, int]:
    """The room of each type: what it wants, or an even share of what is left by those that want less."""
    left, given = ROOM, {}
    for at, (type, size) in enumerate(sorted(wanted.items(), key=lambda one: one[1])):
        given[type] = min(size, left // (len(wanted) - at))
        left -= given[type]
    return given


def _first(sizes: Sequence[int], room: int) -> int:
    """How many of the first fit; at least one."""
    count = 0
    for size in sizes:
        if room < size and count:
            break
        room -= size
        count += 1
    return count
