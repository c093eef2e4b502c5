"""Conflicts: pairs of statements that cannot both hold, and relations that contradict each other."""

from polymnia.engine.analysis.conflicts.finding import conflicts, conflicts_of
from polymnia.engine.analysis.conflicts.values import TYPES, Clash, Clashes, Resolution, Side

__all__ = ["TYPES", "Clash", "Clashes", "Resolution", "Side", "conflicts", "conflicts_of"]
