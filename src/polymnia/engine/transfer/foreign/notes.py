"""Folders of notes in Markdown: pages of our own, basic-memory, Obsidian vaults, and plain ones.

A note is a memory whose name is its title. Its folder is its scope. Links between notes are relations; a link to a note
that does not exist is a relation to that name.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO
from unicodedata import normalize

from msgspec import Struct

from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.foreign import markdown
from polymnia.engine.transfer.foreign.items import (
    EDITED,
    FILE,
    MEMORIES,
    RELATIONS,
    ForeignSource,
    file_time,
    left_out,
    memory_item,
    relation_item,
    scope_of,
    stable_id,
)
from polymnia.engine.transfer.formats import page
from polymnia.engine.transfer.formats.records import Item, JsonObject
from polymnia.errors import Fault

PAGES = (".md", ".markdown")
BASE = "base"
"""The key of a record's digest when its page was written."""
_LARGEST = 32 * 1024**2
_NOTE = "note"
_FORMAT = re.compile(rb"^format: " + page.FORMAT.encode() + rb"\r?$", re.MULTILINE)


class PageFile(Struct, frozen=True):
    """A file of a folder or a zip: its name inside, its time of change in nanoseconds, and how to open it."""

    name: str
    changed: int
    open: Callable[[], BinaryIO]


