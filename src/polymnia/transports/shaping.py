"""A dialect's answer as a result of the protocol."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw
from msgspec.json import encode

from polymnia.operation import Reply
from polymnia.transports.errors import RpcError

__all__ = ["shaped"]

_OURS = ("content", "structuredContent", "isError", "_meta", "resultType")  # what a result has by the protocol


def shaped(reply: Reply) -> dict[str, Any]:
    """What tools/call gives, but for what depends on the era. A reply that refuses is raised."""
    if reply.refusal is not None:
        raise RpcError(*reply.refusal)
    structured = reply.structured
    text = reply.text
    if text is None and reply.content is None:
        data = encode(reply.value)
        if structured is reply.value and not reply.is_error:
            structured = Raw(data)  # encoded once, sent twice
        text = (msgspec.json.format(data, indent=reply.indent) if reply.indent else data).decode()
    content = [{"type": "text", "text": text}] if reply.content is None else list(reply.content)
    result: dict[str, Any] = {"content": content}
    if reply.flat and isinstance(reply.value, dict):
        result = {**{key: value for key, value in reply.value.items() if key not in _OURS}, **result}
    if reply.is_error:
        result["isError"] = True
        return result
    if structured is not None:
        result["structuredContent"] = structured
    if reply.notes or reply.next:
        meta: dict[str, Any] = {}
        if reply.notes:
            meta["polymnia/notes"] = [{"code": note.code, "text": note.text} for note in reply.notes]
        if reply.next:
            meta["polymnia/nextCursor"] = reply.next
        result["_meta"] = meta
    return result
