"""Edit YAML in place: the parser says where things stand, only lines of our entry are written.

Servers are a mapping by name, or a list whose items have a ``name``.
"""

from __future__ import annotations

import json
import re
from typing import Any

from polymnia.cli.install.text import (
    BrokenConfiguration,
    Path,
    UneditableConfiguration,
    changed,
    line_end,
    line_start,
    newline,
    splice,
)
from polymnia.importing import load

_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")


def parse(text: str) -> dict[str, Any]:
    """The document; empty if the text is."""
    yaml = load("yaml")
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        why = getattr(e, "problem", None) or str(e).partition("\n")[0]
        if mark is None:
            raise BrokenConfiguration(f"line 1, column 1: {why}", line=1, column=1) from None
        line, column = mark.line + 1, mark.column + 1
        raise BrokenConfiguration(f"line {line}, column {column}: {why}", line=line, column=column) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise BrokenConfiguration("line 1, column 1: the document is no mapping", line=1, column=1)
    return document


def put(text: str, path: Path, name: str, values: dict[str, Any]) -> str:
    """Set values of the entry of a mapping with a name; what else it has stays."""
    return _put(text, path, name, values, listed=False)


def put_item(text: str, path: Path, name: str, values: dict[str, Any]) -> str:
    """Set values of the item of a list that has a name; what else it has stays."""
    return _put(text, path, name, {"name": name, **values}, listed=True)


def _put(text: str, path: Path, name: str, values: dict[str, Any], *, listed: bool) -> str:
    (section,) = path
    end = newline(text)
    root = load("yaml").compose(text)
    if text and not text.endswith("\n"):
        text += end
    if root is None:
        return text + f"{section}:{end}" + _entry(name, values, 2, end, listed=listed)
    _block(root, "the document")
    servers = _value(root, section)
    if servers is None:
        last = _last_line(text, _leaf(root))
        return splice(text, (last, last, f"{section}:{end}" + _entry(name, values, 2, end, listed=listed)))
    if not servers.value or servers.tag.endswith(":null"):
        # `servers:` alone, or followed by [], {} or null.
        at = _last_line(text, servers.end_mark.index)
        start, stop = servers.start_mark.index, servers.end_mark.index
        while start < stop and text[start - 1] == " ":
            start -= 1
        new = _entry(name, values, 2, end, listed=listed)
        return splice(text, (start, stop, ""), (at, at, new))
    _block(servers, section)
    entry = _entry_node(servers, name, listed=listed)
    if entry is None:
        at = _last_line(text, _leaf(servers))
        column = servers.start_mark.column
        return splice(text, (at, at, _entry(name, values, column, end, listed=listed)))
    _block(entry, name)
    have = parse(text)[section]
    old = next(one for one in have if one.get("name") == name) if listed else have[name]
    for key, value in changed(old, values).items():
        column = entry.start_mark.column
        member = _member(key, value, column, end)
        node = next((one for one in entry.value if one[0].value == key), None)
        if node is None:
            at = _last_line(text, _leaf(entry))
            text = splice(text, (at, at, member))
        else:
            start, stop = node[0].start_mark.index, _leaf(node[1])
            text = splice(text, (start, stop, member.strip()))
        return _put(text, path, name, values, listed=listed)  # offsets have moved
    return text


def remove(text: str, path: Path, name: str) -> str:
    """Remove the entry of a mapping with a name."""
    return _remove(text, path, name, listed=False)


def remove_item(text: str, path: Path, name: str) -> str:
    """Remove the item of a list that has a name."""
    return _remove(text, path, name, listed=True)


def _remove(text: str, path: Path, name: str, *, listed: bool) -> str:
    (section,) = path
    root = load("yaml").compose(text)
    servers = None if root is None else _value(root, section)
    if servers is None or not isinstance(servers.value, list) or not servers.value:
        return text
    _block(root, "the document")
    _block(servers, section)
    entry = _entry_node(servers, name, listed=listed)
    if entry is None:
        return text
    _block(entry, name)
    key = entry if listed else next(key for key, _ in servers.value if key.value == name)
    start = line_start(text, key.start_mark.index)
    stop = _last_line(text, _leaf(entry))
    if len(servers.value) > 1:
        return splice(text, (start, stop, ""))
    head = next(key for key, _ in root.value if key.value == section).end_mark.index
    colon = text.index(":", head) + 1
    return splice(text, (colon, colon, " []" if listed else " {}"), (start, stop, ""))


# ── places ────────────────────────────────────────────────────────────────────────────────────────────────


def _value(mapping: Any, key: str) -> Any:
    if not isinstance(mapping.value, list):
        return None
    return next((value for name, value in mapping.value if name.value == key), None)


def _entry_node(servers: Any, name: str, *, listed: bool) -> Any:
    if not listed:
        return _value(servers, name)
    for item in servers.value:
        found = _value(item, "name") if item.id == "mapping" else None
        if found is not None and found.value == name:
            return item
    return None


def _block(node: Any, what: str) -> None:
    if node.id == "scalar" or node.flow_style:
        raise UneditableConfiguration(f"{what} is not written in lines of its own")


def _leaf(node: Any) -> int:
    """The offset at which the last thing in a node ends. A block itself ends only where the next one begins."""
    while node.id != "scalar" and not node.flow_style and node.value:
        node = node.value[-1][1] if node.id == "mapping" else node.value[-1]
    return int(node.end_mark.index)


def _last_line(text: str, at: int) -> int:
    """The offset after the line of an offset; the offset itself where a line begins."""
    return at if at and text[at - 1] == "\n" else line_end(text, at)


# ── how it is written ─────────────────────────────────────────────────────────────────────────────────────


def _entry(name: str, values: dict[str, Any], column: int, end: str, *, listed: bool) -> str:
    if listed:
        lines = "".join(_member(key, value, column + 2, end) for key, value in values.items())
        return " " * column + "- " + lines[column + 2 :]
    lines = "".join(_member(key, value, column + 2, end) for key, value in values.items())
    return " " * column + f"{_scalar(name)}:{end}{lines}"


def _member(key: str, value: Any, column: int, end: str) -> str:
    indent = " " * column
    if isinstance(value, list) and value:
        return f"{indent}{key}:{end}" + "".join(f"{indent}  - {_scalar(one)}{end}" for one in value)
    return f"{indent}{key}: {_scalar(value)}{end}"


def _scalar(value: Any) -> str:
    # A plain word must not read as something else, such as `true` or a date.
    if isinstance(value, str) and _PLAIN.fullmatch(value) and load("yaml").safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)
