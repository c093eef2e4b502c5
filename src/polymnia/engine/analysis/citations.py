"""Citations of stored content, in five styles, through CSL.

The processor and the styles are loaded with the first citation, not before.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, get_args

from msgspec import Struct

from polymnia.engine.analysis.citations_item import Citable, citable, csl_of
from polymnia.errors import Invalid
from polymnia.importing import importing

__all__ = ["STYLES", "Citable", "Citation", "CitationStyle", "citable", "cite"]

CitationStyle = Literal["apa", "mla", "chicago", "ieee", "harvard"]
STYLES: tuple[str, ...] = get_args(CitationStyle)
_LOCALES = {"harvard": "en-GB"}


class Citation(Struct, frozen=True, kw_only=True):
    """A content as a style writes it in a list of references; ``csl`` is what it was written from, as CSL-JSON."""

    style: str
    text: str
    html: str
    bibtex: str
    csl: dict[str, Any]
    permalink: str | None = None
    accessed: str | None = None


def cite(item: Citable, style: str, *, permalink: bool, access_date: bool, now: int) -> Citation:
    """Cite a content. ``now``, in microseconds, is the date of access; what is not known is left out as the style does.

    A permalink is the address of a content that has none of its own, and otherwise stands behind the citation.
    """
    if style not in STYLES:
        raise Invalid(f"style is {style!r:.40}, but must be one of {', '.join(STYLES)}", field="style")
    from polymnia.engine.analysis.citations_bibtex import bibtex

    with importing():
        from polymnia.engine.analysis.citations_processor import render

    from polymnia.engine.analysis.citations_text import finished, linked

    today = datetime.fromtimestamp(now / 1_000_000, UTC) if access_date else None
    csl = csl_of(item, linked=permalink, accessed=today)
    text, html = finished(render(csl, style, _LOCALES.get(style, "en-US")))
    if permalink and csl.get("URL") != item.permalink:
        text, html = linked(text, html, item.permalink)
    return Citation(
        style=style,
        text=text,
        html=html,
        bibtex=bibtex(csl, item.permalink if permalink else None),
        csl=csl,
        permalink=item.permalink if permalink else None,
        accessed=today.date().isoformat() if today else None,
    )
