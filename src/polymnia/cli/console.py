"""Input and output of the commands: opening memories, reading texts and times, colours, tables, progress bars."""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import category, east_asian_width

import msgspec

from polymnia.app import open_memory, wants_colour
from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.importing import importing
from polymnia.models import JsonObject, Record
from polymnia.settings import Settings

_LEAST, _LAST = 6, 10  # columns of a terminal that a column of a table keeps, and its last one
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(rf"({_COLOUR.pattern})|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_START = re.compile(rf"((?:{_COLOUR.pattern})*)( *)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _coloured(code: str) -> Callable[[str], str]:
    def paint(text: str) -> str:
        if not sys.stdout.isatty() or not wants_colour():
            return text
        return f"\x1b[{code}m{text}\x1b[0m"

    return paint


strong, dim, green, red, yellow = (_coloured(code) for code in ("1", "2", "32", "31", "33"))


def format_time(at: int) -> str:
    """Format a time in microseconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def counted(count: int, what: str) -> str:
    """A number with its noun: 1 entity, 2 entities."""
    plural = what[:-1] + "ies" if what.endswith("y") and what[-2:-1] not in "aeiou" else what + "s"
    return f"{count:,} {what if count == 1 else plural}"


def parse_time(text: str) -> int:
    """Parse a time typed by a user to microseconds since 1970; without a zone it is local time."""
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise Invalid(
            f"{text!r} is not a time", hint="Write it as 2026-05-01, 2026-05-01T12:30 or 2026-05-01T12:30:00Z."
        ) from None


def on_one_line(text: str) -> str:
    """Replace each control character, line breaks included, by a space. Offsets are preserved."""
    return text if text.isprintable() else "".join(" " if category(c) in ("Cc", "Zl", "Zp") else c for c in text)


def harmless(text: str, *, coloured: bool = False) -> str:
    """Replace what would command a terminal by spaces: agents write what is shown on it. Lines, tabs, colours stay."""
    return _CONTROL.sub(lambda found: found[1] if found[1] and coloured else " ", text)


def width(text: str) -> int:
    """How many terminal columns a text takes: two for a wide character, none for a combining one."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if character < "\u0300":
        return 1 if character != "\xad" else 0
    # In a decomposed Korean syllable, vowels and finals share the columns of the initial consonant.
    if "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff":
        return 0
    return 0 if category(character) in ("Mn", "Me", "Cf") else 2 if east_asian_width(character) in "WF" else 1


def cut(text: str, max_columns: int) -> str:
    """Truncate a text to a number of columns, with an ellipsis if it is longer."""
    room, end = max_columns, 0
    for at, character in enumerate(text):
        room -= _columns(character)
        if room < 0:
            return text[:end] + "…" * (max_columns > 0)
        if room > 0:
            end = at + 1
    return text


def padded(text: str, columns: int) -> str:
    """Pad a text with spaces to a number of columns; a longer one is truncated."""
    text = cut(text, columns)
    return text + " " * (columns - width(text))


def columns() -> int | None:
    """The width of the terminal; None if stdout is not one and nothing needs to be truncated."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def line(text: str, indent: int = 0) -> str:
    """A text on one line, truncated to the terminal width minus the indent; in full if stdout is not a terminal."""
    room = columns()
    # A control character becomes one column, so text beyond this limit is cut anyway and need not be scanned.
    return on_one_line(text) if room is None else cut(on_one_line(text[: 8 * room]), max(room - indent, 1))


def labelled(label: str, text: str, column: int, indent: int = 0) -> str:
    """A label, and beside it a text from a column on: in lines that fit the terminal, with nothing cut.

    A text that has little room beside the label, or too little for one of its words, stands below it.
    """
    full, head = columns(), " " * indent + label
    taken = width(_COLOUR.sub("", head))
    gap = " " * max(column - taken, 2)
    if full is None:
        return head + gap + text
    plain = _COLOUR.sub("", text)
    needed = max(*(width(word) for word in plain.split(" ")), min(width(plain), 20, full // 2))
    if taken + len(gap) == column and column + needed <= full:
        return head + gap + _broken(text, full - column, column)
    below = indent + 2
    lower = f"{' ' * below}{_broken(text, full - below, below)}"
    if not label:
        return lower
    return f"{head if taken <= full else ' ' * indent + _broken(label, full - below, below)}\n{lower}"


def _broken(text: str, room: int, indent: int) -> str:
    """A text in lines of so many columns, the following ones indented."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if width(_COLOUR.sub("", longer)) <= room or not lines[-1].strip():
            lines[-1] = longer
        else:
            lines.append(word)
    return ("\n" + " " * indent).join(line.rstrip(" ") for line in lines)


def _fitted(text: str) -> str:
    """A line of a report in lines that fit the terminal. A command to copy and a row of columns stay whole."""
    room, plain = columns(), _COLOUR.sub("", text)
    if room is None or width(plain) <= room or "\n" in text:
        return text
    if plain.lstrip().startswith("polymnia ") or "   " in plain.strip():
        return text
    found = _START.match(text)
    assert found is not None
    hanging = min(len(found[2]) + 2, room // 2)
    return found[0] + _broken(text[found.end() :], room - hanging, hanging)


def table(
    rows: Sequence[Sequence[str]],
    *,
    max_widths: Sequence[int] = (),
    paint: Sequence[Callable[[str], str]] = (),
) -> list[str]:
    """Format rows in columns that fit the terminal; if stdout is not one, in full and separated by tabs.

    ``max_widths`` limits the columns before the last one, ``paint`` colours them.
    """
    room = columns()
    if room is None:
        return ["\t".join(map(on_one_line, row)) for row in rows]
    cells = [[on_one_line(cell[: 8 * room]) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)][:-1]
    widths = [min(each, max_widths[i]) if i < len(max_widths) else each for i, each in enumerate(widths)]
    # On a narrow terminal the widest column gives way, so that something is left of each.
    while sum(widths) + 2 * len(widths) + _LAST > room and max(widths, default=0) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    left = max(room - sum(widths) - 2 * len(widths), 1)
    lines = []
    for row in cells:
        fitted = [padded(cell, each) for cell, each in zip(row[:-1], widths, strict=True)] + [cut(row[-1], left)]
        lines.append("  ".join(paint[i](cell) if i < len(paint) else cell for i, cell in enumerate(fitted)))
    return lines


def fields(value: object, names: str) -> JsonObject:
    """The named attributes of a value as JSON data, with camelCase keys."""
    keys = {name: name[0] + name.title().replace("_", "")[1:] for name in names.split()}
    return {key: getattr(value, name) for name, key in keys.items()}


def record_data(record: Record, names: str) -> JsonObject:
    """The named fields of a memory as JSON data."""
    special = {
        "id": record.uid,
        "entityType": record.kind,
        "text": content(record),
        "scope": record.path,
        "contentType": record.content_type,
        "created": format_time(record.created),
        "updated": format_time(record.updated),
    }
    return {name: special[name] if name in special else getattr(record, name) for name in names.split()}


def as_json_text(data: object) -> str:
    """Data in JSON. Names of files that are no UTF-8 keep their bytes as escaped surrogates."""
    try:
        return msgspec.json.encode(data).decode()
    except UnicodeEncodeError:
        with importing():
            import json

        return json.dumps(msgspec.to_builtins(data))


class CommandResult(msgspec.Struct):
    """The result of a command: data for ``--json``, lines for the terminal, notes for stderr, and the exit code."""

    data: Any = None
    lines: Iterable[str] = ()
    notes: Iterable[str] = ()
    code: int = 0
    verbatim: bool = False
    """Whether lines are texts of the user's own, which are not broken to fit the terminal."""

    def print(self, *, as_json: bool) -> int:
        """Print the result and return the exit code. Notes go to stderr, where they cannot be taken for memories."""
        if as_json:
            if self.data is not None:
                print(as_json_text(self.data))
            return self.code
        coloured = sys.stdout.isatty()
        for text in self.lines:
            print(harmless(text if self.verbatim else _fitted(text), coloured=coloured))
        sys.stdout.flush()
        for note in self.notes:
            print(_fitted(on_one_line(note)), file=sys.stderr)
        return self.code


_CLEAR = "\r\x1b[K"  # return to the start of the line and erase it
_DELAY = 0.5  # seconds of work before progress is shown
_REDRAW = 0.1  # seconds between redraws
_PATIENCE = 1.0  # seconds of work before it is said that it goes on
_drawing = threading.Lock()
_bars: list[str] = []  # bars that were drawn and are not finished: they say more than a clock
_waits: list[str] = []  # what is going on, each within the one before: the last is shown


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr while the block runs, on a terminal only, and clear it at the end.

    If the total is not known in advance (``total`` is 0, or equals ``done``), only the count is shown.
    """
    started = last = time.monotonic()
    drawn = False

    def step(done: int, total: int) -> None:
        nonlocal last, drawn
        now = time.monotonic()
        if not sys.stderr.isatty() or not (done or total) or now - started < _DELAY or now - last < _REDRAW:
            return
        last, drawn = now, True
        shown = f"{done:,} of {total:,}" if done < total else f"{done:,}"
        # A line that wraps could not be cleared.
        room = min(30, shutil.get_terminal_size().columns - width(f"{what} [] {shown}") - 1)
        if done < total and room > 0:
            filled = room * done // total
            shown = f"[{'█' * filled}{' ' * (room - filled)}] {shown}"
        with _drawing:
            if what not in _bars:
                _bars.append(what)
            print(f"{_CLEAR}{what} {shown}", end="", file=sys.stderr, flush=True)

    try:
        yield step
    finally:
        if drawn:
            with _drawing:
                _bars.remove(what)
                print(_CLEAR, end="", file=sys.stderr, flush=True)


class _Clock:
    """Draws what takes long and for how many seconds, from a thread of its own. A bar that is drawn replaces it."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._drawn = False
        self._thread.start()

    def _run(self) -> None:
        started = time.monotonic()
        delay = _PATIENCE
        while not self._done.wait(delay):
            delay = 1.0
            with _drawing:
                if not _bars:
                    seconds = int(time.monotonic() - started)
                    print(f"{_CLEAR}{_waits[-1]} … {seconds} s", end="", file=sys.stderr, flush=True)
                    self._drawn = True

    def end(self) -> None:
        self._done.set()
        self._thread.join()
        if self._drawn:
            print(_CLEAR, end="", file=sys.stderr, flush=True)


@contextmanager
def waiting(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on stderr that the block is still running, if it takes longer than a second; on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    _waits.append(what)
    clock = _Clock() if len(_waits) == 1 else None
    try:
        yield
    finally:
        if clock is not None:
            clock.end()
        _waits.pop()


# ── what a person types ───────────────────────────────────────────────────────────────────────────────


def read_text(argument: str) -> str:
    """The text of an argument; a dash stands for all of stdin, without trailing line breaks."""
    if argument != "-":
        return argument
    if sys.stdin.isatty():
        print("Type the text; Ctrl-D ends it.", file=sys.stderr)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as e:
        raise Invalid(f"stdin is no UTF-8: {e.reason} at byte {e.start}", hint="Convert the text to UTF-8.") from None


def open_existing(chosen: Settings) -> Memory:
    """Open the memory of an existing project; the error for an unknown one suggests the nearest."""
    memory = open_memory(chosen, "cli", create=False)
    try:
        if chosen.project != "default" and not memory.stamp():
            near = memory.nearest_project()
            did_you_mean = f"Did you mean {near}? " if near else ""
            raise NotFound([chosen.project], "Project", hint=f"{did_you_mean}`polymnia health` lists them.")
    except BaseException:
        memory.close()
        raise
    return memory


def existing_scope(memory: Memory, name: str) -> str:
    """Check that a scope or one below it has memories; the error for an unknown one suggests the nearest."""
    scope = scopes.legal_scope(name, "scope")
    if memory.scopes(scope):
        return scope
    near = memory.nearest_scope(scope)
    did_you_mean = f"Did you mean {near}? " if near else ""
    raise NotFound([scope], "Scope", hint=f"{did_you_mean}`polymnia scopes` lists them.")


def resolved_name(memory: Memory, name: str) -> str:
    """Resolve a name, an id or the prefix of one to a memory's name; without a match, return the argument."""
    try:
        return memory.resolve(name).name
    except NotFound:
        return name  # it may have been deleted: its history still exists


def check_target(path: str, force: bool, chosen: Settings) -> None:
    """Refuse to overwrite an existing file unless forced, and the memory's own file always."""
    if not os.path.exists(path):
        return
    if chosen.file is not None and os.path.samefile(path, chosen.file):
        raise Invalid(f"{path} is the JSON file that this memory is kept in", hint="Choose another name.")
    if not force:
        raise Invalid(f"{path} exists", hint="Choose another name, or pass --force to replace it.")
