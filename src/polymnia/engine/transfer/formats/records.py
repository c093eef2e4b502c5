"""Records of a file: its layout, its limits, and why a record or a whole file cannot be read or written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any, NamedTuple

from msgspec import Struct

from polymnia.errors import Fault, Invalid
from polymnia.models import legal_text

__all__ = [
    "LARGEST_INTEGER",
    "SMALLEST_INTEGER",
    "Broken",
    "FileLimits",
    "Item",
    "Layout",
    "cannot_read",
    "cannot_write",
    "check_value",
    "shortened",
]

# Signed or unsigned, 64 bits hold it.
SMALLEST_INTEGER, LARGEST_INTEGER = -(1 << 63), (1 << 64) - 1


class FileLimits(Struct, frozen=True):
    """Sizes a file may have; they are enforced while it is read, so that no bomb is ever unpacked.

    ``total`` counts bytes after decompression, ``record`` those of one record as it is written, ``values`` the values
    inside of one, ``text`` those of one text in UTF-8, ``depth`` the brackets around a value.
    """

    total: int = 2 * 1024**3
    record: int = 32 * 1024**2
    values: int = 1_000_000
    text: int = 5 * 1024**2
    depth: int = 100
    items: int = 10_000_000


class Broken(NamedTuple):
    """Stands for a record that cannot be read: why, and the line it begins on."""

    reason: str
    line: int


class Item(NamedTuple):
    """One thing read from a file.

    A record has its position in its section, counted from 0, and is an object or ``Broken``. The section ``head`` has
    one-key objects, ``unknown`` the names of keys that mean nothing here and were skipped.
    """

    section: str
    position: int
    value: dict[str, Any] | Broken | str


class Layout(Struct, frozen=True):
    """The keys of a document: its head, then lists of records. The first section is that of a bare list."""

    format: str
    head: tuple[str, ...]
    sections: Mapping[str, str]  # key → section; other programs' names for the same lists are keys too
    otherwise: str  # what is said of a document with none of the keys
    version: int = 1

    def check_head(self, key: str, value: object, where: str | None = None) -> None:
        """Refuse a file that says it is something else, or newer than this reader."""
        if key == "format" and value != self.format:
            raise cannot_read(f"its format is {value!r:.80}, not {self.format!r}", where=where)
        if key == "version" and (type(value) is not int or not 1 <= value <= self.version):
            why = f"it is of version {value!r:.80}, and this Polymnia reads version {self.version}"
            raise cannot_read(why, where=where)

    def check_keys(self, keys: Collection[str]) -> None:
        """Refuse a document that has nothing of this layout, rather than find no records there."""
        if "format" not in keys and not any(key in keys for key in self.sections):
            found = ", ".join(f"{key!r:.40}" for key in list(keys)[:6]) or "none"
            raise cannot_read(f"{self.otherwise}; its keys are {found}")


def cannot_read(why: str, *, where: str | None = None) -> Fault:
    """The fault of a file that is broken, over a limit or something else; ``where`` is the place in it."""
    text = f"The archive cannot be read: {why}" + (f" ({where})" if where else "")
    return Invalid(text, hint="Correct the archive and import it again; nothing was imported.", where=where)


def cannot_write(why: str, *, where: str | None = None) -> Fault:
    """The fault of a record that no file can hold."""
    text = f"The archive cannot be written: {why}" + (f" ({where})" if where else "")
    return Invalid(text, hint="Correct the memory and export again; no file was written.", where=where)


def shortened(text: str) -> str:
    """A name as a message quotes it: cut, and with nothing invisible in it."""
    return repr(text[:60])[1:-1] + ("…" if len(text) > 60 else "")


def check_value(value: object, limits: FileLimits) -> str | None:
    """Why a value cannot be stored, with the path to the place, or None."""
    try:
        _check(value, limits, 1)
    except _Flaw as e:
        path = "".join(reversed(e.path)).removeprefix(".")[:200]
        if e.why is not None:
            return f"{path}: {e.why}"
        try:
            legal_text(e.text, path if not e.is_key else f"a key of {path or 'the record'}", limits.text)
        except Invalid as fault:
            return fault.message
    return None


class _Flaw(Exception):
    """Something illegal; every caller it passes adds its step to the path, from the end."""

    def __init__(self, why: str | None, text: str = "", *, is_key: bool = False) -> None:
        self.why = why
        self.text = text
        self.is_key = is_key
        self.path: list[str] = []


def _check(value: object, limits: FileLimits, depth: int) -> None:
    if isinstance(value, str):
        _check_text(value, limits)
    elif isinstance(value, (dict, list)):
        if depth > limits.depth:
            raise _Flaw(f"nested more than {limits.depth} deep")
        step: object = None
        try:
            if isinstance(value, dict):
                for key in value:
                    _check_text(key, limits, is_key=True)
            for step, member in enumerate(value) if isinstance(value, list) else value.items():  # noqa: B007
                _check(member, limits, depth + 1)
        except _Flaw as e:
            if step is not None:
                e.path.append(f"[{step}]" if isinstance(value, list) else f".{shortened(str(step))}")
            raise
    elif isinstance(value, float):
        if not isfinite(value):
            raise _Flaw("a number out of range")
    elif type(value) is int and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        raise _Flaw("an integer beyond 64 bits")


def _check_text(text: str, limits: FileLimits, *, is_key: bool = False) -> None:
    try:
        legal_text(text, "", limits.text)
    except Invalid:
        raise _Flaw(None, text, is_key=is_key) from None
