"""Memories: adding, showing, listing, moving and deleting them, and what has to do with one."""

from __future__ import annotations

import sys
from argparse import Namespace

from msgspec import to_builtins
from msgspec.json import encode

from polymnia.app import memory
from polymnia.cli.console import (
    bar,
    counted,
    dim,
    existing,
    green,
    known_scope,
    line,
    on_one_line,
    print_json,
    print_notes,
    print_rows,
    resolved,
    shown,
    strong,
    text,
)
from polymnia.cli.history import instant
from polymnia.cli.scopes import judged_by, print_suggestion, suggested
from polymnia.cli.search import metadata
from polymnia.engine import scopes
from polymnia.engine.content import Joined, Remembered, content
from polymnia.engine.knowledge.associations import Association
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.models import DEFAULT_SCOPE, Filters, JsonObject, Record, Relation
from polymnia.settings import Settings

Links = list[tuple[Record, Relation]]
_SHOWN = 10  # of moves and links on a terminal or page; --json tells them all
_SCOPE = 24  # columns of a list
_INDENT = 6


def add(arguments: Namespace, chosen: Settings) -> int:
    """Remember a text, unless the scope has one that says the same."""
    said = text(arguments.text)
    pairs = metadata(arguments.meta)
    scope, suggestion = arguments.scope or DEFAULT_SCOPE, None
    with memory(chosen, "cli") as held:
        if arguments.suggest:
            suggestion = held.suggest_scope(said, current=arguments.scope)
            scope = suggestion.scope
        done = held.remember(
            said,
            scope=scope,
            category=arguments.category,
            tags=arguments.tag,
            metadata=pairs,
            allow_duplicates=arguments.allow_duplicates,
            associate=not arguments.no_associate,
            threshold=arguments.threshold,
        )
        notes = [*(done.notes or judged_by(held)), *(note.text for note in held.screen.notes())]
    if arguments.json:
        print_json(_stored_data(done, notes) | {"suggestion": None if suggestion is None else suggested(suggestion)})
        return 0
    if suggestion is not None:
        print_suggestion(suggestion, alternatives=False)
    _print_kept(done)
    print_notes(notes)
    return 0


def _print_kept(done: Remembered) -> None:
    record = done.record
    where = strong(on_one_line(scopes.shown(record.scope)))
    if not done.duplicate:
        print(f"Stored as {strong(on_one_line(record.name))} in {where}.")
    else:
        print(f"Not stored: {strong(on_one_line(record.name))} in {where} says the same.")
        print(dim(f"  {line(content(record), 2)}"))
        if done.joined is not None:
            print(f"Joined to it: {on_one_line(_joined(done.joined))}.")
    if done.similar:
        print(f"Nearly the same as {counted(len(done.similar), 'memory')} there:")
        for other, similarity in done.similar:
            name = on_one_line(other.name)
            print(f"  {similarity:.2f}  {dim(name)}  {line(content(other), 10 + len(name))}")
    if done.associations:
        print(f"Linked to {counted(len(done.associations), 'memory')}:")
        _print_linked(done.associations)


def _joined(added: Joined) -> str:
    parts = [f"tags {', '.join(added.tags)}"] if added.tags else []
    parts += [f"category {added.category}"] if added.category else []
    parts += [f"metadata {', '.join(added.metadata)}"] if added.metadata else []
    return "; ".join(parts)


def _stored_data(done: Remembered, notes: list[str]) -> JsonObject:
    record = done.record
    return {
        "id": record.uid,
        "name": record.name,
        "text": content(record),
        "scope": scopes.shown(record.scope),
        "category": record.category,
        "tags": record.tags,
        "metadata": record.metadata,
        "created": shown(record.created),
        "duplicate": done.duplicate,
        "joined": None if done.joined is None else to_builtins(done.joined),
        "similar": [
            {"id": other.uid, "scope": scopes.shown(other.scope), "similarity": similarity, "text": content(other)}
            for other, similarity in done.similar
        ],
        "associations": _linked(done.associations),
        "notes": notes,
    }


