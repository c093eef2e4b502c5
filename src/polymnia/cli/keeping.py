"""Keeping memories: adding one, filing some under another scope, deleting some."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from msgspec import to_builtins

from polymnia.app import memory
from polymnia.cli.filing import judged_by, print_suggestion, suggested
from polymnia.cli.finding import metadata
from polymnia.cli.output import bar, counted, dim, line, on_one_line, print_json, shown, strong
from polymnia.cli.reading import existing, resolved, text
from polymnia.cli.showing import called, linked, print_linked
from polymnia.engine import scopes
from polymnia.engine.content import Joined, Remembered, content
from polymnia.errors import Invalid
from polymnia.models import DEFAULT_SCOPE
from polymnia.settings import Settings

__all__ = ["add", "delete", "move"]

_SHOWN = 10


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
        print_json(_data(done, notes) | {"suggestion": None if suggestion is None else suggested(suggestion)})
        return 0
    if suggestion is not None:
        print_suggestion(suggestion, alternatives=False)
    _print_kept(done)
    sys.stdout.flush()
    for note in notes:
        print(on_one_line(note), file=sys.stderr)
    return 0


def _print_kept(done: Remembered) -> None:
    record = done.record
    where = strong(on_one_line(scopes.shown(record.scope)))
    if not done.duplicate:
        print(f"Stored as {strong(called(record))} in {where}.")
    else:
        print(f"Not stored: {strong(called(record))} in {where} says the same.")
        print(dim(f"  {line(content(record), 2)}"))
        if done.joined is not None:
            print(f"Joined to it: {on_one_line(_joined(done.joined))}.")
    if done.similar:
        print(f"Nearly the same as {counted(len(done.similar), 'memory')} there:")
        for other, similarity in done.similar:
            print(f"  {similarity:.2f}  {dim(called(other))}  {line(content(other), 10 + len(called(other)))}")
    if done.associations:
        print(f"Linked to {counted(len(done.associations), 'memory')}:")
        print_linked(done.associations)


def _joined(added: Joined) -> str:
    parts = [f"tags {', '.join(added.tags)}"] if added.tags else []
    parts += [f"category {added.category}"] if added.category else []
    parts += [f"metadata {', '.join(added.metadata)}"] if added.metadata else []
    return "; ".join(parts)


def _data(done: Remembered, notes: list[str]) -> dict[str, Any]:
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
        "associations": linked(done.associations),
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
