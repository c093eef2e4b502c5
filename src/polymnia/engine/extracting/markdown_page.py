"""Markdown, and plain text read the same way: headings, lists, tables, fenced code."""

from __future__ import annotations

import re

from polymnia.engine.extracting.page import Page
from polymnia.engine.extracting.values import Heading

__all__ = ["markdown_page"]

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.*\S)[ \t]*$")
_UNDERLINE = re.compile(r"[ ]{0,3}(=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•◦‣·]|\d{1,9}[.)]|[①-⑳])[ \t]+(?:\[([ xX])\][ \t]+)?(.*)$")
_TABLE = re.compile(r"[ ]{0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_RULE = re.compile(r"[ ]{0,3}(?:\*[ \t]*){3,}$|[ ]{0,3}(?:-[ \t]*){3,}$|[ ]{0,3}(?:_[ \t]*){3,}$")
_DEFINED = re.compile(r"[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ \t]*<?(\S+?)>?(?:[ \t]|$)")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\([ \t]*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)?)>?"
    r"(?:[ \t]+[\"'(][^\n\"')]{0,300}[\"')])?[ \t]*\)"
)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<!--[^<]{0,2000}?-->")
_SIGNS = re.compile(r"`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)")
_META = re.compile(r"(?:title|제목)[ \t]*:[ \t]*[\"']?(.{1,200}?)[\"']?[ \t]*$", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;,:…。！？、]$|(?:니다|어요|아요|해요|했다|한다|된다|었다|았다)$")
_TITLE_LONGEST = 90


def markdown_page(text: str, strict: bool = False) -> Page:
    """Read Markdown. With ``strict`` the text only may be Markdown: a heading then stands between blank lines."""
    page = Page()
    lines = text.splitlines()
    at = _meta(lines, page)
    part: list[str] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip():
            _close(part, page)
        elif fence := _FENCE.match(line):
            _close(part, page)
            at = _fenced(lines, at, fence, page)
        elif (heading := _HEADING.match(line)) and (not strict or _alone(lines, at)):
            _close(part, page)
            _head(page, len(heading[1]), heading[2].rstrip("#").rstrip() or heading[2])
        elif (under := _UNDERLINE.match(line)) and len(part) == 1 and len(part[0]) <= 200:
            _head(page, 1 if under[1][0] == "=" else 2, part.pop())
        elif "|" in line and "-" in line and _TABLE.match(line) and part and "|" in part[-1]:
            row = part.pop()
            _close(part, page)
            at = _rows(lines, at, row, page)
        elif _RULE.match(line):
            _close(part, page)
        elif item := _ITEM.match(line):
            _close(part, page)
            if item[1]:
                page.tasks += 1
                page.tasks_done += item[1] != " "
            page.blocks.append(("li", _words(item[2], page)))
        elif defined := _DEFINED.match(line):
            page.links.append(defined[1])
        else:
            part.append(line.strip().lstrip("> "))
    _close(part, page)
    page.title = page.title or _title(page, lines, strict)
    return page


def _meta(lines: list[str], page: Page) -> int:
    """Take the head of a file that is fenced by three dashes; answers where the text begins."""
    if not lines or lines[0].strip() != "---":
        return 0
    for at, line in enumerate(lines[1:60], 1):
        if line.strip() == "---":
            said = (_META.match(one) for one in lines[1:at])
            page.title = next((one[1].strip() for one in said if one), None)
            return at + 1 if at > 1 and ":" in lines[1] else 0
    return 0


def _fenced(lines: list[str], at: int, fence: re.Match[str], page: Page) -> int:
    mark = fence[1]
    end = at
    while end < len(lines):
        line = lines[end].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            break
        end += 1
    page.programs.append((fence[2], "\n".join(lines[at:end])))
    return end + 1


def _rows(lines: list[str], at: int, row: str, page: Page) -> int:
    page.tables = True
    while True:
        page.blocks.append(("td", _words(row, page)))
        if at >= len(lines) or "|" not in lines[at]:
            return at
        row = lines[at].strip()
        at += 1


def _alone(lines: list[str], at: int) -> bool:
    """Whether the line before ``at`` stands between blank lines, or leads a text: in a script `# x` is a comment."""
    return (at < 2 or not lines[at - 2].strip()) and (at >= len(lines) or not lines[at].lstrip().startswith("#"))


def _head(page: Page, level: int, text: str) -> None:
    words = " ".join(_words(text, page).split())
    if words:
        page.headings.append(Heading(level, words))
        page.blocks.append(("h", words))


def _close(part: list[str], page: Page) -> None:
    if part:
        text = _words("\n".join(part), page)
        if text.strip():
            page.blocks.append(("p", text))
            page.paragraphs = (page.paragraphs or 0) + 1
        part.clear()


def _words(text: str, page: Page) -> str:
    """A stretch of Markdown without its signs; where its links lead is kept."""
    if "](" in text:
        page.links += [match[2] for match in _LINK.finditer(text) if match[2]]
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    return _SIGNS.sub("", text) if "*" in text or "`" in text or "_" in text or "~~" in text else text


def _title(page: Page, lines: list[str], strict: bool) -> str | None:
    highest = min((heading.level for heading in page.headings), default=0)
    if highest and (not strict or page.blocks[:1] == [("h", page.headings[0].text)]):
        return next(heading.text for heading in page.headings if heading.level == highest)
    first = page.blocks[0] if page.blocks else ("", "")
    text = first[1].strip()
    looks_so = (
        first[0] == "p"
        and "\n" not in text
        and 2 <= len(text) <= _TITLE_LONGEST
        and not _SENTENCE.search(text)
        and ": " not in text[:24]
        and any(c.isalpha() for c in text)
        and len(page.blocks) > 1
        and not text.startswith(("http", "{", "[", "<"))
    )
    return text if looks_so else None
