"""JSON-RPC messages: reading one from bytes, whatever the bytes are."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from polymnia.errors import OverLimit
from polymnia.transports.errors import INVALID_REQUEST, PARSE_ERROR, RpcError

__all__ = ["BadMessage", "Message", "message", "nesting", "parts", "salvaged_id", "trailing_id"]

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SALVAGE = 256 * 1024  # how much of a broken message is searched for its id


class Message(Struct):
    """The frame of any JSON-RPC message; what is inside stays unread until someone knows its shape."""

    jsonrpc: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    id: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class BadMessage(Exception):
    """Bytes that are not a message we can serve; carries the error and, where it could be found, the id."""

    def __init__(self, error: RpcError, id: Any = None, loose: Any = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id
        self.loose = loose


_decode = msgspec.json.Decoder(Message).decode


def message(line: bytes, most_nested: int) -> Message:
    """Read one message."""
    if line.count(b"[") + line.count(b"{") > most_nested and (deep := nesting(line)) > most_nested:
        over = OverLimit("The message", deep, "levels of nesting", most_nested, "max_nesting")
        raise BadMessage(RpcError(INVALID_REQUEST, over.message), salvaged_id(line))
    try:
        read = _decode(line)
    except msgspec.ValidationError as e:
        raise BadMessage(RpcError(INVALID_REQUEST, f"Not a JSON-RPC request: {e}"), salvaged_id(line)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise _undecodable(line, e) from None
    id = read.id
    if id is not UNSET and (isinstance(id, bool) or not isinstance(id, str | int | float)):
        raise BadMessage(RpcError(INVALID_REQUEST, "A request's id must be a string or a number"))
    if read.jsonrpc != "2.0":
        error = RpcError(INVALID_REQUEST, 'A message must carry "jsonrpc": "2.0"')
        raise BadMessage(error, None if id is UNSET else id)
    return read


def _undecodable(line: bytes, error: Exception) -> BadMessage:
    """Bytes the decoder refuses: either no JSON at all, or JSON with half a surrogate pair in a text."""
    import json

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        loose = json.loads(line.decode(), parse_constant=refuse)  # of bytes, json would guess the encoding
    except (ValueError, RecursionError):
        return BadMessage(RpcError(PARSE_ERROR, f"Parse error: {error}"))
    id = loose.get("id") if isinstance(loose, dict) else None
    if isinstance(id, bool) or not isinstance(id, str | int | float) or (isinstance(id, str) and not id.isprintable()):
        id = None
    return BadMessage(RpcError(INVALID_REQUEST, "The message contains a lone surrogate"), id, loose)


def parts(batch: bytes) -> list[bytes] | None:
    """The messages of a batch, each as it stands, however bad one of them is; None when it is no array."""
    import re

    found, depth, start = [], 0, 1
    for token in re.finditer(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]', batch):
        sign = token[0]
        if sign in b"[{":
            depth += 1
        elif sign in b"]}":
            depth -= 1
            if depth == 0:
                found.append(batch[start : token.start()].strip())
                return [part for part in found if part] if not batch[token.end() :].strip() else None
        elif sign == b"," and depth == 1:
            found.append(batch[start : token.start()].strip())
            start = token.end()
    return None


def nesting(line: bytes) -> int:
    """How deeply a JSON text is nested, without reading it."""
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    bare = b"".join(bare.split(b'"')[::2]).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, bare)), default=0)


def salvaged_id(line: bytes) -> Any:
    """The id of a message that could not be read whole, if it shows at the outermost level."""
    import re

    head = line[:_SALVAGE]
    depth, key = 0, None
    colon = re.compile(rb"\s*:")
    for token in re.finditer(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', head):
        text = token[0]
        if text in b"[{":
            depth += 1
        elif text in b"]}":
            depth -= 1
        elif depth == 1 and text not in b",:":
            if key == b'"id"':
                return _id(text)
            key = text if colon.match(head, token.end()) else None
    return trailing_id(line)


def trailing_id(line: bytes) -> Any:
    """The id of a message whose beginning is not at hand: some clients write the id last."""
    import re

    pattern = rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
    tail = re.search(pattern, line[-1024:])
    return _id(tail[1]) if tail else None


def _id(text: bytes) -> Any:
    try:
        id = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return id if isinstance(id, str | int | float) and not isinstance(id, bool) else None
