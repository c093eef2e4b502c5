"""Tells what a path holds by its content: a file of another program, a zip of them, or a folder of notes."""

from __future__ import annotations

import os
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import BinaryIO, cast

from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.foreign import json_files, memory_service, notes
from polymnia.engine.transfer.foreign.items import ForeignSource, left_out
from polymnia.engine.transfer.formats.project_zip import DOCUMENT, check_directory, check_entry
from polymnia.engine.transfer.formats.records import FileLimits, Item, cannot_read, reason_of, shortened
from polymnia.errors import ImportFailed, Invalid

_SQLITE, _ZIP = b"SQLite format 3\0", (b"PK\x03\x04", b"PK\x05\x06")
_SAYS_UTF8 = 0x800
_PAGE, _EXPORT = (".md", ".markdown"), (".json", ".jsonl")
_PART = 1 << 20  # bytes
_FILES = 100_000  # in a zip; more of them take longer to list than anybody waits
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)


def recognize(path: str, total: int) -> ForeignSource | None:
    """What a path holds; None if it is nothing of another program. ``total`` is the most bytes to read of it."""
    if os.path.isdir(path):
        return _of_folder(path, total)
    if _is_database(path):
        return _of_database(path)
    return recognize_file(path, os.path.realpath(path), total)


def _is_database(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _of_database(path: str) -> ForeignSource | None:
    found = memory_service.is_store(path)
    return ForeignSource(memory_service.LABEL, partial(memory_service.read_store, path)) if found else None


def recognize_file(file: str | bytes, name: str, total: int) -> ForeignSource | None:
    """What a file, given by its path or its bytes, holds, except a database. ``name`` tells its notes from others."""

    def opened() -> BinaryIO:
        return open(file, "rb") if isinstance(file, str) else BytesIO(file)

    with opened() as start:
        is_zip = start.read(4).startswith(_ZIP)
    return _of_zip(file, name, total) if is_zip else _of_json(opened, total)


def _of_json(opened: Callable[[], BinaryIO], total: int) -> ForeignSource | None:
    found = json_files.recognize(opened, total)
    if found is None:
        return None
    return ForeignSource(found.shape.label, partial(json_files.read, opened, total, found))


def _of_folder(path: str, total: int) -> ForeignSource | None:
    """A folder: an export that was unpacked, the store of another program, or notes in Markdown."""
    folder = Folder(path)
    links: list[str] = []
    files = notes.listed(folder, links)
    if pages := notes.pages_of_folder(folder, files):
        return notes.source(pages, os.path.basename(folder.path), folder.path, files, links)
    parts = {name: _of_json(partial(folder.open, name), total) for name in files if name.lower().endswith(_EXPORT)}
    for name in files:
        # Those further down are backups of it, with what has been deleted since.
        if "/" not in name and _is_database(os.path.join(folder.path, name)):
            parts[name] = _of_database(os.path.join(folder.path, name))
    return _joined(parts, len(files))


def _joined(parts: dict[str, ForeignSource | None], files: int) -> ForeignSource | None:
    """Several files as one source. Those that are no known export are named if their ending is one's, or counted."""
    known = {name: source for name, source in parts.items() if source is not None}
    if not known:
        return None

    def read() -> Iterator[Item]:
        for name, source in sorted(known.items()):
            try:
                yield from source.read()
            except Invalid as e:
                raise cannot_read(f"{name!r:.200} in it: {reason_of(e.message)}") from None
        for name in sorted(parts.keys() - known.keys()):
            yield left_out(f"{name}: it is no known export")
        for _ in range(files - len(parts)):
            yield left_out("files in it that are no known export")

    labels = list(dict.fromkeys(known[name].label for name in sorted(known)))
    return ForeignSource(" and ".join(labels), read)


def _of_zip(file: str | bytes, path: str, total: int) -> ForeignSource | None:
    """A zip: the exports in it, or its pages of Markdown. Nothing of it is unpacked to a disk."""
    limits = FileLimits(total=total)
    with _zip(_content(file)) as archive:
        entries = {entry.orig_filename: entry for entry in archive.infolist() if not entry.is_dir()}
        if len(entries) > _FILES:
            raise cannot_read(f"it has more than {_FILES:,} files, which is the limit")
        wanted = [name for name in entries if name.lower().endswith((*_EXPORT, *_PAGE))]
        if DOCUMENT in wanted:
            return None  # a project file
        for name in wanted:
            check_entry(entries[name], limits)

    archive = zipfile.ZipFile(_content(file))  # closed with the last function that reads from it

    def opener(name: str) -> Callable[[], BinaryIO]:
        return lambda: cast(BinaryIO, _Entry(archive, name))

    parts = {name: _of_json(opener(name), total) for name in wanted if name.lower().endswith(_EXPORT)}
    for name in (name for name, part in parts.items() if part is None):
        with opener(name)() as entry:  # damage may make an export look like nothing known: the checksum tells
            while entry.read(_PART):
                pass
    found = _joined(parts, len(entries))
    pages = [name for name in wanted if name.lower().endswith(_PAGE) and not _is_hidden(name)]
    if found is not None or not pages or all(name.startswith("items/") for name in pages):
        return found
    files = [name for name in entries if not _is_hidden(name)]
    spelled = {name: _spelled(entries[name]) for name in files}
    # Most programs zip the folder itself.
    top = posixpath.commonpath([posixpath.dirname(name) for name in spelled.values()])
    inside = {name: posixpath.relpath(spelled[name], top or ".") for name in files}
    return notes.source(
        [notes.PageFile(inside[name], notes.zip_time(entries[name].date_time), opener(name)) for name in sorted(pages)],
        posixpath.basename(top) or os.path.splitext(os.path.basename(path))[0],
        path,
        inside.values(),
    )


def _spelled(entry: zipfile.ZipInfo) -> str:
    """The name of a file of a zip. macOS writes UTF-8 without saying so; without a word it counts as code page 437."""
    name = entry.orig_filename
    if entry.flag_bits & _SAYS_UTF8:
        return name
    try:
        return name.encode("cp437").decode()
    except UnicodeError:
        return name


def _is_hidden(name: str) -> bool:
    """Whether a file of a zip is hidden, as settings and what was deleted are, or one of those that macOS adds."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def _content(file: str | bytes) -> str | BinaryIO:
    """A file as the library takes it: it opens and closes what has a path."""
    return file if isinstance(file, str) else BytesIO(file)


@contextmanager
def _zip(given: str | BinaryIO) -> Iterator[zipfile.ZipFile]:
    with open(given, "rb") if isinstance(given, str) else given as file:
        check_directory(file, file.seek(0, os.SEEK_END))
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive
        except _DAMAGED as e:
            raise cannot_read(f"its zip data are damaged: {shortened(str(e))}") from None


class _Entry:
    """A file of a zip, opened for reading; damage of the zip is a fault, as in any other file."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._name = name
        try:
            self._file = archive.open(name)
        except _DAMAGED as e:
            raise self._damage(e) from None

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except _DAMAGED as e:
            raise self._damage(e) from None

    def _damage(self, e: Exception) -> ImportFailed:
        # No Invalid, which is taken for a file of another kind while a source is recognized.
        return ImportFailed(f"{self._name!r:.200} in it is damaged: {shortened(str(e))}")

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def __enter__(self) -> _Entry:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
