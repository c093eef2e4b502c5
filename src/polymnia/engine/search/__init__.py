"""Finding memories: plan the query, recall candidates by words and by meaning, fuse, and say why.

Nothing here is imported before the first search: numpy and the models would cost every client its start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from polymnia.engine.ports import Snapshot
from polymnia.importing import importing
from polymnia.models import Note, Passage, Text, folded_forms

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Finder


class Analysis:
    """Reads texts for the word index. Its version changes whenever the same text would be read otherwise."""

    version = "2"

    def __call__(self, texts: Iterable[Text]) -> Iterable[Passage]:
        """The passages of the texts, in order."""
        from polymnia.engine.search.passages import read

        return read(texts)


class LazySearch:
    """The finder of a store, made when it is first needed and shared by all who hold the memory.

    With ``eager``, what is written gets its vectors in the background at once; otherwise when somebody searches.
    """

    def __init__(self, make: Callable[[], Finder], *, eager: bool = False) -> None:
        self._make = make
        self._eager = eager
        self._making = threading.Lock()
        self._finder: Finder | None = None

    def __call__(self) -> Finder:
        """The finder."""
        with self._making:
            if self._finder is None:
                self._finder = self._make()
            return self._finder

    def noticed(self, project: str) -> None:
        """Something was written. Costs the writer nothing: whatever it takes is done by another thread."""
        if self._finder is not None:
            if self._eager:
                self._finder.noticed(project)
        elif self._eager:
            threading.Thread(target=lambda: self().noticed(project), name="polymnia-finder", daemon=True).start()

    @staticmethod
    def read_ahead(texts: Sequence[str]) -> AbstractContextManager[None]:
        """Read much text for the index before it is written: nobody waits for that while the store is locked."""
        with importing():
            from polymnia.engine.search.passages import read_ahead

        return read_ahead(texts, time.time_ns() // 1000)

    def close(self) -> None:
        """Stop whatever works in the background."""
        if self._finder is not None:
            self._finder.close()


def damage_note(indexes: Iterable[str]) -> Note:
    """What whoever searched is told about indexes that are damaged."""
    named = " and ".join(indexes)
    return Note(
        "index_damaged",
        f"Damaged: {named}. The texts themselves were searched instead, which takes longer. "
        "`polymnia reindex --anew` makes all indexes again.",
    )


def substring(snapshot: Snapshot, query: str) -> list[int]:
    """Ids of every record with the query in its name, kind or an observation, whatever the case."""
    return snapshot.containing(folded_forms(query))
