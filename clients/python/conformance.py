"""Replay the conformance table with the Python client: ``POLYMNIA_URL=... python -m clients.python.conformance``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from clients.conformance.canonical import canonical
from clients.conformance.comparing import TABLE
from clients.generate.python import python_name
from polymnia.client import MCPMemoryClient, MCPMemoryError

__all__ = ["NAME", "replayed"]

NAME = "conformance"
"""What the client calls itself: the history tells it again."""

_OPERATIONS = TABLE.parents[1] / "operations.json"


def replayed(client: MCPMemoryClient, table: Mapping[str, Any]) -> Iterator[str]:
    """One line a call, as they are answered."""
    operations = {one["name"] for one in json.loads(_OPERATIONS.read_text(encoding="utf-8"))["operations"]}
    saved: dict[str, Any] = {}
    for one in table["calls"]:
        given = _filled(one["arguments"], saved)
        if one["call"] in operations:
            given = {python_name(key): value for key, value in given.items()}
        method = getattr(client, one["call"])
        yield _line(one["id"], lambda method=method, given=given: method(**given), one.get("save", {}), saved)
    for one in table["faults"]:
        given = _filled(one["arguments"], saved)
        yield _line(one["id"], lambda one=one, given=given: client.call_tool(one["call"], given).value, {}, saved)


def _line(id: str, call: Any, save: Mapping[str, str], saved: dict[str, Any]) -> str:
    try:
        answer = call()
    except MCPMemoryError as e:
        error = {"type": e.kind, "code": e.code, "message": e.message, "data": e.data}
        return canonical({"id": id, "error": error})
    for name, field in save.items():
        saved[name] = answer[field]
    return canonical({"id": id, "answer": answer})


def _filled(value: Any, saved: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return saved[value[2:-1]] if value.startswith("${") and value.endswith("}") else value
    if isinstance(value, list):
        return [_filled(one, saved) for one in value]
    if isinstance(value, dict):
        return {key: _filled(one, saved) for key, one in value.items()}
    return value


if __name__ == "__main__":
    url, key = os.environ["POLYMNIA_URL"], os.environ.get("POLYMNIA_KEY")
    with MCPMemoryClient(url, key, client_name=NAME) as client:
        for line in replayed(client, json.loads(TABLE.read_text(encoding="utf-8"))):
            sys.stdout.write(line + "\n")
