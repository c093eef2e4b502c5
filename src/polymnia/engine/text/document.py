"""Document: a text of any content type as blocks, headings, code and links.

:func:`blocks` parses Markdown, and plain text that may contain it. :func:`document` parses any content type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from polymnia.engine.text.code import COMMENTS, of_type
from polymnia.engine.text.html import read_html

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.*\S)[ \t]*$")
_UNDERLINE = re.compile(r"[ ]{0,3}(=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*+•◦‣·▪]|\d{1,9}[.)]|[①-⑳])[ \t]+(?:\[([ xX])\][ \t]+)?(.*)$")
_DELIMITER = re.compile(r"[ ]{0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_RULE = re.compile(r"[ ]{0,3}(?:\*[ \t]*){3,}$|[ ]{0,3}(?:-[ \t]*){3,}$|[ ]{0,3}(?:_[ \t]*){3,}$")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ \t]*<?(\S+?)>?(?:[ \t]|$)")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\([ \t]*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)?)>?"
    r"(?:[ \t]+[\"'(][^\n\"')]{0,300}[\"')])?[ \t]*\)"
)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<!--[^<]{0,2000}?-->")
_MARKUP = re.compile(r"`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)")
PLACEHOLDER = re.compile(
    r"\b(?:TO[D]O|TBD|TBA|TBC|FIX[M]E|X{3}|WIP)\b|(?<!\?)\?{3,}|_{4,}"
    r"|(?i:\blorem ipsum\b|\b(?:coming soon|work in progress|not yet written|fill this in|placeholder)\b"
    r"|\bto be (?:decided|determined|done|added|written|defined|confirmed|completed|filled in|announced)\b"
    r"|[<\[{](?:insert|your|enter|fill|add)\b[^<>\[\]{}\n]{0,40}[>\]}])"
    r"|(?<![가-힣])미(?:정|작성)(?![가-힣])|작성 ?(?:예정|중|필요)|추후 ?(?:작성|결정|기재|보완|추가|논의|확정)"
    r"|(?:추가|보완|기재|업데이트) ?예정|(?:내용|설명) ?(?:없음|추가 ?필요)|확인 ?필요|채워 ?넣|○{2,}|(?<!\w)ㅇㅇ(?!\w)"
)
"""A placeholder for something still to be written or decided."""

_MAX_META_LINES = 60
_MAX_SETEXT = 200


class Block(Struct, frozen=True):
    """A block of a text.

    ``kind`` is h (heading), p (paragraph), q (quotation), li (list item), td (table row), code (fenced), def (link
    definition) or meta (front matter). ``text`` is its text without line markers, at ``start`` to ``end``. ``level`` is
    that of a heading, or the indentation of an item; ``mark`` is the bullet of an item, the label of a fence or the
    target of a definition; ``done`` is whether a checkbox is ticked or a fence is closed, None without one.
    """

    kind: str
    text: str
    start: int
    end: int
    line: int
    level: int = 0
    mark: str = ""
    done: bool | None = None


def blocks(text: str, strict: bool = False) -> list[Block]:
    """The blocks of Markdown, in order. ``strict`` is for plain text: a heading must be between blank lines."""
    return _Parser(text, strict).blocks


class _Parser:
    """Parses line by line; ``part`` counts the lines of the open paragraph."""

    def __init__(self, text: str, strict: bool) -> None:
        self.lines = text.splitlines()
        self.starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
        self.blocks: list[Block] = []
        self.part = 0
        at = self._front_matter()
        while at < len(self.lines):
            at = self._line(at, strict)
        self._close(at)

    def _line(self, at: int, strict: bool) -> int:
        line = self.lines[at]
        if not line.strip():
            self._close(at)
        elif fence := _FENCE.match(line):
            self._close(at)
            return self._fenced(at, fence)
        elif (heading := _HEADING.match(line)) and (not strict or self._alone(at)):
            self._close(at)
            self._add("h", at, at, heading[2].rstrip("#").rstrip() or heading[2], level=len(heading[1]))
        elif self.part == 1 and (under := _UNDERLINE.match(line)) and len(self.lines[at - 1]) <= _MAX_SETEXT:
            self.part = 0
            self._add("h", at - 1, at, _bare(self.lines[at - 1]), level=1 if under[1][0] == "=" else 2)
        elif self.part and "|" in line and "-" in line and "|" in self.lines[at - 1] and _DELIMITER.match(line):
            return self._table(at)
        elif _RULE.match(line):
            self._close(at)
        elif item := _ITEM.match(line):
            self._close(at)
            done = None if item[3] is None else item[3] != " "
            depth = len(item[1].expandtabs(4)) // 2
            self._add("li", at, at, item[4], level=depth, mark=item[2], done=done, shift=item.start(4))
        elif not self.part and (link := _DEFINITION.match(line)):
            self._add("def", at, at, line.strip(), mark=link[1])
        elif not self.part and line[0] in " \t" and self.blocks and self._continues(at):
            last = self.blocks[-1]
            self.blocks[-1] = replace(last, text=f"{last.text}\n{line.strip()}", end=self._end(at))
        else:
            self.part += 1
        return at + 1

    def _add(self, kind: str, first: int, last: int, text: str, shift: int = 0, **more: Any) -> None:
        self.blocks.append(Block(kind, text, self.starts[first] + shift, self._end(last), first, **more))

    def _end(self, at: int) -> int:
        return self.starts[at] + len(self.lines[at])

    def _close(self, at: int) -> None:
        if self.part:
            lines = self.lines[at - self.part : at]
            text = "\n".join(map(_bare, lines))
            quoted = all(line.lstrip().startswith(">") for line in lines)
            if text.strip():
                self._add("q" if quoted else "p", at - self.part, at - 1, text)
            self.part = 0

    def _front_matter(self) -> int:
        if not self.lines or self.lines[0].strip() != "---":
            return 0
        for at, line in enumerate(self.lines[1:_MAX_META_LINES], 1):
            if line.strip() == "---":
                if at == 1 or ":" not in self.lines[1]:
                    return 0
                self._add("meta", 0, at, "\n".join(self.lines[1:at]))
                return at + 1
        return 0

    def _fenced(self, at: int, fence: re.Match[str]) -> int:
        end = at + 1
        while end < len(self.lines):
            line = self.lines[end].strip()
            if line.startswith(fence[1]) and not line.strip(fence[1][0]):
                break
            end += 1
        closed = end < len(self.lines)
        last = end if closed else len(self.lines) - 1
        self._add("code", at, last, "\n".join(self.lines[at + 1 : end]), mark=fence[2], done=closed)
        return end + 1

    def _table(self, at: int) -> int:
        self.part -= 1
        self._close(at - 1)
        self._add("td", at - 1, at - 1, _bare(self.lines[at - 1]))
        at += 1
        while at < len(self.lines) and "|" in self.lines[at]:
            self._add("td", at, at, self.lines[at].strip())
            at += 1
        return at

    def _alone(self, at: int) -> bool:
        """Whether a heading is preceded by a blank line and not followed by another `#`: those are comments."""
        after = self.lines[at + 1].lstrip() if at + 1 < len(self.lines) else ""
        return (at == 0 or not self.lines[at - 1].strip()) and not after.startswith("#")

    def _continues(self, at: int) -> bool:
        return self.blocks[-1].kind == "li" and bool(self.lines[at - 1].strip())


def _bare(line: str) -> str:
    return line.strip().lstrip("> ")


def plain(text: str) -> str:
    """The text of a block without Markdown and tags; of a link only the label is left."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    return _MARKUP.sub("", text) if "*" in text or "`" in text or "_" in text or "~~" in text else text


def without_code(text: str) -> str:
    """A text with its fenced code replaced by as many spaces."""
    if "```" not in text and "~~~" not in text:
        return text
    parts: list[str] = []
    done = 0
    for block in blocks(text):
        if block.kind == "code":
            parts += (text[done : block.start], " " * (block.end - block.start))
            done = block.end
    return "".join((*parts, text[done:]))


