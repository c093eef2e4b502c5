"""Pages: a text of any content type as what a reader sees of it: blocks of words, headings, code, links."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from polymnia.engine.extracting.html_page import html_page
from polymnia.engine.extracting.markdown_page import markdown_page
from polymnia.engine.extracting.page import Page
from polymnia.engine.extracting.programs import COMMENTS, of_type
from polymnia.engine.extracting.values import Heading

__all__ = ["page"]

_MOST_HEADINGS = 200
_ROWS = 20_000
_TITLES = ("title", "name", "subject", "제목", "이름", "titel", "titre", "título", "标题", "タイトル")
_DOCSTRING = re.compile(r"(?:\s*#[^\n]*\n)*\s*[rRuU]?(?:\"\"\"|''')\s*([^\n\"']{3,120})")


def page(text: str, content_type: str | None) -> Page:
    """Read a text by its content type; what has none that is known is read as plain text."""
    kind = (content_type or "text/plain").split(";", 1)[0].strip().lower()
    read = _READERS.get(kind)
    if read is None and kind.endswith("+json"):
        read = _json
    if read is None and kind.endswith(("+xml", "/xml")):
        read = html_page
    if read is not None:
        return read(text)
    language = of_type(kind)
    return markdown_page(text, strict=True) if language is None else _program(text, language)


def _json(text: str) -> Page:
    """Keys are the headings of a JSON text, and strings its words."""
    from msgspec import DecodeError
    from msgspec.json import decode

    try:
        value = decode(text)
    except (DecodeError, RecursionError, ValueError):
        return markdown_page(text, strict=True)
    found = Page()
    found.paragraphs = None
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        one, level = waiting.pop()
        if isinstance(one, str):
            if one.strip():
                found.blocks.append(("p", one))
        elif isinstance(one, dict):
            if level <= 2 and len(found.headings) < _MOST_HEADINGS:
                found.headings += [Heading(level, key) for key in one if key.strip()][:_MOST_HEADINGS]
            waiting += [(inner, level + 1) for inner in reversed(one.values())]
        elif isinstance(one, list):
            waiting += [(inner, level + 1) for inner in reversed(one)]
    if isinstance(value, dict):
        said = (value.get(key) for key in _TITLES)
        found.title = next((one.strip() for one in said if isinstance(one, str) and 0 < len(one.strip()) <= 200), None)
    found.programs.append(("json", ""))
    return found


def _csv(text: str, mark: str | None = None) -> Page:
    """A table: the first row are its headings when it reads like names of columns."""
    import csv
    from itertools import islice

    first = text.split("\n", 1)[0]
    mark = mark or max(",;\t|", key=first.count)
    found = Page(tables=True)
    try:
        rows = list(islice(csv.reader(text.splitlines(), delimiter=mark), _ROWS))
    except csv.Error:
        rows = [line.split(mark) for line in text.splitlines()[:_ROWS]]
    head = rows[0] if rows else []
    labelled = all(cell.strip() and not any(map(str.isdigit, cell[:1])) for cell in head)
    if labelled and len(rows) > 1 and len(set(head)) == len(head):
        found.headings = [Heading(1, cell.strip()) for cell in head][:_MOST_HEADINGS]
    found.blocks = [("td", " | ".join(cell for cell in row if cell)) for row in rows]
    found.paragraphs = None
    return found


def _tsv(text: str) -> Page:
    return _csv(text, "\t")


def _program(text: str, language: str) -> Page:
    """The prose of a program are its comments."""
    found = Page(programs=[(language, text)])
    comments = (match[1].strip().removesuffix("*/").rstrip() for match in COMMENTS.finditer(text))
    found.blocks = [("li", one) for one in comments if any(map(str.isalpha, one))]
    found.paragraphs = None
    if language == "python" and (said := _DOCSTRING.match(text)):
        found.title = said[1].strip()
        found.blocks.insert(0, ("p", said[1].strip()))
    return found


_READERS: dict[str, Callable[[str], Page]] = {
    "text/markdown": markdown_page,
    "text/x-markdown": markdown_page,
    "text/html": html_page,
    "application/xhtml+xml": html_page,
    "application/json": _json,
    "text/json": _json,
    "text/csv": _csv,
    "application/csv": _csv,
    "text/tab-separated-values": _tsv,
}
