"""Finding memories: plan the query, recall candidates, rank them, and say why.

Today the words of the query decide. Meaning joins here: another recall beside :func:`recall.by_words`, and
another term in :func:`rank.order`.
"""

from __future__ import annotations

from polymnia.engine.ports import Snapshot
from polymnia.engine.search import recall
from polymnia.engine.search.plan import plan
from polymnia.engine.search.rank import Hit, order
from polymnia.models import folded_forms

__all__ = ["ranked", "substring"]


def substring(snapshot: Snapshot, query: str) -> list[int]:
    """Ids of every record with the query in its name, kind or an observation, whatever the case."""
    return snapshot.containing(folded_forms(query))


def ranked(snapshot: Snapshot, query: str) -> list[Hit]:
    """Records that answer the query, best first. One that holds the query as it stands comes before any other."""
    wanted = plan(query)
    exact = snapshot.containing(wanted.forms)
    if not wanted.words:
        return order(wanted, snapshot.load(exact), (), {})
    similar = recall.by_words(snapshot, wanted, exact)
    return order(wanted, snapshot.load(exact), snapshot.load(list(similar)), similar)
