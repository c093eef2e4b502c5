"""A project as a zip: the JSON document, a Markdown page per item for people to read, and a manifest with checksums.

Imports read ``project.json``. Nothing in the file shows when, where or by whom it was made. Imports never unpack a zip
to disk, and check sizes and checksums before trusting anything in it.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from hashlib import file_digest, sha256
from tempfile import SpooledTemporaryFile
from typing import BinaryIO

from polymnia.engine.transfer.formats.json_records import json_pieces, read_json
from polymnia.engine.transfer.formats.project import PROJECT, Written
from polymnia.engine.transfer.formats.project_markdown import item_page, read_page
from polymnia.engine.transfer.formats.records import (
    BYTE_ORDER_MARK,
    Broken,
    FileLimits,
    Item,
    JsonObject,
    Source,
    cannot_read,
    shortened,
)

DOCUMENT, MANIFEST, PAGES = "project.json", "manifest.json", "items/"
_CHUNK = 256 * 1024
_IN_MEMORY = 8 * 1024**2
_LEVEL = 4
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
# Bytes. The list of entries is held in memory while a zip is read; this allows a million of them.
_DIRECTORY = 128 * 1024**2
_MANIFEST = 256 * 1024**2
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TAIL = 22 + 65535


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def write_zip(
    out: BinaryIO,
    items: Iterable[JsonObject],
    relationships: Iterable[JsonObject],
    done: Written,
    *,
    compress: bool,
) -> int:
    """Write the file and return its size. The document is buffered until all pages are written: items are read once."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    files: dict[str, JsonObject] = {}
    names: set[str] = set()
    begin = out.tell()
    with SpooledTemporaryFile(_IN_MEMORY) as document, zipfile.ZipFile(out, "w", method, compresslevel=_LEVEL) as file:

        def paged() -> Iterator[JsonObject]:
            for item in items:
                name, page = _page_name(item, names, len(files) + 1), item_page(item)
                files[name] = {"bytes": len(page), "sha256": sha256(page).hexdigest()}
                file.writestr(_entry(name, method), page, compresslevel=_LEVEL)
                yield item

        check = sha256()
        for piece in json_pieces(PROJECT, {}, paged(), relationships):
            document.write(piece)
            check.update(piece)
        files[DOCUMENT] = {"bytes": document.tell(), "sha256": check.hexdigest()}
        document.seek(0)
        with file.open(_entry(DOCUMENT, method), "w", force_zip64=True) as entry:
            while piece := document.read(_CHUNK):
                entry.write(piece)
        counts = {"items": done.items, "relationships": done.relationships, "versions": done.versions}
        manifest = {"format": PROJECT.format, "version": PROJECT.version, "counts": counts, "files": files}
        file.writestr(_entry(MANIFEST, method), json.dumps(manifest, indent=2) + "\n", compresslevel=_LEVEL)
    return out.tell() - begin


