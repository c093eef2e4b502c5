"""What a call can fail with: one type for each code of the server's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "BadRequestError",
    "CallTimeoutError",
    "CancelledError",
    "ConflictError",
    "ConnectionFailedError",
    "ForbiddenError",
    "InternalError",
    "MCPMemoryError",
    "NotFoundError",
    "RateLimitedError",
    "ServiceUnavailableError",
    "ToolError",
    "UnauthorizedError",
    "ValidationError",
    "error_data",
    "error_of",
]


class MCPMemoryError(Exception):
    """A call failed. ``code`` is the server's (0 where there is none), ``data`` what it says beside the message.

    Where the client itself made the error, ``data`` is a dictionary with ``error_type``, ``details`` and
    ``suggestions``.
    """

    kind = "error"

    def __init__(self, message: str, code: int = 0, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data

    @property
    def suggestions(self) -> list[str]:
        """What to do about it; empty where nobody said."""
        found = self.data.get("suggestions") if isinstance(self.data, dict) else None
        return [str(one) for one in found] if isinstance(found, list) else []


class BadRequestError(MCPMemoryError):
    """400: the request is malformed, or names an operation that does not exist."""

    kind = "bad_request"


class UnauthorizedError(MCPMemoryError):
    """401: there is no key, or one that opens nothing here."""

    kind = "unauthorized"


class ForbiddenError(MCPMemoryError):
    """403: the key, or a setting of the server, does not allow it."""

    kind = "forbidden"


class NotFoundError(MCPMemoryError):
    """404, or -32002 for a resource: there is nothing of that id or address."""

    kind = "not_found"


class ConflictError(MCPMemoryError):
    """409: something that exists is in the way."""

    kind = "conflict"


class ValidationError(MCPMemoryError):
    """422: the parameters do not fit; ``data["details"]`` says which."""

    kind = "validation_error"


class RateLimitedError(MCPMemoryError):
    """429 or 503: too many calls, and the server asks for a longer pause than the timeout given with the call."""

    kind = "rate_limited"

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, where the server says so."""
        data = self.data if isinstance(self.data, dict) else {}
        details = data.get("details")
        found = data.get("retry_after", details.get("retry_after") if isinstance(details, dict) else None)
        return float(found) if isinstance(found, int | float) else None


class InternalError(MCPMemoryError):
    """500: the server failed."""

    kind = "internal_error"


class ServiceUnavailableError(MCPMemoryError):
    """502: the server lacks something it needs for this."""

    kind = "service_unavailable"


class CallTimeoutError(MCPMemoryError, TimeoutError):
    """504: the server, or the timeout of the call, gave up."""

    kind = "timeout"


class CancelledError(MCPMemoryError):
    """-32800: the call was withdrawn before it was done."""

    kind = "cancelled"


class ToolError(MCPMemoryError):
    """The tool answered that it failed. ``data`` is its answer where that is a JSON object."""

    kind = "tool_error"


class ConnectionFailedError(MCPMemoryError, ConnectionError):
    """There is no connection to the server, and the message says why.

    Where trying again may help it comes when the timeout of the call is over. It comes at once where it will not: an
    endpoint that is malformed, a certificate that is not accepted, an address without an MCP endpoint, a command that
    ends before it answers, a client that was closed.
    """

    kind = "connection_error"

    def __init__(self, message: str, code: int = 0, data: Any = None) -> None:
        super().__init__(message, code, error_data(self.kind) if data is None else data)


_TYPES: dict[int, type[MCPMemoryError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
    429: RateLimitedError,
    500: InternalError,
    502: ServiceUnavailableError,
    503: RateLimitedError,
    504: CallTimeoutError,
    -32002: NotFoundError,
    -32800: CancelledError,
}


def error_data(error_type: str, suggestions: Sequence[str] = (), **details: Any) -> dict[str, Any]:
    """The ``data`` of an error that the client itself makes."""
    return {"error_type": error_type, "details": details, "suggestions": list(suggestions)}


def error_of(code: int, message: str, data: Any = None) -> MCPMemoryError:
    """The error of a code; the base type where the code has none of its own."""
    return _TYPES.get(code, MCPMemoryError)(message, code, data)
