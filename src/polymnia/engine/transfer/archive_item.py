"""What an archive is made of, and the one place that says why one could not be read or written."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from polymnia.errors import Fault, Invalid

__all__ = [
    "FORMAT",
    "HEAD",
    "SECTIONS",
    "VERSION",
    "ArchiveForm",
    "ArchiveLimits",
    "Broken",
    "Item",
    "Section",
    "check_head",
    "check_whole",
    "cannot_read",
    "cannot_write",
]

ArchiveForm = Literal["json", "yaml"]
Section = Literal["head", "memories", "associations", "unknown"]

FORMAT = "polymnia-memories"
VERSION = 1
HEAD = ("format", "version", "scope")
SECTIONS: dict[str, Section] = {"memories": "memories", "associations": "associations"}


class ArchiveLimits(Struct, frozen=True):
    """Sizes an archive may have; they are held while it is read, so that no bomb is ever unpacked.

    ``total`` counts bytes after decompression, ``record`` those of one memory or association as it is written,
    ``values`` the values inside of one, ``text`` those of one text in UTF-8, ``depth`` the brackets around a value.
    """

    total: int = 2 * 1024**3
    record: int = 32 * 1024**2
    values: int = 1_000_000
    text: int = 5 * 1024**2
    depth: int = 100
    items: int = 10_000_000


class Broken(NamedTuple):
    """Stands for a record that cannot be taken: why, and the line it begins on."""

    reason: str
    line: int


class Item(NamedTuple):
    """One thing read from an archive.

    A record of a section has its place in it, counted from 0, and is an object or ``Broken``. ``head`` items are
    one-key objects, ``unknown`` ones the names of keys that mean nothing here and were passed over.
    """

    section: Section
    position: int
    value: dict[str, Any] | Broken | str


def check_head(
    key: str, value: object, where: str | None = None, *, format: str = FORMAT, version: int = VERSION
) -> None:
    """Refuse a file that says it is something else, or newer than this reader."""
    if key == "format" and value != format:
        raise cannot_read(f"its format is {value!r:.80}, not {format!r}", where=where)
    if key == "version" and (type(value) is not int or not 1 <= value <= version):
        raise cannot_read(f"it is of version {value!r:.80}, and this Polymnia reads version {version}", where=where)


def check_whole(keys: Collection[str]) -> None:
    """Refuse a document that has nothing of an archive in it, rather than find no memories there."""
    if "format" not in keys and not any(key in keys for key in SECTIONS):
        keys = ", ".join(f"{key!r:.40}" for key in list(keys)[:6]) or "none"
        raise cannot_read(
            f"it is no archive: it has neither memories nor associations nor a format; its keys are {keys}"
        )


def cannot_read(why: str, *, where: str | None = None) -> Fault:
    """The fault of an archive that is broken, over a limit or something else; ``where`` is the place in it."""
    text = f"The archive cannot be read: {why}" + (f" ({where})" if where else "")
    return Invalid(text, hint="Correct the archive and import it again; nothing was imported.", where=where)


def cannot_write(why: str, *, where: str | None = None) -> Fault:
    """The fault of a record that no archive can hold."""
    text = f"The archive cannot be written: {why}" + (f" ({where})" if where else "")
    return Invalid(text, hint="Correct the memory and export again; no file was written.", where=where)
