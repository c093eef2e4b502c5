"""What the clients are generated from: every operation of the server with its schemas, as one JSON document."""

from __future__ import annotations

import json
from typing import Any

from polymnia import __version__, app
from polymnia.dialects.content.operations import TOOLS
from polymnia.operation import Operation, schema

__all__ = ["ALIASES", "META_KEY", "document", "text"]

META_KEY = "polymnia/requestId"
"""Where the id of a write goes in ``_meta`` when the operation has no parameter for it."""

ALIASES = {"memory_store": "store_memory"}
"""A tool that is called with and without an operation: the name of the typed method for the call without one."""


def document() -> dict[str, Any]:
    """Every tool as ``tools/list`` publishes it, and every operation with parameters of its own."""
    from polymnia.transports.describing import described

    registry = app.dialect(app.settings({"dialect": "all"}, {}))
    plain = _associative() | _graph()
    tools = json.loads(described(registry))
    operations = []
    for tool in tools:
        name = tool["name"]
        if name in plain:
            operations.append(_of_tool(name, plain[name]))
        if name in TOOLS:
            operations += _of_verbs(name)
    return {
        "version": __version__,
        "request_id_meta": META_KEY,
        "tools": [
            {
                "name": tool["name"],
                "title": tool["title"],
                "description": tool["description"],
                "write": not tool["annotations"]["readOnlyHint"],
                "parameters": tool["inputSchema"],
                "operations": [one["name"] for one in operations if one["tool"] == tool["name"]],
            }
            for tool in tools
        ],
        "operations": operations,
    }


def text() -> str:
    """The document as it is written to the file."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _graph() -> dict[str, Operation]:
    from polymnia.dialects.graph import registry

    return registry(str(app.settings({"dialect": "all"}, {}).graph)).operations


def _associative() -> dict[str, Operation]:
    from polymnia.dialects.associative import registry

    return registry().operations


def _of_tool(name: str, tool: Operation) -> dict[str, Any]:
    return {
        "tool": name,
        "operation": None,
        "name": ALIASES.get(name, name),
        "title": tool.title,
        "description": tool.help,
        "write": not tool.reads,
        "idempotent": tool.reads or tool.idempotent,
        "request_id": None if tool.reads else "meta",
        "parameters": schema(tool.shape) if tool.takes is None else tool.takes(),
        "answer": None if tool.output is None else schema(tool.output),
    }


def _of_verbs(name: str) -> list[dict[str, Any]]:
    found = []
    for operation, verb in TOOLS[name][2].items():
        whole = schema(verb.params)
        required = [key for key in whole.get("required", ()) if key != "operation"]
        if verb.project:
            required = ["project_id", *required]
        found.append(
            {
                "tool": name,
                "operation": operation,
                "name": operation,
                "title": operation.replace("_", " ").title(),
                "description": verb.help,
                "write": not verb.reads,
                "idempotent": verb.reads,
                "request_id": None if verb.reads else "argument",
                "parameters": {
                    "type": "object",
                    "properties": {key: value for key, value in whole["properties"].items() if key != "operation"},
                    "required": required,
                    "additionalProperties": False,
                },
                "answer": {
                    "type": "object",
                    "properties": {
                        "success": {"type": "boolean"},
                        "timestamp": {"type": "string"},
                        "duration": {"type": "string"},
                    },
                    "required": ["success", "timestamp", "duration"],
                },
            }
        )
    return found
