"""Item: a stored content as it can be cited, from its metadata and its text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from html import unescape
from typing import Any

from msgspec import Struct

from polymnia.engine.citations.authors import authors, curled, unmarked
from polymnia.engine.text.dates import mentioned
from polymnia.engine.text.document import blocks, plain
from polymnia.engine.text.language import SCRIPT_CODES, fold, language, script, spoken
from polymnia.engine.text.sentences import ends_short, sentences
from polymnia.models import JsonObject

Day = tuple[int, ...]
"""A year, a year and month, or a year, month and day."""

_TITLES = ("title", "headline", "subject")
_AUTHORS = ("authors", "author", "creators", "creator", "by")
_DATES = ("issued", "published", "publication_date", "published_at", "date_published", "date", "year")
_LINKS = ("url", "URL", "source_url", "link", "href")
# What metadata may call a thing, behind the variable of CSL it stands for.
_OTHERS = {
    line.split()[0]: line.split()[1:]
    for line in """
        publisher publisher institution organization organisation
        publisher-place publisher_place place location
        container-title container_title container journal publication website site_name booktitle
        volume volume
        issue issue
        page pages page
        edition edition
        version software_version release
        number report_number number
        ISBN isbn ISBN
        ISSN issn ISSN
    """.strip().splitlines()
}
# What metadata may say of a thing's kind, behind the type of CSL.
_TYPES = {
    said: line.split()[0]
    for line in """
        article-journal article-journal article paper journal journal-article
        article-newspaper article-newspaper newspaper news
        article-magazine article-magazine magazine
        article preprint
        book book manual
        chapter chapter
        paper-conference paper-conference conference inproceedings proceedings
        thesis thesis dissertation
        report report techreport decision adr specification spec
        standard standard
        software software code program
        dataset dataset data
        webpage webpage web website page
        post-weblog post-weblog blog blogpost post
        motion_picture video
        interview interview
        personal_communication email letter
        document document presentation talk slides note memory
    """.strip().splitlines()
    for said in line.split()[1:]
}
_CODE = re.compile(r"(?:text|application)/(?:x-)?(?:python|java|javascript|typescript|c|c\+\+|go|rust|ruby|sh|sql)\b")
_TITLE_TAG = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_BULLET = re.compile(r"^(?:[-*+>]|\d+[.)])\s+")
_LOOK, _LONG, _SHORT = 4096, 120, 8
_NUMBERS = re.compile(r"(\d{4})(?:\s?[-/.년年]\s?(\d{1,2})(?:\s?[-/.월月]\s?(\d{1,2})(?!\d)[일日]?)?)?(?!\d)")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

PERMALINKS = "polymnia://project/"
_CONTENT = "/content/"
_SESSION = "?session_id="


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
        """The address of the content in this memory; one of a session names it, since nobody sees it without."""
        from urllib.parse import quote

        of_session = "" if self.session is None else _SESSION + quote(self.session, safe="")
        return f"{PERMALINKS}{quote(self.project, safe='')}{_CONTENT}{quote(self.id, safe='')}{of_session}"


def read_permalink(address: str) -> tuple[str | None, str, str | None]:
    """Project, id and session of an address, given unquoted and without its beginning; no project: it is none."""
    project, _, rest = address.rpartition(_CONTENT)
    id, _, session = rest.partition(_SESSION)
    return project or None, id, session or None


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
        authors=next((made for key in _AUTHORS if (made := authors(metadata.get(key)))), []),
        issued=_issued(metadata, created),
        url=url if url and not (doi and "doi.org/" in url) else None,
        doi=doi[1].rstrip(".,;") if doi else None,
        language="und" if is_code else _language(metadata, found, content),
        others={name: curled(text) for name, keys in _OTHERS.items() if (text := _text(metadata, keys))},
        session=session,
    )


def csl_of(item: Citable, *, linked: bool, accessed: datetime | None) -> JsonObject:
    """The item as CSL-JSON. The permalink is its address when it has no other."""
    csl: JsonObject = {"id": item.id, "type": item.type, "title": item.title}
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


def _text(metadata: Mapping[str, Any], keys: Sequence[str]) -> str | None:
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
    if heading := next((block.text for block in blocks(start) if block.kind == "h"), ""):
        return _shortened(heading)
    for line in start.splitlines():
        if any(map(str.isalnum, line)):
            line = _BULLET.sub("", line.strip())
            first = sentences(line)[0]
            return _shortened(first if len(first) >= _SHORT else line)
    return None


def _shortened(text: str) -> str:
    """A line as a title: without markup, and no longer than a title is."""
    text = unmarked(plain(text))
    if len(text) <= _LONG:
        return text
    cut = text[:_LONG]
    return (cut.rpartition(" ")[0] if " " in cut[_LONG // 2 :] else cut).rstrip(" ,;:-") + "…"


def _entitled(text: str) -> str:
    """A title with typographic marks; its full stop is left to the style, unless it belongs to a word."""
    text = curled(unmarked(text))
    if text.endswith((".", "。")) and not text.endswith("..") and not ends_short(text, 0, len(text) - 1):
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
    else:
        said = [term[1:] for term in mentioned(text[:_LONG].replace(". ", " ")) if term[1].isdigit()]
        parts = [int(part) for part in max(said, key=len, default="").split("-") if part]
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
    told = metadata.get("language")
    if isinstance(told, Mapping):
        told = told.get("code")
    if isinstance(told, str) and re.fullmatch(r"[A-Za-z]{2,3}(?:[-_]\w+)*", told):
        return told
    if (found := script(title)) not in ("latin", "common"):
        return {**SCRIPT_CODES, "cyrillic": "ru", "arabic": "ar"}.get(found, "und")
    said = f"{title} {content[:_LOOK]}"
    guess = language(map(fold, _WORD.findall(said)))
    if guess == "english" or (guess is None and title.isascii()):
        return "en"
    return spoken(said)[0] or "und"
