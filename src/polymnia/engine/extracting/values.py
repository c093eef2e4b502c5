"""What can be told of a text by reading it."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Counts", "Extracted", "Heading"]


class Heading(Struct, frozen=True):
    """A heading and its level, 1 for the highest."""

    level: int
    text: str


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
    """At the pace of a silent reader: see :mod:`polymnia.engine.extracting.counting`."""
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
