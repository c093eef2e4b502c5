"""Exporting a project as a graph file."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia.engine.memory import Memory
from polymnia.engine.transfer.graph_file import Form, write

__all__ = ["export_graph"]


def export_graph(memory: Memory, form: Form, *, at: int | None = None) -> Iterator[bytes]:
    """The project as the bytes of a graph file, in pieces; with ``at``, as it was at that time."""
    with memory.store.read(memory.project) as snapshot:
        if at is None:
            relations = ((r.source, r.target, r.type, r.extra) for r in snapshot.relations())
            yield from write(form, snapshot.records(), relations)
        else:
            records, links = snapshot.as_of(at)
            yield from write(form, records, ((r.source, r.target, r.type, r.extra) for r in links))
