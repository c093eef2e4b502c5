"""The associative dialect: thirteen tools over memories, their scopes and what links them."""

from __future__ import annotations

from polymnia.dialects.associative import memories, scopes, search
from polymnia.dialects.associative.refusals import word
from polymnia.operation import Registry

_INSTRUCTIONS = (
    "A lasting memory that finds again what is similar in meaning. Store each thing worth keeping as one memory, in a "
    "scope such as work/projects/api; what is stored already is recognised and not stored twice. Search before you "
    "answer from assumption, in plain words. Ask scope_suggest where a text belongs. Memories are linked to what is "
    "near them; memory_discover_associations finds more. memory_delete is for good."
)

_TOOLS = (
    memories.store,
    search.search,
    memories.get,
    memories.update,
    memories.delete,
    search.discover,
    scopes.list_scopes,
    scopes.suggest,
    scopes.move,
    memories.list_all,
    memories.export,
    memories.take_in,
    scopes.sessions,
)


def registry() -> Registry:
    """The associative dialect."""
    return Registry(
        name="associative", instructions=_INSTRUCTIONS, operations={tool.name: tool for tool in _TOOLS}, word=word
    )