class Heading(Struct, frozen=True):
    """A heading and its level, 1 for the highest."""

    level: int
    text: str


class Document(Struct):
    """The visible content of a text in any format."""

    blocks: list[tuple[str, str]] = field(default_factory=list)
    """The kind and text of each block other than code."""
    headings: list[Heading] = field(default_factory=list)
    title: str | None = None
    code: list[tuple[str, str]] = field(default_factory=list)
    """Code blocks: the label, if any, and the code."""
    targets: list[str] = field(default_factory=list)
    """The targets of links that are not part of the visible text."""
    paragraphs: int | None = 0
    """None if the format has no paragraphs."""
    tasks: int = 0
    tasks_done: int = 0
    tables: bool = False

    @property
    def prose(self) -> str:
        """The text of all blocks other than code, one per line."""
        return "\n".join(text for _, text in self.blocks)

    def add_heading(self, level: int, text: str) -> None:
        """Add a heading and its block."""
        self.headings.append(Heading(level, text))
        self.blocks.append(("h", text))

    def highest_heading(self) -> str | None:
        """The first heading of the highest level."""
        return min(self.headings, key=lambda heading: heading.level).text if self.headings else None


def document(text: str, content_type: str | None = None) -> Document:
    """Parse a text by its content type; unknown types are plain text."""
    kind = (content_type or "text/plain").split(";", 1)[0].strip().lower()
    read = _READERS.get(kind)
    if read is None and kind.endswith("+json"):
        read = _json
    if read is None and kind.endswith(("+xml", "/xml")):
        read = _html
    if read is not None:
        return read(text)
    language = of_type(kind)
    return _markdown(text, strict=True) if language is None else _program(text, language)


