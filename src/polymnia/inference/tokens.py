"""The WordPiece tokenizer of lower-case BERT models: text to the ids of the longest known pieces."""

from __future__ import annotations

import re
import sys
from array import array
from typing import TYPE_CHECKING
from unicodedata import category, is_normalized, normalize

if TYPE_CHECKING:
    from collections.abc import Iterator

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


# The two characters that look ordinary and that the map turns into spaces: the mark of a word's start,
# and the replacement character.
_ODD = ("\u2581", "\ufffd")

# Fields of one 32-bit unit of the map's double-array trie.
_LABEL = 0x800000FF
_HAS_VALUE = 0x100
_FAR = 0x200
_VALUE = 0x7FFFFFFF


class Charsmap:
    """Rewrites text by the longest matching sequences of a compiled map.

    The blob is the size of a double-array trie over UTF-8 bytes, the trie, and the zero-terminated
    replacements its values point into.
    """

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        units = array("I")
        units.frombytes(blob[4 : 4 + size])
        if sys.byteorder == "big":
            units.byteswap()
        self._units = units
        self._replacements = blob[4 + size :]

    def rewrite(self, text: str) -> str:
        """The text as the model knows it; what it takes for a space is a space."""
        # Text that is in the compatibility form already is what the map would make of it, save for
        # characters nobody sees and the odd ones. This is nearly all text, and the test is fast.
        if text.isprintable() and is_normalized("NFKC", text) and not any(odd in text for odd in _ODD):
            return text
        return self.rewrite_any(text)

    def rewrite_any(self, text: str) -> str:
        """The same for any text, step by step through the map."""
        raw = text.encode("utf-8", "replace")
        out = bytearray()
        at = 0
        while at < len(raw):
            length, value = self._longest(raw, at)
            if length:
                end = self._replacements.index(0, value)
                out += self._replacements[value:end]
            else:
                length = _width(raw[at])
                out += raw[at : at + length]
            at += length
        return out.decode("utf-8", "replace")

    def _longest(self, raw: bytes, start: int) -> tuple[int, int]:
        """The length of the longest sequence of the map at a place, and where its replacement begins."""
        units = self._units
        node = _offset(units[0])
        length = value = 0
        for at in range(start, len(raw)):
            node ^= raw[at]
            unit = units[node]
            if unit & _LABEL != raw[at]:
                break
            node ^= _offset(unit)
            if unit & _HAS_VALUE:
                length, value = at + 1 - start, units[node] & _VALUE
        return length, value


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & _FAR) >> 6)


def _width(first: int) -> int:
    """How many bytes a character has whose first byte this is."""
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


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
