"""What a value of an archive may hold, said of one that may not."""

from __future__ import annotations

from math import isfinite
from typing import Any

from polymnia.engine.transfer.archive_item import ArchiveLimits
from polymnia.errors import Invalid
from polymnia.models import legal_text

__all__ = ["LEAST", "MOST", "flaw", "shown"]

# Signed or unsigned, 64 bits hold it.
LEAST, MOST = -(1 << 63), (1 << 64) - 1


def flaw(value: Any, limits: ArchiveLimits) -> str | None:
    """Why a value cannot be taken, with the way to the place, or None."""
    try:
        _check(value, limits, 1)
    except _Flaw as e:
        way = "".join(reversed(e.way)).removeprefix(".")
        if e.why is not None:
            return f"{way[:200]}: {e.why}"
        try:
            legal_text(e.text, way[:200] if not e.is_key else f"a key of {way[:200] or 'the record'}", limits.text)
        except Invalid as told:
            return told.message
    return None


class _Flaw(Exception):
    """Something illegal; the way to it is put together, from its end, by those who pass it on."""

    def __init__(self, why: str | None, text: str = "", *, is_key: bool = False) -> None:
        self.why = why
        self.text = text
        self.is_key = is_key
        self.way: list[str] = []


def _check(value: Any, limits: ArchiveLimits, depth: int) -> None:
    kind = type(value)
    if kind is str:
        _check_text(value, limits)
    elif kind is dict or kind is list:
        if depth > limits.depth:
            raise _Flaw(f"nested more than {limits.depth} deep")
        step: Any = None
        try:
            if kind is list:
                for step, member in enumerate(value):  # noqa: B007 - the handler wants the last one
                    _check(member, limits, depth + 1)
            else:
                for key in value:
                    _check_text(key, limits, is_key=True)
                for step, member in value.items():  # noqa: B007
                    _check(member, limits, depth + 1)
        except _Flaw as e:
            if step is not None:
                e.way.append(f"[{step}]" if kind is list else f".{shown(step)}")
            raise
    elif kind is float:
        if not isfinite(value):
            raise _Flaw("a number out of range")
    elif kind is int and not LEAST <= value <= MOST:
        raise _Flaw("an integer beyond 64 bits")


def _check_text(text: str, limits: ArchiveLimits, *, is_key: bool = False) -> None:
    try:
        legal_text(text, "", limits.text)
    except Invalid:
        raise _Flaw(None, text, is_key=is_key) from None


def shown(text: str) -> str:
    """A key as it stands in a message: cut, and with nothing invisible in it."""
    return repr(text[:60])[1:-1] + ("…" if len(text) > 60 else "")
