"""CORS: what a browser is told of the pages that may call this server. Without such pages it is told nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["asks", "granted", "preflight"]

_METHODS = b"GET, POST, DELETE"
_SENT = (
    b"Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_SHOWN = (
    b"Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, "
    b"X-RateLimit-Reset, X-RateLimit-Type"
)
_SECONDS = b"600"  # for which a browser need not ask again

Headers = list[tuple[bytes, bytes]]


def asks(scope: Mapping[str, Any], origin: bytes | None) -> bool:
    """Whether a browser asks beforehand whether a page may send a request."""
    return (
        origin is not None
        and scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and any(name == b"access-control-request-method" for name, _ in scope["headers"])
    )


def granted(origin: bytes | None, origins: Collection[str]) -> Headers:
    """The headers of an answer. Pages send keys themselves, so a browser's own credentials are never asked for."""
    if not origins:
        return []
    vary = [(b"vary", b"Origin")]
    if origin is None or origin.decode("latin-1").lower() not in origins:
        return vary
    return [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", _SHOWN), *vary]


def preflight() -> Headers:
    """The further headers of the answer to a browser that asks beforehand."""
    return [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _SENT),
        (b"access-control-max-age", _SECONDS),
    ]
