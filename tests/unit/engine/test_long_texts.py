"""Readers of texts on long ones of odd shapes: what they cost grows with the text and no faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from form import mostly_long
from long_texts import LONG, UNITS, grows
from polymnia.engine.analysis.conflicts.statements import statements
from polymnia.engine.analysis.insights.gaps import placeholders
from polymnia.engine.analysis.issues import doubtful
from polymnia.engine.analysis.quality.accuracy import days
from polymnia.engine.analysis.quality.clarity import spellings
from polymnia.engine.analysis.quality.page import page
from polymnia.engine.analysis.readability import readability
from polymnia.engine.analysis.topics.names import WordReader
from polymnia.engine.knowledge import duplicates
from polymnia.engine.knowledge.relationships import found as related
from polymnia.engine.knowledge.topics import content_type
from polymnia.engine.knowledge.topics import read as suggested
from polymnia.engine.privacy import secrets
from polymnia.engine.privacy.anonymizer import Anonymizer
from polymnia.engine.search import passages, snippets
from polymnia.engine.text import dates, words
from polymnia.engine.text.extraction import extract
from polymnia.models import Text


def _listed(text: str) -> None:
    told = Text(id=2, memory=1, name="note", kind="t", body=text, session=None, created=1_700_000_000_000_000)
    for one in passages.read([told]):
        passages.embedder_text(told, one.part)


def _highlighted(text: str) -> None:
    snippets.best_piece(text, snippets.find(text, {"fox", "a", "한국"}.__contains__), 160)
    snippets.phrase(text, "quick brown")


def _anonymous(text: str) -> None:
    one = Anonymizer()
    one.know("user", "ada")
    one.meet("Ada Smith")
    one.meet("김철수")
    one.learn(text)
    one.text(text)


def _stated(text: str) -> None:
    record = SimpleNamespace(content_type=None, metadata={}, name="n", uid="u", observations=(text,))
    statements(cast(Any, record), 1 << 30)


READERS: dict[str, Callable[[str], object]] = {
    "words": words.terms,
    "passages": passages.split,
    "index": _listed,
    "dates": lambda text: dates.find_dates(text, 1_700_000_000_000_000),
    "highlights": _highlighted,
    "secrets": secrets.masked,
    "anonymizing": _anonymous,
    "extracting plain text": extract,
    "extracting Markdown": lambda text: extract(text, "text/markdown"),
    "extracting HTML": lambda text: extract(text, "text/html"),
    "extracting CSV": lambda text: extract(text, "text/csv"),
    "extracting a program": lambda text: extract(text, "text/x-python"),
    "relating": lambda text: related(text, "Note 1", []),
    "duplicates": lambda text: duplicates.unlike(text, text + " x"),
    "exact": lambda text: duplicates.clash(text, text + " x"),
    "kinds": content_type,
    "suggesting": suggested,
    "quality": page,
    "accuracy": days,
    "spellings": lambda text: spellings([text]),
    "readability": readability,
    "structure": doubtful,
    "topics": lambda text: WordReader([text], 1 << 30).read(text),
    "statements": _stated,
    "unfinished": lambda text: list(cast(Iterator[object], placeholders(text))),
}


@pytest.mark.parametrize("reader", mostly_long(list(READERS), 6))
def test_the_cost_of_reading_grows_with_the_text_and_no_faster(reader: str) -> None:
    small, large, least = (131_072, 1_048_576, 1.0) if LONG else (10_000, 60_000, 0.06)
    told = (
        grows(READERS[reader], unit, small, large, least=least, most=5 + large * 3e-5)
        for unit in (UNITS if LONG else UNITS[::3])
    )
    assert not [one for one in told if one]
