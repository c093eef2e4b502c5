"""Sheet: a text as an editor sees it: blocks and sentences, each as it stands, so that it can be quoted."""

from __future__ import annotations

import re

from msgspec import Struct

from polymnia.engine.analysis.readability.sentences import sentences
from polymnia.engine.text.code import of_type
from polymnia.engine.text.document import document
from polymnia.engine.text.language import script as written
from polymnia.engine.text.language import spoken

__all__ = ["Block", "Sentence", "Sheet", "said", "sheet"]

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.*\S)[ \t]*$")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-{3,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*+•◦‣·▪]|\d{1,3}[.)]|[①-⑳])[ \t]+(?:\[([ xX])\][ \t]+)?(.*)$")
_RULE = re.compile(r"[ ]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_WIDE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_WRAPPED = 60  # characters; a line at least so long that ends in no stop goes on in the next
_UNWRAPPED = 200
_STOPPED = re.compile(r"[.!?…:;。！？]['\"’”)*_`]*\s*$")
_PARSED = ("text/html", "application/xhtml+xml", "application/json", "text/csv", "text/tab-separated-values")
_UNSAID = re.compile(r"`[^`\n]*`|\]\([^)\n]{0,300}\)|(?<!\w)\w+://\S+")
_LONGEST = 2_000  # characters of a sentence
_MOST = 200_000  # characters that are read; more would tell nothing new


def said(text: str) -> str:
    """A text without code and addresses; a sign stands in their place, so that no words meet that did not."""
    if "`" not in text and "](" not in text and "://" not in text:
        return text
    return _UNSAID.sub(lambda match: "](…)" if match[0].startswith("](") else "…", text)


class Block(Struct, frozen=True):
    """A stretch of a text: a heading (h), paragraph (p), list item (li), row of a table (td), quotation (q) or code.

    ``level`` is that of a heading, or how far an item is set in; ``mark`` what an item begins with, ``done`` whether
    its box is ticked (None without a box).
    """

    kind: str
    text: str
    level: int = 0
    mark: str = ""
    done: bool | None = None
    line: int = 0


class Sentence(Struct, frozen=True):
    """A sentence as it stands, how many words it has, the block it is in, and whether it is the first of it."""

    text: str
    words: int
    block: int
    first: bool

    @property
    def said(self) -> str:
        """The sentence without code and addresses, which are not the writer's words."""
        return said(self.text)


class Sheet(Struct, frozen=True, kw_only=True):
    """A text read as a sheet. ``language`` is its code; ``marked`` says whether it is Markdown, ``code`` a program."""

    text: str
    blocks: list[Block]
    sentences: list[Sentence]
    language: str | None
    script: str
    marked: bool
    code: bool
    data: bool
    words: int
    different: int
    """How many different words it says, without code, addresses and figures."""
    inside: list[list[Sentence]]
    """For each block its sentences."""

    @property
    def prose(self) -> str:
        """Paragraphs and items, a block a line."""
        return "\n".join(" ".join(one.text.split()) for one in self.blocks if one.kind in ("p", "li", "q"))

    @property
    def headings(self) -> list[Block]:
        """The headings, in order."""
        return [one for one in self.blocks if one.kind == "h"]


def sheet(text: str, content_type: str | None = None) -> Sheet:
    """Read a text by its content type; of one that is longer than 200,000 characters the beginning."""
    text = text[:_MOST]
    kind = (content_type or "").split(";", 1)[0].strip().lower()
    program = of_type(kind) is not None if kind else False
    data = kind in _PARSED[2:] or kind.endswith("+json")
    if program or kind in _PARSED or kind.endswith(("+json", "xml")):
        seen = document(text, kind)
        blocks = [Block(name, said) for name, said in seen.blocks]
    else:
        blocks = _blocks(text)
    found: list[Sentence] = []
    inside: list[list[Sentence]] = []
    for at, block in enumerate(blocks):
        inside.append([])
        if block.kind in ("p", "li", "q"):
            pieces = [cut for part in _unwrapped(block.text) for one in sentences(part) for cut in _cut(one)]
            inside[-1] = [Sentence(one, _words(one), at, i == 0) for i, one in enumerate(pieces) if _WORD.search(one)]
            found += inside[-1]
    prose = "\n".join(block.text for block in blocks if block.kind != "code")
    script = written(prose)
    language = spoken(prose)[0]
    if language is None and script == "latin" and prose.isascii():
        language = "en"
    return Sheet(
        text=text,
        blocks=blocks,
        sentences=found,
        language=language,
        script=script,
        marked=kind in ("text/markdown", "text/x-markdown") or any(b.kind in ("h", "code") for b in blocks),
        code=program,
        data=data,
        words=sum(one.words for one in found),
        different=len({word for one in found for word in _different(one.said)}),
        inside=inside,
    )


def _different(text: str) -> list[str]:
    """The words of a text that have a letter; where words are not parted, its characters two by two."""
    words = [word.lower() for word in _WORD.findall(text) if _LETTER.search(word)]
    return words + [text[at : at + 2] for match in _WIDE.finditer(text) for at in [match.start()]]


def _words(text: str) -> int:
    return (
        len(_WORD.findall(text)) if not _WIDE.search(text) else len(_WORD.findall(text)) + len(_WIDE.findall(text)) // 2
    )


def _blocks(text: str) -> list[Block]:
    """The blocks of Markdown, or of plain text that may have its marks."""
    lines = text.splitlines()
    blocks: list[Block] = []
    part: list[str] = []
    start = at = 0

    def close() -> None:
        if part:
            body = "\n".join(part)
            quoted = all(one.lstrip().startswith(">") for one in part)
            rows = len(part) > 1 and all("|" in one for one in part)
            if rows:
                blocks.extend(Block("td", one.strip(), line=start + i) for i, one in enumerate(part))
            elif max(map(len, part)) > _UNWRAPPED:
                # Nobody wraps lines that long: each is a paragraph.
                kind = "q" if quoted else "p"
                blocks.extend(Block(kind, one.strip(), line=start + i) for i, one in enumerate(part))
            else:
                blocks.append(Block("q" if quoted else "p", body.strip(), line=start))
            part.clear()

    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip():
            close()
        elif fence := _FENCE.match(line):
            close()
            end = at
            while end < len(lines) and not lines[end].strip().startswith(fence[1]):
                end += 1
            blocks.append(Block("code", "\n".join(lines[at:end]), line=at - 1, done=end < len(lines)))
            at = end + 1
        elif heading := _HEADING.match(line):
            close()
            blocks.append(Block("h", heading[2].rstrip("#").strip() or heading[2], len(heading[1]), line=at - 1))
        elif len(part) == 1 and _UNDERLINE.match(line):
            blocks.append(Block("h", part.pop().strip(), 1 if "=" in line else 2, line=at - 2))
        elif _RULE.match(line):
            close()
        elif item := _ITEM.match(line):
            close()
            done = None if item[3] is None else item[3] != " "
            blocks.append(Block("li", item[4].strip(), len(item[1].expandtabs(4)) // 2, item[2], done, at - 1))
        elif not part and blocks and blocks[-1].kind == "li" and line[:1] in " \t" and lines[at - 2].strip():
            last = blocks.pop()
            blocks.append(Block("li", f"{last.text}\n{line.strip()}", last.level, last.mark, last.done, last.line))
        else:
            if not part:
                start = at - 1
            part.append(line)
    close()
    return blocks


def _cut(text: str) -> list[str]:
    """A sentence, or the pieces of one that is longer than any that was written to be read."""
    return [text[at : at + _LONGEST] for at in range(0, len(text), _LONGEST)]


def _unwrapped(text: str) -> list[str]:
    """A block in pieces that end where a line ends a sentence; a line that was only wrapped goes on."""
    pieces: list[str] = []
    for line in text.split("\n"):
        goes_on = pieces and (
            line.lstrip()[:1].islower()
            or (len(pieces[-1].rsplit("\n", 1)[-1]) >= _WRAPPED and not _STOPPED.search(pieces[-1]))
        )
        if goes_on:
            pieces[-1] += "\n" + line
        else:
            pieces.append(line)
    return pieces
