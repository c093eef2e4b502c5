"""Quoting: what a text is quoted with, in whole words."""

from __future__ import annotations

__all__ = ["in_whole_words"]


def in_whole_words(evidence: str, text: str) -> str:
    """Evidence whose quotation of a text neither begins nor ends within a word."""
    before, opening, rest = evidence.partition("“")
    quote, closing, after = rest.rpartition("”")
    return f"{before}{opening}{_whole(quote, ' '.join(text.split()))}{closing}{after}" if quote else evidence


def _whole(quote: str, text: str) -> str:
    start = text.find(quote)
    if start < 0:
        return quote
    end = start + len(quote)
    if end < len(text) and _joins(text[end - 1]) and _joins(text[end]):
        quote = quote.rpartition(" ")[0] or quote
    if start and _joins(text[start - 1]) and _joins(text[start]):
        quote = quote.partition(" ")[2] or quote
    return quote


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"