def move(arguments: Namespace, chosen: Settings) -> int:
    """File memories under another scope, or rename a scope; the exit code is 1 when one could not be moved."""
    if bool(arguments.ids) == (arguments.scope is not None):
        raise Invalid(
            "Give either ids or --scope", hint="polymnia move ID… --to SCOPE, or polymnia move --scope OLD --to NEW."
        )
    with existing(chosen) as held, bar("Moving") as step:
        if arguments.scope is not None:
            done = held.rename_scope(arguments.scope, arguments.to, step=step)
        else:
            done = held.move([resolved(held, id) for id in arguments.ids], arguments.to, step=step)
    if arguments.json:
        moves = [{"id": id, "from": old, "to": new} for id, old, new in done.moved]
        failed = [{"id": id, "why": why} for id, why in done.failed]
        same = [{"id": id, "duplicateOf": other} for id, other in done.same]
        print_json({"scope": done.scope, "moved": moves, "failed": failed, "duplicates": same})
        return 1 if done.failed else 0
    if not done.moved and not done.failed:
        print("Nothing was changed: they are there already.")
    if done.moved:
        print(f"Moved {counted(len(done.moved), 'memory')} to {strong(on_one_line(done.scope))}.")
        print(dim("`polymnia undo` takes it back."))
    sys.stdout.flush()
    for id, other in done.same[:_SHOWN]:
        print(f"{id} says exactly what {other} in the same scope says; `polymnia delete` removes one.", file=sys.stderr)
    if len(done.same) > _SHOWN:
        print(f"… and {len(done.same) - _SHOWN:,} more (--json lists them all)", file=sys.stderr)
    for _, why in done.failed:
        print(f"polymnia: {on_one_line(why)}", file=sys.stderr)
    if done.failed:
        print("`polymnia list` and `polymnia search` tell ids.", file=sys.stderr)
    return 1 if done.failed else 0


def delete(arguments: Namespace, chosen: Settings) -> int:
    """Delete memories with their relations, all or none of them; the history keeps them."""
    with existing(chosen) as held:
        records = {record.uid: record for record in map(held.resolve, arguments.ids)}
        gone = held.delete_entities([record.name for record in records.values()])
    if arguments.json:
        print_json({"deleted": list(records), "relations": len(gone.relations)})
        return 0
    cascade = f" and {counted(len(gone.relations), 'relation')}" if gone.relations else ""
    print(f"Deleted {counted(len(records), 'memory')}{cascade}.")
    print(dim("`polymnia undo` brings back everything; `polymnia purge NAME` deletes for good."))
    return 0


# ── one memory ────────────────────────────────────────────────────────────────────────────────────────


def show(arguments: Namespace, chosen: Settings) -> int:
    """Show one memory, now or as it was."""
    links: Links = []
    with existing(chosen) as held:
        if arguments.at is None:
            found, links = held.read(held.resolve(arguments.name).uid)
            record, relations = held.get(found.name)
        else:
            record, relations = _as_it_was(held, arguments.name, instant(held, arguments.at))
    if arguments.json:
        print_json(_data(record, relations, links))
        return 0
    print(f"{strong(on_one_line(record.name))} {dim('(' + on_one_line(record.kind) + ')')}")
    for observation in record.observations:
        print("  - " + "\n    ".join(map(on_one_line, observation.split("\n"))))
    drawn = {name for r in relations if r.origin == "auto" for name in (r.source, r.target)}
    for relation in relations:
        if relation.origin == "manual":
            ends = map(on_one_line, (relation.source, relation.type, relation.target))
            print("  {} {} {}".format(*(dim(end + " →") if i == 1 else end for i, end in enumerate(ends))))
    _print_linked([one for one in links if one[0].name in drawn])
    for what, told in _details(record):
        print(f"  {dim(what)} {on_one_line(told)}")
    print(dim(f"  version {record.version}, created {shown(record.created)}, updated {shown(record.updated)}"))
    return 0


def _as_it_was(held: Memory, name: str, at: int) -> tuple[Record, list[Relation]]:
    try:
        return held.get(name, at=at)
    except NotFound:
        if (known := resolved(held, name)) == name:
            raise
        return held.get(known, at=at)


def _details(record: Record) -> list[tuple[str, str]]:
    told = [
        ("scope", scopes.shown(record.scope) if record.scope or record.name == record.uid else ""),
        ("category", record.category or ""),
        ("tags", ", ".join(record.tags)),
        ("metadata", encode(record.metadata).decode() if record.metadata else ""),
        ("summary", record.summary or ""),
    ]
    return [(what, text) for what, text in told if text]


def _print_linked(links: Links) -> None:
    """Print the memories that another one is linked to, the strongest ones."""
    for record, relation in links[:_SHOWN]:
        much = "    " if relation.strength is None else f"{relation.strength:.2f}"
        arrow = f"{'<-' if relation.source == record.name else '->'} {on_one_line(relation.type)}"
        shown = f"  {much}  {arrow}  {on_one_line(record.name)}"
        print(f"  {much}  {green(arrow)}  {dim(on_one_line(record.name))}  {line(content(record), len(shown) + 2)}")
    if len(links) > _SHOWN:
        print(dim(f"  … and {len(links) - _SHOWN:,} more (--json lists them all)"))


