"""Messages of the protocol as the client reads and writes them."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, DecodeError, Raw, Struct, field
from msgspec.json import Decoder, Encoder

from polymnia.client.errors import MCPMemoryError, ToolError, error_of

__all__ = ["VERSION", "Result", "error_in", "notification", "read", "request", "response"]

VERSION = "2025-11-25"
"""The version of the protocol the client asks for."""

encode = Encoder().encode


class _Error(Struct):
    code: int = 0
    message: str = ""
    data: Any = None

    def raised(self) -> MCPMemoryError:
        """As the client raises it."""
        return error_of(self.code, self.message, self.data)


class Message(Struct):
    """Anything a server sends."""

    id: Any = None
    method: str | None = None
    params: Raw = field(default_factory=Raw)
    result: Raw = field(default_factory=Raw)
    error: _Error | None = None


class _Block(Struct):
    type: str = ""
    text: str = ""


class _Tool(Struct):
    structured: Any = field(default=UNSET, name="structuredContent")
    content: Raw = field(default_factory=Raw)
    failed: bool = field(default=False, name="isError")


_message = Decoder(Message)
_tool = Decoder(_Tool)
_blocks = Decoder(list[_Block])
_any = Decoder()


class Result:
    """What a tool answered. ``value`` is what the methods of the client return, ``raw`` the result as it was sent."""

    __slots__ = ("_data", "value")

    def __init__(self, data: bytes) -> None:
        self._data = data
        told = _tool.decode(data)
        if told.failed:
            raise _failed(_text(told.content))
        self.value: Any = told.structured if told.structured is not UNSET else _parsed(_text(told.content))

    @property
    def raw(self) -> dict[str, Any]:
        """The result as the protocol has it: content, structuredContent, _meta."""
        found: dict[str, Any] = _any.decode(self._data)
        return found

    def __repr__(self) -> str:
        return f"Result({self.value!r})"


def read(data: bytes | bytearray | str) -> Message | None:
    """A message; None where it is none."""
    try:
        return _message.decode(data)
    except (DecodeError, UnicodeDecodeError):
        return None


def request(id: int, method: str, params: Any) -> bytes:
    """A request."""
    return b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}' % (id, encode(method), encode(params))


def notification(method: str, params: Any) -> bytes:
    """A notification."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode(method), encode(params))


def response(id: Any, method: str) -> bytes:
    """The answer to a request of the server: it may ask whether the client is there, and for nothing else."""
    if method == "ping":
        return encode({"jsonrpc": "2.0", "id": id, "result": {}})
    return encode({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": f"Method not found: {method}"}})


def error_in(data: bytes, status: int, retry_after: str | None = None) -> MCPMemoryError:
    """The error in the body of an answer over HTTP; by its status where the body has none."""
    found = read(data)
    if found is None or found.error is None:
        return error_of(status, f"The server answered with status {status}", {"status": status})
    told = found.error
    if retry_after is not None and retry_after.isdigit() and isinstance(told.data, dict):
        told.data.setdefault("retry_after", int(retry_after))
    return told.raised()


def _text(content: Raw) -> str:
    if not bytes(content):
        return ""
    return "\n".join(block.text for block in _blocks.decode(content) if block.type == "text")


def _parsed(text: str) -> Any:
    if text[:1] in ("{", "["):
        try:
            return _any.decode(text)
        except DecodeError:
            pass
    return text


def _failed(text: str) -> ToolError:
    told = _parsed(text)
    if not isinstance(told, dict):
        return ToolError(text)
    message = told.get("message")
    return ToolError(message if isinstance(message, str) else text, data=told)
