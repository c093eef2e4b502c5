"""The shapes of what a client sends, method by method, and the words both eras share."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType, field

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
PREFIX = "io.modelcontextprotocol/"
REQUEST_ID = "polymnia/requestId"
MAX_TOKENS = "polymnia/maxTokens"


class Meta(Struct):
    """The metadata of a request."""

    progressToken: str | int | None = None  # noqa: N815 - the wire's spelling
    version: Any = field(default=UNSET, name=PREFIX + "protocolVersion")
    client: Any = field(default=None, name=PREFIX + "clientInfo")
    capabilities: Any = field(default=UNSET, name=PREFIX + "clientCapabilities")
    log_level: Any = field(default=None, name=PREFIX + "logLevel")
    request_id: Any = field(default=None, name=REQUEST_ID)
    max_tokens: Any = field(default=None, name=MAX_TOKENS)


class Params(Struct):
    """What every request may carry."""

    meta: Meta | None = field(default=None, name="_meta")


class Initialize(Params):
    """initialize."""

    protocolVersion: str = ""  # noqa: N815 - the wire's spelling
    capabilities: Any = None
    clientInfo: Any = None  # noqa: N815 - the wire's spelling


class PageParams(Params):
    """Any of the lists."""

    cursor: str | None = None


class CallTool(Params, kw_only=True):
    """tools/call; the arguments stay unread until the tool is known."""

    name: str
    arguments: Raw | UnsetType = UNSET
    inputResponses: Raw | UnsetType = UNSET  # noqa: N815 - the wire's spelling
    requestState: Raw | UnsetType = UNSET  # noqa: N815 - the wire's spelling


class Uri(Params, kw_only=True):
    """resources/read, subscribe and unsubscribe."""

    uri: str


class GetPrompt(Params, kw_only=True):
    """prompts/get."""

    name: str
    arguments: dict[str, str] | None = None


class Level(Params, kw_only=True):
    """logging/setLevel."""

    level: str


class Ref(Struct):
    """What a completion is for: a prompt or a resource template."""

    type: str
    name: str | None = None
    uri: str | None = None


class Argument(Struct):
    """The argument to complete, and what is typed of it."""

    name: str
    value: str


class Complete(Params, kw_only=True):
    """completion/complete."""

    ref: Ref
    argument: Argument


class Filter(Struct, omit_defaults=True):
    """The kinds of notification a client requests, or is granted."""

    toolsListChanged: bool | None = None  # noqa: N815 - the wire's spelling
    promptsListChanged: bool | None = None  # noqa: N815 - the wire's spelling
    resourcesListChanged: bool | None = None  # noqa: N815 - the wire's spelling
    resourceSubscriptions: list[str] | None = None  # noqa: N815 - the wire's spelling


class Listen(Params, kw_only=True):
    """subscriptions/listen."""

    notifications: Filter


class CancelledParams(Params, kw_only=True):
    """notifications/cancelled."""

    requestId: Any  # noqa: N815 - the wire's spelling
    reason: str | None = None
