"""Calls of the native tools, and what tests read off their answers."""

from __future__ import annotations

import re
from typing import Any

from stdio_client import Server

__all__ = ["error", "ids", "text"]

_ID = re.compile(r"(?:new|joined with|\d+\.) ([a-f][0-9a-f]{7}-[0-9a-f]{4})\b")


def text(server: Server, tool: str, **arguments: Any) -> str:
    """The answer of a call that succeeds."""
    reply = server.call(tool, **arguments)
    assert not reply.failed, reply.text
    return reply.text


def error(server: Server, tool: str, **arguments: Any) -> str:
    """The answer of a call that fails."""
    reply = server.call(tool, **arguments)
    assert reply.failed, reply.text
    return reply.text


def ids(answer: str) -> list[str]:
    """The ids of memories in an answer, in order."""
    return _ID.findall(answer)
