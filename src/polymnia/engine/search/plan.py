"""What a query asks for: the text as it stands, and its words."""

from __future__ import annotations

from msgspec import Struct

from polymnia.models import folded_forms

__all__ = ["Plan", "plan"]

_MOST_WORDS = 24


class Plan(Struct, frozen=True):
    """A query made ready: its folded forms, and its distinct words in order."""

    forms: tuple[str, ...]
    words: tuple[str, ...]


def plan(query: str) -> Plan:
    """Read a query. Nothing in it is syntax: signs only separate words."""
    forms = folded_forms(query.strip())
    spaced = "".join(c if _in_word(c) else " " for c in forms[0])
    return Plan(forms, tuple(dict.fromkeys(spaced.split()))[:_MOST_WORDS])


def _in_word(c: str) -> bool:
    # A vowel sign or accent of its own is no letter, yet it does not end a word.
    return c.isalnum() or (not c.isascii() and ("a" + c).isidentifier())
