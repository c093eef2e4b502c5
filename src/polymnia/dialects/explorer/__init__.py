"""The explorer's API: operations that answer JSON to a page, over one project or all that its key opens."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.dialects.explorer.graph import graph
from polymnia.dialects.explorer.memories import (
    delete,
    edit,
    memory,
    move,
    relate,
    restore,
    store,
    unrelate,
    versions,
)
from polymnia.dialects.explorer.projects import Keys, about, health, key_operations, move_scope, tree
from polymnia.dialects.explorer.review import dismiss, resolve, review
from polymnia.dialects.explorer.search import names, search
from polymnia.dialects.explorer.shapes import operation
from polymnia.dialects.explorer.timeline import change, compare, news, timeline, undo, undo_preview
from polymnia.dialects.explorer.transfer import export, import_, import_preview
from polymnia.errors import Fault
from polymnia.models import JsonObject
from polymnia.operation import Context, Operation, Registry, Reply, schema

_OPERATIONS = (
    about, search, names, memory, versions, restore, edit, store, delete, relate, unrelate, move, timeline, news,
    change, undo_preview, undo, compare, graph, review, resolve, dismiss, tree, move_scope, import_preview, import_,
    export,
)  # fmt: skip


def registry(keys: Keys, figures: Callable[[], JsonObject]) -> Registry:
    """The operations of the explorer; ``keys`` is the server's file of keys, ``figures`` are those of the server."""
    every: dict[str, Operation] = {}

    @operation("operations", "Operations", reads=True)
    def operations(context: Context) -> JsonObject:
        """Every operation with its parameters."""
        described = [
            {
                "name": one.name,
                "title": one.title,
                "help": one.help,
                "reads": one.reads,
                "parameters": schema(one.params),
            }
            for one in every.values()
        ]
        return {"operations": described}

    for one in (*_OPERATIONS, health(figures), *key_operations(keys), operations):
        every[one.name] = one
    return Registry(name="api", instructions="", operations=every, word=_worded)


def _worded(fault: Fault) -> Reply:
    return Reply(text=fault.message, is_error=True)
