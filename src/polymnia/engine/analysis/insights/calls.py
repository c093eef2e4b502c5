"""Calls: what a recommendation says to call, made whole for the project and session it is for."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["completed", "whole"]

_CALL = re.compile(r"\b(memory_(?:store|retrieve|analyze|system)) (?=\{)")


def completed(text: str, project: str | None, session: str | None) -> tuple[str, list[dict[str, Any]]]:
    """A text whose calls can be made as they stand, and those calls."""
    reading = json.JSONDecoder()
    parts: list[str] = []
    calls: list[dict[str, Any]] = []
    at = 0
    for match in _CALL.finditer(text):
        if match.start() < at:
            continue
        arguments, end = reading.raw_decode(text, match.end())
        made = whole(arguments, project, session)
        parts += [text[at : match.end()], json.dumps(made, ensure_ascii=False)]
        calls.append({"tool": match[1], "arguments": made})
        at = end
    return "".join((*parts, text[at:])), calls


def whole(arguments: dict[str, Any], project: str | None, session: str | None) -> dict[str, Any]:
    """Arguments that can be sent as they stand."""
    if "operation" not in arguments:
        return arguments
    return arguments | {"project_id": project} | ({"session_id": session} if session is not None else {})
