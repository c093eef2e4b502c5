"""The character map of a SentencePiece model: which sequences of characters count as the same text."""

from __future__ import annotations

import sys
from array import array
from unicodedata import is_normalized

__all__ = ["Charsmap"]

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
