"""Conflicts: pairs of statements that cannot both hold, and relations that contradict each other."""

from polymnia.engine.analysis.conflicts.clash import TYPES, Clash, Clashes, Resolution, Side, once
from polymnia.engine.analysis.conflicts.detection import conflicts, conflicts_of

__all__ = ["TYPES", "Clash", "Clashes", "Resolution", "Side", "conflicts", "conflicts_of", "once"]