def _entry(name: str, method: int) -> zipfile.ZipInfo:
    """A regular file's entry, dated to the earliest day a zip can represent."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = method
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    return entry


def _page_name(item: JsonObject, names: set[str], position: int) -> str:
    """A name that is valid and unique on every file system."""
    id = str(item.get("content_id", ""))
    name = _UNSAFE.sub("-", id)[:100].strip(".-")
    if name != id or not name or _RESERVED.fullmatch(name) or name.lower() in names:
        name = f"{name or 'item'}~{position}"  # no safe name has a tilde
    else:
        names.add(name.lower())
    return f"{PAGES}{name}.md"


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────


def read_zip(source: BinaryIO, limits: FileLimits) -> Iterator[Item]:
    """Read the items of the document in a zip, or of its Markdown pages if it has no document."""
    size = source.seek(0, os.SEEK_END)
    if size > limits.total:
        raise cannot_read(f"it is larger than {limits.total:,} bytes, which is the limit")
    check_directory(source, size)
    try:
        with zipfile.ZipFile(source) as archive:
            yield from _items(archive, limits)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as e:
        raise cannot_read(f"its zip data are damaged: {shortened(str(e))}") from None


def _items(archive: zipfile.ZipFile, limits: FileLimits) -> Iterator[Item]:
    entries = _checked(archive, limits)
    if DOCUMENT in entries:
        counts = _check_manifest(archive, entries, limits) if MANIFEST in entries else None
        found = {"items": 0, "relationships": 0}
        with archive.open(entries[DOCUMENT]) as document:
            for item in read_json(Source(document, limits.total), limits, PROJECT):  # type: ignore[arg-type]
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
        yield Item("items", position, Broken(f"{shortened(name)}: {value}", 1) if isinstance(value, str) else value)


def _page(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: FileLimits) -> JsonObject | str:
    if entry.file_size > limits.record:
        return f"it has more than {limits.record:,} bytes, which is the limit"
    return read_page(archive.read(entry).removeprefix(BYTE_ORDER_MARK), limits)


def _checked(archive: zipfile.ZipFile, limits: FileLimits) -> dict[str, zipfile.ZipInfo]:
    """The files of a zip by name; refuses unsafe names, links, encryption and excessive sizes."""
    entries: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for entry in archive.infolist():
        name = entry.orig_filename
        if entry.is_dir() and not entry.file_size:
            continue
        check_entry(entry, limits)
        if name in entries:
            raise cannot_read("a name appears twice in it", where=f"entry {shortened(name)!r}")
        total += entry.file_size
        if total > limits.total:
            raise cannot_read(f"it is larger than {limits.total:,} bytes when unpacked, which is the limit")
        entries[name] = entry
    if len(entries) > limits.items + 2:
        raise cannot_read(f"it has more than {limits.items:,} files, which is the limit")
    return entries


def check_entry(entry: zipfile.ZipInfo, limits: FileLimits) -> None:
    """Refuse an entry with an unsafe name, a link, an encrypted one, and one that is too large when unpacked."""
    name = entry.orig_filename
    where, parts = f"entry {shortened(name)!r}", name.split("/")
    if "\\" in name or ":" in parts[0] or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise cannot_read("a name in it leads out of it", where=where)
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise cannot_read("it holds a link or a device", where=where)
    if entry.flag_bits & _ENCRYPTED:
        raise cannot_read("it is encrypted", where=where)
    if entry.compress_type not in _METHODS:
        raise cannot_read("it is compressed in a way that is not read here", where=where)
    if entry.file_size > limits.total:
        raise cannot_read(f"it is larger than {limits.total:,} bytes when unpacked, which is the limit", where=where)


def _check_manifest(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], limits: FileLimits) -> JsonObject:
    """Compare every file with its checksum and return the manifest's counts."""
    if entries[MANIFEST].file_size > min(limits.total, _MANIFEST):
        raise cannot_read("its manifest is too large")
    try:
        manifest = json.loads(archive.read(entries[MANIFEST]))
        files, counts = manifest["files"], manifest["counts"]
        checks = {name: file["sha256"] for name, file in files.items()}
        for key in ("format", "version"):
            PROJECT.check_head(key, manifest[key], MANIFEST)
        if not isinstance(counts, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise cannot_read("its manifest is none") from None
    for name, check in checks.items():
        if name not in entries:
            raise cannot_read("a file of its manifest is missing", where=f"entry {shortened(name)!r}")
        with archive.open(entries[name]) as entry:
            if file_digest(entry, "sha256").hexdigest() != check:  # type: ignore[arg-type]
                raise cannot_read(
                    "a file is not what its manifest says; what was edited is imported without the manifest",
                    where=f"entry {shortened(name)!r}",
                )
    if DOCUMENT not in checks:
        raise cannot_read(f"its manifest does not tell of {DOCUMENT}")
    return counts


def check_directory(file: BinaryIO, size: int) -> None:
    """Refuse a list of entries that is too large for memory, before it is read."""
    file.seek(max(0, size - _TAIL - 20))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise cannot_read("its zip data break off")
    size_listed = int.from_bytes(tail[at + 12 : at + 16], "little")
    if size_listed == 0xFFFFFFFF or tail[at - 20 : at - 16] == b"PK\x06\x07":
        position = int.from_bytes(tail[at - 12 : at - 4], "little")
        file.seek(min(position, size))
        size_listed = int.from_bytes(file.read(56)[40:48], "little")
    if size_listed > _DIRECTORY:
        raise cannot_read(f"its list of entries has more than {_DIRECTORY:,} bytes, which is the limit")
