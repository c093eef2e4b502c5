"""Cursors: where a page of an answer ends and the next begins."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from polymnia.errors import Invalid

__all__ = ["MOST", "cursor", "position"]

MOST = 10_000
"""The largest page one can ask for."""


def cursor(kind: str, at: int) -> str:
    """An opaque cursor for a position. ``kind`` says which listing it belongs to."""
    return urlsafe_b64encode(f"{kind}:{at}".encode()).decode().rstrip("=")


def position(kind: str, text: str | None) -> int:
    """The position a cursor stands for; 0 without one."""
    if text is None:
        return 0
    try:
        owner, _, at = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(":")
        if owner == kind:
            return int(at)
    except ValueError:
        pass
    raise Invalid(
        f"The cursor {text!r} does not belong to this listing",
        hint="Pass nextCursor of the page before, unchanged, to the same call; or start without a cursor.",
        field="cursor",
    )
