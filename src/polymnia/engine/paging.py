"""Cursors: where a page of an answer ends and the next begins."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from polymnia.errors import Invalid

MOST = 10_000
"""The largest page one can ask for."""


def size(limit: int | None) -> int:
    """The size of a page: the limit if there is one, at most the largest page."""
    if limit is not None and (not isinstance(limit, int) or not 1 <= limit <= MOST):
        raise Invalid(f"limit is {limit}, but must be from 1 to {MOST:,}", field="limit")
    return limit or MOST


def cursor(kind: str, *place: float) -> str:
    """An opaque cursor for a place in a listing: the sort key of the last item given out.

    A key, unlike a count, stays true while others add and delete.
    """
    return urlsafe_b64encode(":".join((kind, *map(repr, place))).encode()).decode().rstrip("=")


def position(kind: str, text: str | None, parts: int | None = None) -> tuple[float, ...]:
    """The place a cursor stands for, a key of so many parts where that is said; before everything without one."""
    if text is None:
        return ()
    try:
        owner, *place = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split(":")
        if owner == kind and place and len(place) == (parts or len(place)):
            key = tuple(float(part) if "." in part or "e" in part else int(part) for part in place)
            if all(abs(number) < 1 << 63 for number in key):
                return key
    except ValueError:
        pass
    raise foreign(text)


def foreign(text: str | None) -> Invalid:
    """The refusal of a cursor that another listing gave."""
    return Invalid(
        f"The cursor {text!r} does not belong to this listing",
        hint="Pass the cursor of the page before (nextCursor, next) unchanged to the same call; or start without one.",
        field="cursor",
    )
