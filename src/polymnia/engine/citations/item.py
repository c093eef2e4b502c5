"""Item: the bibliographic data of a stored content, from its metadata and text, with authors as CSL names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from html import unescape
from typing import Any

from msgspec import Struct

from polymnia.engine.content import content, permalink
from polymnia.engine.text.dates import find_dates
from polymnia.engine.text.document import blocks, plain
from polymnia.engine.text.language import SCRIPT_CODES, detect_language, fold, language, script
from polymnia.engine.text.sentences import ends_short, sentences
from polymnia.models import JsonObject, Record

__all__ = []

_MOST = 200
# Scripts in which names are written without a space, family name first.
_WHOLE = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af\u3400-\u9fff\uf900-\ufaff\u3041-\u30ff\u3005]")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")
_TWO_SYLLABLES = frozenset(("남궁", "황보", "제갈", "사공", "선우", "서문", "독고", "동방"))
_APART = re.compile(r"(?<!\s)\s*(?:;|；|、|\s(?:and|und|et|y|及)\s|\s&\s)\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<!\s)\s*[<(\[]?(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+[>)\]]?")
_ORGANISATION = re.compile(
    r"\b(?:inc|ltd|llc|llp|plc|gmbh|ag|corp|corporation|company|co|university|université|universität|universidad|"
    r"institute|institut|instituto|college|school|academy|team|group|board|ministry|department|dept|foundation|"
    r"committee|commission|council|association|society|agency|administration|bureau|office|authority|union|bank|"
    r"cent(?:er|re)|laborator(?:y|ies)|labs?|library|museum|project|consortium|organi[sz]ation|federation|"
    r"network|service|services|system|systems|engineering|research|studio|contributors|authors|developers)\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"(?:jr|sr)\.?|[ivx]{2,4}|ph\.?\s?d\.?|m\.?d\.?", re.IGNORECASE)
_PARTICLES = frozenset(
    "van von der den de del della di da do dos du la le ter ten zu zum zur af av bin ibn al el".split()
)

# A syllable in romanized Korean. A given name of two, such as Min-su, comes after the family name.
_SYLLABLE = (
    "(?:kk|tt|pp|ss|jj|ch|sh|[bcdghjklmnprstvwy])?"
    "(?:yae|yeo|ya|ye|yo|yu|yi|wae|wa|weo|we|wi|wo|eo|eu|ui|ae|oe|oo|ee|ou|u[hn]?|a|e|i|o)(?:ng|[bdgklmnpt])?"
)
_TWO = re.compile(rf"{_SYLLABLE}-{_SYLLABLE}", re.IGNORECASE)
_ONE = re.compile(rf"{_SYLLABLE}(?:rk)?", re.IGNORECASE)
_SMALL = re.compile(r"[A-Z][a-z]+-[a-z]+")

_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff]")
_OPENING = re.compile(r"""(?:(?<=^)|(?<=[\s(\[{“‘—–-]))(["'])(?=\S)""")
_TURNED = {'"': "“”", "'": "‘’"}


def unmarked(text: str) -> str:
    """A text on one line, without invisible characters."""
    return " ".join(_STRANGE.sub(" ", text).split())


def curled(text: str) -> str:
    """A text with typographic quotation marks and apostrophes."""
    if '"' not in text and "'" not in text:
        return text
    text = _OPENING.sub(lambda found: _TURNED[found[1]][0], text)
    return text.replace('"', "”").replace("'", "’")


def authors(value: Any) -> list[dict[str, str]]:
    """The names of authors, given as a text, an object, or a list of them."""
    if isinstance(value, list | tuple):
        return [name for one in value[:_MOST] for name in _one(one)]
    if isinstance(value, str):
        return [name for part in _parted(_clean(value))[:_MOST] for name in _one(part)]
    return _one(value)


def _one(value: Any) -> list[dict[str, str]]:
    if isinstance(value, Mapping):
        return _object(value)
    text = _clean(value) if isinstance(value, str) else ""
    return [_person(text)] if text else []


def _clean(text: str) -> str:
    text = curled(unmarked(text))
    return _ADDRESS.sub("", text).strip(" ,;") or text


def _parted(text: str) -> list[str]:
    """Split a text into names; at commas only if each part is a name by itself."""
    if _ORGANISATION.search(text) and not re.search("[;；]", text):
        return [text]
    parts = [part for part in _APART.split(text) if part]
    names = parts if len(parts) > 1 else [text]
    return [name for part in names for name in (_commas(part) if _several(part) else [part])]


def _commas(text: str) -> list[str]:
    return [part for part in (part.strip() for part in re.split("[,，]", text)) if part]


def _several(text: str) -> bool:
    """Whether the commas of a text separate names, not the parts of one."""
    parts = _commas(text)
    if len(parts) < 2 or any(_SUFFIX.fullmatch(part) for part in parts[1:]):
        return False
    if all(_WHOLE.search(part) for part in parts):
        return not _is_inverted(parts)
    return all(" " in part and part.split()[0].lower() not in _PARTICLES for part in parts)


def _is_inverted(parts: list[str]) -> bool:
    """Whether two parts in Hangul, Han or kana are a family name and a given name."""
    if len(parts) != 2 or any(" " in part for part in parts):
        return False
    family, given = parts
    if _HANGUL.fullmatch(family):
        return len(family) == 1 or family in _TWO_SYLLABLES
    return len(family) < 3 and len(given) < 3


def _object(author: Mapping[str, Any]) -> list[dict[str, str]]:
    def text(*keys: str) -> str:
        return next((_clean(value) for key in keys if isinstance(value := author.get(key), str) and value.strip()), "")

    family = text("family", "family_name", "last", "last_name", "surname")
    given = text("given", "given_name", "first", "first_name")
    if family and given and not _WHOLE.search(family):
        made = _family(family) | {"given": given}
        return [made | {"suffix": text("suffix")} if text("suffix") else made]
    if family or given:
        return [{"literal": family + given}]
    if whole := text("literal", "organization", "organisation"):
        return [{"literal": whole}]
    whole = text("name", "display_name", "full_name", "username", "login")
    if not whole:
        return []
    kind = str(author.get("type", author.get("@type", ""))).lower()
    return [{"literal": whole}] if kind.startswith("org") else [_person(whole)]


def _person(text: str) -> dict[str, str]:
    parts = _commas(text)
    if _WHOLE.search(text):
        return {"literal": "".join(parts) if _is_inverted(parts) else text}
    if _ORGANISATION.search(text) or re.search(r"\d|[@/_:|]|\b(?:of|for|the)\b", text, re.IGNORECASE):
        return {"literal": text}
    suffix = ""
    if len(parts) > 1 and _SUFFIX.fullmatch(parts[-1]):
        suffix = parts.pop()
    if len(parts) == 2:
        made = _family(parts[0]) | {"given": parts[1]}
    elif len(parts) == 1 and len(words := parts[0].split()) > 1:
        if not suffix and len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
            suffix = words.pop()
        if len(words) == 2 and not suffix and _family_first(*words):
            return {"family": words[0], "given": words[1]}
        # The family name starts with the first particle: Ludwig van Beethoven.
        at = next((i for i, word in enumerate(words[1:-1], 1) if word in _PARTICLES), len(words) - 1)
        made = _family(" ".join(words[at:])) | {"given": " ".join(words[:at])}
    else:
        return {"literal": text}
    return made | {"suffix": suffix} if suffix else made


def _family_first(first: str, last: str) -> bool:
    """Whether a name is in East Asian order: its second word is a given name of two syllables."""
    if _SMALL.fullmatch(last):
        return True  # a double family name has two capitals: Smith-Jones
    return _TWO.fullmatch(last) is not None and _ONE.fullmatch(first) is not None


def _family(text: str) -> dict[str, str]:
    words = text.split()
    at = 0
    while at < len(words) - 1 and words[at] in _PARTICLES:
        at += 1
    made = {"family": " ".join(words[at:])}
    return made | {"non-dropping-particle": " ".join(words[:at])} if at else made


Day = tuple[int, ...]
"""A year, a year and month, or a year, month and day."""

_TITLES = ("title", "headline", "subject")
_AUTHORS = ("authors", "author", "creators", "creator", "by")
_DATES = ("issued", "published", "publication_date", "published_at", "date_published", "date", "year")
_LINKS = ("url", "URL", "source_url", "link", "href")
# CSL variables, each with the metadata keys it may have.
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
# CSL types, each with the kinds in metadata that mean it.
_TYPES = {
    word: line.split()[0]
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
    for word in line.split()[1:]
}
_CODE = re.compile(r"(?:text|application)/(?:x-)?(?:python|java|javascript|typescript|c|c\+\+|go|rust|ruby|sh|sql)\b")
_TITLE_TAG = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_BULLET = re.compile(r"^(?:[-*+>]|\d+[.)])\s+")
_LOOK, _LONG, _SHORT = 4096, 120, 8
_NUMBERS = re.compile(r"(\d{4})(?:\s?[-/.년年]\s?(\d{1,2})(?:\s?[-/.월月]\s?(\d{1,2})(?!\d)[일日]?)?)?(?!\d)")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Citable(Struct, frozen=True, kw_only=True):
    """The bibliographic data of a content; ``authors`` and ``others`` are CSL names and variables."""

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
        """The address of the content on this server, with its session, without which it is not visible."""
        return permalink(self.project, self.id, self.session)


def citable(project: str, record: Record) -> Citable:
    """The bibliographic data of a record, from its metadata, else from its text; unknown fields are left out.

    If there is no date, the time it was stored is used.
    """
    metadata, text = record.metadata, content(record)
    url = _text(metadata, _LINKS)
    doi = _DOI.search(_text(metadata, ("doi", "DOI")) or url or "")
    title = (record.name if record.name != record.uid else None) or _text(metadata, _TITLES)
    found = _entitled(title or _read_title(text) or record.uid)
    is_code = title is None and _CODE.match(record.content_type or "") is not None
    return Citable(
        id=record.uid,
        project=project,
        title=found,
        type=_type(metadata, record.kind, record.content_type, url),
        authors=next((made for key in _AUTHORS if (made := authors(metadata.get(key)))), []),
        issued=_issued(metadata, record.created),
        url=url if url and not (doi and "doi.org/" in url) else None,
        doi=doi[1].rstrip(".,;") if doi else None,
        language="und" if is_code else _language(metadata, found, text),
        others={name: curled(value) for name, keys in _OTHERS.items() if (value := _text(metadata, keys))},
        session=record.session,
    )


def csl_of(item: Citable, *, linked: bool, accessed: datetime | None) -> JsonObject:
    """The item as CSL-JSON. With ``linked``, the permalink is its URL if it has no other."""
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
    """A line as a title: without markup, and shortened if too long."""
    text = unmarked(plain(text))
    if len(text) <= _LONG:
        return text
    cut = text[:_LONG]
    return (cut.rpartition(" ")[0] if " " in cut[_LONG // 2 :] else cut).rstrip(" ,;:-") + "…"


def _entitled(text: str) -> str:
    """A title with typographic quotes, without its full stop, which the style adds, unless an abbreviation has it."""
    text = curled(unmarked(text))
    if text.endswith((".", "。")) and not text.endswith("..") and not ends_short(text, 0, len(text) - 1):
        return text[:-1].rstrip() or text
    return text


def _type(metadata: Mapping[str, Any], kind: str | None, content_type: str | None, url: str | None) -> str:
    for word in (metadata.get("citation_type"), metadata.get("type"), metadata.get("document_type"), kind):
        if isinstance(word, str):
            found = _TYPES.get(word.strip().lower().replace("_", "-").replace(" ", "-"))
            if found and (found != "document" or not url):
                return found
    if content_type and _CODE.match(content_type):
        return "software"
    if any(metadata.get(key) for key in ("journal", "volume", "issue")):
        return "article-journal"
    return "webpage" if url else "document"


def _issued(metadata: Mapping[str, Any], created: int) -> Day | None:
    for key in _DATES:
        value = metadata.get(key)
        if isinstance(value, int | str) and not isinstance(value, bool) and (day := _day(str(value))):
            return day
    if not created:
        return None
    stored = _EPOCH + timedelta(microseconds=created)
    return stored.year, stored.month, stored.day


def _day(text: str) -> Day | None:
    text = text.strip().lower()
    if (found := _NUMBERS.match(text)) is not None:
        parts = [int(part) for part in found.groups() if part]
    else:
        days = [term[1:] for term in find_dates(text[:_LONG].replace(". ", " ")) if term[1].isdigit()]
        parts = [int(part) for part in max(days, key=len, default="").split("-") if part]
    while parts:
        try:
            date(*[*parts, 1, 1][:3])
        except ValueError:
            parts.pop()
        else:
            return tuple(parts)
    return None


def _language(metadata: Mapping[str, Any], title: str, content: str) -> str:
    """The language of the title, guessed if not given, as only English titles are capitalized."""
    code = metadata.get("language")
    if isinstance(code, Mapping):
        code = code.get("code")
    if isinstance(code, str) and re.fullmatch(r"[A-Za-z]{2,3}(?:[-_]\w+)*", code):
        return code
    if (found := script(title)) not in ("latin", "common"):
        return {**SCRIPT_CODES, "cyrillic": "ru", "arabic": "ar"}.get(found, "und")
    sample = f"{title} {content[:_LOOK]}"
    guess = language(map(fold, _WORD.findall(sample)))
    if guess == "english" or (guess is None and title.isascii()):
        return "en"
    return detect_language(sample)[0] or "und"
