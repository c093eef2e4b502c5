"""The thirteen tools."""

from __future__ import annotations

import time
from typing import Any

from msgspec.structs import replace

from polymnia.dialects.associative import parameters, results
from polymnia.dialects.associative.results import association
from polymnia.dialects.associative.wording import word
from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.engine.moments import moment
from polymnia.errors import BadArguments, Invalid, NoModel, Violation
from polymnia.models import DEFAULT_SCOPE, Filters, Note, Session
from polymnia.operation import Context, Memory, Operation, Registry, Reply

__all__ = ["registry"]

_INSTRUCTIONS = (
    "A lasting memory that finds again what is similar in meaning. Store each thing worth keeping as one memory, in a "
    "scope such as work/projects/api; what is stored already is recognised and not stored twice. Search before you "
    "answer from assumption, in plain words. Ask scope_suggest where a text belongs. Memories are linked to what is "
    "near them; memory_discover_associations finds more. memory_delete is for good."
)
_SHOWN = 1000  # memories of a renamed scope that are listed
_EACH = 3  # associations told with each hit of a search
_DAY = 86_400_000_000


def registry() -> Registry:
    """The associative dialect."""
    return Registry(
        name="associative",
        instructions=_INSTRUCTIONS,
        operations={tool.name: replace(tool, wrapped="request") for tool in _TOOLS},
        word=word,
    )


def _reply(value: Any, notes: list[Note] | None = None) -> Reply:
    return Reply(value=value, structured=value, notes=notes or ())


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


# ── memories ─────────────────────────────────────────────────────────────────────────────────────────────


def _store(context: Context, given: parameters.Store) -> Reply:
    done = context.memory.remember(
        given.content,
        scope=_or(given.scope, DEFAULT_SCOPE),
        category=given.category,
        tags=given.tags or (),
        metadata=given.metadata,
        allow_duplicates=_or(given.allow_duplicates, False),
        associate=_or(given.auto_associate, True),
        threshold=_or(given.similarity_threshold, 0.95),
        step=context.step,
    )
    record = done.record
    value = results.Stored(
        record.uid, content(record), scopes.shown(record.scope), moment(record.created), done.duplicate,
        [other.uid for other, _ in done.associations], done.similarity,
    )  # fmt: skip
    return _reply(value, [Note("no_meaning", text) for text in done.notes])


def _search(context: Context, given: parameters.Search) -> Reply:
    if not given.query.strip():
        raise Invalid("query is empty", field="query", hint="Say what to look for.")
    memory = context.memory
    scope = None if given.scope is None else scopes.legal_scope(given.scope, "scope")
    below = _or(given.include_child_scopes, False)
    links: dict[str, Any] = {}

    def associated(snapshot: Any, found: Any) -> None:
        if _or(given.include_associations, True) and found.hits:
            links.update(memory.linked(snapshot, [hit.record for hit in found.hits], _EACH))

    found = memory.search(
        given.query,
        limit=_or(given.limit, 10),
        filters=None if scope is None else Filters(scope=scope, scopes_below=below),
        at_least=_or(given.similarity_threshold, 0.1),
        reasons=False,
        within=associated,
    )
    _meaning_or_fault(memory)
    memories = [
        results.found(
            hit.record,
            hit.similarity,
            [association(*one) for one in links.get(hit.record.uid, ())]
            if _or(given.include_associations, True)
            else None,
        )
        for hit in found.hits
    ]
    notes = found.notes
    if not found.hits and scope is not None:
        notes = [*_empty(memory, scope, below), *(note for note in notes if note.code != "filtered")]
    value = results.Found(memories, found.total, scope, [note.text for note in notes] if not memories else [])
    return _reply(value, notes)


