"""Suggesting a scope: where a new text belongs, judged by the memories that are filed already.

``suggest`` is a pure function of the text and some filed memories; gathering those is the caller's. Nothing here is
imported before somebody asks.
"""

from __future__ import annotations

from polymnia.engine.suggesting.reading import READ, scope_words
from polymnia.engine.suggesting.suggest import considered, suggest
from polymnia.engine.suggesting.values import Alternative, Example, Suggestion, View

__all__ = [
    "BY_MEANING",
    "BY_WORDS",
    "EXAMPLES",
    "READ",
    "SCOPES",
    "Alternative",
    "Example",
    "Suggestion",
    "View",
    "considered",
    "scope_words",
    "suggest",
]

BY_MEANING = 60
"""So many memories nearest by cosine tell which scopes come into question,"""
BY_WORDS = 40
"""and so many that share most words with the text;"""
SCOPES = 12
"""of their scopes the first so many do,"""
EXAMPLES = 20
"""and so many memories of each are learnt from."""
