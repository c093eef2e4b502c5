"""Encoding and decoding of protocol messages."""

from __future__ import annotations

from math import isfinite
from typing import Any

from msgspec import UNSET, DecodeError, Raw, Struct, field, to_builtins
from msgspec.json import Decoder, Encoder

from polymnia.client.errors import MCPMemoryError, ToolError, error_data, error_of
from polymnia.client.link import Lost, no_endpoint

__all__ = ["VERSION", "Message", "Result", "notification", "parse", "refusal", "request", "response"]

VERSION = "2025-11-25"
"""The protocol version the client requests."""


class _Error(Struct):
    code: int = 0
    message: str = ""
    data: Any = None


class Message(Struct):
    """Any message from the server."""

    id: Any = None
    method: str | None = None
    params: Raw = field(default_factory=Raw)
    result: Raw = field(default_factory=Raw)
    error: _Error | None = None

    def failure(self) -> MCPMemoryError | None:
        """The exception for its error; None if it has none."""
        return None if self.error is None else error_of(self.error.code, self.error.message, self.error.data)


class _Block(Struct):
    type: str = ""
    text: str = ""


class _ToolResult(Struct):
    structured: Any = field(default=UNSET, name="structuredContent")
    content: Raw = field(default_factory=lambda: Raw(b"[]"))
    failed: bool = field(default=False, name="isError")


_encode = Encoder().encode
_decode = Decoder().decode
_message = Decoder(Message)
_tool_result = Decoder(_ToolResult)
_blocks = Decoder(list[_Block])


class Result:
    """The result of a tool call: ``value`` as returned by the client's methods, ``raw`` as sent by the server."""

    __slots__ = ("_data", "value")

    def __init__(self, data: bytes) -> None:
        self._data = data
        result = _tool_result.decode(data)
        self.value: Any = result.structured
        if result.failed or self.value is UNSET:
            texts = [block.text for block in _blocks.decode(result.content) if block.type == "text"]
            text = "\n".join(texts)
            self.value = _parsed(texts[0] if texts else "")  # what follows is a remark on it
            if isinstance(self.value, str):
                self.value = _parsed(text)
            if result.failed:
                raise _failure(text, self.value)

    @property
    def raw(self) -> dict[str, Any]:
        """The protocol's result: content, structuredContent, _meta."""
        found: dict[str, Any] = _decode(self._data)
        return found

    def __repr__(self) -> str:
        return f"Result({self.value!r})"


def parse(data: bytes | bytearray | str) -> Message | None:
    """Decode a message; None if it is not one."""
    try:
        return _message.decode(data)
    except (DecodeError, UnicodeDecodeError):
        return None


def request(id: int, method: str, params: Any) -> bytes:
    """Encode a request. Raises TypeError or ValueError if the parameters are not JSON."""
    data = _encode(params)
    if b"null" in data and not _is_json(to_builtins(params)):  # NaN is encoded as null as well
        raise ValueError("The parameters are not JSON: they have a number that is NaN or infinite")
    return b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}' % (id, _encode(method), data)


def notification(method: str, params: Any) -> bytes:
    """Encode a notification."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def response(id: Any, method: str) -> bytes:
    """Encode the response to a request of the server: only ping is supported."""
    if method == "ping":
        return _encode({"jsonrpc": "2.0", "id": id, "result": {}})
    return _encode({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": f"Method not found: {method}"}})


def refusal(body: bytes, status: int, retry_after: str | None = None, location: str | None = None) -> Exception:
    """The exception for an HTTP error response: the server's error, or Lost if it is not from an MCP server."""
    message = parse(body)
    error = None if message is None else message.failure()
    if error is not None and status not in (404, 405, 426):
        kind = error.data.get("error_type") if isinstance(error.data, dict) else None
        if status in (502, 503, 504) and kind != "rate_limited":
            return Lost(error.message)
    elif status in (401, 403, 429, 500):
        error = error_of(status, f"The server answered with status {status}")
        error.data = error_data(error.kind, status=status)
    elif status in (502, 503, 504):
        return Lost(f"it answers with status {status}")
    else:
        where = f" and redirects to {location}" if location else ""
        return no_endpoint(f"which answers with status {status}{where}")
    if retry_after is not None and retry_after.isdigit() and isinstance(error.data, dict):
        error.data.setdefault("retry_after", int(retry_after))
    return error


def _is_json(value: Any) -> bool:
    """Whether all numbers are finite; msgspec refuses all other non-JSON values."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(_is_json(one) for one in value.values())
    return not isinstance(value, list | tuple) or all(_is_json(one) for one in value)


def _parsed(text: str) -> Any:
    if text[:1] in ("{", "["):
        try:
            return _decode(text)
        except DecodeError:
            pass
    return text


def _failure(text: str, answer: Any) -> ToolError:
    if not isinstance(answer, dict):
        return ToolError(text)
    message = answer.get("message")
    return ToolError(message if isinstance(message, str) else text, data=answer)
