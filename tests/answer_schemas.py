"""The schemas of answers, closed: an answer that has a field its schema does not name does not fit."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from polymnia import app
from polymnia.dialects.content import TOOLS
from polymnia.schemas import components
from polymnia.transports.server import describe

__all__ = ["closed", "of_all", "without_more"]


@cache
def of_all(graph: str) -> dict[str, Any]:
    """The tools of `all` with their output schemas, which that dialect does not list."""
    registry = app.registry(app.settings({"dialect": "all", "graph": graph, "structured": "on"}, {}))
    return {tool["name"]: tool for tool in json.loads(describe(registry))}


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
