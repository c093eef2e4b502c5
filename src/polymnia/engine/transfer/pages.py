"""Exports every memory as a page of Markdown, in folders that follow the scopes."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct

from polymnia.engine import content
from polymnia.engine.ports import Snapshot
from polymnia.engine.project import Step
from polymnia.engine.transfer.fields import digest, memory, page_relation, records_of
from polymnia.engine.transfer.formats.page import FORMAT, RELATIONS_ALONE, write_page
from polymnia.errors import ExportFailed
from polymnia.models import Filters, Record, Relation

MANIFEST = ".polymnia-pages.json"
"""Lists the pages of an export, so that the next one into the same folder removes those that are outdated."""
_BATCH = 500
_TITLE = 60  # characters of a title in the name of a page
_BYTES = 160  # of a name; file systems allow 255, with the id and the ending
_UNSAFE = re.compile(r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_LOOSE = "relations without a memory.md"


class ExportedPages(Struct, frozen=True, kw_only=True):
    """The result of an export: how many pages and relations there are, and how many outdated pages were removed."""

    pages: int
    relations: int
    removed: int
    bytes: int


class _Manifest(Struct):
    format: str
    version: int
    pages: list[str]


def export_pages(snapshot: Snapshot, path: str, *, replace: bool, step: Step | None) -> ExportedPages:
    """Write the pages. A new folder appears complete or not at all; in one that exists, pages are replaced."""
    target = os.path.abspath(path)
    outdated: set[str] = set()
    if os.path.lexists(target):
        outdated = _outdated(target, replace)
    draft = f"{target}.{os.getpid()}.tmp"
    try:
        os.makedirs(draft)
        names: set[str] = set()
        relations = size = 0
        for name, data, count in _pages(snapshot, names, step):
            size += _write(draft, name, data)
            relations += count
        written = sorted(names)
        _write(draft, MANIFEST, msgspec.json.encode(_Manifest(FORMAT, 1, written)) + b"\n")
        if os.path.lexists(target):
            removed = _replace(draft, target, written, outdated)
        else:
            os.rename(draft, target)
            removed = 0
    except OSError as e:
        raise ExportFailed(
            f"Cannot write {path}: {e.strerror}", hint="Check the folder, its rights and its space."
        ) from e
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return ExportedPages(pages=len(written), relations=relations, removed=removed, bytes=size)


def _outdated(target: str, replace: bool) -> set[str]:
    """The pages that an earlier export wrote; a folder with anything else in it is refused unless it had one."""
    if not os.path.isdir(target):
        raise ExportFailed(f"{target} is no folder", hint="Name a folder that does not exist yet.")
    try:
        with open(os.path.join(target, MANIFEST), "rb") as file:
            pages = msgspec.json.decode(file.read(), type=_Manifest).pages
    except (OSError, msgspec.MsgspecError):
        if os.listdir(target):
            why = f"{target} has files in it that no export has written"
            raise ExportFailed(why, hint="Name a folder that is empty or does not exist yet.") from None
        return set()
    if not replace:
        raise ExportFailed(f"{target} holds an export", hint="Choose another folder, or pass --force to replace it.")
    return {page for page in pages if ".." not in page.split("/") and not os.path.isabs(page)}


def _replace(draft: str, target: str, written: list[str], outdated: set[str]) -> int:
    removed = 0
    for name in (*written, MANIFEST):
        os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
        os.replace(os.path.join(draft, name), os.path.join(target, name))
    for name in outdated.difference(written):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(target, name))
            removed += 1
        with suppress(OSError):
            os.removedirs(os.path.dirname(os.path.join(target, name)))
    return removed


def _write(folder: str, name: str, data: bytes) -> int:
    path = os.path.join(folder, *name.split("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        return file.write(data)


def _pages(snapshot: Snapshot, names: set[str], step: Step | None) -> Iterator[tuple[str, bytes, int]]:
    taken: set[str] = set()
    batch: list[Record] = []
    for record in records_of(snapshot, Filters(), step):
        batch.append(record)
        if len(batch) == _BATCH:
            yield from _written(snapshot, batch, names, taken)
            batch = []
    yield from _written(snapshot, batch, names, taken)
    if loose := snapshot.loose_relations():
        relations = [{"from": one.source, **page_relation(one)} for one in loose]
        names.add(_LOOSE)
        yield _LOOSE, write_page({"memory_id": RELATIONS_ALONE, "content": ""}, relations, ""), len(relations)


def _written(
    snapshot: Snapshot, batch: list[Record], names: set[str], taken: set[str]
) -> Iterator[tuple[str, bytes, int]]:
    related: dict[str, list[Relation]] = {}
    for one in snapshot.relations_from([record.name for record in batch]) if batch else ():
        related.setdefault(one.source, []).append(one)
    for record in batch:
        name = _page_name(record, taken)
        names.add(name)
        relations = [page_relation(one) for one in related.get(record.name, ())]
        yield name, write_page(memory(record), relations, digest(content.as_draft(record))), len(relations)


def _page_name(record: Record, taken: set[str]) -> str:
    """A name that is valid and unique on every file system; a memory without a name has its id in it."""
    folder = "/".join(_safe(part) or "_" for part in record.path.split("/"))
    title = _safe(content.title_of(record)[:_TITLE])
    name = title if record.name != record.uid and title else f"{title} {record.uid[:8]}".strip()
    if f"{folder}/{name}".lower() in taken:
        name = f"{title} {record.uid}".strip()
    taken.add(f"{folder}/{name}".lower())
    return f"{folder}/{name}.md"


def _safe(text: str) -> str:
    shown = _UNSAFE.sub("-", text).strip(" .").encode()[:_BYTES].decode(errors="ignore").strip(" .")
    return f"_{shown}" if _RESERVED.fullmatch(shown) else shown
