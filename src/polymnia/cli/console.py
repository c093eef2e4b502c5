"""What commands read and print: the memory that is meant, texts, times, colours on a terminal, columns and bars."""

from __future__ import annotations

import os
import shutil
import sys
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
from polymnia.models import JsonObject, Record
from polymnia.settings import Settings

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _coloured(code: str) -> Callable[[str], str]:
    def paint(text: str) -> str:
        if not sys.stdout.isatty() or not wants_colour():
            return text
        return f"\x1b[{code}m{text}\x1b[0m"

    return paint


strong, dim, green, red = _coloured("1"), _coloured("2"), _coloured("32"), _coloured("31")


def format_time(at: int) -> str:
    """A time in microseconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def counted(count: int, what: str) -> str:
    """A number with its noun: 1 entity, 2 entities."""
    plural = what[:-1] + "ies" if what.endswith("y") and what[-2:-1] not in "aeiou" else what + "s"
    return f"{count:,} {what if count == 1 else plural}"


def parse_time(text: str) -> int:
    """A time a person wrote, in microseconds since 1970. Without a zone it is local time."""
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise Invalid(
            f"{text!r} is not a time", hint="Write it as 2026-05-01, 2026-05-01T12:30 or 2026-05-01T12:30:00Z."
        ) from None


def on_one_line(text: str) -> str:
    """A text with a space for each control character: line breaks, and what a terminal would obey. Keeps places."""
    return text if text.isprintable() else "".join(" " if category(c) in ("Cc", "Zl", "Zp") else c for c in text)


def width(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide character, none for an accent of its own."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if character < "\u0300":
        return 1 if character != "\xad" else 0
    # The vowels and endings of a Korean syllable that is spelt out stand in the columns of its first letter.
    if "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff":
        return 0
    return 0 if category(character) in ("Mn", "Me", "Cf") else 2 if east_asian_width(character) in "WF" else 1


def cut(text: str, most: int) -> str:
    """A text that takes so many columns at most; of a longer one the beginning, which an ellipsis shows."""
    room, end = most, 0
    for at, character in enumerate(text):
        room -= _columns(character)
        if room < 0:
            return text[:end] + "…" * (most > 0)
        if room > 0:
            end = at + 1
    return text


def padded(text: str, columns: int) -> str:
    """A text with spaces after it up to so many columns; a longer one is cut."""
    text = cut(text, columns)
    return text + " " * (columns - width(text))


def columns() -> int | None:
    """How many columns a line has; None where nobody looks at a terminal, and nothing needs to be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def line(text: str, indent: int = 0) -> str:
    """A text on one line: cut to what a terminal has behind an indent, whole where nobody looks at one."""
    room = columns()
    # A control character takes no more than a column, so what is cut off needs no look.
    return on_one_line(text) if room is None else cut(on_one_line(text[: 8 * room]), max(room - indent, 1))


def table(
    rows: Sequence[Sequence[str]], *, most: Sequence[int] = (), paint: Sequence[Callable[[str], str]] = ()
) -> list[str]:
    """Lines of rows: in columns on a terminal, the last one cut to its width; else whole, with tabs between them.

    ``most`` bounds the columns before the last one, ``paint`` colours them.
    """
    room = columns()
    if room is None:
        return ["\t".join(map(on_one_line, row)) for row in rows]
    cells = [[on_one_line(cell[: 8 * room]) for cell in row] for row in rows]
    wide = [max(map(width, column)) for column in zip(*cells, strict=True)][:-1]
    wide = [min(each, most[i]) if i < len(most) else each for i, each in enumerate(wide)]
    left = max(room - sum(wide) - 2 * len(wide), 1)
    lines = []
    for row in cells:
        fitted = [padded(cell, each) for cell, each in zip(row[:-1], wide, strict=True)] + [cut(row[-1], left)]
        lines.append("  ".join(paint[i](cell) if i < len(paint) else cell for i, cell in enumerate(fitted)))
    return lines


