"""Sentences: counts and dates as they stand in one."""

from __future__ import annotations

from polymnia.engine.text.calendar import moment

__all__ = ["date_of", "plural"]


def date_of(microseconds: int) -> str:
    """The day of a time."""
    return moment(microseconds)[:10]


def plural(count: int, one: str) -> str:
    """A count with its word: 1 change, 2 changes."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"
