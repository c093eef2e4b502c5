"""Near-duplicates: whether a text says again what another one says already."""

from polymnia.engine.duplicates.conflicts import conflict
from polymnia.engine.duplicates.verdict import Verdict, is_duplicate, judged, least

__all__ = ["Verdict", "conflict", "is_duplicate", "judged", "least"]
