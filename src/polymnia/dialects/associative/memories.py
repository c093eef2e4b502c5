"""The tools that store, find, read, change and delete memories."""

from __future__ import annotations

from msgspec import convert
from msgspec.structs import replace

from polymnia.dialects.associative import parameters, results
from polymnia.dialects.associative.parameters import or_else
from polymnia.dialects.associative.results import association, reply
from polymnia.dialects.associative.wording import meaning_or_fault, unknown_scope
from polymnia.engine import scopes
from polymnia.engine.content import Remembered, content
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import DEFAULT_SCOPE, Filters, Note
from polymnia.operation import Context, Memory, Reply

__all__ = ["delete", "discover", "get", "list_all", "search", "store", "update"]

_PENDING = Note("pending", "Vectors are still being made. Associations with what has none yet appear by themselves.")
_EACH = 3  # associations told with each hit of a search
_THRESHOLD = 0.1  # of a search that names none; what scores less is answered only where nothing scores more


def store(context: Context, given: parameters.Store) -> Reply:
    """memory_store."""
    done = context.memory.remember(
        given.content,
        scope=or_else(given.scope, DEFAULT_SCOPE),
        category=given.category,
        tags=given.tags or (),
        metadata=given.metadata,
        allow_duplicates=or_else(given.allow_duplicates, False),
        associate=or_else(given.auto_associate, True),
        threshold=or_else(given.similarity_threshold, 0.95),
        patient=False,
        step=context.step,
    )
    record = done.record
    notes = [*_about(done), *context.memory.screen.notes()]
    value = results.Stored(
        record.uid, content(record), scopes.shown(record.scope), moment(record.created), done.duplicate,
        [other.uid for other, _ in done.associations], 1.0 if done.duplicate else None,
        [results.similar(*one, says_the_same=one[0].uid in done.reworded) for one in done.similar],
        None if done.joined is None else convert(done.joined, results.Joined, from_attributes=True),
        done.pending, [note.text for note in notes],
    )  # fmt: skip
    return reply(value, notes)


def _about(done: Remembered) -> list[Note]:
    """What a caller should know of how a content was stored, or why it was not."""
    notes = [Note("no_meaning", text) for text in done.notes]
    if done.duplicate:
        notes.append(Note("duplicate", "The scope has a memory that says exactly this; its id is answered."))
    if done.joined is not None:
        notes.append(Note("joined", "What was new about its tags, category and metadata was joined to that memory."))
    if done.similar:
        notes.append(
            Note(
                "similar",
                "Stored as a memory of its own. similar_memories are nearly the same, those that says_the_same in "
                "other words: if one is no longer needed, or no longer true, update or delete it.",
            )
        )
    if done.pending:
        notes.append(_PENDING)
    return notes


def search(context: Context, given: parameters.Search) -> Reply:
    """memory_search."""
    if not given.query.strip():
        raise Invalid("query is empty", field="query", hint="Say what to look for.")
    memory = context.memory
    scope = None if given.scope is None else scopes.legal_scope(given.scope, "scope")
    below = or_else(given.include_child_scopes, False)
    linked = or_else(given.include_associations, True)
    found = memory.search(
        given.query,
        limit=or_else(given.limit, 10),
        filters=None if scope is None else Filters(scope=scope, scopes_below=below),
        at_least=or_else(given.similarity_threshold, _THRESHOLD),
        or_nearest=given.similarity_threshold is None,
        reasons=False,
        links=_EACH if linked else 0,
    )
    meaning_or_fault(memory)
    memories = [
        results.found(
            hit,
            [association(*one) for one in found.links.get(hit.record.uid, ())] if linked else None,
        )
        for hit in found.hits
    ]
    notes = found.notes
    if not found.hits and scope is not None:
        notes = [*_empty(memory, scope, below), *(note for note in notes if note.code != "filtered")]
    if not memories and not notes and not memory.count()[0]:
        notes = [_nothing_yet(memory)]
    value = results.Found(memories, found.total, scope)
    return reply(value, notes)


def _nothing_yet(memory: Memory) -> Note:
    """That nothing was found because nothing is there; of a project that never was, with the one that may be meant."""
    near = memory.nearest_project() if not memory.stamp() else None
    meant = f"; did you mean the project {near!r}?" if near else "."
    return Note("empty", f"There are no memories in the project {memory.project!r} yet{meant}")


def _empty(memory: Memory, scope: str, below: bool) -> list[Note]:
    """Why nothing was found in a scope, where the scope itself is the reason."""
    inside = memory.scopes(scope)
    if not inside:
        return [unknown_scope(memory, scope)]
    if not below and not inside[0].memories:
        count = f"{inside[0].total:,} memories lie" if inside[0].total > 1 else "1 memory lies"
        return [Note("below", f"{scope!r} itself is empty; {count} below it: pass include_child_scopes.")]
    return []


def get(context: Context, given: parameters.Get) -> Reply:
    """memory_get."""
    record, links = context.memory.read(given.memory_id)
    shown = [association(*one) for one in links] if or_else(given.include_associations, True) else None
    return reply(results.memory(record, shown))


def update(context: Context, given: parameters.Update) -> Reply:
    """memory_update."""
    done = context.memory.revise(
        given.memory_id,
        text=given.content,
        scope=given.scope,
        category=given.category,
        tags=given.tags,
        metadata=given.metadata,
        keep_associations=or_else(given.preserve_associations, True),
        patient=False,
        step=context.step,
    )
    notes = [] if done.changed else [Note("unchanged", "Nothing was changed: it is like that already.")]
    if done.pending:
        notes.append(_PENDING)
    if done.same is not None:
        notes.append(
            Note(
                "duplicate",
                "The memory of this scope named in similar_memories says exactly the same; delete one of the two.",
            )
        )
    value = results.memory(done.record, [association(*one) for one in done.associations], True)
    same = [] if done.same is None else [results.similar(done.same, 1.0)]
    return reply(replace(value, similar_memories=same, associations_pending=done.pending), notes)


def delete(context: Context, given: parameters.Delete) -> Reply:
    """memory_delete."""
    gone = context.memory.forget(given.memory_id, step=context.step)
    text = "The memory is deleted for good, with its history and everything that linked to it."
    return reply(results.Deleted(True, gone.uid, text))


def discover(context: Context, given: parameters.Discover) -> Reply:
    """memory_discover_associations."""
    found = context.memory.discover(
        given.memory_id, limit=or_else(given.limit, 10), threshold=or_else(given.similarity_threshold, 0.1)
    )
    meaning_or_fault(context.memory)
    told = []
    for one in found.associations:
        text, cut = results.short(one.record)
        relation = one.relation
        told.append(
            results.Discovered(
                one.record.uid, text, one.strength, one.kind, one.reason, scopes.shown(one.record.scope),
                None if relation is None else relation.type,
                None if relation is None else results.direction(relation, one.record),
                cut, None if one.record.name == one.record.uid else one.record.name,
            )
        )  # fmt: skip
    mean = sum(one.strength for one in found.associations) / len(told) if told else 0.0
    return reply(
        results.Discovery(
            results.Source(found.source.uid, content(found.source)),
            told,
            results.Stats(found.candidates, len(told), round(mean, 4)),
        )
    )


def list_all(context: Context, given: parameters.ListAll) -> Reply:
    """memory_list_all."""
    page, size = or_else(given.page, 1), or_else(given.per_page, 10)
    records, total = context.memory.page(page, size)
    pages = -(-total // size)
    return reply(
        results.Page(
            [results.listed(record) for record in records],
            results.Pagination(page, size, total, pages, page < pages, page > 1 and total > 0),
        )
    )
