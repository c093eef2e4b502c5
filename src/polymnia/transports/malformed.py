"""Input that is not a plain message: batches, deep nesting, invalid JSON, and what can be recovered from it."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

import msgspec

from polymnia.errors import OverLimit
from polymnia.transports.errors import INVALID_REQUEST, PARSE_ERROR, RpcError
from polymnia.transports.rpc import BadMessage, Message, message

_BATCH = msgspec.json.Decoder(list[msgspec.Raw])
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_LONG = 256 * 1024  # bytes; a longer message is not examined on the reading thread, or not in one piece
_MANY = 500_000  # commas beyond which a message is not decoded a second time
_SURROGATE = "The message contains a lone surrogate"
_SMALL = 64 * 1024  # bytes of a batch that is split although part of it is not JSON
_SALVAGE = 256 * 1024  # bytes of a broken message that are searched for its id


def check_nesting(line: bytes, most: int) -> None:
    """Refuse a message that is nested too deeply."""
    deep = nesting(line, most)
    if deep > most:
        text = f"The message has more than {most:,} levels of nesting, the limit max_nesting"
        if len(line) <= _LONG:  # and was examined to its end
            text = OverLimit("The message", deep, "levels of nesting", most, "max_nesting").message
        raise BadMessage(RpcError(INVALID_REQUEST, text), salvaged_id(line))


def nesting(line: bytes, most: int | None = None) -> int:
    """How deeply a JSON text is nested, without decoding it; counting stops beyond ``most``."""
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    deepest = depth = quoted = 0
    for at in range(0, len(bare), _LONG):
        parts = bare[at : at + _LONG].split(b'"')
        brackets = b"".join(parts[quoted::2]).translate(None, _NOT_BRACKETS)
        depths = list(accumulate(map(_STEPS.__getitem__, brackets), initial=depth))
        deepest, depth = max(deepest, max(depths)), depths[-1]
        if most is not None and deepest > most:
            break
        quoted ^= (len(parts) - 1) & 1
    return deepest


def refused(line: bytes, error: Exception) -> Message:
    """Bytes the decoder refused: raises BadMessage, or returns the message if a tool can explain the fault better."""
    if isinstance(error, msgspec.ValidationError):
        raise BadMessage(RpcError(INVALID_REQUEST, f"Not a JSON-RPC request: {error}"), salvaged_id(line)) from None
    text = f"Parse error: {error}"
    if len(line) > _LONG:
        raise BadMessage(RpcError(PARSE_ERROR, text), examine=lambda: _read_loosely(line, text)) from None
    return _read_loosely(line, text)


def _read_loosely(line: bytes, error: str) -> Message:
    """Either not JSON at all, or JSON with a lone surrogate in a string."""
    if line.count(b",") > _MANY:  # decoding it would fill the memory and block others
        if _has_lone_surrogate(line):
            raise BadMessage(RpcError(INVALID_REQUEST, _SURROGATE), salvaged_id(line))
        raise BadMessage(RpcError(PARSE_ERROR, error))

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        loose = json.loads(line.decode(), parse_constant=refuse)  # given bytes, json would guess the encoding
    except (ValueError, RecursionError):
        raise BadMessage(RpcError(PARSE_ERROR, error)) from None
    id = loose.get("id") if isinstance(loose, dict) else None
    if isinstance(id, bool) or not isinstance(id, str | int | float) or (isinstance(id, str) and not id.isprintable()):
        id = None
    if id is not None and loose.get("method") == "tools/call":
        # Encoded this way its envelope can be decoded and its text cannot: the dialect then names the text.
        plain = json.dumps(loose, ensure_ascii=False).encode("utf-8", "surrogatepass")
        try:
            return msgspec.json.decode(plain, type=Message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
    raise BadMessage(RpcError(INVALID_REQUEST, _SURROGATE), id)


def _has_lone_surrogate(line: bytes) -> bool:
    pair = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    bare = re.sub(pair, b"", line.replace(b"\\\\", b""))
    return re.search(rb"\\u[dD][89a-fA-F]", bare) is not None


def batch(data: bytes, most_nested: int, most: int) -> list[Message | BadMessage]:
    """The messages of a batch, each decoded or bad; raises BadMessage if it is not a batch, empty or too long."""
    found = parts(data)
    if found is None:
        raise BadMessage(RpcError(PARSE_ERROR, "Parse error: the batch is no array of JSON"))
    if not found:
        raise BadMessage(RpcError(INVALID_REQUEST, "The batch is empty"))
    if len(found) > most:
        raise BadMessage(RpcError(INVALID_REQUEST, f"A batch may have {most:,} messages, the limit max_batch"))
    read: list[Message | BadMessage] = []
    for part in found:
        try:
            read.append(message(part, most_nested))
        except BadMessage as bad:
            read.append(bad)
    return read


def parts(batch: bytes) -> list[bytes] | None:
    """The messages of a batch as bytes; None if it is not an array.

    A small batch is split even if a message in it is broken; a large one is then refused as a whole.
    """
    try:
        return [bytes(one) for one in _BATCH.decode(batch)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _torn(batch) if len(batch) <= _SMALL else None


def _torn(batch: bytes) -> list[bytes] | None:
    """The messages of a batch in which one is not JSON."""
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


def salvaged_id(line: bytes) -> Any:
    """The id of a message that could not be decoded, if it can be found at the top level."""
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
    """The id of a message whose beginning is not available: some clients write the id last."""
    pattern = rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
    tail = re.search(pattern, line[-1024:])
    return _id(tail[1]) if tail else None


def _id(text: bytes) -> Any:
    try:
        id = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return id if isinstance(id, str | int | float) and not isinstance(id, bool) else None
