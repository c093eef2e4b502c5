"""A citation as an entry of BibTeX (biblatex), from its CSL-JSON."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["bibtex"]

_ENTRIES = {
    "article-journal": "article", "article-newspaper": "article", "article-magazine": "article", "article": "article",
    "book": "book", "chapter": "incollection", "paper-conference": "inproceedings", "thesis": "thesis",
    "report": "report", "software": "software", "dataset": "dataset", "webpage": "online", "post-weblog": "online",
}  # fmt: skip
_FIELDS = {
    "publisher": "publisher", "publisher-place": "location", "volume": "volume", "issue": "number", "page": "pages",
    "edition": "edition", "version": "version", "number": "number", "ISBN": "isbn", "ISSN": "issn", "DOI": "doi",
    "URL": "url",
}  # fmt: skip
_INSIDE = {"chapter": "booktitle", "paper-conference": "booktitle"}
_SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_ESCAPED = re.compile(r"[\\{}#$%&_~^]")
_BRACE = re.compile(r"[\\{}]")


def bibtex(csl: dict[str, Any], permalink: str | None) -> str:
    """The entry, one field a line; a permalink that is not its URL is its note."""
    fields = {"title": "{" + _tex(csl["title"]) + "}"}
    if authors := csl.get("author"):
        fields["author"] = " and ".join(_name(author) for author in authors)
    if issued := csl.get("issued"):
        fields["date"] = _date(issued)
    if container := csl.get("container-title"):
        fields[_INSIDE.get(csl["type"], "journaltitle")] = _tex(container)
    for name, field in _FIELDS.items():
        if name in csl:
            address = name in ("DOI", "URL")
            fields[field] = _BRACE.sub(lambda found: f"%{ord(found[0]):X}", csl[name]) if address else _tex(csl[name])
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


def _date(date: dict[str, Any]) -> str:
    year, *rest = date["date-parts"][0]
    return "-".join((f"{year:04}", *(f"{part:02}" for part in rest)))
