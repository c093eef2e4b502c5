"""Tokenizers of the built-in models, and the tables of token vectors."""

from __future__ import annotations

import re
import sys
from array import array
from typing import TYPE_CHECKING, TypeAlias
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.inference.weights import Weights

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.intp]

_CONTINUED = "##"
_LONGEST_WORD = 100  # a longer word is a single unknown token
_CACHE_SIZE = 16384  # words whose tokens are cached

# Each of these is a word of its own: ASCII punctuation, and ideographs.
_MARKS = r"!-/:-@\[-`{-~"
_IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f"
)
_UNSEEN = {"Cc", "Cf", "Co"}
_ALONE = re.compile(f"([{_MARKS}{_IDEOGRAPHS}])")


class WordPieces:
    """A WordPiece tokenizer; its vocabulary has one piece per line."""

    def __init__(self, vocabulary: str) -> None:
        self._ids = {piece: id for id, piece in enumerate(vocabulary.splitlines())}
        self._unknown = self._ids["[UNK]"]
        self.start = self._ids["[CLS]"]
        self.end = self._ids["[SEP]"]
        self._cache: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str, most: int) -> list[int]:
        """The token ids of the text without start and end tokens; at most ``most``."""
        ids: list[int] = []
        cache = self._cache
        for word in _ALONE.sub(r" \1 ", text).split():
            cut = cache.get(word)
            if cut is None:
                if len(cache) >= _CACHE_SIZE:
                    cache.clear()
                cut = cache[word] = self._pieces(word)
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
    """The word in lower case without accents and invisible characters, with spaces around punctuation."""
    out = []
    for character in normalize("NFD", "".join(c for c in word if c != "\ufffd" and category(c) not in _UNSEEN)):
        kind = category(character)
        if kind[0] == "P":
            out.append(f" {character} ")
        elif kind != "Mn":
            out.append(character)
    return "".join(out).lower()


# The characters that SentencePiece, with which the vocabulary was made, normalises to a space.
_SPACES = dict.fromkeys(map(ord, "\t\n\f\r\u1680\u200b\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " ")
_KEPT = "\uff5e"  # the full-width tilde, which is not normalised


UNKNOWN, START, END = 0, 1, 2

_WORD = "\u2581"  # marks the start of each word
_PIECE = 0x0A  # the tag of a piece's message

# An unknown piece scores this much lower than the rarest one.
_PENALTY = 10.0

_LONGEST_CACHED = 24  # the longest word that is cached: most words of a text have occurred before


class Pieces:
    """A SentencePiece tokenizer with the vocabulary of a model file.

    No piece crosses a word boundary, so words are tokenized one by one and frequent words are cached.
    """

    def __init__(self, model: bytes) -> None:
        self._ids: dict[str, int] = {}
        self._scores = array("f")
        # The length of the longest piece that starts with these two characters.
        self._reach: dict[str, int] = {}
        self._cache: dict[str, tuple[int, ...]] = {}
        self._read(model)
        self._unknown = min(self._scores) - _PENALTY

    def __len__(self) -> int:
        return len(self._scores)

    def ids(self, text: str, most: int) -> list[int]:
        """The token ids of the text between start and end tokens; at most ``most`` without those."""
        ids = [START]
        cache = self._cache
        for word in text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" "):
            if not word:
                continue
            cut = cache.get(word)
            if cut is None:
                cut = self._pieces(word)
                if len(word) <= _LONGEST_CACHED:
                    if len(cache) >= _CACHE_SIZE:
                        cache.clear()
                    cache[word] = cut
            ids += cut
            if len(ids) > most:
                break
        if len(ids) == 1:
            ids.append(UNKNOWN)
        del ids[most + 1 :]
        ids.append(END)
        return ids

    def _read(self, model: bytes) -> None:
        """Read the pieces, which come first, each a message of its text, score and, if not normal, type.

        All are short, so every length is a single byte.
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

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The tokens of a space-separated word; its compatibility form may be several words."""
        form = _KEPT.join(normalize("NFKC", part) for part in word.translate(_SPACES).split(_KEPT))
        return tuple(id for part in form.split(" ") if part for id in self._likeliest(_WORD + part))

    def _likeliest(self, word: str) -> list[int]:
        """The segmentation with the highest total score; of equals the one whose last piece starts first."""
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


# ── token vectors ─────────────────────────────────────────────────────────────────────────────────────────

_GROUP = 32  # numbers of a row that share a scale
# Two four-bit numbers per byte, the low half first.
_BYTE = np.arange(256)
_PAIRS = (np.stack([_BYTE & 15, _BYTE >> 4], axis=1) - 7.5).astype(np.float32)
_PARTS = 17  # the table of subwords is split into this many parts, by the subword's id


class PositionTable:
    """Position and segment embeddings: what a network adds to a token's vector by its place and its text."""

    def __init__(self, places: Floats, parts: Floats) -> None:
        self._first = places.astype(np.float32) + parts[0].astype(np.float32)
        self._turn = parts[1].astype(np.float32) - parts[0].astype(np.float32)

    def add(self, rows: Floats, first: int | None = None) -> Floats:
        """Add them in place to the rows of one text, or of two of which the first has ``first`` tokens."""
        rows += self._first[: len(rows)]
        if first is not None:
            rows[first:] += self._turn
        return rows


class WordTable:
    """English word pieces and their vectors, with four bits per number."""

    def __init__(self, weights: Weights, file: str) -> None:
        vocabulary, table = weights.verified("vocab.txt", file)
        with open(vocabulary, encoding="utf-8") as stream:
            self._pieces = WordPieces(stream.read())
        self.ids, self.start, self.end = self._pieces.ids, self._pieces.start, self._pieces.end
        with np.load(table) as arrays:
            self._arrays = dict(arrays)

    def rows(self, ids: Sequence[int]) -> Floats:
        """The vectors of tokens, one row each."""
        levels: Floats = _PAIRS[self._arrays["levels"][ids]].reshape(len(ids), -1, _GROUP)
        levels *= self._arrays["scale"][ids].astype(np.float32)[:, :, None]
        return levels.reshape(len(ids), -1)

    def positions(self, network: str) -> PositionTable:
        """The position table of a network over these words."""
        return PositionTable(self._arrays[f"{network}.places"], self._arrays[f"{network}.parts"])


class SubwordTable:
    """Subwords of sixteen languages and their vectors, as used by the multilingual encoder."""

    start, end = START, END

    def __init__(self, weights: Weights) -> None:
        words, self.path = weights.verified("sp.model", "encoder_multi.npz")
        with open(words, "rb") as stream:
            self.pieces = Pieces(stream.read())
        with np.load(self.path) as arrays:
            self._scale, self._low = arrays["scale"], arrays["lo"]
            first = arrays["q1"]
            self._table = np.empty((_PARTS, *first.shape), first.dtype)
            self._table[0] = first
            for part in range(1, _PARTS):  # one by one, so that two copies of the table are never in memory at once
                self._table[part] = arrays[f"q{part + 1}"]

    def ids(self, text: str, most: int) -> list[int]:
        """The subword ids of a text without start and end tokens; at most ``most``."""
        return self.pieces.ids(text, most)[1:-1]

    def rows(self, ids: Sequence[int] | Ints) -> Floats:
        """The vectors of subwords, one row each."""
        at = np.asarray(ids)
        part = at % _PARTS
        rows: Floats = self._table[part, at // _PARTS].astype(np.float32)
        rows *= self._scale[part, None]
        rows += self._low[part, None]
        return rows
