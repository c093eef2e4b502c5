"""Lexicon: the word lists of the house, which lie beside this file as plain text.

Words of alphabets are written as :func:`polymnia.engine.text.language.fold` leaves them.
"""

from __future__ import annotations

import os


def sections(file: str) -> dict[str, str]:
    """The parts of a file beside this one, by the names in brackets that lead them; lines with # are comments."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as read:
        text = "".join(line for line in read if not line.startswith("#"))
    parts = (part.partition("]\n") for part in text.split("[")[1:])
    return {name: words for name, _, words in parts}


_LISTS = {name: frozenset(words.split()) for name, words in sections("lexicon.txt").items()}

STOPWORDS = {name.removeprefix("stopwords "): words for name, words in _LISTS.items() if name.startswith("stopwords ")}
"""The small words of each language, which tell what language a text is in and say nothing else."""

GENERAL = _LISTS["general"]
"""Content words that say nothing about what a text is about, in a few languages."""

GIVEN_NAMES = _LISTS["given names"]
"""Given names in many languages."""

AMBIGUOUS_NAMES = _LISTS["ambiguous names"]
"""Given names that are also a word, a month or a place: alone they name nobody for certain."""


def word_list(name: str) -> frozenset[str]:
    """A list by its name in the file."""
    return _LISTS[name]
