"""Reading a zip: nothing is unpacked to disk, nothing is believed before it was counted and checked."""

from __future__ import annotations

import json
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import IO, Any, BinaryIO

from polymnia.engine.transfer.archive_item import ArchiveLimits, Broken, cannot_read
from polymnia.engine.transfer.archive_legal import shown
from polymnia.engine.transfer.archive_source import Source
from polymnia.engine.transfer.project_item import ProjectItem, check_head
from polymnia.engine.transfer.project_json import read_json_project
from polymnia.engine.transfer.project_markdown import read_page
from polymnia.engine.transfer.project_zip import DOCUMENT, MANIFEST

__all__ = ["read_zip_project"]

_CHUNK = 256 * 1024
_IN_MEMORY = 8 * 1024**2
# The list of entries is held in memory while a zip is read: this is a million of them.
_DIRECTORY = 128 * 1024**2
_MANIFEST = 256 * 1024**2
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TAIL = 22 + 65535


def read_zip_project(start: bytes, source: BinaryIO, limits: ArchiveLimits) -> Iterator[ProjectItem]:
    """The items of the document in a zip, or where there is none, of its pages of Markdown.

    ``start`` is what was read of ``source`` already.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
        file.write(start)
        size = len(start)
        while piece := source.read(_CHUNK):
            size += len(piece)
            if size > limits.total:
                raise cannot_read(f"it is larger than {limits.total:,} bytes, which is the limit")
            file.write(piece)
        _check_directory(file, size)
        try:
            with zipfile.ZipFile(file) as archive:
                yield from _items(archive, limits)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as e:
            raise cannot_read(f"its zip data are damaged: {shown(str(e))}") from None


def _items(archive: zipfile.ZipFile, limits: ArchiveLimits) -> Iterator[ProjectItem]:
    entries = _checked(archive, limits)
    if DOCUMENT in entries:
        counts = _check_manifest(archive, entries, limits) if MANIFEST in entries else None
        found = {"items": 0, "relationships": 0}
        with archive.open(entries[DOCUMENT]) as document:
            for item in read_json_project(Source(document, limits.total), limits):  # type: ignore[arg-type]
                if item.section in found:
                    found[item.section] += 1
                yield item
        if counts is not None and any(counts.get(section) != count for section, count in found.items()):
            raise cannot_read("its document does not hold as much as its manifest says")
        return
    pages = sorted(name for name in entries if name.lower().endswith((".md", ".markdown")))
    if not pages:
        raise cannot_read(f"it holds neither {DOCUMENT} nor a page of Markdown")
    for position, name in enumerate(pages):
        value = _page(archive, entries[name], limits)
        told = Broken(f"{shown(name)}: {value}", 1) if isinstance(value, str) else value
        yield ProjectItem("items", position, told)


def _page(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: ArchiveLimits) -> dict[str, Any] | str:
    if entry.file_size > limits.record:
        return f"it has more than {limits.record:,} bytes, which is the limit"
    return read_page(archive.read(entry).removeprefix(b"\xef\xbb\xbf"), limits)


def _checked(archive: zipfile.ZipFile, limits: ArchiveLimits) -> dict[str, zipfile.ZipInfo]:
    """The files of a zip by their names, all of which lead to a place inside of it."""
    entries: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for entry in archive.infolist():
        name = entry.orig_filename
        where = f"entry {shown(name)!r}"
        if entry.is_dir() and not entry.file_size:
            continue
        parts = name.split("/")
        if "\\" in name or ":" in parts[0] or "\0" in name or any(part in ("", ".", "..") for part in parts):
            raise cannot_read("a name in it leads out of it", where=where)
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise cannot_read("it holds a link or a device", where=where)
        if name in entries:
            raise cannot_read("a name appears twice in it", where=where)
        if entry.flag_bits & _ENCRYPTED:
            raise cannot_read("it is encrypted", where=where)
        if entry.compress_type not in _METHODS:
            raise cannot_read("it is compressed in a way that is not read here", where=where)
        total += entry.file_size
        if total > limits.total:
            raise cannot_read(f"it is larger than {limits.total:,} bytes when unpacked, which is the limit")
        entries[name] = entry
    if len(entries) > limits.items + 2:
        raise cannot_read(f"it has more than {limits.items:,} files, which is the limit")
    return entries


def _check_manifest(
    archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], limits: ArchiveLimits
) -> dict[str, Any]:
    """Compare every file with its checksum; the counts the manifest tells."""
    if entries[MANIFEST].file_size > min(limits.total, _MANIFEST):
        raise cannot_read("its manifest is too large")
    try:
        manifest = json.loads(archive.read(entries[MANIFEST]))
        files, counts = manifest["files"], manifest["counts"]
        checks = {name: file["sha256"] for name, file in files.items()}
        for key in ("format", "version"):
            check_head(key, manifest[key], MANIFEST)
        if not isinstance(counts, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise cannot_read("its manifest is none") from None
    for name, check in checks.items():
        if name not in entries:
            raise cannot_read("a file of its manifest is missing", where=f"entry {shown(name)!r}")
        with archive.open(entries[name]) as entry:
            if _checksum(entry) != check:
                raise cannot_read(
                    "a file is not what its manifest says; what was edited is imported without the manifest",
                    where=f"entry {shown(name)!r}",
                )
    if DOCUMENT not in checks:
        raise cannot_read(f"its manifest does not tell of {DOCUMENT}")
    return counts


def _checksum(entry: IO[bytes]) -> str:
    check = sha256()
    while piece := entry.read(_CHUNK):
        check.update(piece)
    return check.hexdigest()


def _check_directory(file: IO[bytes], size: int) -> None:
    """Refuse a list of entries too long to be held, before anything reads it."""
    file.seek(max(0, size - _TAIL - 20))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise cannot_read("its zip data break off")
    listed = int.from_bytes(tail[at + 12 : at + 16], "little")
    if listed == 0xFFFFFFFF or tail[at - 20 : at - 16] == b"PK\x06\x07":
        place = int.from_bytes(tail[at - 12 : at - 4], "little")
        file.seek(min(place, size))
        listed = int.from_bytes(file.read(56)[40:48], "little")
    if listed > _DIRECTORY:
        raise cannot_read(f"its list of entries has more than {_DIRECTORY:,} bytes, which is the limit")
    file.seek(0)
