"""What was: history, changes, undo, purge."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from polymnia.app import memory
from polymnia.cli.output import counted, dim, green, moment, print_json, red, shown, strong
from polymnia.engine import scopes
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.models import Change, Event
from polymnia.settings import Settings

__all__ = ["changes", "history", "instant", "purge", "undo"]

_SAID = ("category", "content_type", "summary", "tags", "metadata")  # what somebody says of a memory


def instant(memory: Memory, text: str) -> int:
    """A time given as a time or as the number of a change."""
    if not text.isdecimal() or len(text) == 8:
        return moment(text)
    change = memory.change(int(text))
    if change is None:
        raise NotFound([text], "Change", hint="`polymnia changes` lists their numbers.")
    return change.at


def history(arguments: Namespace, chosen: Settings) -> int:
    """Tell everything that happened to a memory."""
    with memory(chosen, "cli", create=False) as held:
        events = held.history(arguments.name)
    if arguments.json:
        print_json([{**_change(event.change), **_event(event)} for event in events])
        return 0
    for event in events:
        _print_change(event.change, f"version {event.version}" if event.version else "")
        if event.created:
            print(green("  created" if event.change.undoes is None else "  brought back"))
        for text in event.added:
            print(green(f"  + {text}"))
        for text in event.removed:
            print(red(f"  - {text}"))
        for text in event.related:
            print(green(f"  + {text}"))
        for text in event.unrelated:
            print(red(f"  - {text}"))
        for column, old in event.changed.items():
            if told := _was(column, old):
                print(f"  {told}")
        if event.deleted:
            print(red("  deleted"))
    return 0


def _was(column: str, old: Any) -> str:
    """What a column held before, in words; empty for what nobody asks for."""
    if column == "scope":
        return f"scope was {scopes.shown(old)}"
    if column == "session":
        return ""  # goes with the scope
    if old is None:
        return f"had no {column.replace('_', ' ')}" if column in _SAID else ""
    return f"{column.replace('_', ' ')} was {old}"


def changes(arguments: Namespace, chosen: Settings) -> int:
    """List the newest changes."""
    with memory(chosen, "cli", create=False) as held:
        newest = held.changes(arguments.limit)
    if arguments.json:
        print_json([_change(change) for change in newest])
        return 0
    for change in newest:
        _print_change(change, "")
    return 0


def undo(arguments: Namespace, chosen: Settings) -> int:
    """Take back a change, whole."""
    with memory(chosen, "cli", create=False) as held:
        undone = held.undo(arguments.change)
    by = undone.undone_by
    if arguments.json:
        print_json({"undone": _change(undone), "change": by})
        return 0
    print(f"Undid change {undone.id}: {undone.action} by {undone.who}, {shown(undone.at)}.")
    print(dim(f"This is change {by}; `polymnia undo --change {by}` reverses it."))
    return 0


def _print_change(change: Change, more: str) -> None:
    undone = f", undone by {change.undone_by}" if change.undone_by else ""
    undoes = f" of change {change.undoes}" if change.undoes else ""
    tail = f"  {more}" if more else ""
    print(f"{strong(f'#{change.id}')} {shown(change.at)}  {change.action}{undoes}  {dim(change.who)}{tail}{undone}")


def _change(change: Change) -> dict[str, Any]:
    return {
        "change": change.id,
        "at": shown(change.at),
        "who": change.who,
        "action": change.action,
        "undoes": change.undoes,
        "undoneBy": change.undone_by,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "version": event.version,
        "created": event.created,
        "deleted": event.deleted,
        "added": event.added,
        "removed": event.removed,
        "related": event.related,
        "unrelated": event.unrelated,
        "changed": event.changed,
    }


def purge(arguments: Namespace, chosen: Settings) -> int:
    """Remove memories for good."""
    if not arguments.yes:
        raise Invalid("A purge cannot be undone", hint="Pass --yes if that is what you want.")
    with memory(chosen, "cli", create=False) as held:
        gone = held.purge(arguments.names)
    if not gone:
        raise NotFound(arguments.names)
    print(f"Removed {counted(gone, 'memory')} for good: the text is gone from store, indexes and history.")
    return 0