class Head(Struct, frozen=True):
    """What other notes may call a note by."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    is_basic_memory: bool = False
    is_page: bool = False


def listed(
    folder: Folder, links: list[str] | None = None, closed: list[str] | None = None
) -> dict[str, tuple[int, int]]:
    """The files of a folder and its subfolders, with time of change and size; without hidden ones.

    Links are not followed; their names are added to ``links``. Subfolders that cannot be read are added to ``closed``.
    """
    found: dict[str, tuple[int, int]] = {}
    waiting = [(folder.path, "")]
    while waiting:
        at, inside = waiting.pop()
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    with suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append((entry.path, f"{inside}{entry.name}/"))
                        elif entry.is_file(follow_symlinks=False):
                            status = entry.stat(follow_symlinks=False)
                            found[inside + entry.name] = (status.st_mtime_ns, status.st_size)
                        elif links is not None and entry.is_symlink():
                            links.append(inside + entry.name)
        except FileNotFoundError:
            pass  # gone meanwhile
        except OSError:
            if closed is not None:
                closed.append(inside.removesuffix("/"))
    return dict(sorted(found.items()))


def pages_of_folder(folder: Folder, files: dict[str, tuple[int, int]] | None = None) -> list[PageFile]:
    """The pages of a folder."""
    return [
        PageFile(name, changed, partial(folder.open, name))
        for name, (changed, _) in (listed(folder) if files is None else files).items()
        if name.lower().endswith(PAGES)
    ]


def zip_time(at: tuple[int, int, int, int, int, int]) -> int:
    """The time of a file in a zip, in nanoseconds."""
    try:
        return int(datetime(*at, tzinfo=UTC).timestamp()) * 1_000_000_000
    except ValueError:
        return 0


def source(
    pages: Sequence[PageFile], title: str, root: str, files: Iterable[str] = (), links: Iterable[str] = ()
) -> ForeignSource:
    """The notes of a folder or a zip as a source. What else is among its ``files`` and ``links`` is counted."""
    notes = Notes(title, root)
    others = [name for name in files if not name.lower().endswith(PAGES)]

    def read() -> Iterator[Item]:
        yield from notes.read(pages)
        for name in others:
            ending = posixpath.splitext(name)[1].lower()
            yield left_out(f"files that are no pages of Markdown ({ending[:12] or 'without an ending'})")
        for name in links:
            yield left_out(f"{name}: it is a link, and links are not followed")

    return ForeignSource("a folder of Markdown", read)


class Notes:
    """Reads the notes of a folder; remembers what each is called, so that a changed one can be read alone."""

    def __init__(self, title: str, root: str) -> None:
        self._title = title
        self._root = root
        self._heads: dict[str, tuple[int, Head | None]] = {}
        self._called: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._links: dict[str, set[str]] = {}  # file → the words its links may be read as

    def read(self, pages: Sequence[PageFile], only: Iterable[str] | None = None) -> Iterator[Item]:
        """The items of the pages; or of some of them alone, and of those whose links lead elsewhere because of them."""
        before = self._called
        self._know(pages)
        wanted = None if only is None else set(only)
        if wanted is not None:
            words = {word for word in before.keys() | self._called if before.get(word) != self._called.get(word)}
            wanted.update(name for name, links in self._links.items() if not words.isdisjoint(links))
        basic = any(head is not None and head.is_basic_memory for _, head in self._heads.values())
        for file in pages:
            if wanted is None or file.name in wanted:
                for item in self._items(file, basic):
                    if isinstance(item.value, dict):
                        item.value[FILE] = file.name
                    yield item

    def _know(self, pages: Sequence[PageFile]) -> None:
        """Learn what the notes are called. A title that several have is the name of the one nearest to the top."""
        self._heads = {file.name: self._head(file) for file in pages}
        self._called = {}
        self._names = {}
        taken: set[str] = set()
        known = {name: head for name, (_, head) in self._heads.items() if head is not None}
        # The name of a page of ours is that of its memory.
        for name, head in sorted(known.items(), key=lambda one: (not one[1].is_page, one[0].count("/"), one[0])):
            names = (head.name, posixpath.splitext(name)[0], name, f"{head.name} ({name})")
            self._names[name] = next((one for one in names if one not in taken), head.id)
            taken.add(self._names[name])
        for name, head in known.items():
            plain = posixpath.splitext(name)[0]
            for word in {plain, posixpath.basename(plain), head.name, *head.aliases}:
                self._called.setdefault(_folded(word), []).append(name)

    def _head(self, file: PageFile) -> tuple[int, Head | None]:
        known = self._heads.get(file.name)
        if known is not None and known[0] == file.changed:
            return known
        data = _read(file)
        if isinstance(data, str):
            return file.changed, None
        if (ours := _ours(data)) is not None:
            id, name = str(ours[0].get("memory_id", "")), ours[0].get("name")
            return file.changed, Head(id, id if name is None else str(name), is_page=True)
        if _claims_to_be_ours(data):
            return file.changed, None
        try:
            note = markdown.parse(markdown.decoded(data))
        except UnicodeDecodeError:
            return file.changed, None
        name = note.title or _composed(posixpath.splitext(posixpath.basename(file.name))[0])
        called = (*note.aliases, *((note.permalink,) if note.permalink else ()))
        return file.changed, Head(self._id(file.name), name, called, note.permalink is not None)

    def _id(self, name: str) -> str:
        return stable_id(_NOTE, self._root, name)

    def _items(self, file: PageFile, basic: bool) -> Iterator[Item]:
        data = _read(file)
        if isinstance(data, str):
            yield left_out(f"{file.name}: {data}")
            return
        if (ours := _ours(data)) is not None:
            yield from _page_items(file, *ours)
            return
        try:
            note = markdown.parse(markdown.decoded(data))
        except UnicodeDecodeError as e:
            yield left_out(f"{file.name}: it is not UTF-8 (byte {e.start:,})")
            return
        if _claims_to_be_ours(data):
            why = note.flaw or "its front matter does not begin and end with a line ---"
            yield left_out(f"{file.name}: {why}; its memory is left as it is")
            return
        if note.flaw is not None:
            yield left_out(f"{file.name}: {note.flaw}; the page is kept as text")
        observed, related, body = markdown.statements(note.body) if basic else ([], [], note.body)
        changed = file_time(file.changed)
        aliases = {"aliases": note.aliases} if note.aliases else {}
        permalink = {"permalink": note.permalink} if note.permalink else {}
        id = self._id(file.name)
        yield memory_item(
            id, [*([body] if body else []), *observed], kind=note.kind or _NOTE, name=self._names[file.name],
            scope=scope_of(*map(_composed, (self._title, *posixpath.dirname(file.name).split("/")))), tags=note.tags,
            metadata=note.metadata | aliases | permalink | {FILE: file.name},
            created=note.created or note.updated or changed, updated=note.updated or changed,
            **{EDITED: changed},
        )  # fmt: skip
        links = (*related, *markdown.properties(note.metadata), *markdown.references("\n".join((body, *observed))))
        known: set[tuple[str, str]] = set()
        self._links[file.name] = set()
        for one in links:
            if (end := self._end(one, file.name)) is not None and (one.type, end["target_name"]) not in known:
                known.add((one.type, end["target_name"]))
                yield relation_item(one.type, source=id, context=one.context, **end)

    def _end(self, one: markdown.Reference, file: str) -> JsonObject | None:
        """The other end of a link: the note it leads to, or else the name it was written with; None for no note."""
        target = one.target.replace("\\", "/")
        lower = target.lower()
        if not lower.endswith(PAGES) and "." in posixpath.basename(target) and one.type == markdown.EMBED:
            return None  # a picture or another file
        if lower.endswith(PAGES):
            from urllib.parse import unquote

            target = posixpath.splitext(unquote(target))[0]
        near = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        words = [_folded(word) for word in (near, target)]
        self._links[file].update(words)
        for word in words:
            if files := self._called.get(word):
                here = posixpath.dirname(file)
                best = min(files, key=lambda name: (posixpath.dirname(name) != here, name.count("/"), name))
                head = self._heads[best][1]
                return None if head is None or best == file else {"target": head.id, "target_name": self._names[best]}
        return {"target_name": posixpath.basename(target) if lower.endswith(PAGES) else target}


def _folded(word: str) -> str:
    return _composed(word).strip().strip("/").casefold()


def _composed(name: str) -> str:
    """A name as people type it: macOS names files with letters and their marks apart, 한 as ᄒ, ᅡ and ᆫ."""
    return name if name.isascii() else normalize("NFC", name)


def _read(file: PageFile) -> bytes | str:
    """The bytes of a page, or the reason why it cannot be read."""
    try:
        with file.open() as opened:
            data = opened.read(_LARGEST + 1)
    except Fault as e:
        return e.message
    except OSError as e:
        return e.strerror or str(e)
    return data if len(data) <= _LARGEST else f"it has more than {_LARGEST:,} bytes, which is the limit"


def _plain(data: bytes) -> bytes:
    """The bytes of a page in UTF-8, also where an editor of another system has saved it with a mark before it."""
    return markdown.decoded(data).encode() if data.startswith(markdown.MARKS) else data


def _claims_to_be_ours(data: bytes) -> bool:
    """Whether a page that cannot be read as one of ours was one before it was edited, or written in part."""
    try:
        return _FORMAT.search(_plain(data)[:400]) is not None
    except UnicodeDecodeError:
        return False


def _ours(data: bytes) -> tuple[JsonObject, list[JsonObject], str] | None:
    try:
        data = _plain(data)
        return page.read_page(data) if page.FORMAT.encode() in data[:400] else None
    except UnicodeDecodeError:
        return None


def _page_items(file: PageFile, fields: JsonObject, relations: list[JsonObject], digest: str) -> Iterator[Item]:
    """The memory and the relations of a page of our own."""
    id = fields.get("memory_id")
    text_base, _, relations_base = digest.partition("-")
    if id != page.RELATIONS_ALONE:
        yield Item(MEMORIES, 0, {**fields, EDITED: file_time(file.changed), BASE: text_base})
    for one in relations:
        value = {key: value for key, value in one.items() if key not in ("from", "to")}
        start = {"source_name": one["from"]} if "from" in one else {"source": id}
        yield Item(RELATIONS, 0, {**value, **start, "target_name": one.get("to")})
    if page.relations_digest(relations) != relations_base and id != page.RELATIONS_ALONE:
        yield Item("edited relations", 0, {"memory_id": id, BASE: relations_base})