_META_TITLE = re.compile(r"(?:title|제목)[ \t]*:[ \t]*[\"']?(.{1,200}?)[\"']?[ \t]*$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;,:…。！？、]$|(?:니다|어요|아요|해요|했다|한다|된다|었다|았다)$")
_MAX_TITLE = 90


def _markdown(text: str, strict: bool = False) -> Document:
    found = Document()
    for block in blocks(text, strict):
        if block.kind == "code":
            found.code.append((block.mark, block.text))
        elif block.kind == "def":
            found.targets.append(block.mark)
        elif block.kind == "meta":
            titles = map(_META_TITLE.match, block.text.split("\n"))
            found.title = next((one[1].strip() for one in titles if one), None)
        else:
            _add(found, block)
    found.title = found.title or _title(found, strict)
    return found


def _add(found: Document, block: Block) -> None:
    """Add the text of a block and the targets of its links."""
    if "](" in block.text:
        found.targets += [match[2] for match in _LINK.finditer(block.text) if match[2]]
    words = plain(block.text)
    if block.kind == "h":
        if words := " ".join(words.split()):
            found.add_heading(block.level, words)
    elif block.kind in ("p", "q"):
        if words.strip():
            found.blocks.append(("p", words))
            found.paragraphs = (found.paragraphs or 0) + 1
    else:
        found.blocks.append((block.kind, words))
        found.tables = found.tables or block.kind == "td"
        if block.done is not None:
            found.tasks += 1
            found.tasks_done += block.done


def _title(found: Document, strict: bool) -> str | None:
    """The first heading of the highest level; in plain text an initial heading, or a first line that resembles one."""
    if found.headings and (not strict or found.blocks[:1] == [("h", found.headings[0].text)]):
        return found.highest_heading()
    kind, text = found.blocks[0] if len(found.blocks) > 1 else ("", "")
    text = text.strip()
    resembles = (
        kind == "p"
        and "\n" not in text
        and 2 <= len(text) <= _MAX_TITLE
        and not _SENTENCE_END.search(text)
        and ": " not in text[:24]
        and any(map(str.isalpha, text))
        and not text.startswith(("http", "{", "[", "<"))
    )
    return text if resembles else None


_MAX_HEADINGS = 200
_MAX_ROWS = 20_000
_TITLES = ("title", "name", "subject", "제목", "이름", "titel", "titre", "título", "标题", "タイトル")
_DOCSTRING = re.compile(r"(?:\s*#[^\n]*\n)*\s*[rRuU]?(?:\"\"\"|''')\s*([^\n\"']{3,120})")


def _json(text: str) -> Document:
    """JSON: keys are the headings, strings the text."""
    from msgspec import DecodeError
    from msgspec.json import decode

    try:
        value = decode(text)
    except (DecodeError, RecursionError, ValueError):
        return _markdown(text, strict=True)
    found = Document(paragraphs=None, code=[("json", "")])
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        one, level = waiting.pop()
        if isinstance(one, str):
            if one.strip():
                found.blocks.append(("p", one))
        elif isinstance(one, dict):
            if level <= 2 and len(found.headings) < _MAX_HEADINGS:
                found.headings += [Heading(level, key) for key in one if key.strip()][:_MAX_HEADINGS]
            waiting += [(inner, level + 1) for inner in reversed(one.values())]
        elif isinstance(one, list):
            waiting += [(inner, level + 1) for inner in reversed(one)]
    if isinstance(value, dict):
        named = (one.strip() for key in _TITLES if isinstance(one := value.get(key), str))
        found.title = next((one for one in named if 0 < len(one) <= 200), None)
    return found


