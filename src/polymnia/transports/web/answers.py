"""Messages and answers as HTTP has them: in which form they come, and what the status says of what is in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from polymnia.transports.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    RATE_LIMITED,
    UNSUPPORTED_VERSION,
)
from polymnia.transports.web.asgi import Headers
from polymnia.transports.web.auth import Refusal

__all__ = ["JSON", "accepted", "check_type", "status_of", "unread"]

JSON = (b"content-type", b"application/json")
# What the stateless era says of errors in the status; the handshake era answers 200 with the error inside.
_STATUS = {
    PARSE_ERROR: 400, INVALID_REQUEST: 400, INVALID_PARAMS: 400, HEADER_MISMATCH: 400, MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400, METHOD_NOT_FOUND: 404,
}  # fmt: skip


class _Error(msgspec.Struct):
    code: int
    data: Any = None


class _Failed(msgspec.Struct):
    error: _Error


_failed = msgspec.json.Decoder(_Failed)


def unread(status: int, message: str, headers: Collection[tuple[bytes, bytes]] = ()) -> Refusal:
    """A refusal of a message that nobody has read, so that its id is not known, told as JSON-RPC tells it."""
    return Refusal(status, message, headers, code=INVALID_REQUEST)


def check_type(headers: Mapping[bytes, bytes], given: Headers) -> None:
    """Refuse a message that is not sent as what it is; ``given`` are the headers, those too that came twice."""
    type = headers.get(b"content-type", b"")
    if type != b"application/json" and type.split(b";")[0].strip().lower() != b"application/json":
        raise unread(415, "A message is sent as application/json (Content-Type)")
    if b"content-encoding" in headers and _others(given, b"content-encoding", b"identity"):
        raise unread(
            415, "A message is sent uncompressed, without Content-Encoding", [(b"accept-encoding", b"identity")]
        )
    if b"transfer-encoding" in headers and _others(given, b"transfer-encoding", b"chunked"):
        raise unread(501, "A message is sent whole or in chunks (Transfer-Encoding: chunked), in no other way")


def _others(given: Headers, name: bytes, known: bytes) -> bool:
    """Whether a header says anything else than the one thing it may."""
    return any(one == name and value.strip().lower() != known for one, value in given)


def accepted(headers: Mapping[bytes, bytes]) -> tuple[bool, bool]:
    """Whether a client takes JSON, and whether it takes a stream; refused is who takes neither."""
    json, streams = _forms(headers.get(b"accept", b"*/*"))
    if not (json or streams):
        raise unread(406, "An answer is application/json or text/event-stream")
    return json, streams


@lru_cache(maxsize=64)
def _forms(accept: bytes) -> tuple[bool, bool]:
    given = accept.lower()
    json = b"application/json" in given or b"*/*" in given or b"application/*" in given
    return json, b"text/event-stream" in given


def status_of(answer: bytes, *, modern: bool) -> tuple[int, Headers]:
    """The status of an answer, and the headers that belong to it."""
    if b'"error":{"code":' not in answer:
        return 200, []
    try:
        error = _failed.decode(answer).error
    except msgspec.DecodeError:
        return 200, []
    if error.code == RATE_LIMITED and isinstance(error.data, dict):
        return 429, [(b"retry-after", str(error.data.get("retry_after", 1)).encode())]
    return (_STATUS.get(error.code, 200) if modern or error.code in (PARSE_ERROR, INVALID_REQUEST) else 200), []
