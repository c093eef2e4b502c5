"""Commands on the past: history, changes, undo, purge."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from polymnia.cli.console import (
    CommandResult,
    counted,
    dim,
    fields,
    format_time,
    green,
    on_one_line,
    open_existing,
    parse_time,
    red,
    resolved_name,
    strong,
)
from polymnia.engine import scopes
from polymnia.engine.history import Deed
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.models import Change, Event, JsonObject
from polymnia.settings import Settings

_TITLE, _TITLES = 60, 3  # characters shown of a title, titles shown of a change
_RECENT = 100  # changes searched for the one that undo will pick, to show its titles
_DESCRIPTIVE = ("category", "content_type", "summary", "tags", "metadata")  # columns set by the caller


def instant(memory: Memory, text: str) -> int:
    """A point in time, given as a time or as a change number."""
    if not text.isdecimal() or len(text) == 8:
        return parse_time(text)
    change = memory.change(int(text))
    if change is None:
        raise NotFound([text], "Change", hint="`polymnia changes` lists their numbers.")
    return change.at


def history(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Show everything that happened to a memory."""
    with open_existing(chosen) as memory:
        events = memory.history(resolved_name(memory, arguments.name))
    names = "version created deleted added removed related unrelated changed"
    data = [{**change_data(event.change), **fields(event, names)} for event in events]
    return CommandResult(data, [text for event in events for text in _event_lines(event)])


def _event_lines(event: Event) -> Iterator[str]:
    yield _change_line(event.change, f"version {event.version}" if event.version else "")
    if event.created:
        yield green("  created" if event.change.undoes is None else "  brought back")
    for added, removed in ((event.added, event.removed), (event.related, event.unrelated)):
        yield from (green(f"  + {_indented(text)}") for text in added)
        yield from (red(f"  - {_indented(text)}") for text in removed)
    for column, old in event.changed.items():
        if text := _was(column, old):
            yield f"  {on_one_line(text)}"
    if event.deleted:
        yield red("  deleted")


def _indented(text: str) -> str:
    """A text whose further lines stand below its first, so that none looks like one of the history."""
    return "\n    ".join(map(on_one_line, text.split("\n")))


def _was(column: str, old: Any) -> str:
    """Describe the previous value of a column; empty for changes not worth showing."""
    if column == "scope":
        return f"scope was {scopes.shown(old)}"
    if column == "session":
        return ""  # changes together with the scope
    if old is None:
        return f"had no {column.replace('_', ' ')}" if column in _DESCRIPTIVE else ""
    return f"{column.replace('_', ' ')} was {old}"


def changes(arguments: Namespace, chosen: Settings) -> CommandResult:
    """List the newest changes."""
    with open_existing(chosen) as memory:
        newest = memory.changes(arguments.limit)
        deeds = memory.deeds(newest)
    data = [{**change_data(change), "did": _deeds(deeds[change.id])} for change in newest]
    return CommandResult(data, [_change_line(change, _summary(deeds[change.id])) for change in newest])


def undo(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Undo a change as a whole."""
    with open_existing(chosen) as memory:
        named = None if arguments.change is None else memory.change(arguments.change)
        known = memory.deeds(memory.changes(_RECENT) if named is None else [named])
        undone = memory.undo(arguments.change)
        deeds = memory.deeds(memory.changes(1))
    by = undone.undone_by
    titles = {one.memory: one.title for deeds_of in known.values() for one in deeds_of}
    did = [one._replace(title=one.title or titles.get(one.memory)) for one in next(iter(deeds.values()), [])]
    lines = [f"Undid change {undone.id}: {undone.action} by {undone.who}, {format_time(undone.at)}."]
    if did:
        lines.append(f"So: {_summary(did)}.")
    lines.append(dim(f"This is change {by}; `polymnia undo --change {by}` reverses it."))
    return CommandResult({"undone": change_data(undone), "change": by, "did": _deeds(did)}, lines)


def _summary(deeds: list[Deed]) -> str:
    """What a change did, on one line: each kind of deed with the first titles and a count of the rest."""
    parts = []
    for how in dict.fromkeys(one.how for one in deeds):
        titles = [on_one_line(one.title or "") for one in deeds if one.how == how]
        named = [f'"{title[:_TITLE]}{"…" if len(title) > _TITLE else ""}"' for title in titles if title][:_TITLES]
        rest = len(titles) - len(named)
        if rest:
            named.append(f"{rest:,} more" if named else counted(rest, "memory"))
        parts.append(f"{how} {', '.join(named)}")
    return "; ".join(parts)


def _deeds(deeds: list[Deed]) -> list[dict[str, str | None]]:
    return [{"how": one.how, "title": one.title} for one in deeds]


def _change_line(change: Change, more: str) -> str:
    undone = f", undone by {change.undone_by}" if change.undone_by else ""
    undoes = f" of change {change.undoes}" if change.undoes else ""
    tail = f"  {more}" if more else ""
    tool = f" by {change.tool}" if change.tool not in (None, change.action) else ""
    account = f", {change.account}" if change.account else ""
    number, author = strong(f"#{change.id}"), dim(on_one_line(f"{change.who}{account}"))
    return f"{number} {format_time(change.at)}  {change.action}{tool}{undoes}  {author}{tail}{undone}"


def change_data(change: Change) -> JsonObject:
    """A change as JSON data."""
    names = "who account client dialect tool action undoes undone_by"
    return {"change": change.id, "at": format_time(change.at), **fields(change, names)}


def purge(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Delete memories permanently."""
    if not arguments.yes:
        raise Invalid("A purge cannot be undone", hint="Pass --yes if that is what you want.")
    with open_existing(chosen) as memory:
        count = memory.purge([resolved_name(memory, name) for name in arguments.names])
    if not count:
        raise NotFound(arguments.names, "Memory", hint="`polymnia list` and `polymnia changes` tell what there was.")
    text = f"Removed {counted(count, 'memory')} for good: the text is gone from store, indexes and history."
    return CommandResult({"purged": count}, [text])
