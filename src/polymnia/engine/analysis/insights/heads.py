"""Heads: what the records of a project are about, as their names, titles, tags and first words tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from polymnia.engine.text.language import fold
from polymnia.models import Record

__all__ = ["Heads", "key"]

_TOKEN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_FIRST = 3  # words within which a text without a title comes to what it is about
_READ = 200
_TITLE = re.compile(r"\s*#{1,6}[ \t]+(.*\S)")


def key(name: str) -> tuple[str, ...]:
    """A name as it is compared: its words, folded."""
    return tuple(fold(token) for token in _TOKEN.findall(name))


class Heads:
    """Which of some names stand in the heads of some records."""

    def __init__(self, records: Iterable[Record], names: Iterable[tuple[str, ...]]) -> None:
        self._led: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            if name:
                self._led.setdefault(name[0], []).append(name)
        self._found: set[tuple[str, ...]] = set()
        for record in records:
            for head in _heads(record):
                self._look(key(head), len(head))
            text = record.observations[0][:_READ] if record.observations else ""
            title = _TITLE.match(text)
            if title:
                self._look(key(title[1]), len(title[1]))
            else:
                self._look(key(text), _FIRST)

    def __contains__(self, name: tuple[str, ...]) -> bool:
        return name in self._found

    def _look(self, words: tuple[str, ...], starts: int) -> None:
        """Note the names that begin within the first so many words."""
        for start, word in enumerate(words[:starts]):
            for form in _forms(word):
                for name in self._led.get(form, ()):
                    *most, last = words[start : start + len(name)]
                    if len(most) + 1 == len(name) and (*most, name[-1]) == name and name[-1] in _forms(last):
                        self._found.add(name)


def _heads(record: Record) -> Iterator[str]:
    if record.name != record.uid:
        yield record.name
    title = record.metadata.get("title")
    if isinstance(title, str):
        yield title
    yield from record.tags


def _forms(word: str) -> tuple[str, ...]:
    """A word, and what it is without particles where it is Korean."""
    if "가" <= word[0] <= "힣" and len(word) > 2:
        return (word, *(word[:cut] for cut in range(max(2, len(word) - 2), len(word))))
    return (word,)
