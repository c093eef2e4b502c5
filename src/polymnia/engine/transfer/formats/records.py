"""Records of a file: its layout, its limits, and why a record or a whole file cannot be read or written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite
from typing import NamedTuple

from msgspec import Struct

from polymnia.errors import Fault, Invalid
from polymnia.models import JsonObject as JsonObject
from polymnia.models import legal_text

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
    value: JsonObject | Broken | str


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
    return _flaw(value, limits, ())


def _flaw(value: object, limits: FileLimits, path: tuple[str | int, ...]) -> str | None:
    if isinstance(value, str):
        return _text_flaw(value, limits, path)
    if isinstance(value, (dict, list)):
        if len(path) >= limits.depth:
            return f"{_shown(path)}: nested more than {limits.depth} deep"
        for key in value if isinstance(value, dict) else ():
            if why := _text_flaw(key, limits, path, is_key=True):
                return why
        for step, member in value.items() if isinstance(value, dict) else enumerate(value):
            if why := _flaw(member, limits, (*path, step)):
                return why
    elif isinstance(value, float) and not isfinite(value):
        return f"{_shown(path)}: a number out of range"
    elif type(value) is int and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        return f"{_shown(path)}: an integer beyond 64 bits"
    return None


def _text_flaw(text: str, limits: FileLimits, path: tuple[str | int, ...], *, is_key: bool = False) -> str | None:
    try:
        legal_text(text, "", limits.text)
    except Invalid:
        try:
            legal_text(text, f"a key of {_shown(path) or 'the record'}" if is_key else _shown(path), limits.text)
        except Invalid as fault:
            return fault.message
    return None


def _shown(path: tuple[str | int, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{shortened(step)}" for step in path)
    return "".join(steps).removeprefix(".")[:200]
