"""Conflicts: pairs of statements that cannot both hold, and relations that contradict each other."""

from polymnia.engine.analysis.conflicts.clash import Clash, Clashes, Side, deduplicated
from polymnia.engine.analysis.conflicts.detection import conflicts, conflicts_of

__all__ = ["Clash", "Clashes", "Side", "conflicts", "conflicts_of", "deduplicated"]
