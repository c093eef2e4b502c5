"""Tools as clients are told of them: names, helps, schemas and hints."""

from __future__ import annotations

from typing import Any

from msgspec.json import encode

from polymnia.operation import Operation, Registry, schema

__all__ = ["described"]


def described(registry: Registry) -> bytes:
    """The descriptions of all tools of a dialect as JSON."""
    return encode([_described(tool) for tool in registry.operations.values()])


def _described(tool: Operation) -> dict[str, Any]:
    given = tool.gives() if tool.gives is not None else schema(tool.output) if tool.output is not None else None
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.help,
        "inputSchema": _taken(tool),
        **({} if given is None else {"outputSchema": _bare(given)}),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


def _taken(tool: Operation) -> dict[str, Any]:
    """What a tool takes. That all of it may come wrapped in one parameter is nothing a model need know."""
    plain = schema(tool.shape) if tool.takes is None else tool.takes()
    if tool.headers:
        marked = {name: {**plain["properties"][name], "x-mcp-header": header} for name, header in tool.headers.items()}
        plain = {**plain, "properties": {**plain["properties"], **marked}}
    return {key: value for key, value in plain.items() if tool.wrapped is None or key != "additionalProperties"}


def _bare(given: Any, *, named: bool = False) -> Any:
    """A schema without the descriptions of its fields, which the reference has: they would triple the list of tools.

    ``named``: the keys are the names of fields.
    """
    if isinstance(given, list):
        return [_bare(one) for one in given]
    if not isinstance(given, dict):
        return given
    return {
        key: _bare(value, named=not named and key in ("properties", "$defs"))
        for key, value in given.items()
        if named or key != "description"
    }
