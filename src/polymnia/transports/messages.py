"""JSON-RPC messages: reading one from bytes, whatever the bytes are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from polymnia.errors import OverLimit
from polymnia.importing import importing
from polymnia.transports.errors import INVALID_REQUEST, PARSE_ERROR, RpcError

__all__ = ["BadMessage", "Message", "message", "nesting", "parts", "salvaged_id", "trailing_id"]

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_LONG = 256 * 1024  # bytes of a message that is not looked at where everybody waits for it, or not one by one
_MANY = 500_000  # commas beyond which a message is not read another way
_SURROGATE = "The message contains a lone surrogate"
_SMALL = 64 * 1024  # bytes of a batch that is taken apart though something in it is no JSON
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
    """Bytes that are not a message we can serve; carries the error and, where it could be found, the id.

    ``loose`` is what could be read of it, ``closer`` what there is to do where finding out takes long.
    """

    def __init__(
        self, error: RpcError, id: Any = None, loose: Any = None, closer: Callable[[], BadMessage] | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id
        self.loose = loose
        self.closer = closer


_decode = msgspec.json.Decoder(Message).decode


def message(line: bytes, most_nested: int) -> Message:
    """Read one message."""
    if line.count(b"[") + line.count(b"{") > most_nested and (deep := nesting(line, most_nested)) > most_nested:
        text = f"The message has more than {most_nested:,} levels of nesting, the limit max_nesting"
        if len(line) <= _LONG:  # and was looked at to its end
            text = OverLimit("The message", deep, "levels of nesting", most_nested, "max_nesting").message
        raise BadMessage(RpcError(INVALID_REQUEST, text), salvaged_id(line))
    try:
        read = _decode(line)
    except msgspec.ValidationError as e:
        raise BadMessage(RpcError(INVALID_REQUEST, f"Not a JSON-RPC request: {e}"), salvaged_id(line)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        text = str(e)
        if len(line) > _LONG:
            error = RpcError(PARSE_ERROR, f"Parse error: {text}")
            raise BadMessage(error, closer=lambda: _undecodable(line, text)) from None
        raise _undecodable(line, text) from None
    id = read.id
    if id is not UNSET and (isinstance(id, bool) or not isinstance(id, str | int | float)):
        raise BadMessage(RpcError(INVALID_REQUEST, "A request's id must be a string or a number"))
    if read.jsonrpc != "2.0":
        error = RpcError(INVALID_REQUEST, 'A message must carry "jsonrpc": "2.0"')
        raise BadMessage(error, None if id is UNSET else id)
    return read


def _undecodable(line: bytes, error: str) -> BadMessage:
    """Bytes the decoder refuses: either no JSON at all, or JSON with half a surrogate pair in a text."""
    import json

    if line.count(b",") > _MANY:  # what it consists of would fill the memory, and reading it all keep others waiting
        if _has_lone_surrogate(line):
            return BadMessage(RpcError(INVALID_REQUEST, _SURROGATE), salvaged_id(line))
        return BadMessage(RpcError(PARSE_ERROR, f"Parse error: {error}"))

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        loose = json.loads(line.decode(), parse_constant=refuse)  # of bytes, json would guess the encoding
    except (ValueError, RecursionError):
        return BadMessage(RpcError(PARSE_ERROR, f"Parse error: {error}"))
    id = loose.get("id") if isinstance(loose, dict) else None
    if isinstance(id, bool) or not isinstance(id, str | int | float) or (isinstance(id, str) and not id.isprintable()):
        id = None
    return BadMessage(RpcError(INVALID_REQUEST, _SURROGATE), id, loose)


def _has_lone_surrogate(line: bytes) -> bool:
    import re

    pair = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    bare = re.sub(pair, b"", line.replace(b"\\\\", b""))
    return re.search(rb"\\u[dD][89a-fA-F]", bare) is not None


def parts(batch: bytes, most: int) -> list[bytes] | None:
    """The messages of a batch, each as it stands; None when it is no array. Of too many, one more than ``most``.

    In a small batch a message may be as bad as it likes; a large one with a bad message in it is bad as a whole.
    """
    from json import JSONDecoder

    text = batch.decode("utf-8", "surrogateescape")
    read = JSONDecoder(strict=False).raw_decode
    found: list[bytes] = []
    at = _past(text, 1)
    if text[at : at + 1] == "]":
        return [] if _past(text, at + 1) == len(text) else None
    try:
        while len(found) <= most:
            end = read(text, at)[1]
            found.append(text[at:end].encode("utf-8", "surrogateescape"))
            end = _past(text, end)
            if text[end] == "]":
                return found if _past(text, end + 1) == len(text) else None
            if text[end] != ",":
                raise ValueError
            at = _past(text, end + 1)
    except (ValueError, IndexError, RecursionError):
        return _torn(batch) if len(batch) <= _SMALL else None
    return found


def _past(text: str, at: int) -> int:
    """Where something stands again, from a place on."""
    import re

    found = re.compile(r"[ \t\n\r]*").match(text, at)
    return at if found is None else found.end()


def _torn(batch: bytes) -> list[bytes] | None:
    """The messages of a batch in which one is no JSON."""
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


def nesting(line: bytes, most: int | None = None) -> int:
    """How deeply a JSON text is nested, without reading it; beyond ``most`` nobody looks how much deeper it is."""
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    first = b"".join(bare[:_LONG].split(b'"')[::2]).translate(None, _NOT_BRACKETS)
    deepest = max(accumulate(map(_STEPS.__getitem__, first), initial=0))
    if len(bare) <= _LONG or (most is not None and deepest > most):
        return deepest
    return _nesting_of_much(bare, most)


def _nesting_of_much(bare: bytes, most: int | None) -> int:
    """The same for a long text, in which no quote is escaped: many numbers at once, as others wait meanwhile."""
    with importing():
        import numpy as np

    steps = np.zeros(256, np.int8)
    for sign, step in _STEPS.items():
        steps[sign] = step
    deepest = depth = quotes = 0
    for at in range(0, len(bare), _LONG):
        signs = np.frombuffer(bare[at : at + _LONG], np.uint8)
        quoted = np.cumsum(signs == ord('"'), dtype=np.uint8) + np.uint8(quotes) & 1
        walked = np.cumsum(steps[signs] * (1 - quoted).astype(np.int8), dtype=np.int32)
        deepest = max(deepest, depth + int(walked.max()))
        depth, quotes = depth + int(walked[-1]), int(quoted[-1])
        if most is not None and deepest > most:
            break
    return deepest


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
