"""A SentencePiece unigram tokenizer: text to the ids of the likeliest pieces."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from polymnia.embedding.charsmap import Charsmap

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Pieces"]

UNKNOWN, START, END = 0, 1, 2

_WORD = "\u2581"  # stands at the start of each word
_PIECE = 0x0A  # starts the message of a piece

# A piece the model does not know costs this much more than its rarest one.
_PENALTY = 10.0

# Words up to this length are remembered, this many of them: most words of a text have been seen before.
_MEMORABLE = 24
_MEMORY = 16384


class Pieces:
    """The vocabulary of a model file, and the way texts are cut with it.

    No piece reaches over the start of a word, so that words are cut one by one and the cut of a
    frequent word is remembered.
    """

    def __init__(self, model: bytes) -> None:
        self._ids: dict[str, int] = {}
        self._scores = array("f")
        # The longest piece that starts with these two characters: where looking for longer ones ends.
        self._reach: dict[str, int] = {}
        self._cut: dict[str, tuple[int, ...]] = {}
        rest = self._read(model)
        spec = next(model[start:end] for field, start, end in _fields(model, rest, len(model)) if field == 3)
        self._charsmap = Charsmap(
            next(spec[start:end] for field, start, end in _fields(spec, 0, len(spec)) if field == 2)
        )
        self._unknown = min(self._scores) - _PENALTY

    def __len__(self) -> int:
        return len(self._scores)

    def ids(self, text: str, most: int) -> list[int]:
        """The ids of the text's pieces between the marks of start and end; at most ``most`` pieces."""
        ids = [START]
        seen = self._cut
        # The character map makes spaces of these too, but only after a long way through it.
        for word in text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" "):
            if not word:
                continue
            cut = seen.get(word)
            if cut is None:
                cut = self._pieces(word)
                if len(word) <= _MEMORABLE:
                    if len(seen) >= _MEMORY:
                        seen.clear()
                    seen[word] = cut
            ids += cut
            if len(ids) > most:
                break
        if len(ids) == 1:
            ids.append(UNKNOWN)
        del ids[most + 1 :]
        ids.append(END)
        return ids

    def _read(self, model: bytes) -> int:
        """Read the pieces, which come first, each in a message of its text, its score and, if not normal,
        its type; answers where they end. All of them are short, so that every length is one byte: read
        without the detours of a general reader this takes a fifth of its time.
        """
        ids, reach, scores = self._ids, self._reach, bytearray()
        at = number = 0
        while model[at] == _PIECE:
            end = at + 2 + model[at + 1]
            text_end = at + 4 + model[at + 3]
            scores += model[text_end + 1 : text_end + 5]
            if end == text_end + 5:
                piece = str(model[at + 4 : text_end], "utf-8")
                ids[piece] = number
                start = piece[:2]
                if reach.get(start, 1) < len(piece):
                    reach[start] = len(piece)
            number += 1
            at = end
        self._scores.frombytes(scores)
        if sys.byteorder == "big":
            self._scores.byteswap()
        return at

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The cut of what stands between two spaces; the character map may make several words of it."""
        parts = self._charsmap.rewrite(word).split(" ")
        return tuple(id for part in parts if part for id in self._likeliest(_WORD + part))

    def _likeliest(self, word: str) -> list[int]:
        """The cut with the highest sum of scores; among equals the one whose last piece starts first."""
        size = len(word)
        best = [0.0, *[float("-inf")] * size]
        starts = [0] * (size + 1)
        chosen = [UNKNOWN] * (size + 1)
        find, reach, scores = self._ids.get, self._reach.get, self._scores
        for start in range(size):
            base = best[start]
            id = find(word[start])
            score = base + (self._unknown if id is None else scores[id])
            if score > best[start + 1]:
                best[start + 1], starts[start + 1], chosen[start + 1] = score, start, id or UNKNOWN
            longest = reach(word[start : start + 2], 0)
            for end in range(start + 2, min(start + longest, size) + 1):
                id = find(word[start:end])
                if id is not None:
                    score = base + scores[id]
                    if score > best[end]:
                        best[end], starts[end], chosen[end] = score, start, id
        ids = []
        while size:
            ids.append(chosen[size])
            size = starts[size]
        ids.reverse()
        return ids


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a protocol buffer message: their number and where their value starts and ends."""
    while at < end:
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 2:
            size, at = _varint(data, at)
        elif kind == 0:
            size = _varint(data, at)[1] - at
        else:
            size = 4 if kind == 5 else 8
        yield tag >> 3, at, at + size
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
