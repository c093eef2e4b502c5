"""Extraction: what a text says of itself, so that it can be filed, found and judged by it."""

from __future__ import annotations

from msgspec import Struct

from polymnia.engine.text.code import of_code, of_label
from polymnia.engine.text.dates import mentioned
from polymnia.engine.text.document import Document, Heading, document, links, mails
from polymnia.engine.text.keywords import telling
from polymnia.engine.text.language import spoken
from polymnia.engine.text.names import distinct, names
from polymnia.engine.text.sentences import count_sentences, count_words

__all__ = ["Counts", "Extracted", "Heading", "extracted"]

_NAMED = 30_000  # characters in which names are looked for
_DATED = 20_000  # and dates, which are dearer to find
_MOST_NAMES = 100
_MOST_HEADINGS = 200
_MOST_DATES = 50


class Counts(Struct, frozen=True, kw_only=True):
    """How much of everything a text has.

    Characters and lines are those of the text as it stands, everything else is of what a reader sees. Korean words are
    counted by their spaces; each Chinese or Japanese character is a word, as word processors have it; in scripts
    that part their words by nothing, five letters are one.
    """

    characters: int
    words: int
    sentences: int
    lines: int
    paragraphs: int
    code_blocks: int = 0
    tasks: int = 0
    tasks_done: int = 0


class Extracted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a text says of itself. What cannot be told is absent; nothing here is guessed from outside the text."""

    counts: Counts
    reading_seconds: int
    """At the pace of a silent reader: see :mod:`polymnia.engine.text.sentences`."""
    language: str | None = None
    """ISO 639-1."""
    title: str | None = None
    headings: list[Heading] = []
    keywords: list[str] = []
    """The most telling words and phrases, as they stand in the text, the most telling first."""
    names: list[str] = []
    """Everybody and everything the text calls by name, in its order."""
    people: list[str] = []
    """Those of the names that are certainly a person's."""
    organisations: list[str] = []
    dates: list[str] = []
    """ISO 8601: a day, a month or a year; `--05-08` where no year is said."""
    links: list[str] = []
    mails: list[str] = []
    code_languages: list[str] = []
    has_tasks: bool = False
    has_tables: bool = False


def extracted(text: str, content_type: str | None = None) -> Extracted:
    """Read a text and tell what can be told of it.

    Counts and links are those of the whole text; names those of its first 30,000
    characters, dates of its first 20,000 and keywords of its first 12,000.
    """
    read = document(text, content_type)
    prose = read.prose
    code, language = spoken(prose)
    said = distinct(names(_sentences(read)[:_NAMED], language), _MOST_NAMES)
    words, seconds = count_words(prose)
    for _, program in read.code:
        more = count_words(program)
        words, seconds = words + more.words, seconds + more.seconds
    return Extracted(
        counts=Counts(
            characters=len(text),
            words=words,
            sentences=sum(count_sentences(said) for kind, said in read.blocks if kind in ("p", "li")),
            lines=text.count("\n") + (not text.endswith("\n")) if text else 0,
            paragraphs=len(read.blocks) if read.paragraphs is None else read.paragraphs,
            code_blocks=sum(bool(program) for _, program in read.code),
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
        links=links(prose, read.targets),
        mails=mails(prose, read.targets),
        code_languages=_languages(read),
        has_tasks=read.tasks > 0,
        has_tables=read.tables,
    )


def _sentences(read: Document) -> str:
    """The blocks in which a capital tells something: in a heading every word may have one."""
    return "\n".join(text for kind, text in read.blocks if kind != "h")


def _dates(prose: str) -> list[str]:
    """The dates of a text, without the months and years that only are a part of them."""
    said = [term[1:] for term in mentioned(prose[:_DATED])]
    return [one for one in said if not any(other.startswith(f"{one}-") for other in said)][:_MOST_DATES]


def _languages(read: Document) -> list[str]:
    found: dict[str, None] = {}
    for label, program in read.code:
        name = of_label(label) if label else of_code(program)
        if name:
            found[name] = None
    return list(found)
