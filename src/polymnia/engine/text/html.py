"""HTML: the text between its tags, scanned once from left to right, however malformed."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polymnia.engine.text.document import Document

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)")
_IN_TAG = re.compile(r"[^<>\"']+|\"[^\"<]*\"|'[^'<]*'|[\"']")
_ATTRIBUTE = re.compile(r"([A-Za-z-]{2,20})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_BLOCKS = frozenset(
    """
    p div section article main header footer nav aside li ul ol dl dt dd table tr br hr blockquote figure figcaption
    form body html pre title h1 h2 h3 h4 h5 h6 caption details summary option
    """.split()
)
_CLOSING = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
_HEADING = re.compile(r"h[1-6]$")


def read_html(text: str, found: Document) -> Document:
    """Read HTML, or anything with tags like it, into a document."""
    scanner = _Scanner(found)
    at = 0
    closed: dict[str, bool] = {}  # delimiters known not to occur again
    while True:
        start = text.find("<", at)
        if start < 0:
            scanner.words(text[at:])
            break
        scanner.words(text[at:start])
        at = _skipped(text, start, closed)
        if at < 0:
            tag = _TAG.match(text, start)
            end = _tag_end(text, tag.end()) if tag else -1
            if tag is None or end < 0:
                scanner.words("<")
                at = start + 1
                continue
            at = end + 1
            name = tag[2].lower()
            scanner.tag(name, bool(tag[1]), text[tag.end() : end])
            if name in _CLOSING and not tag[1] and not closed.get(name):
                closing = _CLOSING[name].search(text, at)
                closed[name] = closing is None
                at = closing.start() if closing else at
    return scanner.done()


def _tag_end(text: str, at: int) -> int:
    """The end of the tag whose attributes begin here; -1 if it is not closed before the next one."""
    while part := _IN_TAG.match(text, at):
        at = part.end()
    return at if text.startswith(">", at) else -1


def _skipped(text: str, start: int, closed: dict[str, bool]) -> int:
    """The end of the comment or declaration that opening here; -1 if none does."""
    for opening, ends in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", ">")):
        if text.startswith(opening, start) and not closed.get(ends):
            end = text.find(ends, start + len(opening))
            closed[ends] = end < 0
            if end >= 0:
                return start + 9 if opening == "<![CDATA[" else end + len(ends)
    return -1


class _Scanner:
    def __init__(self, found: Document) -> None:
        self.found = found
        self.parts: list[str] = []
        self.kind = "p"
        self.hidden: str | None = None
        self.code: tuple[str, str] | None = None

    def words(self, text: str) -> None:
        if self.hidden is None or self.kind == "title":
            self.parts.append(text)

    def tag(self, name: str, closing: bool, attributes: str) -> None:
        if self.code is not None and name != self.code[0]:
            label = "" if closing or name != "code" else _label(attributes)
            if label:
                self.code = (self.code[0], label)
            return
        if name in _BLOCKS:
            self.close()
        if name in _HIDDEN:
            self.hidden = None if closing and self.hidden == name else (self.hidden or (None if closing else name))
        elif (closing and name in ("title", "li", "tr", "pre")) or (_HEADING.match(name) and closing):
            self.kind = "p"
        elif closing:
            return
        elif _HEADING.match(name) or name == "title":
            self.kind = name
        elif name in ("li", "dt", "dd"):
            self.kind = "li"
        elif name in ("tr", "caption"):
            self.found.tables = True
            self.kind = "td"
        elif name in ("td", "th"):
            self.parts.append(" ")
        elif name == "pre":
            self.code = ("pre", _label(attributes))
            self.kind = "pre"
        elif name == "a" and (href := _attribute(attributes, "href")):
            self.found.targets.append(href)
        elif name == "input" and _attribute(attributes, "type").lower() == "checkbox":
            self.found.tasks += 1
            self.found.tasks_done += re.search(r"\bchecked\b", attributes) is not None

    def close(self) -> None:
        raw = unescape("".join(self.parts))
        self.parts.clear()
        if self.kind == "pre":
            if self.code is not None and raw.strip():
                self.found.code.append((self.code[1], raw))
            self.code = None
            self.kind = "p"
            return
        text = " ".join(raw.split())
        if not text:
            return
        if self.kind == "title":
            self.found.title = self.found.title or text
        elif self.kind[0] == "h":
            self.found.add_heading(int(self.kind[1]), text)
        else:
            self.found.blocks.append((self.kind, text))
            if self.kind == "p":
                self.found.paragraphs = (self.found.paragraphs or 0) + 1

    def done(self) -> Document:
        self.close()
        self.found.title = self.found.title or self.found.highest_heading()
        return self.found


def _attribute(attributes: str, name: str) -> str:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return unescape(match[2] or match[3] or match[4] or "").strip()
    return ""


def _label(attributes: str) -> str:
    match = re.search(r"(?:language|lang|brush|highlight)[-:]\s*([\w+#-]+)", _attribute(attributes, "class"))
    return match[1] if match else ""