def _linked(links: Links) -> list[JsonObject]:
    """The same for programs."""
    return [
        {
            "id": record.uid,
            "name": record.name,
            "scope": scopes.shown(record.scope),
            "relationType": relation.type,
            "direction": "incoming" if relation.source == record.name else "outgoing",
            "strength": relation.strength,
            "text": content(record),
        }
        for record, relation in links
    ]


def _data(record: Record, relations: list[Relation], links: Links) -> JsonObject:
    return {
        **_listed(record),
        "session": record.session,
        "contentType": record.content_type,
        "summary": record.summary,
        "relations": [
            {"from": r.source, "to": r.target, "relationType": r.type, "strength": r.strength, "origin": r.origin}
            for r in relations
        ],
        "associations": _linked(links),
    }


def _listed(record: Record) -> JsonObject:
    return {
        "id": record.uid,
        "name": record.name,
        "entityType": record.kind,
        "observations": record.observations,
        "scope": scopes.shown(record.scope),
        "category": record.category,
        "tags": record.tags,
        "metadata": record.metadata,
        "version": record.version,
        "created": shown(record.created),
        "updated": shown(record.updated),
    }


# ── many memories ─────────────────────────────────────────────────────────────────────────────────────


def list_(arguments: Namespace, chosen: Settings) -> int:
    """List memories, newest first, page by page."""
    if arguments.below and arguments.scope is None:
        raise Invalid("--below needs a scope to be below of", field="below", hint="Add --scope, or leave out --below.")
    page, size, below = arguments.page, arguments.per_page, ""
    with existing(chosen) as held:
        if arguments.scope is None:
            records, total = held.page(page, size)
        else:
            scope = known_scope(held, arguments.scope)
            records, total = _filed(held, scope, arguments.below, page, size)
            if not total:
                below = f", but {counted(held.scopes(scope)[0].total, 'memory')} below: --below shows them too"
    pages = -(-total // size)
    if arguments.json:
        told = {"page": page, "perPage": size, "total": total, "pages": pages}
        print_json({"memories": [_listed(record) for record in records], **told})
        return 0
    rows = [(on_one_line(one.name), scopes.shown(one.scope), content(one)) for one in records]
    print_rows(rows, most=(36, _SCOPE), paint=(strong, dim))
    sys.stdout.flush()
    if page < pages:
        more = f"Page {page:,} of {pages:,}, {counted(total, 'memory')} in all; --page {page + 1} goes on."
        print(more, file=sys.stderr)
    elif not records:
        none = f"There are no memories here{below}."
        print(none if not total else f"The last page is {pages:,}.", file=sys.stderr)
    return 0


def _filed(held: Memory, scope: str, below: bool, page: int, size: int) -> tuple[list[Record], int]:
    """A page of the memories of a scope, newest first, and how many it has in all."""
    with held.store.read(held.project) as snapshot:
        base = snapshot.numbers[0] << 32
        numbers = snapshot.matching(Filters(scope=scope, scopes_below=below))
        wanted = sorted(numbers, reverse=True)[(page - 1) * size : page * size]
        return snapshot.load([base + number for number in wanted])[::-1] if wanted else [], len(numbers)


# ── associations ──────────────────────────────────────────────────────────────────────────────────────


def associations(arguments: Namespace, chosen: Settings) -> int:
    """Find what has to do with a memory."""
    with existing(chosen) as held:
        found = held.discover(held.resolve(arguments.name).uid, limit=arguments.limit, threshold=arguments.threshold)
        notes = judged_by(held)
    if arguments.json:
        told = [_association(one) for one in found.associations]
        print_json({"id": found.source.uid, "associations": told, "candidates": found.candidates, "notes": notes})
        return 0
    for one in found.associations:
        where = dim(on_one_line(scopes.shown(one.record.scope)))
        print(f"{one.strength:.2f}  {strong(on_one_line(one.record.name))}  {green(one.kind)}  {where}")
        print(f"{' ' * _INDENT}{line(content(one.record), _INDENT)}")
        print(dim(f"{' ' * _INDENT}{on_one_line(one.reason)}"))
    looked = counted(found.candidates, "memory")
    print(dim(f"{len(found.associations):,} of {looked} that were looked at."))
    print_notes(notes)
    return 0


def _association(one: Association) -> JsonObject:
    return {
        "id": one.record.uid,
        "name": one.record.name,
        "scope": scopes.shown(one.record.scope),
        "type": one.kind,
        "strength": one.strength,
        "similarity": one.similarity,
        "reason": one.reason,
        "text": content(one.record),
    }
