"""What commands print: times, colours on a terminal, and a bar for what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import category, east_asian_width

import msgspec

from polymnia.app import wants_colour
from polymnia.errors import Invalid

__all__ = [
    "bar", "counted", "dim", "green", "moment", "on_one_line", "padded", "print_json", "red", "shown", "strong",
    "width",
]  # fmt: skip


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _coloured(code: str) -> Callable[[str], str]:
    def paint(text: str) -> str:
        if not sys.stdout.isatty() or not wants_colour():
            return text
        return f"\x1b[{code}m{text}\x1b[0m"

    return paint


strong, dim, green, red = _coloured("1"), _coloured("2"), _coloured("32"), _coloured("31")


def shown(at: int) -> str:
    """A time in microseconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def counted(count: int, what: str) -> str:
    """A number with its noun: 1 entity, 2 entities."""
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{count:,} {what if count == 1 else plural}"


def moment(text: str) -> int:
    """A time a person wrote, in microseconds since 1970. Without a zone it is local time."""
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise Invalid(
            f"{text!r} is not a time", hint="Write it as 2026-05-01, 2026-05-01T12:30 or 2026-05-01T12:30:00Z."
        ) from None


def on_one_line(text: str) -> str:
    """A text with a space for each control character: line breaks, and what a terminal would obey. Keeps places."""
    return text if text.isprintable() else "".join(" " if category(c) in ("Cc", "Zl", "Zp") else c for c in text)


def width(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide character, none for an accent of its own."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, columns: int) -> str:
    """A text with spaces after it up to so many columns; a longer one is cut, which an ellipsis shows."""
    if width(text) > columns:
        while text and width(text) > columns - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - width(text))


def print_json(value: Any) -> None:
    """Print a value as JSON, one line."""
    print(msgspec.json.encode(value).decode())


def bar(what: str) -> Callable[[int, int], None]:
    """A progress bar on stderr: only on a terminal, only when it takes longer than a moment."""
    began = last = time.monotonic()
    drawn = False

    def step(done: int, total: int) -> None:
        nonlocal last, drawn
        now = time.monotonic()
        if not sys.stderr.isatty() or now - began < 0.5 or (now - last < 0.1 and done < total):
            return
        last, drawn = now, True
        filled = 30 * done // max(total, 1)
        print(f"\r{what} [{'█' * filled}{' ' * (30 - filled)}] {done:,} of {total:,}", end="", file=sys.stderr)
        if done == total:
            print(file=sys.stderr)

    return step
