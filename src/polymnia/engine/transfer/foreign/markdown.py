"""One page of notes: its front matter, tags, links, and the observations and relations of basic-memory."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Any

from msgspec import Struct

from polymnia.engine.transfer.foreign.items import tags_of, text_of, time_of
from polymnia.engine.transfer.formats.project_markdown import front_and_rest, parse_front
from polymnia.engine.transfer.formats.records import FileLimits, JsonObject

LINK, EMBED = "links_to", "embeds"
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
# In a table the bar before the shown text is escaped.
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]|#^\n]+?)\\?(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_PAGE = r"\.(?:md|markdown)"
_MARKDOWN_LINK = re.compile(
    rf"(!?)\[[^\[\]\n]*\]\((?!<?[a-z][a-z0-9+.-]*:)(?:<([^<>\n]+?{_PAGE})(?:#[^<>\n]*)?>|([^()<>\s]+?{_PAGE})(?:#[^()\s]*)?)\)",
    re.IGNORECASE,
)
_TAG = re.compile(r"(?:^|(?<=[\s(]))#([\w/-]*[^\W\d_][\w/-]*)")
_FIELD = re.compile(rb"""^["'\w][^\n]*?:(?:\s|$)""", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]")
# An item of a list that begins with a word in brackets; those of tasks, of times and of links are none.
_OBSERVATION = re.compile(r"[ \t]*(?:[-*+]|\d+[.)]) \[([^\[\]()\n]+)\] (?=\S)(.*)")
_CLOCK = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_NO_CATEGORY = re.compile(rf"[xX\W_]|{_CLOCK}(?:\s+-\s+{_CLOCK})?|\s*")
_RELATION = re.compile(
    r"""[ \t]*(?:[-*+]|\d+[.)])[ ]
    (?:"([^"\n]+)"|'([^'\n]+)'|([^\s\[\]"']+))[ ]+  # its type, in quotes if it has several words
    \[\[([^\[\]|\#\n]+)(?:[\#|][^\[\]\n]*)?\]\](?:[ ]*\(((?:[^()]|\([^()]*\))*)\))?[ ]*""",
    re.VERBOSE,
)
_CREATED, _UPDATED = ("created", "created_at", "date"), ("modified", "updated", "updated_at", "last_modified")
_LIMITS = FileLimits(total=1 << 20, record=1 << 20, values=100_000)


class Reference(Struct, frozen=True):
    """A link to another note, by whatever it calls it."""

    type: str
    target: str
    context: str | None = None


class NotePage(Struct, frozen=True, kw_only=True):
    """A page of notes. ``flaw`` is the reason why its front matter is part of its text."""

    body: str
    title: str | None = None
    kind: str | None = None
    permalink: str | None = None
    aliases: list[str] = []
    tags: list[str] = []
    metadata: JsonObject = {}
    created: str | None = None
    updated: str | None = None
    flaw: str | None = None


UTF_16 = (BOM_UTF16_LE, BOM_UTF16_BE)
"""What a file in UTF-16 begins with."""
MARKS = (BOM_UTF8, *UTF_16)
"""What a file in UTF-8 or UTF-16 may begin with, to say so."""


def decoded(data: bytes) -> str:
    """The text of a page in UTF-8 or UTF-16; raises UnicodeDecodeError for any other encoding."""
    text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    return text.replace("\r\n", "\n")  # so that a checkout on another system is no edit


