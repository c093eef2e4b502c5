"""Counts reads without making readers wait.

Counts are collected in memory and written later, and on closing. They are statistics, not memories: a killed process
loses those of the last half minute.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from polymnia.engine.ports import Store
from polymnia.errors import Fault
from polymnia.models import Seen

COUNTED = "reads"
"""The note that changes whenever counts are written."""

_WAIT = 30.0  # seconds between counting and writing
_FULL = 2_000  # counts that are written without waiting
_LIMIT = 20_000  # counts that are held if they cannot be written
_HOUR = 3_600_000_000


class ReadCounter:
    """The pending counts of one store. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self.times = 0
        """A number that rises with every count."""
        self._store = store
        self._counts: dict[tuple[str, int, int, str], list[int]] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._writer: threading.Thread | None = None
        self._closed = False

    def count(self, project: str, who: str, ids: Iterable[int], *, opened: bool) -> None:
        """Count a read of these memories, which were opened or (if not ``opened``) found by a search."""
        hour = time.time_ns() // 1000 // _HOUR * _HOUR
        with self._lock:
            self.times += 1
            for id in ids:
                self._add((project, id, hour, who), int(opened), int(not opened))
            if not self._counts or self._closed:
                return
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_later, name="polymnia-reads", daemon=True)
                self._writer.start()
        if len(self._counts) >= _FULL:
            self._wake.set()

    def pending(self, project: str) -> list[Seen]:
        """The counts of a project that are not written yet."""
        with self._lock:
            return [Seen(*key[1:], *counts) for key, counts in self._counts.items() if key[0] == project]

    def write(self) -> None:
        """Write the counts. Those that cannot be written stay pending."""
        with self._lock:
            pending, self._counts = self._counts, {}
        for project in dict.fromkeys(key[0] for key in pending):
            reads = {key: counts for key, counts in pending.items() if key[0] == project}
            try:
                with self._store.write(project, "polymnia", "count_reads") as tx:
                    tx.count_reads(Seen(*key[1:], *counts) for key, counts in reads.items())
                    tx.note(COUNTED, str(int(tx.noted(COUNTED) or 0) + len(reads)))
            except Fault:
                with self._lock:
                    for key, (opened, found) in reads.items():
                        self._add(key, opened, found)

    def close(self) -> None:
        """Write the pending counts and stop counting."""
        with self._lock:
            self._closed = True
            writer = self._writer
        self._wake.set()
        if writer is not None and writer is not threading.current_thread():
            writer.join()

    def _add(self, key: tuple[str, int, int, str], opened: int, found: int) -> None:
        if key in self._counts or len(self._counts) < _LIMIT:
            counts = self._counts.setdefault(key, [0, 0])
            counts[0] += opened
            counts[1] += found

    def _write_later(self) -> None:
        while True:
            self._wake.wait(_WAIT)
            self._wake.clear()
            self.write()
            with self._lock:
                if self._closed or not self._counts:
                    self._writer = None
                    return
