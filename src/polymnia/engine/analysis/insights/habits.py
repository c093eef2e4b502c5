"""Habits: how usual something is in a project, from how often it was so."""

from __future__ import annotations

__all__ = ["habit"]


def habit(times: int, of: int) -> float:
    """How likely the next one has it, too, after so many of so many had it (Laplace's rule of succession)."""
    return (times + 1) / (max(times, of) + 2)
