"""Texts that a person gives to a command: as an argument, or on stdin."""

from __future__ import annotations

import sys

from polymnia.errors import Invalid

__all__ = ["text"]


def text(given: str) -> str:
    """The text of an argument; a dash stands for all of stdin, without the line breaks at its end."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        print("Type the text; Ctrl-D ends it.", file=sys.stderr)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as e:
        raise Invalid(f"stdin is no UTF-8: {e.reason} at byte {e.start}", hint="Convert the text to UTF-8.") from None
