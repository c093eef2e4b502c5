"""What the generators of all languages ask of a schema of the document."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["about", "answer_told", "parts_of", "referred", "sentence", "values", "wrapped"]

Schema = Mapping[str, Any]


def referred(schema: Schema) -> str | None:
    """The name of the type that a schema stands for."""
    ref = schema.get("$ref")
    return None if ref is None else str(ref).removeprefix("#/types/")


def parts_of(schema: Any, types: Schema) -> set[str]:
    """The names of all types in a schema, and in these."""
    found: set[str] = set()
    waiting = list(_refs(schema))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _refs(types[name])
    return found


def _refs(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _refs(one)
    elif isinstance(node, dict):
        if (name := referred(node)) is not None:
            yield name
        for one in node.values():
            yield from _refs(one)


def sentence(text: str) -> str:
    """A text on one line that ends like a sentence."""
    text = " ".join(text.split())
    return text if not text or text.endswith((".", "!", "?", ":", "…")) else text + "."


def values(schema: Schema, types: Schema) -> list[str]:
    """The words a value, or each value of a list, may be."""
    name = referred(schema) or referred(schema.get("items", {}))
    return list(types[name].get("enum", ())) if name else []


def about(schema: Schema, types: Schema, *, typed: bool = False) -> str:
    """What is said of a parameter: its description, the values it may have, its default, and its fields.

    ``typed``: its type stands beside it, so values and fields are left out.
    """
    said = sentence(schema.get("description", "")).removeprefix("Required. ")
    if typed:
        pass
    elif choices := values(schema, types):
        if not all(one in said for one in choices):
            said += f" One of {', '.join(choices)}."
    elif (name := referred(schema)) is not None and "properties" in types[name]:
        said = f"{said.removesuffix('.')}: {', '.join(types[name]['properties'])}."
    default = schema.get("default")
    if default not in (None, [], {}) and "default" not in said.lower():
        said += f" Default: {str(default).lower() if isinstance(default, bool) else default}."
    return said.strip()


def answer_told(answer: Schema) -> str:
    """What an answer holds, as a sentence and the names of its fields."""
    return f"{sentence(answer['description'])} Fields: {', '.join(answer['properties'])}."


def wrapped(text: str, width: int, hang: str = "") -> list[str]:
    """A text in lines."""
    return textwrap.wrap(text, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
