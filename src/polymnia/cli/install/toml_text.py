"""Edit tables of a TOML file in place. The standard library reads TOML; the text around the table is never touched."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from polymnia.cli.install.text import (
    BrokenConfiguration,
    Path,
    UneditableConfiguration,
    changed,
    line_end,
    newline,
    splice,
)

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_HEADER = re.compile(r"^[ \t]*\[([^\[\]\n]+)\][ \t]*(?:#[^\n]*?)?\r?$", re.MULTILINE)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> dict[str, Any]:
    """The document."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        found = _PLACE.search(str(e))
        if found is None:  # at the end of the document
            where, line, column = "the end of the file", text.count("\n") + 1, 1
        else:
            line, column = int(found[1]), int(found[2])
            where = f"line {line}, column {column}"
        why = _PLACE.sub("", str(e)).removesuffix(" (at end of document)").strip()
        why = why[:1].lower() + why[1:]
        raise BrokenConfiguration(f"{where}: {why}", line=line, column=column) from None


def put(text: str, path: Path, name: str, values: dict[str, Any]) -> str:
    """Set values of the table at ``path`` with a name; what else it has stays."""
    entry: Any = parse(text)
    for key in (*path, name):
        entry = entry.get(key) if isinstance(entry, dict) else None
    end = newline(text)
    if entry is None:
        head = ".".join(key if _BARE.fullmatch(key) else json.dumps(key) for key in (*path, name))
        lines = [f"[{head}]", *(f"{key} = {_rendered(value)}" for key, value in values.items())]
        gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
        return text + gap + end.join(lines) + end
    for key, value in changed(entry, values).items():
        table = _table(text, (*path, name))
        old = _assignment(text, key, *table)
        line = f"{key} = {_rendered(value)}"
        text = splice(text, (table[0], table[0], line + end) if old is None else (*old, line))
    return text


def remove(text: str, path: Path, name: str) -> str:
    """Remove the table at ``path`` with a name, and the tables below it."""
    wanted = (*path, name)
    while (found := _first(text, wanted)) is not None:
        start, end = found
        # An empty line before a table goes with it.
        before = text[:start].removesuffix("\n").removesuffix("\r")
        if before.endswith("\n") or not before:
            start = len(before)
        text = splice(text, (start, end, ""))
    return text


def _first(text: str, wanted: Path) -> tuple[int, int] | None:
    """The first table with a name, or below it: from its header to the next one."""
    for found in _HEADER.finditer(text):
        if _keys(found[1])[: len(wanted)] == wanted:
            following = _ANY_HEADER.search(text, found.end())
            end = len(text) if following is None else following.start()
            lines = text[found.start() : end].splitlines(keepends=True)
            # Comments and empty lines before the next table are not of this one.
            while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
                lines.pop()
            return found.start(), found.start() + sum(map(len, lines))
    return None


def _table(text: str, wanted: Path) -> tuple[int, int]:
    """What stands below the header of a table, up to the next one."""
    for found in _HEADER.finditer(text):
        if _keys(found[1]) == wanted:
            start = line_end(text, found.end())
            following = _ANY_HEADER.search(text, start)
            return start, len(text) if following is None else following.start()
    raise UneditableConfiguration(f"[{'.'.join(wanted)}] is not written as a table of its own")


def _keys(header: str) -> Path:
    """The keys of a header such as ``mcp_servers."a b"``."""
    try:
        document: Any = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return ()
    keys = []
    while document:
        ((key, document),) = document.items()
        keys.append(key)
    return tuple(keys)


def _assignment(text: str, key: str, start: int, end: int) -> tuple[int, int] | None:
    """Where a key and its value stand in a table; a comment behind them is not part of it."""
    at = start
    while at < end:
        stop = line_end(text, at)
        line = text[at:stop]
        while stop < end and not _complete(line):
            stop = line_end(text, stop)
            line = text[at:stop]
        if line.lstrip().partition("=")[0].strip() in (key, f'"{key}"', f"'{key}'"):
            whole = line.rstrip()
            value = _complete(whole)
            for mark in (place for place, letter in enumerate(whole) if letter == "#"):
                if _complete(whole[:mark]) == value:
                    whole = whole[:mark].rstrip()
                    break
            return at + len(line) - len(line.lstrip()), at + len(whole)
        at = stop
    return None


def _complete(line: str) -> dict[str, Any] | None:
    """The document that a line is by itself; None if it is not one."""
    try:
        return tomllib.loads(line) or {"": None}
    except tomllib.TOMLDecodeError:
        return None


def _rendered(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_rendered(one)}" for key, one in value.items())
        return "{ " + inner + " }" if inner else "{}"
    return json.dumps(value, ensure_ascii=False)
