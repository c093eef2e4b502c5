"""What is cited: a stored content, as its text and metadata describe it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from html import unescape
from typing import Any

from msgspec import Struct

from polymnia.engine.analysis.citations_names import names
from polymnia.engine.analysis.citations_text import curled, unmarked
from polymnia.engine.analysis.permalinks import permalink

__all__ = ["Citable", "citable", "csl_of"]

Day = tuple[int, ...]
"""A year, a year and month, or a year, month and day."""

_TITLES = ("title", "headline", "subject")
_AUTHORS = ("authors", "author", "creators", "creator", "by")
_DATES = ("issued", "published", "publication_date", "published_at", "date_published", "date", "year")
_LINKS = ("url", "URL", "source_url", "link", "href")
# What metadata may call a thing, and the variable of CSL it stands for.
_OTHERS = {
    "publisher": ("publisher", "institution", "organization", "organisation"),
    "publisher-place": ("publisher_place", "place", "location"),
    "container-title": ("container_title", "container", "journal", "publication", "website", "site_name", "booktitle"),
    "volume": ("volume",),
    "issue": ("issue",),
    "page": ("pages", "page"),
    "edition": ("edition",),
    "version": ("software_version", "release"),
    "number": ("report_number", "number"),
    "ISBN": ("isbn", "ISBN"),
    "ISSN": ("issn", "ISSN"),
}
_TYPES = {
    "article": "article-journal", "article-journal": "article-journal", "paper": "article-journal",
    "journal": "article-journal", "journal-article": "article-journal", "news": "article-newspaper",
    "newspaper": "article-newspaper", "article-newspaper": "article-newspaper", "magazine": "article-magazine",
    "article-magazine": "article-magazine", "preprint": "article", "book": "book", "chapter": "chapter",
    "conference": "paper-conference", "inproceedings": "paper-conference", "paper-conference": "paper-conference",
    "proceedings": "paper-conference", "thesis": "thesis", "dissertation": "thesis", "report": "report",
    "techreport": "report", "decision": "report", "adr": "report", "specification": "report", "spec": "report",
    "standard": "standard", "software": "software", "code": "software", "program": "software", "dataset": "dataset",
    "data": "dataset", "webpage": "webpage", "web": "webpage", "website": "webpage", "page": "webpage",
    "blog": "post-weblog", "blogpost": "post-weblog", "post-weblog": "post-weblog", "post": "post-weblog",
    "video": "motion_picture", "presentation": "document", "talk": "document", "slides": "document",
    "interview": "interview", "email": "personal_communication", "letter": "personal_communication",
    "note": "document", "document": "document", "memory": "document", "manual": "book",
}  # fmt: skip
_CODE = re.compile(r"(?:text|application)/(?:x-)?(?:python|java|javascript|typescript|c|c\+\+|go|rust|ruby|sh|sql)\b")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$|^(\S[^\n]*)\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_TITLE_TAG = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_MARKUP = re.compile(
    r"!?\[([^\[\]]*)\]\([^)]{0,1000}\)|(?<!\w)(?:\*{1,3}|_{1,3}|`+|~~)(?=\S)|(?<=\S)(?:\*{1,3}|_{1,3}|`+|~~)(?!\w)"
)
_BULLET = re.compile(r"^(?:[-*+>]|\d+[.)])\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s|(?<=[。？！])")
_SHORTENED = re.compile(r"(?:^|\W)(?:\w|\w*\.\w+|inc|ltd|co|corp|etc|jr|sr|vs|vol|al|st|dr|mr|mrs)\.$", re.IGNORECASE)
_LOOK, _LONG, _SHORT = 4096, 120, 8
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = re.compile(r"(\d{4})(?:\s?[-/.년年]\s?(\d{1,2})(?:\s?[-/.월月]\s?(\d{1,2})(?!\d)[일日]?)?)?(?!\d)")
_WORDED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\.?\s+)?([a-z]{3,9})\.?,?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})\b"
)
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_OF_SCRIPT = {
    "hangul": "ko",
    "han": "zh",
    "kana": "ja",
    "cyrillic": "ru",
    "greek": "el",
    "arabic": "ar",
    "hebrew": "he",
}
_CODES: dict[str | None, str] = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "no", "finnish": "fi", "turkish": "tr",
}  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Citable(Struct, frozen=True, kw_only=True):
    """A content with all a citation of it may say; ``authors`` and ``others`` are in the terms of CSL."""

    id: str
    project: str
    title: str
    type: str = "document"
    authors: list[dict[str, str]] = []
    issued: Day | None = None
    url: str | None = None
    doi: str | None = None
    language: str | None = None
    others: dict[str, str] = {}
    session: str | None = None

    @property
    def permalink(self) -> str:
        """The address of the content in this memory."""
        return permalink(self.project, self.id, self.session)


def citable(
    *, project: str, id: str, content: str, metadata: Mapping[str, Any], kind: str | None = None,
    content_type: str | None = None, title: str | None = None, created: int | None = None,
    session: str | None = None,
) -> Citable:  # fmt: skip
    """The content as it can be cited. What its metadata do not tell is read off the text, or left out.

    ``created`` is the time it was stored, in microseconds; it stands for a missing date.
    """
    url = _text(metadata, _LINKS)
    doi = _DOI.search(_text(metadata, ("doi", "DOI")) or url or "")
    told = title or _text(metadata, _TITLES)
    found = _entitled(told or _read_title(content) or id)
    is_code = told is None and content_type is not None and _CODE.match(content_type) is not None
    return Citable(
        id=id,
        project=project,
        title=found,
        type=_type(metadata, kind, content_type, url),
        authors=next((made for key in _AUTHORS if (made := names(metadata.get(key)))), []),
        issued=_issued(metadata, created),
        url=url if url and not (doi and "doi.org/" in url) else None,
        doi=doi[1].rstrip(".,;") if doi else None,
        language="und" if is_code else _language(metadata, found, content),
        others={name: curled(text) for name, keys in _OTHERS.items() if (text := _text(metadata, keys))},
        session=session,
    )


def csl_of(item: Citable, *, linked: bool, accessed: datetime | None) -> dict[str, Any]:
    """The item as CSL-JSON. The permalink is its address when it has no other."""
    csl: dict[str, Any] = {"id": item.id, "type": item.type, "title": item.title}
    if item.authors:
        csl["author"] = item.authors
    if item.issued:
        csl["issued"] = {"date-parts": [list(item.issued)]}
    csl |= item.others
    if item.doi:
        csl["DOI"] = item.doi
    if item.url:
        csl["URL"] = item.url
    elif linked and not item.doi:
        csl["URL"] = item.permalink
    if item.language:
        csl["language"] = item.language
    if accessed is not None:
        csl["accessed"] = {"date-parts": [[accessed.year, accessed.month, accessed.day]]}
    return csl


def _text(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float | str) and (text := unmarked(str(value))[:2000]):
            return text
    return None


def _read_title(content: str) -> str | None:
    start = content[:_LOOK]
    if tag := _TITLE_TAG.search(start):
        return _shortened(unescape(re.sub(r"<[^<>]*>", "", tag[2])))
    if heading := _HEADING.search(start):
        return _shortened(heading[1] or heading[2])
    for line in start.splitlines():
        if any(mark.isalnum() for mark in line):
            return _shortened(_first_sentence(_BULLET.sub("", line.strip())))
    return None


def _first_sentence(line: str) -> str:
    first = _SENTENCE.split(line, maxsplit=1)[0]
    return first if len(first) >= _SHORT and not _SHORTENED.search(first) else line


def _shortened(text: str) -> str:
    """A line as a title: without markup, and no longer than a title is."""
    text = unmarked(_MARKUP.sub(lambda found: found[1] or "", text))
    if len(text) <= _LONG:
        return text
    cut = text[:_LONG]
    return (cut.rpartition(" ")[0] if " " in cut[_LONG // 2 :] else cut).rstrip(" ,;:-") + "…"


def _entitled(text: str) -> str:
    """A title with typographic marks; its full stop is left to the style, unless it belongs to a word."""
    text = curled(unmarked(text))
    if text.endswith((".", "。")) and not text.endswith("..") and not _SHORTENED.search(text):
        return text[:-1].rstrip() or text
    return text


def _type(metadata: Mapping[str, Any], kind: str | None, content_type: str | None, url: str | None) -> str:
    for told in (metadata.get("citation_type"), metadata.get("type"), metadata.get("document_type"), kind):
        if isinstance(told, str):
            found = _TYPES.get(told.strip().lower().replace("_", "-").replace(" ", "-"))
            if found and (found != "document" or not url):
                return found
    if content_type and _CODE.match(content_type):
        return "software"
    if any(metadata.get(key) for key in ("journal", "volume", "issue")):
        return "article-journal"
    return "webpage" if url else "document"


def _issued(metadata: Mapping[str, Any], created: int | None) -> Day | None:
    for key in _DATES:
        value = metadata.get(key)
        if isinstance(value, int | str) and not isinstance(value, bool) and (day := _day(str(value))):
            return day
    if created is None:
        return None
    stored = _EPOCH + timedelta(microseconds=created)
    return stored.year, stored.month, stored.day


def _day(text: str) -> Day | None:
    text = text.strip().lower()
    if (found := _NUMBERS.match(text)) is not None:
        parts = [int(part) for part in found.groups() if part]
    elif (worded := _WORDED.search(text)) is not None and worded[2][:3] in _MONTHS:
        day = worded[1] or worded[3]
        parts = [int(worded[4]), _MONTHS.index(worded[2][:3]) + 1, *([int(day)] if day else [])]
    else:
        return None
    while parts:
        try:
            date(*[*parts, 1, 1][:3])
        except ValueError:
            parts.pop()
        else:
            return tuple(parts)
    return None


def _language(metadata: Mapping[str, Any], title: str, content: str) -> str:
    """The language of the title: only an English one is given capitals, so where it is not told it is guessed."""
    from polymnia.engine.text.language import fold, language, script

    told = metadata.get("language")
    if isinstance(told, Mapping):
        told = told.get("code")
    if isinstance(told, str) and re.fullmatch(r"[A-Za-z]{2,3}(?:[-_]\w+)*", told):
        return told
    if (found := script(title)) not in ("latin", "common"):
        return _OF_SCRIPT.get(found, "und")
    words = [fold(word) for word in re.findall(r"[^\W\d_]+", f"{title} {content[:_LOOK]}")]
    spoken = language(words)
    return _CODES.get(spoken, "und") if spoken or not title.isascii() else "en"
