"""Errors on the wire: faults as JSON-RPC errors, and HTTP requests that are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.json import encode

from polymnia import errors
from polymnia.errors import Fault
from polymnia.schemas import JsonObject

Headers = list[tuple[bytes, bytes]]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
NO_SUCH_RESOURCE = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
RATE_LIMITED = 503
UNAVAILABLE = -32000

CODES: dict[type[Fault], int] = {
    Fault: INTERNAL_ERROR,
    errors.Invalid: INVALID_PARAMS,
    errors.BadArguments: INVALID_PARAMS,
    errors.BadText: INVALID_PARAMS,
    errors.EmptyList: INVALID_PARAMS,
    errors.OverLimit: INVALID_PARAMS,
    errors.UnknownOperation: INVALID_PARAMS,
    errors.NotFound: INVALID_PARAMS,
    errors.AlreadyExists: INVALID_PARAMS,
    errors.MissingEnds: INVALID_PARAMS,
    errors.ManyTexts: INVALID_PARAMS,
    errors.Conflict: INVALID_PARAMS,
    errors.Cancelled: CANCELLED,
    errors.Refused: INVALID_PARAMS,
    errors.NotAllowed: INVALID_PARAMS,
    errors.OverQuota: INVALID_PARAMS,
    errors.ExportFailed: UNAVAILABLE,
    errors.ImportFailed: INVALID_PARAMS,
    errors.Unavailable: UNAVAILABLE,
    errors.Busy: UNAVAILABLE,
    errors.Interrupted: UNAVAILABLE,
    errors.TooNew: UNAVAILABLE,
    errors.NotAStore: UNAVAILABLE,
    errors.Damaged: UNAVAILABLE,
    errors.BrokenFile: UNAVAILABLE,
    errors.NoLibrary: UNAVAILABLE,
    errors.NoModel: UNAVAILABLE,
    errors.NoSpace: UNAVAILABLE,
    errors.Forbidden: UNAVAILABLE,
}
"""The JSON-RPC code of every fault; a test checks that none is missing."""


class RpcError(Exception):
    """A JSON-RPC error on its way to the client."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class InputRequired(Exception):
    """A call of the stateless era has a question: ``result`` is its response, and the client calls again."""

    def __init__(self, result: JsonObject) -> None:
        super().__init__("The call needs the client's input")
        self.result = result


def from_fault(fault: Fault) -> RpcError:
    """A fault as a JSON-RPC error: what, why, and what to do."""
    data = {
        "code": fault.code,
        "hint": fault.hint,
        **{k: v for k, v in fault.details.items() if v is not None},
    }
    return RpcError(CODES[type(fault)], fault.message, data)


_KINDS = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    429: "rate_limited",
    500: "internal_error",
    503: "unavailable",
}


class Refusal(Exception):
    """An HTTP request refused before it reaches a tool: a status, headers, and a JSON-RPC error as the body.

    ``code`` defaults to the status; ``id`` is the message's, if it has been read.
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: Sequence[tuple[bytes, bytes]] = (),
        *,
        code: int | None = None,
        data: Mapping[str, Any] | None = None,
        hint: str | None = None,
        id: Any = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = list(headers)
        self._code = status if code is None else code
        kind = _KINDS.get(status, "bad_request")
        self._data: JsonObject = {"error_type": kind, "details": {"status": status}, **(data or {})}
        if hint is not None:
            self._data["suggestions"] = [hint]
        self._id = id

    def by_status(self) -> Refusal:
        """The same with the status as its code, for addresses that take no messages of the protocol."""
        self._code = self.status
        return self

    @property
    def body(self) -> bytes:
        """The body of the response."""
        error = {"code": self._code, "message": self.message, "data": self._data}
        return encode({"jsonrpc": "2.0", "id": self._id, "error": error})
