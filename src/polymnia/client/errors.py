"""What a call can fail with: one type for each code of the server's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

__all__ = ["MCPMemoryError", "BadRequestError", "UnauthorizedError", "ForbiddenError", "NotFoundError", "ConflictError"]
__all__ += ["ValidationError", "RateLimitedError", "InternalError", "ServiceUnavailableError", "CallTimeoutError"]
__all__ += ["ToolError", "ConnectionFailedError"]


class MCPMemoryError(Exception):
    """A call failed. ``code`` is the server's (0 where there is none), ``data`` what it says beside the message.

    Where the client itself made the error, ``data`` is a dictionary with ``error_type``, ``details`` and
    ``suggestions``.
    """

    kind = "error"
    _by_code: ClassVar[dict[int, type[MCPMemoryError]]] = {}

    def __init_subclass__(cls, kind: str = "", codes: Sequence[int] = ()) -> None:
        cls.kind = kind or cls.kind
        cls._by_code.update(dict.fromkeys(codes, cls))

    def __init__(self, message: str, code: int = 0, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data

    @property
    def suggestions(self) -> list[str]:
        """What to do about it; may be empty."""
        found = self.data.get("suggestions") if isinstance(self.data, dict) else None
        return [str(one) for one in found] if isinstance(found, list) else []


class BadRequestError(MCPMemoryError, kind="bad_request", codes=[400]):
    """400: the request is malformed, or names an operation that does not exist."""


class UnauthorizedError(MCPMemoryError, kind="unauthorized", codes=[401]):
    """401: there is no key, or one that opens nothing here."""


class ForbiddenError(MCPMemoryError, kind="forbidden", codes=[403]):
    """403: the key, or a setting of the server, does not allow it."""


class NotFoundError(MCPMemoryError, kind="not_found", codes=[404, -32002]):
    """404, or -32002 for a resource: there is nothing of that id or address."""


class ConflictError(MCPMemoryError, kind="conflict", codes=[409]):
    """409: something that exists is in the way."""


class ValidationError(MCPMemoryError, kind="validation_error", codes=[422]):
    """422: the parameters do not fit; ``data["details"]`` says which."""


class RateLimitedError(MCPMemoryError, kind="rate_limited", codes=[429, 503]):
    """429 or 503: too many calls, and the server asks for a longer pause than the timeout given with the call."""

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, where the server says so."""
        data = self.data if isinstance(self.data, dict) else {}
        details = data.get("details")
        found = data.get("retry_after", details.get("retry_after") if isinstance(details, dict) else None)
        return float(found) if isinstance(found, int | float) else None


class InternalError(MCPMemoryError, kind="internal_error", codes=[500]):
    """500: the server failed."""


class ServiceUnavailableError(MCPMemoryError, kind="service_unavailable", codes=[502]):
    """502: the server lacks something it needs for this."""


class CallTimeoutError(MCPMemoryError, TimeoutError, kind="timeout", codes=[504]):
    """504: the server, or the timeout of the call, gave up."""


class CancelledError(MCPMemoryError, kind="cancelled", codes=[-32800]):
    """-32800: the call was withdrawn before it was done."""


class ToolError(MCPMemoryError, kind="tool_error"):
    """The tool answered that it failed. ``data`` is its answer where that is a JSON object."""


class ConnectionFailedError(MCPMemoryError, ConnectionError, kind="connection_error"):
    """There is no connection to the server, and the message says why.

    Where trying again may help it comes when the timeout of the call is over. It comes at once where it will not: an
    endpoint that is malformed, a certificate that is not accepted, an address without an MCP endpoint, a command that
    ends before it answers, a client that was closed.
    """

    def __init__(self, message: str, code: int = 0, data: Any = None) -> None:
        super().__init__(message, code, error_data(self.kind) if data is None else data)


def error_data(error_type: str, suggestions: Sequence[str] = (), **details: Any) -> dict[str, Any]:
    """The ``data`` of an error that the client itself makes."""
    return {"error_type": error_type, "details": details, "suggestions": list(suggestions)}


def error_of(code: int, message: str, data: Any = None) -> MCPMemoryError:
    """The error of a code; the base type where the code has none of its own."""
    return MCPMemoryError._by_code.get(code, MCPMemoryError)(message, code, data)
