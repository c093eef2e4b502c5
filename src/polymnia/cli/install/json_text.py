"""Edit JSON in place: comments, trailing commas, indentation and line ends stay as they are.

Clients' files are JSON with comments as editors understand it: ``//`` and ``/* */``, and a comma after the last member.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from polymnia.cli.install.text import Path, UneditableConfiguration, broken, changed, line_end, newline, splice

_BLANK = re.compile(r"[ \t\r\n]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_INDENT = re.compile(r"^([ \t]+)[\"}\]]", re.MULTILINE)
_WORDS = {"true": True, "false": False, "null": None}
_STRINGS = json.JSONDecoder()
_DEPTH = 200


class _Node(NamedTuple):
    """A value of the text: where it is, what it is, and the members of an object (key, start of the key, value)."""

    start: int
    end: int
    value: Any
    members: list[tuple[str, int, _Node]]
    comma: int | None = None  # the offset of a comma after the last member

    def find(self, key: str) -> _Node | None:
        """The member of a key; of several the last one, as clients read it."""
        return next((node for name, _, node in reversed(self.members) if name == key), None)


class _Reader:
    """Reads a text into nodes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def blank(self, at: int) -> int:
        """The offset after white space and comments."""
        while True:
            if found := _BLANK.match(self.text, at):
                at = found.end()
            elif self.text.startswith("//", at):
                end = self.text.find("\n", at)
                at = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", at):
                end = self.text.find("*/", at + 2)
                if end < 0:
                    broken(self.text, at, "this comment does not end")
                at = end + 2
            else:
                return at

    def node(self, at: int, depth: int = 0) -> _Node:
        """The value at an offset."""
        text = self.text
        if depth > _DEPTH:
            broken(text, at, "values are nested too deeply")
        if text.startswith("{", at):
            return self._object(at, depth)
        if text.startswith("[", at):
            return self._array(at, depth)
        if text.startswith('"', at):
            value, end = self._string(at)
            return _Node(at, end, value, [])
        for word, meant in _WORDS.items():
            if text.startswith(word, at):
                return _Node(at, at + len(word), meant, [])
        found = _NUMBER.match(text, at)
        if found is None:
            broken(text, at, "a value is missing" if at >= len(text) or text[at] in ",}]" else "this is no JSON value")
        return _Node(at, found.end(), json.loads(found[0]), [])

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except json.JSONDecodeError as e:
            broken(self.text, e.pos, (e.msg[0].lower() + e.msg[1:]).removesuffix(" at"))
        return str(text), end

    def _next(self, at: int, close: str, comma: int | None) -> tuple[int, bool]:
        """Skip to the next item or the closing bracket; whether it is the latter."""
        if self.text.startswith(close, at):
            return at, True
        if at >= len(self.text):
            broken(self.text, at, f"the file ends before {close}")
        if comma is None:
            broken(self.text, at, f"a comma or {close} is missing")
        return at, False

    def _object(self, start: int, depth: int) -> _Node:
        members: list[tuple[str, int, _Node]] = []
        comma: int | None = start  # before the first member none is needed
        at = self.blank(start + 1)
        while True:
            at, done = self._next(at, "}", comma)
            if done:
                value = {name: node.value for name, _, node in members}
                return _Node(start, at + 1, value, members, comma if members else None)
            if not self.text.startswith('"', at):
                broken(self.text, at, "a key in double quotes is missing")
            key, end = self._string(at)
            colon = self.blank(end)
            if not self.text.startswith(":", colon):
                broken(self.text, colon, f"a colon is missing after {key!r}")
            node = self.node(self.blank(colon + 1), depth + 1)
            members.append((key, at, node))
            at = self.blank(node.end)
            comma = at if self.text.startswith(",", at) else None
            at = at if comma is None else self.blank(at + 1)

    def _array(self, start: int, depth: int) -> _Node:
        items: list[Any] = []
        comma: int | None = start
        at = self.blank(start + 1)
        while True:
            at, done = self._next(at, "]", comma)
            if done:
                return _Node(start, at + 1, items, [])
            node = self.node(at, depth + 1)
            items.append(node.value)
            at = self.blank(node.end)
            comma = at if self.text.startswith(",", at) else None
            at = at if comma is None else self.blank(at + 1)


def _root(text: str) -> _Node | None:
    """The document; None if the text has nothing but white space and comments."""
    reader = _Reader(text)
    at = reader.blank(0)
    if at >= len(text):
        return None
    root = reader.node(at)
    rest = reader.blank(root.end)
    if rest < len(text):
        broken(text, rest, "there is something after the end of the document")
    if not isinstance(root.value, dict):
        broken(text, root.start, "the document is no object in braces")
    return root


