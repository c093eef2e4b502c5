"""Exceptions of the client: one type per error code of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

__all__ = ["MCPMemoryError", "BadRequestError", "UnauthorizedError", "ForbiddenError", "NotFoundError", "ConflictError"]
__all__ += ["ValidationError", "RateLimitedError", "InternalError", "ServiceUnavailableError", "CallTimeoutError"]
__all__ += ["ToolError", "ConnectionFailedError"]


class MCPMemoryError(Exception):
    """A call failed. ``code`` is the server's error code (0 if there is none), ``data`` its error data.

    For errors raised by the client itself, ``data`` is a dictionary with ``error_type``, ``details`` and
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
    """401: the key is missing or not valid here."""


class ForbiddenError(MCPMemoryError, kind="forbidden", codes=[403]):
    """403: forbidden by the key or by a setting of the server."""


class NotFoundError(MCPMemoryError, kind="not_found", codes=[404, -32002]):
    """404, or -32002 for a resource: nothing has that id or URI."""


class ConflictError(MCPMemoryError, kind="conflict", codes=[409]):
    """409: conflict with something that exists."""


class ValidationError(MCPMemoryError, kind="validation_error", codes=[422]):
    """422: invalid parameters; ``data["details"]`` says which."""


class RateLimitedError(MCPMemoryError, kind="rate_limited", codes=[429, 503]):
    """429 or 503: too many calls, and the pause the server requests exceeds the timeout of the call."""

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait before retrying, if the server says so."""
        data = self.data if isinstance(self.data, dict) else {}
        details = data.get("details")
        found = data.get("retry_after", details.get("retry_after") if isinstance(details, dict) else None)
        return float(found) if isinstance(found, int | float) else None


class InternalError(MCPMemoryError, kind="internal_error", codes=[500]):
    """500: the server failed."""


class ServiceUnavailableError(MCPMemoryError, kind="service_unavailable", codes=[502]):
    """502: the server lacks something the call needs."""


class CallTimeoutError(MCPMemoryError, TimeoutError, kind="timeout", codes=[504]):
    """504: the call timed out, in the server or in the client."""


class CancelledError(MCPMemoryError, kind="cancelled", codes=[-32800]):
    """-32800: the call was cancelled before it finished."""


class ToolError(MCPMemoryError, kind="tool_error"):
    """The tool reported an error. ``data`` is its result if that is a JSON object."""


class ConnectionFailedError(MCPMemoryError, ConnectionError, kind="connection_error"):
    """The server could not be reached; the message says why.

    Raised when the call's timeout expires if retrying may help, and at once if it will not: a malformed endpoint, a
    rejected certificate, a URL without an MCP endpoint, a command that exits before it responds, a closed client.
    """

    def __init__(self, message: str, code: int = 0, data: Any = None) -> None:
        super().__init__(message, code, error_data(self.kind) if data is None else data)


def error_data(error_type: str, suggestions: Sequence[str] = (), **details: Any) -> dict[str, Any]:
    """The ``data`` of an error raised by the client itself."""
    return {"error_type": error_type, "details": details, "suggestions": list(suggestions)}


def error_of(code: int, message: str, data: Any = None) -> MCPMemoryError:
    """The exception for a code; the base type if the code has none of its own."""
    return MCPMemoryError._by_code.get(code, MCPMemoryError)(message, code, data)
