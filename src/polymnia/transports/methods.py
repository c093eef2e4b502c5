"""The methods of the protocol, and which era has which."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from polymnia.schemas import JsonObject
from polymnia.transports.errors import INVALID_PARAMS, RpcError
from polymnia.transports.wire import (
    HANDSHAKE_VERSIONS,
    LEVELS,
    MODERN_VERSIONS,
    PREFIX,
    CallTool,
    Complete,
    Filter,
    GetPrompt,
    Initialize,
    Level,
    Listen,
    PageParams,
    Params,
    Uri,
)

if TYPE_CHECKING:
    from polymnia.operation import Prompt, Resource, Template
    from polymnia.transports.rpc import Connection, Request

_MOST_WATCHED = 1000  # resources of one subscription
_STATIC_TTL = 300_000  # for lists that do not change while a server runs


class Method:
    """How a method is read and run.

    An inline method needs no store and is answered at once. One that returns None is answered when it ends.
    """

    __slots__ = ("decoder", "inline", "params", "run")

    def __init__(self, run: Callable[..., Any] | None, params: type, *, inline: bool = False) -> None:
        self.run = run
        self.params = params
        self.decoder: msgspec.json.Decoder[Any] | None = None  # made on the first call
        self.inline = inline


def _initialize(connection: Connection, request: Request, given: Initialize) -> JsonObject:
    known = given.protocolVersion in HANDSHAKE_VERSIONS
    connection.version = given.protocolVersion if known else HANDSHAKE_VERSIONS[-1]
    connection.author = connection.author_of(given.clientInfo)
    connection.capabilities = given.capabilities
    connection.notify_of_lists()
    _altered(connection)
    return {
        "protocolVersion": connection.version,
        "capabilities": connection.server.capabilities(),
        "serverInfo": connection.server.info,
        "instructions": connection.server.registry.introduce(connection.base),
    }


def _altered(connection: Connection) -> None:
    if connection.altered is not None:
        connection.altered()


def _discover(connection: Connection, request: Request, given: Params) -> JsonObject:
    result = {
        "supportedVersions": list(MODERN_VERSIONS),
        "capabilities": connection.server.capabilities(),
        "instructions": connection.server.registry.introduce(connection.base),
    }
    return connection.complete(request, result, _STATIC_TTL)


def _ping(connection: Connection, request: Request, given: Params) -> JsonObject:
    return {}


def _set_level(connection: Connection, request: Request, given: Level) -> JsonObject:
    if given.level not in LEVELS:
        raise RpcError(INVALID_PARAMS, f"Unknown log level {given.level!r}; one of {', '.join(LEVELS)}")
    connection.log_level = given.level
    _altered(connection)
    return {}


def _list_tools(connection: Connection, request: Request, given: PageParams) -> JsonObject:
    _no_cursor(given)
    return connection.complete(request, {"tools": connection.server.tools()}, _ttl(connection, "tools"))


def _list_resources(connection: Connection, request: Request, given: PageParams) -> JsonObject:
    _no_cursor(given)
    listed = [{"uri": r.uri, **_about(r), "mimeType": r.mime} for r in connection.server.registry.resources]
    return connection.complete(request, {"resources": listed}, _ttl(connection, "resources"))


def _list_templates(connection: Connection, request: Request, given: PageParams) -> JsonObject:
    _no_cursor(given)
    listed = [{"uriTemplate": t.pattern, **_about(t), "mimeType": t.mime} for t in connection.server.registry.templates]
    return connection.complete(request, {"resourceTemplates": listed}, _ttl(connection, "resources"))


def _about(one: Resource | Template | Prompt) -> JsonObject:
    return {"name": one.name, "title": one.title, "description": one.help}


def _read_resource(connection: Connection, request: Request, given: Uri) -> JsonObject:
    mime, found = connection.server.resource(given.uri, connection.context(request), modern=request.modern)
    held = {"text": found} if isinstance(found, str) else {"blob": found}  # bytes are encoded as base64
    return connection.complete(request, {"contents": [{"uri": given.uri, "mimeType": mime, **held}]}, 0)


def _subscribe(connection: Connection, request: Request, given: Uri) -> JsonObject:
    connection.server.check_address(given.uri, modern=request.modern)
    connection.watching().add(None, [given.uri])
    _altered(connection)
    return {}


def _unsubscribe(connection: Connection, request: Request, given: Uri) -> JsonObject:
    if connection.watch is not None:
        connection.watch.remove(None, [given.uri])
    _altered(connection)
    return {}


def _listen(connection: Connection, request: Request, given: Listen) -> None:
    kinds = given.notifications
    uris = kinds.resourceSubscriptions or []
    if len(uris) > _MOST_WATCHED:
        raise RpcError(INVALID_PARAMS, f"A subscription may be to {_MOST_WATCHED:,} resources")
    changing = connection.server.registry.changing
    lists = [n for n in ("tools", "prompts", "resources") if getattr(kinds, f"{n}ListChanged") and n in changing]
    agreed = Filter(**{f"{name}ListChanged": True for name in lists}, resourceSubscriptions=uris or None)
    meta = {PREFIX + "subscriptionId": request.id}
    granted = msgspec.to_builtins({"notifications": agreed, "_meta": meta})

    def acknowledge() -> None:
        request.notify("notifications/subscriptions/acknowledged", granted)

    if uris:
        connection.watching().add(request.id, uris, request.notify, acknowledge)
    else:
        acknowledge()
    if lists:

        def notify(method: str, params: JsonObject) -> None:
            request.notify(method, {"_meta": meta})

        connection.server.subscribers.join((connection, request.id), lists, notify)
    if request.answered:  # it was cancelled meanwhile
        connection.end_listening(request)


def _list_prompts(connection: Connection, request: Request, given: PageParams) -> JsonObject:
    _no_cursor(given)
    listed = [
        {
            **_about(p),
            "arguments": [{"name": a.name, "description": a.help, "required": a.required} for a in p.arguments],
        }
        for p in connection.server.registry.prompts
    ]
    return connection.complete(request, {"prompts": listed}, _ttl(connection, "prompts"))


def _get_prompt(connection: Connection, request: Request, given: GetPrompt) -> JsonObject:
    prompt = connection.server.prompts.get(given.name)
    if prompt is None:
        raise RpcError(INVALID_PARAMS, f"Unknown prompt: {given.name}", {"prompts": list(connection.server.prompts)})
    arguments = given.arguments or {}
    missing = [a.name for a in prompt.arguments if a.required and not arguments.get(a.name)]
    if missing:
        raise RpcError(INVALID_PARAMS, f"The prompt {prompt.name} needs: {', '.join(missing)}")
    messages = prompt.render(connection.context(request), arguments)
    if isinstance(messages, str):
        messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
    return connection.complete(request, {"description": prompt.help, "messages": messages})


def _complete_name(connection: Connection, request: Request, given: Complete) -> JsonObject:
    completer = None
    if given.ref.type == "ref/prompt":
        prompt = connection.server.prompts.get(given.ref.name or "")
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {given.ref.name}")
        argument = next((a for a in prompt.arguments if a.name == given.argument.name), None)
        if argument is None:
            raise RpcError(INVALID_PARAMS, f"The prompt {prompt.name} has no argument {given.argument.name}")
        completer = argument.complete
    elif given.ref.type == "ref/resource":
        for template in connection.server.registry.templates:
            if given.ref.uri == template.pattern:
                completer = template.complete
        if completer is None:
            raise RpcError(INVALID_PARAMS, f"Unknown resource template: {given.ref.uri}")
    else:
        raise RpcError(INVALID_PARAMS, f"Unknown reference type: {given.ref.type}")
    found = completer(connection.context(request), given.argument.value) if completer else []
    values = found[:100]
    completion: JsonObject = {"values": values, "hasMore": len(found) > len(values)}
    if len(found) == len(values):
        completion["total"] = len(found)
    return connection.complete(request, {"completion": completion})


def _ttl(connection: Connection, name: str) -> int:
    """How long a client may cache a list: not at all if it may change."""
    return 0 if name in connection.server.registry.changing else _STATIC_TTL


def _no_cursor(given: PageParams) -> None:
    if given.cursor is not None:
        raise RpcError(INVALID_PARAMS, "Unknown cursor: this list has one page")


_SHARED = {
    "tools/list": Method(_list_tools, PageParams, inline=True),
    "tools/call": Method(None, CallTool),  # run by the connection itself
    "resources/list": Method(_list_resources, PageParams, inline=True),
    "resources/templates/list": Method(_list_templates, PageParams, inline=True),
    "resources/read": Method(_read_resource, Uri),
    "prompts/list": Method(_list_prompts, PageParams, inline=True),
    "prompts/get": Method(_get_prompt, GetPrompt),
    "completion/complete": Method(_complete_name, Complete),
}
HANDSHAKE = {
    **_SHARED,
    "initialize": Method(_initialize, Initialize, inline=True),
    "ping": Method(_ping, Params, inline=True),
    "logging/setLevel": Method(_set_level, Level, inline=True),
    "resources/subscribe": Method(_subscribe, Uri),
    "resources/unsubscribe": Method(_unsubscribe, Uri),
}
MODERN = {
    **_SHARED,
    "server/discover": Method(_discover, Params, inline=True),
    "subscriptions/listen": Method(_listen, Listen),
}