def _csv(text: str, mark: str | None = None) -> Document:
    """A table: the first row is its headings if it looks like column names."""
    import csv
    from itertools import islice

    first = text.split("\n", 1)[0]
    mark = mark or max(",;\t|", key=first.count)
    try:
        rows = list(islice(csv.reader(text.splitlines(), delimiter=mark), _MAX_ROWS))
    except csv.Error:
        rows = [line.split(mark) for line in text.splitlines()[:_MAX_ROWS]]
    found = Document(tables=True, paragraphs=None)
    head = rows[0] if rows else []
    labelled = all(cell.strip() and not any(map(str.isdigit, cell[:1])) for cell in head)
    if labelled and len(rows) > 1 and len(set(head)) == len(head):
        found.headings = [Heading(1, cell.strip()) for cell in head][:_MAX_HEADINGS]
    found.blocks = [("td", " | ".join(cell for cell in row if cell)) for row in rows]
    return found


def _program(text: str, language: str) -> Document:
    found = Document(code=[(language, text)], paragraphs=None)
    comments = (match[1].strip().removesuffix("*/").rstrip() for match in COMMENTS.finditer(text))
    found.blocks = [("li", one) for one in comments if any(map(str.isalpha, one))]
    if language == "python" and (docstring := _DOCSTRING.match(text)):
        found.title = docstring[1].strip()
        found.blocks.insert(0, ("p", found.title))
    return found


def _html(text: str) -> Document:
    return read_html(text, Document())


_READERS: dict[str, Callable[[str], Document]] = {
    "text/markdown": _markdown,
    "text/x-markdown": _markdown,
    "text/html": _html,
    "application/xhtml+xml": _html,
    "application/json": _json,
    "text/json": _json,
    "text/csv": _csv,
    "application/csv": _csv,
    "text/tab-separated-values": lambda text: _csv(text, "\t"),
}

MAIL = re.compile(
    r"(?<![A-Za-z0-9.+%@_-])[A-Za-z0-9\u00c0-\u024f.+%_-]{1,64}@(?:[A-Za-z0-9\u00c0-\u024f-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9@])"
)
"""An e-mail address; a Korean particle may follow it directly."""

_SPACELESS = "\u1100-\u11ff\u3041-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af"
# A Korean, Chinese or Japanese character ends an address, except after a slash, where it is part of the path.
_URL = re.compile(
    rf"\b(?:(?:https?|ftp)://|www\.(?=[\w-]+\.))[^\s<>\"'`|\\^{{}}，。、；（）「」『』{_SPACELESS}]+"
    rf"(?:(?<=[/=_%-])[{_SPACELESS}][^\s<>\"'`|\\^{{}}，。、；（）「」『』]*)?",
    re.IGNORECASE,
)
_OPENING = {")": "(", "]": "["}
_MAX_LINKS = 500


def links(text: str, targets: Iterable[str] = ()) -> list[str]:
    """The distinct links of a text: addresses in it in order, then the ``targets`` of its marked-up links."""
    found: dict[str, None] = {}
    if "://" in text or "www." in text.lower():
        for match in _URL.finditer(text):
            url = _trimmed(match.group())
            if len(url) > 8:
                found[url] = None
            if len(found) >= _MAX_LINKS:
                break
    for target in targets:
        if not target.startswith(("#", "mailto:", "javascript:", "data:", "tel:")):
            found[target] = None
    return list(found)[:_MAX_LINKS]


def mails(text: str, targets: Iterable[str] = ()) -> list[str]:
    """The distinct e-mail addresses of a text, in order."""
    found: dict[str, None] = {}
    if "@" in text:
        found |= dict.fromkeys(MAIL.findall(text))
    for target in targets:
        if target.startswith("mailto:"):
            found[target[7:].split("?", 1)[0]] = None
    return list(found)[:_MAX_LINKS]


def _trimmed(url: str) -> str:
    """An address without the punctuation after it, and without brackets that it does not open."""
    while url and ((last := url[-1]) in ".,;:!?*_~…'" or url.count(last) > url.count(_OPENING.get(last, last))):
        url = url[:-1]
    return url
