"""Faults as JSON-RPC errors, for what is not the answer of a tool."""

from __future__ import annotations

from typing import Any

from polymnia import errors
from polymnia.errors import Fault

__all__ = ["CODES", "RpcError", "from_fault"]

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
    errors.ExportFailed: UNAVAILABLE,
    errors.ImportFailed: INVALID_PARAMS,
    errors.Unavailable: UNAVAILABLE,
    errors.Busy: UNAVAILABLE,
    errors.TooNew: UNAVAILABLE,
    errors.NotAStore: UNAVAILABLE,
    errors.Damaged: UNAVAILABLE,
    errors.BrokenFile: UNAVAILABLE,
    errors.NoLibrary: UNAVAILABLE,
    errors.NoModel: UNAVAILABLE,
    errors.NoSpace: UNAVAILABLE,
    errors.Forbidden: UNAVAILABLE,
}
"""Every fault has a code; a test holds the table complete."""


class RpcError(Exception):
    """A JSON-RPC error on its way to the client."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def from_fault(fault: Fault) -> RpcError:
    """A fault as a JSON-RPC error: what, why, and what to do."""
    data = {
        "code": fault.code,
        "hint": fault.hint,
        **{k: v for k, v in fault.details.items() if v is not None},
    }
    return RpcError(CODES[type(fault)], fault.message, data)
