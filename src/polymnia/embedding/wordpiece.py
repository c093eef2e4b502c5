"""The WordPiece tokenizer of lower-case BERT models: text to the ids of the longest known pieces."""

from __future__ import annotations

import re
from unicodedata import category, normalize

__all__ = ["WordPieces"]

_CONTINUED = "##"
_LONGEST_WORD = 100  # a longer run of letters is one unknown word
_MEMORY = 16384  # so many words are remembered with their pieces

# Between spaces each of these is a word of its own: marks of ASCII, and the ideographs.
_MARKS = r"!-/:-@\[-`{-~"
_IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f"
)
_UNSEEN = {"Cc", "Cf", "Co"}
_ALONE = re.compile(f"([{_MARKS}{_IDEOGRAPHS}])")


class WordPieces:
    """A vocabulary, one piece a line, and the way texts are cut with it."""

    def __init__(self, vocabulary: str) -> None:
        self._ids = {piece: id for id, piece in enumerate(vocabulary.splitlines())}
        self._unknown = self._ids["[UNK]"]
        self.start = self._ids["[CLS]"]
        self.end = self._ids["[SEP]"]
        self._cut: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str, most: int) -> list[int]:
        """The ids of the text's pieces without marks of start and end; at most ``most``."""
        ids: list[int] = []
        seen = self._cut
        for word in _ALONE.sub(r" \1 ", text).split():
            cut = seen.get(word)
            if cut is None:
                if len(seen) >= _MEMORY:
                    seen.clear()
                cut = seen[word] = self._pieces(word)
            ids += cut
            if len(ids) >= most:
                break
        return ids[:most]

    def _pieces(self, word: str) -> tuple[int, ...]:
        if word.isascii() and word.isprintable():
            return self._longest_first(word.lower())
        parts = _ALONE.sub(r" \1 ", _plain(word)).split()
        return tuple(id for part in parts for id in self._longest_first(part))

    def _longest_first(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        ids = []
        start = 0
        while start < len(word):
            prefix = _CONTINUED if start else ""
            for end in range(len(word), start, -1):
                id = self._ids.get(prefix + word[start:end])
                if id is not None:
                    break
            else:
                return (self._unknown,)
            ids.append(id)
            start = end
        return tuple(ids)


def _plain(word: str) -> str:
    """Lower case without accents and unseen characters, with spaces around every mark."""
    out = []
    for character in normalize("NFD", "".join(c for c in word if c != "\ufffd" and category(c) not in _UNSEEN)):
        kind = category(character)
        if kind[0] == "P":
            out.append(f" {character} ")
        elif kind != "Mn":
            out.append(character)
    return "".join(out).lower()