def parse(text: str) -> NotePage:
    """A page and what its front matter says of it."""
    front, rest = front_and_rest(text.encode())
    if front is not None and front.strip() and not _FIELD.search(front):  # a rule above a text
        front, rest = None, text.encode()
    fields = parse_front(front, _LIMITS)
    if isinstance(fields, str):
        return NotePage(body=text.strip(), tags=_tags_in(_plain(text)), flaw=fields)
    body = rest.decode().strip()
    keys = {key.lower(): key for key in fields}

    def taken(*names: str) -> Any:
        return next((fields.pop(keys[name]) for name in names if name in keys and keys[name] in fields), None)

    title, kind, permalink = (taken(name) for name in ("title", "type", "permalink"))
    tags = tags_of(_spaced(taken("tags", "tag")))
    aliases = _aliases(taken("aliases", "alias"))
    created = next((at for name in _CREATED if name in keys and (at := time_of(fields.get(keys[name])))), None)
    updated = next((at for name in _UPDATED if name in keys and (at := time_of(fields.get(keys[name])))), None)
    for name in (*_CREATED, *_UPDATED):
        if name in keys and time_of(fields.get(keys[name])) in (created, updated) and time_of(fields[keys[name]]):
            del fields[keys[name]]
    if not isinstance(kind, str | None):
        fields["type"], kind = kind, None
    return NotePage(
        body=body, title=str(title).strip() if isinstance(title, str | int | float) else None,
        kind=(kind or "").strip() or None, permalink=text_of(permalink) or None, aliases=aliases,
        tags=list(dict.fromkeys((*tags, *_tags_in(_plain(body))))), metadata=fields, created=created, updated=updated,
    )  # fmt: skip


def _aliases(value: object) -> list[str]:
    """Other names of a page, given as a list or as a text with commas between them."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(
        dict.fromkeys(name for one in given if isinstance(one, str | int | float) and (name := str(one).strip()))
    )


def _spaced(tags: object) -> object:
    """Tags in a text have commas or spaces between them."""
    return tags.replace(" ", ",") if isinstance(tags, str) and "," not in tags else tags


def _plain(body: str) -> str:
    """The text without code, where nothing is a tag or a link."""
    return _CODE.sub("", _FENCE.sub("", body)) if "`" in body or "~~~" in body else body


def _tags_in(text: str) -> list[str]:
    return list(dict.fromkeys(tag.strip("/-") for tag in _TAG.findall(text))) if "#" in text else []


def references(body: str) -> list[Reference]:
    """The notes that a text links to or embeds, each once."""
    if "](" not in body and "[[" not in body:
        return []
    text = _plain(body)
    found = [Reference(EMBED if mark else LINK, target.strip()) for mark, target in _WIKILINK.findall(text)]
    found += [Reference(EMBED if mark else LINK, a or b) for mark, a, b in _MARKDOWN_LINK.findall(text)]
    return list(dict.fromkeys(one for one in found if one.target))


def properties(fields: JsonObject) -> list[Reference]:
    """The notes that fields of the front matter link to; the type is the name of the field."""
    found = []
    for key, value in fields.items():
        for one in value if isinstance(value, list) else (value,):
            while isinstance(one, list) and len(one) == 1:  # [[Note]] without quotes is a list in a list
                one = f"[[{one[0]}]]" if isinstance(one[0], str) else one[0]
            if isinstance(one, str) and (link := _WIKILINK.fullmatch(one.strip())):
                found.append(Reference(key, link[2].strip()))
    return list(dict.fromkeys(found))


def statements(body: str) -> tuple[list[str], list[Reference], str]:
    """The observations and typed relations of a page of basic-memory, and the text around them."""
    observed: list[str] = []
    related: list[Reference] = []
    rest: list[str] = []
    fence = None
    for line in body.split("\n"):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in (None, mark):
            fence = mark if fence is None else None
        elif fence is None and (found := _OBSERVATION.fullmatch(line)) and not _NO_CATEGORY.fullmatch(found[1]):
            observed.append(f"[{found[1]}] {found[2].strip()}")
            continue
        elif fence is None and (found := _RELATION.fullmatch(line)):
            type = found[1] or found[2] or found[3]
            related.append(Reference(type, found[4].strip(), found[5] or None))
            continue
        rest.append(line)
    return observed, list(dict.fromkeys(related)), _without_empty_sections("\n".join(rest)).strip()


def _without_empty_sections(text: str) -> str:
    """The text, unless nothing but headings is left of it."""
    lines = [line for line in text.split("\n") if line.strip()]
    return text if any(not _HEADING.match(line) for line in lines) else ""