def parse(text: str) -> dict[str, Any]:
    """The document; empty if the text is."""
    root = _root(text)
    return {} if root is None else root.value


def put(text: str, path: Path, name: str, values: dict[str, Any]) -> str:
    """Set values of the entry at ``path`` with a name; what else it has stays."""
    for key in reversed((*path, name)):
        values = {key: values}
    root = _root(text)
    if root is None:
        end = "" if not text or text.endswith("\n") else newline(text)
        return text + end + _rendered(values, "", "  ", newline(text)) + newline(text)
    node = root
    for key in (*path, name):
        found = node.find(key)
        if found is None:
            return _with_member(text, node, key, values[key])
        values = values[key]
        if found.value is None:
            return splice(text, (found.start, found.end, _rendered(values, *_style(text, found.start))))
        if not isinstance(found.value, dict):
            raise UneditableConfiguration(f"{key!r} is no object in braces")
        node = found
    for key, value in changed(node.value, values).items():
        old = node.find(key)
        if old is None:
            text = _with_member(text, node, key, value)
        else:
            text = splice(text, (old.start, old.end, _rendered(value, *_style(text, old.start))))
        return put(text, path, name, values)  # offsets have moved
    return text


def remove(text: str, path: Path, name: str) -> str:
    """Remove the entry at ``path`` with a name, with its comma and what stands after it on its line."""
    node = _root(text)
    for key in path:
        node = node.find(key) if node is not None else None
    if node is None:
        return text
    index = max((at for at, (key, _, _) in enumerate(node.members) if key == name), default=None)
    if index is None:
        return text
    _, start, gone = node.members[index]
    last = index == len(node.members) - 1
    comma = _Reader(text).blank(gone.end) if not last else node.comma
    end = gone.end if comma is None else comma + 1
    if not text[text.rfind("\n", 0, start) + 1 : start].strip():
        start = text.rfind("\n", 0, start) + 1
        rest = text[end : line_end(text, end)]
        if not rest.strip() or rest.lstrip().startswith("//"):
            end = line_end(text, end)
    elif text[end : end + 1] == " " and not last:
        end += 1
    changes = [(start, end, "")]
    if last and index and node.comma is None:
        before = _Reader(text).blank(node.members[index - 1][2].end)
        tail = text[before + 1 : start]
        changes.append((before, before + 1 + (len(tail) if not tail.strip() else 0) * ("\n" not in tail), ""))
    if len(node.members) == 1 and not text[node.start + 1 : start].strip() and not text[end : node.end - 1].strip():
        changes = [(node.start, node.end, "{}")]
    return splice(text, *changes)


# ── how it is written ─────────────────────────────────────────────────────────────────────────────────────


def _style(text: str, at: int) -> tuple[str, str, str]:
    """The indentation of the line at an offset, one step of indentation, and the line end."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at]
    step = min((found[1] for found in _INDENT.finditer(text)), key=len, default="  ")
    return line[: len(line) - len(line.lstrip())], "\t" if step.startswith("\t") else step, newline(text)


def _rendered(value: Any, indent: str, step: str, end: str) -> str:
    """A value in lines; a list is one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + step
    members = (f"{inner}{json.dumps(key)}: {_rendered(one, inner, step, end)}" for key, one in value.items())
    return "{" + end + f",{end}".join(members) + end + indent + "}"


def _with_member(text: str, node: _Node, key: str, value: Any) -> str:
    """Add a member at the end of an object."""
    indent, step, end = _style(text, node.start)
    close = node.end - 1
    if node.members:
        _, start, last = node.members[-1]
        on_line = text[text.rfind("\n", 0, start) + 1 : start]
        if "\n" not in text[node.start : node.end]:
            member = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            return splice(text, (last.end, close if node.comma is not None else last.end, f", {member}"))
        inner = on_line if not on_line.strip() else indent + step
        member = f"{json.dumps(key)}: {_rendered(value, inner, step, end)}"
        # A comment behind the last member stays behind it.
        after = len(text[:close].rstrip())
        if node.comma is not None:
            return splice(text, (after, after, f"{end}{inner}{member},"))
        return splice(text, (last.end, last.end, ","), (after, after, f"{end}{inner}{member}"))
    inner = indent + step
    member = f"{json.dumps(key)}: {_rendered(value, inner, step, end)}"
    comment = text[node.start + 1 : close].rstrip()
    return splice(text, (node.start + 1, close, f"{comment}{end}{inner}{member}{end}{indent}"))
