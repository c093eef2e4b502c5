"""The schemas of answers, closed: an answer that has a field its schema does not name does not fit."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from polymnia.dialects.content import TOOLS
from polymnia.schemas import components

__all__ = ["closed", "without_more"]


@cache
def closed(tool: str, operation: str | None) -> str | None:
    """The schema of what an operation of the content dialect answers; None for any other call."""
    if tool not in TOOLS or operation not in TOOLS[tool].operations():
        return None
    (top,), parts = components([TOOLS[tool].operations()[operation].answer])
    return json.dumps(_closed({**top, "$defs": parts}))


@cache
def without_more(schema: str) -> str:
    """A schema that allows nothing but what it names."""
    return json.dumps(_closed(json.loads(schema)))


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    told = {key: _closed(value) for key, value in node.items()}
    if isinstance(told.get("$ref"), str):
        told["$ref"] = f"#/$defs/{told['$ref']}"
    if isinstance(told.get("properties"), dict) and "type" in told:
        told.setdefault("additionalProperties", False)
    return told
