"""What the editors of configuration files have in common: faults with a place, line ends, splices."""

from __future__ import annotations

from typing import Any, NoReturn

from polymnia.errors import Invalid

Path = tuple[str, ...]
"""The keys from the top of a document to the table of servers."""


class BrokenConfiguration(Invalid):
    """A client's configuration file does not parse. It was left as it is."""

    hint = "Mend the file, or let the client write it anew, and run the command again. Nothing was changed."


class UneditableConfiguration(Invalid):
    """A client's configuration file is written in a way that cannot be edited in place. It was left as it is."""

    hint = "Edit it by hand: `polymnia config --client CLIENT` prints what to put there. Nothing was changed."


def broken(text: str, at: int, why: str) -> NoReturn:
    """Raise the fault for a text that does not parse at an offset."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    raise BrokenConfiguration(f"line {line}, column {column}: {why}", line=line, column=column)


def newline(text: str) -> str:
    """The line end that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def line_start(text: str, at: int) -> int:
    """The offset at which the line of an offset begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The offset after the line end of an offset's line, or the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def splice(text: str, *changes: tuple[int, int, str]) -> str:
    """Replace ranges of a text, none of which overlap; what is put at one place stands in the order given."""
    in_order = sorted(changes, key=lambda one: one[0])
    for start, end, new in reversed(in_order):
        text = text[:start] + new + text[end:]
    return text


def changed(entry: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The values that an entry has not got yet."""
    have = entry if isinstance(entry, dict) else {}
    return {key: value for key, value in values.items() if key not in have or have[key] != value}
