"""Phrases: counts, dates and titles as they stand in a sentence."""

from __future__ import annotations

_LONG = 60  # characters of a title


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 change, 2 changes."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def memories_are(count: int) -> str:
    """The beginning of a sentence on so many memories."""
    return "1 memory is" if count == 1 else f"{count:,} memories are"


def day(moment: str) -> str:
    """The day of a moment in RFC 3339."""
    return moment[:10]


def quoted(title: str) -> str:
    """A title in quotes, cut where it is long."""
    return f"“{title if len(title) <= _LONG else title[:_LONG].rstrip() + '…'}”"
