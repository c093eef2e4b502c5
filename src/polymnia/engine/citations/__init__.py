"""Citations of stored content, in five styles, through CSL.

The processor and the styles are loaded with the first citation, not before.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal, get_args

from msgspec import Struct

from polymnia.engine.citations.item import Citable, citable, csl_of
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import JsonObject

__all__ = ["STYLES", "Citable", "Citation", "CitationStyle", "citable", "cite"]

CitationStyle = Literal["apa", "mla", "chicago", "ieee", "harvard"]
STYLES: tuple[str, ...] = get_args(CitationStyle)
_LOCALES = {"harvard": "en-GB"}

_ENTRIES = dict.fromkeys(("article", "article-journal", "article-newspaper", "article-magazine"), "article")
_ENTRIES |= {"chapter": "incollection", "paper-conference": "inproceedings", "webpage": "online"}
_ENTRIES |= {"post-weblog": "online"} | {same: same for same in ("book", "thesis", "report", "software", "dataset")}
# CSL variables, in the order of the BibTeX fields.
_FIELDS = "publisher publisher-place volume issue page edition version number ISBN ISSN DOI URL".split()
_RENAMED = {"publisher-place": "location", "issue": "number", "page": "pages"}
_INSIDE = {"chapter": "booktitle", "paper-conference": "booktitle"}
_SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_ESCAPED = re.compile(r"[\\{}#$%&_~^]")
_BRACE = re.compile(r"[\\{}]")


class Citation(Struct, frozen=True, kw_only=True):
    """A formatted reference to a content; ``csl`` is the CSL-JSON it was made from."""

    style: str
    text: str
    html: str
    bibtex: str
    csl: JsonObject
    permalink: str | None = None
    accessed: str | None = None


def cite(item: Citable, style: str, *, permalink: bool, access_date: bool, now: int) -> Citation:
    """Cite a content. ``now`` is the time of access in microseconds.

    A permalink is the address of a content that has no other, and is appended to the citation otherwise.
    """
    if style not in STYLES:
        raise Invalid(f"style is {style!r:.40}, but must be one of {', '.join(STYLES)}", field="style")
    with importing():
        from polymnia.engine.citations.style import render

    today = datetime.fromtimestamp(now / 1_000_000, UTC) if access_date else None
    csl = csl_of(item, linked=permalink, accessed=today)
    text, html = render(csl, style, _LOCALES.get(style, "en-US"))
    if permalink and csl.get("URL") != item.permalink:
        text, html = _linked(text, html, item.permalink)
    return Citation(
        style=style,
        text=text,
        html=html,
        bibtex=_bibtex(csl, item.permalink if permalink else None),
        csl=csl,
        permalink=item.permalink if permalink else None,
        accessed=today.date().isoformat() if today else None,
    )


def _linked(plain: str, html: str, address: str) -> tuple[str, str]:
    """Append an address to a citation; it ends with a full stop if the citation did."""
    ended = plain.endswith((".", "?", "!", "…", "。", "？", "！", "”", "’"))
    more = ("" if ended else ".") + f" {address}" + ("." if plain.endswith((".", "”", "’")) else "")
    return plain + more, html + more


def _bibtex(csl: JsonObject, permalink: str | None) -> str:
    """The item as a BibTeX (biblatex) entry, one field per line; a permalink that is not its URL is a note."""
    fields = {"title": "{" + _tex(csl["title"]) + "}"}
    if authors := csl.get("author"):
        fields["author"] = " and ".join(_name(author) for author in authors)
    if issued := csl.get("issued"):
        fields["date"] = _date(issued)
    if container := csl.get("container-title"):
        fields[_INSIDE.get(csl["type"], "journaltitle")] = _tex(container)
    for name in _FIELDS:
        if name in csl:
            address = name in ("DOI", "URL")
            value = _BRACE.sub(lambda found: f"%{ord(found[0]):X}", csl[name]) if address else _tex(csl[name])
            fields[_RENAMED.get(name, name.lower())] = value
    if accessed := csl.get("accessed"):
        fields["urldate"] = _date(accessed)
    if permalink and csl.get("URL") != permalink:
        fields["note"] = f"\\url{{{permalink}}}"
    key = re.sub(r"[^A-Za-z0-9:._-]+", "-", csl["id"]).strip("-") or "content"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{_ENTRIES.get(csl['type'], 'misc')}{{{key},\n{lines}}}\n"


def _tex(text: str) -> str:
    return _ESCAPED.sub(lambda found: _SPECIAL.get(found[0], "\\" + found[0]), text)


def _name(name: dict[str, str]) -> str:
    if "literal" in name:
        return "{" + _tex(name["literal"]) + "}"
    family = " ".join(part for part in (name.get("non-dropping-particle"), name["family"]) if part)
    return ", ".join(_tex(part) for part in (family, name.get("suffix"), name.get("given")) if part)


def _date(date: JsonObject) -> str:
    year, *rest = date["date-parts"][0]
    return "-".join((f"{year:04}", *(f"{part:02}" for part in rest)))