def _empty(memory: Memory, scope: str, below: bool) -> list[Note]:
    """Why nothing was found in a scope, where the scope itself is the reason."""
    inside = memory.scopes(scope)
    if not inside:
        return [Note("no_scope", f"There is no scope {scope!r}; scope_list shows what there is.")]
    if not below and not inside[0].memories:
        count = f"{inside[0].total:,} memories lie" if inside[0].total > 1 else "1 memory lies"
        return [Note("below", f"{scope!r} itself is empty; {count} below it: pass include_child_scopes.")]
    return []


def _meaning_or_fault(memory: Memory) -> None:
    """A search whose model is broken is no search by meaning, and must not look like one."""
    if (fault := memory.finding().broken()) is not None:
        raise NoModel(
            f"Search by meaning failed: {fault.message}",
            hint=f"{fault.hint} Nothing is lost. To search by words alone, start with --embedder none.",
        )


def _get(context: Context, given: parameters.Get) -> Reply:
    record, links = context.memory.read(given.memory_id)
    shown = [association(*one) for one in links] if _or(given.include_associations, True) else None
    return _reply(results.memory(record, shown))


def _update(context: Context, given: parameters.Update) -> Reply:
    done = context.memory.revise(
        given.memory_id,
        text=given.content,
        scope=given.scope,
        category=given.category,
        tags=given.tags,
        metadata=given.metadata,
        keep_associations=_or(given.preserve_associations, True),
        step=context.step,
    )
    notes = [] if done.changed else [Note("unchanged", "Nothing was changed: it is like that already.")]
    return _reply(results.memory(done.record, [association(*one) for one in done.associations], True), notes)


def _delete(context: Context, given: parameters.Delete) -> Reply:
    gone = context.memory.forget(given.memory_id, step=context.step)
    text = "The memory is deleted for good, with its history and everything that linked to it."
    return _reply(results.Deleted(True, gone.uid, text))


def _discover(context: Context, given: parameters.Discover) -> Reply:
    found = context.memory.discover(
        given.memory_id, limit=_or(given.limit, 10), threshold=_or(given.similarity_threshold, 0.1)
    )
    _meaning_or_fault(context.memory)
    told = []
    for one in found.associations:
        short = association(one.record, one.strength)
        told.append(
            results.Discovered(
                short.memory_id, short.content, one.strength, one.kind, one.reason, scopes.shown(one.record.scope),
                short.truncated, short.name,
            )
        )  # fmt: skip
    mean = sum(one.strength for one in found.associations) / len(told) if told else 0.0
    return _reply(
        results.Discovery(
            results.Source(found.source.uid, content(found.source)),
            told,
            results.Stats(found.candidates, len(told), round(mean, 4)),
        )
    )