def fields(value: object, names: str) -> JsonObject:
    """A value for programs: these of its attributes, named as JSON names them."""
    spelt = {name: name[0] + name.title().replace("_", "")[1:] for name in names.split()}
    return {shown: getattr(value, name) for name, shown in spelt.items()}


def record_data(record: Record, names: str) -> JsonObject:
    """A memory for programs: these of its fields."""
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


class Answer(msgspec.Struct):
    """What a command answers: data for programs, lines for people, what else is worth knowing, the exit code."""

    data: Any = None
    lines: Iterable[str] = ()
    notes: Iterable[str] = ()
    code: int = 0

    def print(self, *, as_json: bool) -> int:
        """Print it; answers the exit code. Notes are no memories, so they go where they cannot be taken for one."""
        if as_json:
            if self.data is not None:
                print(msgspec.json.encode(self.data).decode())
            return self.code
        for text in self.lines:
            print(text)
        sys.stdout.flush()
        for note in self.notes:
            print(on_one_line(note), file=sys.stderr)
        return self.code


_CLEAR = "\r\x1b[K"  # to the start of the line, and erase it
_PATIENCE = 0.5  # seconds of work before progress is shown
_REDRAW = 0.1  # seconds between two drawings


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr while the block runs, on a terminal only. It clears itself at the end.

    Where the total is not known in advance (it equals what is done), only the count is shown.
    """
    began = last = time.monotonic()
    drawn = False

    def step(done: int, total: int) -> None:
        nonlocal last, drawn
        now = time.monotonic()
        if not sys.stderr.isatty() or not total or now - began < _PATIENCE or now - last < _REDRAW:
            return
        last, drawn = now, True
        filled = 30 * done // total
        shown = f"[{'█' * filled}{' ' * (30 - filled)}] {done:,} of {total:,}" if done < total else f"{done:,}"
        print(f"{_CLEAR}{what} {shown}", end="", file=sys.stderr, flush=True)

    try:
        yield step
    finally:
        if drawn:
            print(_CLEAR, end="", file=sys.stderr, flush=True)


# ── what a person types ───────────────────────────────────────────────────────────────────────────────


def read_text(argument: str) -> str:
    """The text of an argument; a dash stands for all of stdin, without the line breaks at its end."""
    if argument != "-":
        return argument
    if sys.stdin.isatty():
        print("Type the text; Ctrl-D ends it.", file=sys.stderr)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as e:
        raise Invalid(f"stdin is no UTF-8: {e.reason} at byte {e.start}", hint="Convert the text to UTF-8.") from None


def open_existing(chosen: Settings) -> Memory:
    """The memory of a project that is there; for any other the error names the nearest one."""
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


def known_scope(memory: Memory, name: str) -> str:
    """A scope that has memories in it or below it; for any other the error names the nearest one."""
    scope = scopes.legal_scope(name, "scope")
    if memory.scopes(scope):
        return scope
    near = memory.nearest_scope(scope)
    did_you_mean = f"Did you mean {near}? " if near else ""
    raise NotFound([scope], "Scope", hint=f"{did_you_mean}`polymnia scopes` lists them.")


def resolved(memory: Memory, name: str) -> str:
    """The name of the memory that a name, an id or its beginning stands for; else the argument itself."""
    try:
        return memory.resolve(name).name
    except NotFound:
        return name  # it may have been deleted: its history is still there


def check_target(path: str, force: bool, chosen: Settings) -> None:
    """Refuse to write over a file that exists unless forced, and over the memory itself always."""
    if not os.path.exists(path):
        return
    if chosen.file is not None and os.path.samefile(path, chosen.file):
        raise Invalid(f"{path} is the JSON file that this memory is kept in", hint="Choose another name.")
    if not force:
        raise Invalid(f"{path} exists", hint="Choose another name, or pass --force to replace it.")
