"""A project as a zip: the JSON document, one page of Markdown an item for people, and a manifest with checksums.

``project.json`` is what is read again. Nothing in the file tells when, where or by whom it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from typing import Any

from msgspec.json import Encoder

from polymnia.engine.transfer.project_item import FORMAT, VERSION, Counting
from polymnia.engine.transfer.project_json import json_pieces
from polymnia.engine.transfer.project_markdown import item_page
from polymnia.engine.transfer.project_zip_entries import Entries, Waiting

__all__ = ["DOCUMENT", "MANIFEST", "PAGES", "zip_pieces"]

DOCUMENT, MANIFEST, PAGES = "project.json", "manifest.json", "items/"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_encode = Encoder().encode


def zip_pieces(head: dict[str, Any], items: Counting, relationships: Counting, *, compress: bool) -> Iterator[bytes]:
    """The file in pieces. The JSON document waits until every page is written, since each item comes only once."""
    entries, pages = Entries(compress=compress), _Pages(items)
    with closing(Waiting(compress=compress)) as document:
        check = sha256()
        for piece in json_pieces(head, pages, relationships):
            document.add(piece)
            check.update(piece)
            for name, page in pages.taken():
                yield entries.entry(name, page)
        document.complete()
        pages.enter(DOCUMENT, document.size, check.hexdigest())
        yield from entries.waiting(DOCUMENT, document)
    counts = {"items": items.count, "relationships": relationships.count, "versions": items.versions}
    yield entries.entry(
        MANIFEST,
        b'{\n  "format": "%b",\n  "version": %d,\n  "counts": %b,\n  "files": {\n%b\n  }\n}\n'
        % (FORMAT.encode(), VERSION, _encode(counts), bytes(pages.listed)),
    )
    yield entries.end()


class _Pages:
    """Makes the page of each item that passes on its way into the document, and lists all files for the manifest."""

    def __init__(self, items: Counting) -> None:
        self._items = items
        self._names: set[str] = set()
        self._made: list[tuple[str, bytes]] = []
        self.listed = bytearray()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for position, item in enumerate(self._items, 1):
            name, page = self._name(item, position), item_page(item)
            self.enter(name, len(page), sha256(page).hexdigest())
            self._made.append((name, page))
            yield item

    def taken(self) -> list[tuple[str, bytes]]:
        """The pages that were made since the last time."""
        made, self._made = self._made, []
        return made

    def enter(self, name: str, size: int, check: str) -> None:
        """Enter a file in the manifest."""
        line = b'    %b: {"bytes":%d,"sha256":"%b"}' % (_encode(name), size, check.encode())
        self.listed += b",\n" + line if self.listed else line

    def _name(self, item: dict[str, Any], position: int) -> str:
        """A name every file system takes, and none takes for another's."""
        id = str(item.get("content_id", ""))
        name = _UNSAFE.sub("-", id)[:100].strip(".-")
        if name != id or not name or _RESERVED.fullmatch(name) or name.lower() in self._names:
            name = f"{name or 'item'}~{position}"  # no safe name has a tilde
        else:
            self._names.add(name.lower())
        return f"{PAGES}{name}.md"
