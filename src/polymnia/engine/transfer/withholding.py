"""Withholding the text of an item: what may be told of it where its content is not wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from polymnia.engine.text.sentences import sentences

__all__ = ["Withheld"]

_DERIVED = frozenset(("decision", "extracted"))  # keys under which the metadata repeat or describe the text
_LONG = 12  # characters: anything shorter is a word that may stand in any text
_RUN = 4  # words in a row that a text and something else have in common make it a quotation
_WORD = re.compile(r"[^\W_]+")
_GONE = object()


class Withheld:
    """The texts of one item, none of which may leave: neither whole nor a sentence of it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(dict.fromkeys(texts))
        self._sentences = {
            part
            for text in self._texts
            for line in text.splitlines()
            for one in sentences(line)
            if len(part := one.strip().lstrip("#>*- ").strip()) >= _LONG
        }
        self._runs = {run for text in self._texts for run in _runs(text)}

    def metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Metadata without what repeats the text."""
        kept = {key: value for key, value in metadata.items() if key not in _DERIVED}
        if isinstance(title := kept.get("title"), str) and any(title.strip() in text for text in self._texts):
            del kept["title"]
        told = self._value(kept)
        return told if isinstance(told, dict) else {}

    def version(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """An earlier version of it."""
        kept = {key: value for key, value in told.items() if key not in ("content", "summary", "title")}
        return kept | {"metadata": self.metadata(told.get("metadata") or {})}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return _GONE if self._says(value) else value
        if isinstance(value, Mapping):
            return {key: told for key, inner in value.items() if (told := self._value(inner)) is not _GONE}
        if isinstance(value, list | tuple):
            return [told for inner in value if (told := self._value(inner)) is not _GONE]
        return value

    def _says(self, value: str) -> bool:
        """Whether a text quotes the withheld ones: some words in a row, or a sentence where words are not parted."""
        if len(value) < _LONG:
            return False
        return any(run in self._runs for run in _runs(value)) or any(one in value for one in self._sentences)


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1))
