"""The thirteen tools."""

from __future__ import annotations

from msgspec.structs import replace

from polymnia.dialects.associative import archives, filing, memories, parameters, results
from polymnia.dialects.associative.wording import word
from polymnia.operation import Operation, Registry

__all__ = ["registry"]

_INSTRUCTIONS = (
    "A lasting memory that finds again what is similar in meaning. Store each thing worth keeping as one memory, in a "
    "scope such as work/projects/api; what is stored already is recognised and not stored twice. Search before you "
    "answer from assumption, in plain words. Ask scope_suggest where a text belongs. Memories are linked to what is "
    "near them; memory_discover_associations finds more. memory_delete is for good."
)


def registry() -> Registry:
    """The associative dialect."""
    return Registry(
        name="associative",
        instructions=_INSTRUCTIONS,
        operations={tool.name: replace(tool, wrapped="request") for tool in _TOOLS},
        word=word,
    )


_TOOLS = (
    Operation(
        name="memory_store", title="Store Memory", params=parameters.Store, run=memories.store, output=results.Stored,
        help="Remember a text. If the scope already has one that says the same, nothing is stored and that one is "
        "answered; texts that differ in a number, a name or a negation are never taken for the same. The new memory is "
        "linked to what is nearest to it in meaning.",
    ),
    Operation(
        name="memory_search", title="Search Memories", params=parameters.Search, run=memories.search,
        output=results.Found,
        help="Find memories by meaning and by words, in any language. The most relevant come first; similarity_score "
        "says how close each is, from 0 to 1.",
        reads=True, idempotent=True,
    ),
    Operation(
        name="memory_get", title="Get Memory", params=parameters.Get, run=memories.get, output=results.Memory,
        help="Read one memory in full, with what it is linked to.", reads=True, idempotent=True,
    ),
    Operation(
        name="memory_update", title="Update Memory", params=parameters.Update, run=memories.update,
        output=results.Memory,
        help="Change a memory. Only what you give is changed; the version before stays in its history.",
        destroys=True, idempotent=True,
    ),
    Operation(
        name="memory_delete", title="Delete Memory", params=parameters.Delete, run=memories.delete,
        output=results.Deleted,
        help="Delete a memory for good: text, history and links. This cannot be undone.", destroys=True,
    ),
    Operation(
        name="memory_discover_associations", title="Discover Associations", params=parameters.Discover,
        run=memories.discover,
        output=results.Discovery, reads=True, idempotent=True,
        help="Look for memories that have to do with one: similar in meaning, sharing tags or names, stored at the "
        "same time, or linked by hand. Each comes with what carries the association and why.",
    ),
    Operation(
        name="scope_list", title="List Scopes", params=parameters.ListScopes, run=filing.list_scopes,
        output=results.Scopes,
        help="Show the tree of scopes and how many memories are in each.", reads=True, idempotent=True,
    ),
    Operation(
        name="scope_suggest", title="Suggest Scope", params=parameters.Suggest, run=filing.suggest,
        output=results.Suggested,
        help="Where a text belongs, judged by the memories that are filed already. When those cannot tell, it says so "
        "and names a place to fall back to.",
        reads=True, idempotent=True,
    ),
    Operation(
        name="memory_move", title="Move Memories", params=parameters.Move, run=filing.move,
        output=results.MovedMemories,
        help="File memories under another scope, or rename a scope with everything below it. Each memory that could "
        "not be moved is told, with the reason.",
        idempotent=True,
    ),
    Operation(
        name="memory_list_all", title="List Memories", params=parameters.ListAll, run=memories.list_all,
        output=results.Page,
        help="Browse all memories, newest first, page by page.", reads=True, idempotent=True,
    ),
    Operation(
        name="memory_export", title="Export Memories", params=parameters.Export, run=archives.export,
        output=results.Exported,
        heavy=True,
        help="Write memories to a file of the export folder, or answer them as data: JSON or YAML, whole or one scope. "
        "What is exported imports again with nothing lost. A file of the same name is replaced.",
        destroys=True, idempotent=True,
    ),
    Operation(
        name="memory_import", title="Import Memories", params=parameters.Import, run=archives.take_in,
        output=results.Imported,
        heavy=True,
        help="Take in exported memories. By default nothing is imported unless every record is sound, and memories "
        "that exist are kept. One undo takes the whole import back.",
        destroys=True,
    ),
    Operation(
        name="session_manage", title="Manage Sessions", params=parameters.Sessions, run=filing.sessions,
        output=results.SessionAnswer, destroys=True,
        help="Sessions keep temporary memories apart, in the scope session/<id>: create one, list them, or clean up "
        "those that have not been used for some days.",
    ),
)  # fmt: skip
