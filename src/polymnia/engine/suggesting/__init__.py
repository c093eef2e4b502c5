"""Suggesting a scope: where a new text belongs, judged by the memories that are filed already.

``suggest`` is a pure function of the text and its nearest filed memories; gathering those is the caller's. Nothing
here is imported before somebody asks.
"""

from __future__ import annotations

from polymnia.engine.suggesting.reading import READ
from polymnia.engine.suggesting.suggest import suggest
from polymnia.engine.suggesting.values import Alternative, Neighbour, Suggestion
from polymnia.engine.suggesting.voting import crowding

__all__ = ["BY_MEANING", "BY_WORDS", "READ", "Alternative", "Neighbour", "Suggestion", "crowding", "suggest"]

BY_MEANING = 60
"""So many memories nearest by cosine are to be gathered for :func:`suggest`,"""
BY_WORDS = 40
"""and so many that score highest by words; those found twice count once, with both numbers."""
