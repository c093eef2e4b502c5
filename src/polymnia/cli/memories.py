"""Commands on memories: add, move, delete, show, list, associations."""

from __future__ import annotations

from argparse import Namespace

from msgspec import to_builtins
from msgspec.json import encode

from polymnia.app import open_memory
from polymnia.cli.console import (
    CommandResult,
    bar,
    counted,
    dim,
    format_time,
    green,
    line,
    on_one_line,
    open_existing,
    read_text,
    record_data,
    resolved_name,
    strong,
    table,
)
from polymnia.cli.history import instant
from polymnia.cli.scopes import model_notes, suggestion_data, suggestion_lines
from polymnia.cli.search import metadata, scope_filters
from polymnia.engine.content import Joined, Remembered, content
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.models import DEFAULT_SCOPE, Filters, JsonObject, Record, Relation
from polymnia.operation import credential_notes
from polymnia.settings import Settings

Links = list[tuple[Record, Relation]]
_SHOWN = 10  # moves and links shown per list or page; --json has them all
_SCOPE = 24  # columns in a list
_INDENT = 6
_LISTED = "id name entityType observations scope category tags metadata version created updated"


def add(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Store a text, unless the scope already has a duplicate."""
    text = read_text(arguments.text)
    pairs = metadata(arguments.meta)
    scope, suggestion = arguments.scope or DEFAULT_SCOPE, None
    with open_memory(chosen, "cli") as memory:
        if arguments.suggest:
            suggestion = memory.suggest_scope(text, current=arguments.scope)
            scope = suggestion.scope
        done = memory.remember(
            text,
            scope=scope,
            category=arguments.category,
            tags=arguments.tag,
            metadata=pairs,
            allow_duplicates=arguments.allow_duplicates,
            associate=not arguments.no_associate,
            threshold=arguments.threshold,
        )
        notes = [*(done.notes or model_notes(memory)), *(note.text for note in credential_notes(memory.screen))]
    data = record_data(done.record, "id name text scope category tags metadata created") | {
        "duplicate": done.duplicate,
        "joined": None if done.joined is None else to_builtins(done.joined),
        "similar": [
            {"id": other.uid, "scope": other.path, "similarity": similarity, "text": content(other)}
            for other, similarity in done.similar
        ],
        "associations": _links_data(done.associations),
        "notes": notes,
        "suggestion": None if suggestion is None else suggestion_data(suggestion),
    }
    lines = [] if suggestion is None else suggestion_lines(suggestion, alternatives=False)
    return CommandResult(data, lines + _remembered(done), notes)


def _remembered(done: Remembered) -> list[str]:
    record = done.record
    name, where = strong(on_one_line(record.name)), strong(on_one_line(record.path))
    lines = [f"Stored as {name} in {where}."]
    if done.duplicate:
        lines = [f"Not stored: {name} in {where} says the same.", dim(f"  {line(content(record), 2)}")]
        if done.joined is not None:
            lines.append(f"Joined to it: {on_one_line(_joined(done.joined))}.")
    if done.similar:
        lines.append(f"Nearly the same as {counted(len(done.similar), 'memory')} there:")
        for other, similarity in done.similar:
            name = on_one_line(other.name)
            lines.append(f"  {similarity:.2f}  {dim(name)}  {line(content(other), 10 + len(name))}")
    if done.associations:
        lines += [f"Linked to {counted(len(done.associations), 'memory')}:", *_link_lines(done.associations)]
    return lines


def _joined(added: Joined) -> str:
    parts = [f"tags {', '.join(added.tags)}"] if added.tags else []
    parts += [f"category {added.category}"] if added.category else []
    parts += [f"metadata {', '.join(added.metadata)}"] if added.metadata else []
    return "; ".join(parts)


def move(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Move memories to another scope, or rename a scope; the exit code is 1 if one could not be moved."""
    if bool(arguments.ids) == (arguments.scope is not None):
        raise Invalid(
            "Give either ids or --scope", hint="polymnia move ID… --to SCOPE, or polymnia move --scope OLD --to NEW."
        )
    with open_existing(chosen) as memory, bar("Moving") as step:
        if arguments.scope is not None:
            done = memory.rename_scope(arguments.scope, arguments.to, step=step)
        else:
            done = memory.move([resolved_name(memory, id) for id in arguments.ids], arguments.to, step=step)
    data = {
        "scope": done.scope,
        "moved": [{"id": id, "from": old, "to": new} for id, old, new in done.moved],
        "failed": [{"id": id, "why": why} for id, why in done.failed],
        "duplicates": [{"id": id, "duplicateOf": other} for id, other in done.same],
    }
    lines = [] if done.moved or done.failed else ["Nothing was changed: they are there already."]
    if done.moved:
        lines.append(f"Moved {counted(len(done.moved), 'memory')} to {strong(on_one_line(done.scope))}.")
        lines.append(dim("`polymnia undo` takes it back."))
    notes = [
        f"{id} says exactly what {other} in the same scope says; `polymnia delete` removes one."
        for id, other in done.same[:_SHOWN]
    ]
    if len(done.same) > _SHOWN:
        notes.append(f"… and {len(done.same) - _SHOWN:,} more (--json lists them all)")
    notes += [f"polymnia: {why}" for _, why in done.failed]
    if done.failed:
        notes.append("`polymnia list` and `polymnia search` tell ids.")
    return CommandResult(data, lines, notes, code=1 if done.failed else 0)


def delete(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Delete memories with their relations, all or none; the history retains them."""
    with open_existing(chosen) as memory:
        records = {record.uid: record for record in map(memory.resolve, arguments.ids)}
        relations = len(memory.delete_entities([record.name for record in records.values()]).relations)
    cascade = f" and {counted(relations, 'relation')}" if relations else ""
    lines = [
        f"Deleted {counted(len(records), 'memory')}{cascade}.",
        dim("`polymnia undo` brings back everything; `polymnia purge NAME` deletes for good."),
    ]
    return CommandResult({"deleted": list(records), "relations": relations}, lines)


# ── one memory ────────────────────────────────────────────────────────────────────────────────────────


def show(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Show one memory, now or as it was."""
    links: Links = []
    with open_existing(chosen) as memory:
        if arguments.at is None:
            found, links = memory.read(memory.resolve(arguments.name).uid)
            record, relations = memory.get(found.name)
        else:
            record, relations = _as_it_was(memory, arguments.name, instant(memory, arguments.at))
    data = record_data(record, f"{_LISTED} session contentType summary") | {
        "relations": [
            {"from": r.source, "to": r.target, "relationType": r.type, "strength": r.strength, "origin": r.origin}
            for r in relations
        ],
        "associations": _links_data(links),
    }
    lines = [f"{strong(on_one_line(record.name))} {dim('(' + on_one_line(record.kind) + ')')}"]
    lines += ["  - " + "\n    ".join(map(on_one_line, text.split("\n"))) for text in record.observations]
    for r in relations:
        if r.origin == "manual":
            lines.append(f"  {on_one_line(r.source)} {dim(on_one_line(r.type) + ' →')} {on_one_line(r.target)}")
    drawn = {name for r in relations if r.origin == "auto" for name in (r.source, r.target)}
    lines += _link_lines([one for one in links if one[0].name in drawn])
    details = {
        "scope": record.path if record.scope or record.name == record.uid else "",
        "category": record.category or "",
        "tags": ", ".join(record.tags),
        "metadata": encode(record.metadata).decode() if record.metadata else "",
        "summary": record.summary or "",
    }
    lines += [f"  {dim(name)} {on_one_line(text)}" for name, text in details.items() if text]
    times = f"created {format_time(record.created)}, updated {format_time(record.updated)}"
    return CommandResult(data, [*lines, dim(f"  version {record.version}, {times}")], verbatim=True)


def _as_it_was(memory: Memory, name: str, at: int) -> tuple[Record, list[Relation]]:
    try:
        return memory.get(name, at=at)
    except NotFound:
        if (known := resolved_name(memory, name)) == name:
            raise
        return memory.get(known, at=at)


def _link_lines(links: Links) -> list[str]:
    """The memories most strongly linked to another."""
    lines = []
    for record, relation in links[:_SHOWN]:
        strength = "    " if relation.strength is None else f"{relation.strength:.2f}"
        arrow = f"{'<-' if relation.source == record.name else '->'} {on_one_line(relation.type)}"
        name = on_one_line(record.name)
        room = len(f"  {strength}  {arrow}  {name}") + 2
        lines.append(f"  {strength}  {green(arrow)}  {dim(name)}  {line(content(record), room)}")
    if len(links) > _SHOWN:
        lines.append(dim(f"  … and {len(links) - _SHOWN:,} more (--json lists them all)"))
    return lines


def _links_data(links: Links) -> list[JsonObject]:
    return [
        {
            **record_data(record, "id name scope"),
            "relationType": relation.type,
            "direction": "incoming" if relation.source == record.name else "outgoing",
            "strength": relation.strength,
            "text": content(record),
        }
        for record, relation in links
    ]


# ── many memories ─────────────────────────────────────────────────────────────────────────────────────


def list_(arguments: Namespace, chosen: Settings) -> CommandResult:
    """List memories, newest first, page by page."""
    page, size, notes = arguments.page, arguments.per_page, []
    with open_existing(chosen) as memory:
        filters = scope_filters(memory, arguments)
        records, total = memory.page(page, size) if filters.scope is None else _page(memory, filters, page, size)
        pages = -(-total // size)
        if page < pages:
            notes.append(f"Page {page:,} of {pages:,}, {counted(total, 'memory')} in all; --page {page + 1} goes on.")
        elif total and not records:
            notes.append(f"The last page is {pages:,}.")
        elif not total:
            below = ""
            if filters.scope is not None:
                below = (
                    f", but {counted(memory.scopes(filters.scope)[0].total, 'memory')} below: --below shows them too"
                )
            notes.append(f"There are no memories here{below}.")
    listed = [record_data(record, _LISTED) for record in records]
    data = {"memories": listed, "page": page, "perPage": size, "total": total, "pages": pages}
    rows = [(on_one_line(one.name), one.path, content(one)) for one in records]
    return CommandResult(data, table(rows, max_widths=(36, _SCOPE), paint=(strong, dim)), notes)


def _page(memory: Memory, filters: Filters, page: int, size: int) -> tuple[list[Record], int]:
    """A page of a scope's memories, newest first, and the total count."""
    with memory.store.read(memory.project) as snapshot:
        base = snapshot.numbers[0] << 32
        numbers = sorted(snapshot.matching(filters), reverse=True)
        on_page = numbers[(page - 1) * size : page * size]
        return snapshot.load([base + number for number in on_page])[::-1] if on_page else [], len(numbers)


def associations(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Find the memories associated with another."""
    with open_existing(chosen) as memory:
        found = memory.discover(
            memory.resolve(arguments.name).uid, limit=arguments.limit, threshold=arguments.threshold
        )
        notes = model_notes(memory)
    listed, lines = [], []
    for one in found.associations:
        scores = {"type": one.kind, "strength": one.strength, "similarity": one.similarity, "reason": one.reason}
        listed.append(record_data(one.record, "id name scope") | scores | {"text": content(one.record)})
        where = dim(on_one_line(one.record.path))
        lines += [
            f"{one.strength:.2f}  {strong(on_one_line(one.record.name))}  {green(one.kind)}  {where}",
            f"{' ' * _INDENT}{line(content(one.record), _INDENT)}",
            dim(f"{' ' * _INDENT}{on_one_line(one.reason)}"),
        ]
    lines.append(dim(f"{len(found.associations):,} of {counted(found.candidates, 'memory')} that were looked at."))
    data = {"id": found.source.uid, "associations": listed, "candidates": found.candidates, "notes": notes}
    return CommandResult(data, lines, notes)
