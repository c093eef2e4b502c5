"""Extracting: what a text tells of itself, so that it can be filed, found and judged by it."""

from __future__ import annotations

from polymnia.engine.extracting.counting import count_sentences, count_words
from polymnia.engine.extracting.links import links, mails
from polymnia.engine.extracting.naming import distinct, names
from polymnia.engine.extracting.page import Page
from polymnia.engine.extracting.pages import page
from polymnia.engine.extracting.programs import of_code, of_label
from polymnia.engine.extracting.speaking import spoken
from polymnia.engine.extracting.telling import telling
from polymnia.engine.extracting.values import Counts, Extracted, Heading
from polymnia.engine.search import dates

__all__ = ["Counts", "Extracted", "Heading", "extracted"]

_NAMED = 30_000  # characters in which names are looked for
_DATED = 20_000  # and dates, which are dearer to find
_MOST_NAMES = 100
_MOST_HEADINGS = 200
_MOST_DATES = 50


def extracted(text: str, content_type: str | None = None) -> Extracted:
    """Read a text and tell what can be told of it.

    Counts and links are those of the whole text; names those of its first 30,000
    characters, dates of its first 20,000 and keywords of its first 12,000.
    """
    read = page(text, content_type)
    prose = read.prose
    code, language = spoken(prose)
    said = distinct(names(_sentences(read)[:_NAMED], language), _MOST_NAMES)
    words, seconds = count_words(prose)
    for _, program in read.programs:
        more = count_words(program)
        words, seconds = words + more.words, seconds + more.seconds
    return Extracted(
        counts=Counts(
            characters=len(text),
            words=words,
            sentences=count_sentences(read.blocks),
            lines=text.count("\n") + (not text.endswith("\n")) if text else 0,
            paragraphs=len(read.blocks) if read.paragraphs is None else read.paragraphs,
            code_blocks=sum(bool(program) for _, program in read.programs),
            tasks=read.tasks,
            tasks_done=read.tasks_done,
        ),
        reading_seconds=max(1, round(seconds)) if words else 0,
        language=code,
        title=read.title,
        headings=read.headings[:_MOST_HEADINGS],
        keywords=telling(prose, language, [heading.text for heading in read.headings[:50]]),
        names=[name.text for name in said],
        people=[name.text for name in said if name.kind == "person"],
        organisations=[name.text for name in said if name.kind == "organisation"],
        dates=_dates(prose),
        links=links(prose, read.links),
        mails=mails(prose, read.links),
        code_languages=_languages(read),
        has_tasks=read.tasks > 0,
        has_tables=read.tables,
    )


def _sentences(read: Page) -> str:
    """The blocks in which a capital tells something: in a heading every word may have one."""
    return "\n".join(text for kind, text in read.blocks if kind != "h")


def _dates(prose: str) -> list[str]:
    """The dates of a text, without the months and years that only are a part of them."""
    said = [term[1:] for term in dates.mentioned(prose[:_DATED])]
    return [one for one in said if not any(other.startswith(f"{one}-") for other in said)][:_MOST_DATES]


def _languages(read: Page) -> list[str]:
    found: dict[str, None] = {}
    for label, program in read.programs:
        name = of_label(label) if label else of_code(program)
        if name:
            found[name] = None
    return list(found)