def _list_all(context: Context, given: parameters.ListAll) -> Reply:
    page, size = _or(given.page, 1), _or(given.per_page, 10)
    records, total = context.memory.page(page, size)
    pages = -(-total // size)
    return _reply(
        results.Page(
            [results.listed(record) for record in records],
            results.Pagination(page, size, total, pages, page < pages, page > 1 and total > 0),
        )
    )


# ── scopes and sessions ──────────────────────────────────────────────────────────────────────────────────


def _list_scopes(context: Context, given: parameters.ListScopes) -> Reply:
    found = context.memory.scopes(given.parent_scope)
    counts = _or(given.include_memory_counts, True)
    told = [
        results.Scope(
            one.path, list(one.children), one.depth, one.memories if counts else None, one.total if counts else None
        )
        for one in found
    ]
    return _reply(results.Scopes(told, len(told), max((one.depth for one in found), default=0)))


def _suggest(context: Context, given: parameters.Suggest) -> Reply:
    found = context.memory.suggest_scope(given.content, current=given.current_scope)
    _meaning_or_fault(context.memory)
    return _reply(
        results.Suggested(
            found.scope,
            found.confidence,
            [results.Alternative(one.scope, one.confidence, one.reasoning) for one in found.alternatives],
            results.Analysis(list(found.keywords), found.category, found.content_type),
            found.reasoning,
            found.abstained,
        )
    )


def _move(context: Context, given: parameters.Move) -> Reply:
    memory = context.memory
    if (given.memory_ids is None) == (given.source_scope is None):
        if given.memory_ids is None:
            raise BadArguments("memory_move", [Violation("memory_ids", "array", "undefined")])
        raise Invalid("Give either memory_ids or source_scope, not both", field="source_scope")
    if given.source_scope is not None:
        moved = memory.rename_scope(given.source_scope, given.target_scope, step=context.step)
        target = scopes.legal_scope(given.target_scope, "target_scope")
        told = [results.MovedMemory(*one) for one in moved[:_SHOWN]]
        notes = [Note("more", f"The first {_SHOWN} of them are listed.")] if len(moved) > _SHOWN else None
        return _reply(results.MovedMemories(len(moved), [], target, told), notes)
    done = memory.move(given.memory_ids or [], given.target_scope, step=context.step)
    return _reply(
        results.MovedMemories(
            len(done.moved),
            [results.FailedMove(*one) for one in done.failed],
            done.scope,
            [results.MovedMemory(*one) for one in done.moved],
        ),
        _unmoved(len(done.there)),
    )


def _unmoved(count: int) -> list[Note] | None:
    return [Note("unchanged", f"{count:,} of them were there already.")] if count else None


def _sessions(context: Context, given: parameters.Sessions) -> Reply:
    memory, days = context.memory, _or(given.max_age_days, 7)
    days = int(days) if days == int(days) else days
    if given.action == "create":
        session, made = memory.begin_session(given.session_id)
        value = results.SessionAnswer(
            "create", session.name, f"{scopes.SESSIONS}/{session.name}", moment(session.created), None if made else True
        )
        notes = [] if made else [Note("existed", f"The session {session.name!r} was there already; it goes on.")]
        return _reply(value, notes)
    if given.action == "list":
        now = time.time_ns() // 1000
        told = [_session(one, now) for one in memory.sessions() if given.session_id in (None, one.name)]
        return _reply(results.SessionAnswer("list", sessions=told, total_sessions=len(told)))
    only = None if given.session_id is None else [given.session_id]
    done = memory.clean_sessions(days, only=only, step=context.step)
    value = results.SessionAnswer(
        "cleanup", removed_sessions=len(done.sessions), freed_memories=done.memories, max_age_days=days,
        removed_session_ids=done.sessions,
    )  # fmt: skip
    return _reply(value, [Note("undo", "One undo (`polymnia undo`) brings them back.")] if done.sessions else None)


def _session(session: Session, now: int) -> results.Session:
    return results.Session(
        session.name, f"{scopes.SESSIONS}/{session.name}", session.memories, moment(session.created),
        moment(session.used), max(0, now - session.used) // _DAY,
    )  # fmt: skip


# ── archives ─────────────────────────────────────────────────────────────────────────────────────────────


def _export(context: Context, given: parameters.Export) -> Reply:
    name = (given.file_path or "").casefold()
    gzip = _or(given.compression, name.endswith(".gz"))
    yaml = name.removesuffix(".gz").endswith((".yaml", ".yml"))
    done = context.memory.export_memories(
        scope=given.scope,
        name=given.file_path,
        form=_or(given.export_format, "yaml" if yaml else "json"),
        gzip=gzip,
        associations=_or(given.include_associations, True),
        step=context.step,
    )
    scope = None if given.scope is None else scopes.legal_scope(given.scope, "scope")
    path = None if done.path is None else context.place(done.path)
    return _reply(results.Exported(True, done.count, done.bytes, scope, gzip, done.associations, path, done.data))


def _import(context: Context, given: parameters.Import) -> Reply:
    strategy = _or(given.merge_strategy, "skip_duplicates")
    done = context.memory.import_memories(
        name=given.file_path,
        data=given.import_data,
        strategy=strategy,
        prefix=given.target_scope_prefix,
        validate=_or(given.validate_data, True),
        step=context.step,
    )
    notes = [Note("skipped", f"{done.skipped:,} memories are here already and were kept as they are; "
                  "merge_strategy has other ways.")] if done.skipped else None  # fmt: skip
    source = "direct" if given.file_path is None else f"file:{given.file_path}"
    return _reply(
        results.Imported(
            True, done.imported, done.skipped, done.overwritten, source, strategy, done.problems, done.scopes,
            done.associations,
        ),
        notes,
    )  # fmt: skip


_TOOLS = (
    Operation(
        name="memory_store", title="Store Memory", params=parameters.Store, run=_store, output=results.Stored,
        help="Remember a text. If the scope already has one that says the same, nothing is stored and that one is "
        "answered; texts that differ in a number, a name or a negation are never taken for the same. The new memory is "
        "linked to what is nearest to it in meaning.",
    ),
    Operation(
        name="memory_search", title="Search Memories", params=parameters.Search, run=_search, output=results.Found,
        help="Find memories by meaning and by words, in any language. The most relevant come first; similarity_score "
        "says how close each is, from 0 to 1.",
        reads=True, idempotent=True,
    ),
    Operation(
        name="memory_get", title="Get Memory", params=parameters.Get, run=_get, output=results.Memory,
        help="Read one memory in full, with what it is linked to.", reads=True, idempotent=True,
    ),
    Operation(
        name="memory_update", title="Update Memory", params=parameters.Update, run=_update, output=results.Memory,
        help="Change a memory. Only what you give is changed; the version before stays in its history.",
        destroys=True, idempotent=True,
    ),
    Operation(
        name="memory_delete", title="Delete Memory", params=parameters.Delete, run=_delete, output=results.Deleted,
        help="Delete a memory for good: text, history and links. This cannot be undone.", destroys=True,
    ),
    Operation(
        name="memory_discover_associations", title="Discover Associations", params=parameters.Discover, run=_discover,
        output=results.Discovery, reads=True, idempotent=True,
        help="Look for memories that have to do with one: similar in meaning, sharing tags or names, stored at the "
        "same time, or linked by hand. Each comes with what carries the association and why.",
    ),
    Operation(
        name="scope_list", title="List Scopes", params=parameters.ListScopes, run=_list_scopes, output=results.Scopes,
        help="Show the tree of scopes and how many memories are in each.", reads=True, idempotent=True,
    ),
    Operation(
        name="scope_suggest", title="Suggest Scope", params=parameters.Suggest, run=_suggest, output=results.Suggested,
        help="Where a text belongs, judged by the memories that are filed already. When those cannot tell, it says so "
        "and names a place to fall back to.",
        reads=True, idempotent=True,
    ),
    Operation(
        name="memory_move", title="Move Memories", params=parameters.Move, run=_move, output=results.MovedMemories,
        help="File memories under another scope, or rename a scope with everything below it. Each memory that could "
        "not be moved is told, with the reason.",
        idempotent=True,
    ),
    Operation(
        name="memory_list_all", title="List Memories", params=parameters.ListAll, run=_list_all, output=results.Page,
        help="Browse all memories, newest first, page by page.", reads=True, idempotent=True,
    ),
    Operation(
        name="memory_export", title="Export Memories", params=parameters.Export, run=_export, output=results.Exported,
        heavy=True,
        help="Write memories to a file of the export folder, or answer them as data: JSON or YAML, whole or one scope. "
        "What is exported imports again with nothing lost. A file of the same name is replaced.",
        destroys=True, idempotent=True,
    ),
    Operation(
        name="memory_import", title="Import Memories", params=parameters.Import, run=_import, output=results.Imported,
        heavy=True,
        help="Take in exported memories. By default nothing is imported unless every record is sound, and memories "
        "that exist are kept. One undo takes the whole import back.",
        destroys=True,
    ),
    Operation(
        name="session_manage", title="Manage Sessions", params=parameters.Sessions, run=_sessions,
        output=results.SessionAnswer, destroys=True,
        help="Sessions keep temporary memories apart, in the scope session/<id>: create one, list them, or clean up "
        "those that have not been used for some days.",
    ),
)  # fmt: skip
