"""The protocol: MCP in both its eras over any transport that moves messages.

A :class:`Connection` is one client. It answers what needs no store at once, and hands everything else to its
transport as :class:`Call` objects, which the transport runs wherever it likes. Every request that has an id
gets exactly one answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from zlib import crc32

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.json import encode

from polymnia.errors import Cancelled, Fault, NotFound, Unavailable
from polymnia.operation import Context, Memory, Operation, Registry, Reply, schema
from polymnia.transports.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NO_SUCH_RESOURCE,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    RpcError,
    from_fault,
)
from polymnia.transports.messages import BadMessage, message, parts

__all__ = ["HANDSHAKE_VERSIONS", "MODERN_VERSIONS", "Call", "Connection", "Link", "Server"]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

_PREFIX = "io.modelcontextprotocol/"
_EMPTY = Raw(b"{}")
_STATIC_TTL = 300_000  # tools, prompts and resource lists do not change while a server runs
_PROGRESS_EVERY = 0.1
_WATCH_EVERY = 0.2


class Meta(Struct):
    """What a request says about itself."""

    progressToken: str | int | None = None  # noqa: N815 - the wire's spelling
    version: Any = field(default=UNSET, name=_PREFIX + "protocolVersion")
    client: Any = field(default=None, name=_PREFIX + "clientInfo")
    capabilities: Any = field(default=UNSET, name=_PREFIX + "clientCapabilities")
    log_level: Any = field(default=None, name=_PREFIX + "logLevel")


class _Params(Struct):
    meta: Meta | None = field(default=None, name="_meta")


class _Initialize(_Params):
    protocolVersion: str = ""  # noqa: N815 - the wire's spelling
    clientInfo: Any = None  # noqa: N815 - the wire's spelling


class _Page(_Params):
    cursor: str | None = None


class _CallTool(_Params, kw_only=True):
    name: str
    arguments: Raw | UnsetType = UNSET


class _Uri(_Params, kw_only=True):
    uri: str


class _GetPrompt(_Params, kw_only=True):
    name: str
    arguments: dict[str, str] | None = None


class _Level(_Params, kw_only=True):
    level: str


class _Ref(Struct):
    type: str
    name: str | None = None
    uri: str | None = None


class _Argument(Struct):
    name: str
    value: str


class _Complete(_Params, kw_only=True):
    ref: _Ref
    argument: _Argument


class _Filter(Struct, omit_defaults=True):
    toolsListChanged: bool | None = None  # noqa: N815 - the wire's spelling
    promptsListChanged: bool | None = None  # noqa: N815 - the wire's spelling
    resourcesListChanged: bool | None = None  # noqa: N815 - the wire's spelling
    resourceSubscriptions: list[str] | None = None  # noqa: N815 - the wire's spelling


class _Listen(_Params, kw_only=True):
    notifications: _Filter


class _CancelledParams(_Params, kw_only=True):
    requestId: Any  # noqa: N815 - the wire's spelling
    reason: str | None = None


class Link(Protocol):
    """What a connection needs from its transport."""

    def send(self, data: bytes) -> None:
        """Give one message to the client."""

    def run(self, call: Call) -> None:
        """Run a call when its turn comes, not necessarily here and now."""

    def log(self, level: str, text: str) -> None:
        """Tell the operator something."""


class Server:
    """What all connections of one process share: the memory, the dialect and its descriptions."""

    def __init__(self, memory: Memory, registry: Registry, *, version: str, max_nesting: int = 100) -> None:
        self.memory = memory
        self.registry = registry
        self.info = {"name": "polymnia", "title": "Polymnia", "version": version}
        self.max_nesting = max_nesting
        self._tools: list[dict[str, Any]] | None = None
        self.by_uri = {resource.uri: resource for resource in registry.resources}
        self.prompts = {prompt.name: prompt for prompt in registry.prompts}

    def tools(self) -> list[dict[str, Any]]:
        """The descriptions of the tools; schemas are made when a client first asks."""
        if self._tools is None:
            self._tools = [_described(tool) for tool in self.registry.operations.values()]
        return self._tools

    def capabilities(self, modern: bool) -> dict[str, Any]:
        """What this server can do."""
        offered: dict[str, Any] = {"tools": {}}
        if self.registry.resources or self.registry.templates:
            offered["resources"] = {"subscribe": True}
        if self.registry.prompts:
            offered["prompts"] = {}
        offered["completions"] = {}
        offered["logging"] = {}
        return offered


def _described(tool: Operation) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.help,
        "inputSchema": schema(tool.params),
        "outputSchema": schema(tool.output),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


class Request:
    """One request of a client: its id, its era, and where its answer goes."""

    __slots__ = (
        "_fate",
        "answered",
        "begun",
        "cancelled",
        "connection",
        "id",
        "meta",
        "method",
        "modern",
        "send",
        "told",
    )

    def __init__(self, connection: Connection, id: Any, method: str, send: Callable[[bytes], None]) -> None:
        self.connection = connection
        self.id = id
        self.method = method
        self.send = send
        self.meta: Meta | None = None
        self.modern = False
        self.cancelled = False
        self.begun = False  # past this point, only the work itself can tell whether it was done
        self.answered = False
        self.told = 0.0
        self._fate = threading.Lock()

    def begin(self) -> None:
        """The work starts to change things, unless the client has withdrawn."""
        with self._fate:
            if self.cancelled:
                raise Cancelled("The request was cancelled; nothing was changed")
            self.begun = True

    def cancel(self) -> None:
        """The client withdraws. What has not begun is answered at once and never begins."""
        with self._fate:
            self.cancelled = True
            if self.begun or self.answered:
                return
            self._refuse(from_fault(Cancelled("The request was cancelled before it began; nothing was changed")))

    def step(self, done: int, total: int) -> None:
        """Between two items of a long call: stop if the client wishes so, and tell it how far we are."""
        if not self.begun:
            self.begin()
        if self.cancelled:
            raise Cancelled("The request was cancelled; nothing was changed")
        if not total:
            return
        token = self.meta.progressToken if self.meta else None
        if token is None:
            return
        now = time.monotonic()
        if now - self.told >= _PROGRESS_EVERY or done == total:
            self.told = now
            params = {"progressToken": token, "progress": done, "total": total}
            self.connection.notify("notifications/progress", params)

    def answer(self, result: dict[str, Any] | Raw) -> None:
        """Send the result."""
        head = b'{"jsonrpc":"2.0","id":' + encode(self.id) + b',"result":'
        with self._fate:
            if not self.answered:
                self.answered = True
                self.send(head + encode(result) + b"}")

    def refuse(self, error: RpcError) -> None:
        """Send an error."""
        with self._fate:
            self._refuse(error)

    def _refuse(self, error: RpcError) -> None:
        if self.answered:
            return
        self.answered = True
        body: dict[str, Any] = {"code": error.code, "message": error.message}
        if error.data is not None:
            body["data"] = error.data
        self.send(encode({"jsonrpc": "2.0", "id": self.id, "error": body}))


class Call:
    """Work that needs the store, ready to run once. ``writes`` tells the transport what may run beside it.

    A write begins when the store's turn to write has come, a read at once.
    """

    __slots__ = ("_work", "request", "writes")

    def __init__(self, request: Request, work: Callable[[], dict[str, Any]], writes: bool) -> None:
        self.request = request
        self._work = work
        self.writes = writes

    def run(self) -> None:
        """Do the work and send the answer, whatever happens."""
        request = self.request
        connection = request.connection
        try:
            if not self.writes:
                request.begin()
            result = self._work()
        except RpcError as e:
            request.refuse(e)
        except Fault as e:
            request.refuse(from_fault(e))
        except Exception as e:  # the last line of defence: one answer for every request
            connection.link.log("error", f"{request.method} failed: {type(e).__name__}: {e}\n{_trace(e)}")
            request.refuse(RpcError(INTERNAL_ERROR, f"Internal error: {type(e).__name__}: {e}"))
        else:
            request.answer(result)
        finally:
            connection.settle(request)


def _trace(error: Exception) -> str:
    import traceback

    return "".join(traceback.format_exception(error)).rstrip()


class _Batch:
    """Gathers the answers to a batch and sends them together."""

    def __init__(self, send: Callable[[bytes], None], count: int) -> None:
        self._send = send
        self._left = count
        self._answers: list[bytes] = []
        self._lock = threading.Lock()

    def send(self, data: bytes) -> None:
        with self._lock:
            self._answers.append(data)
            self._left -= 1
            done = self._left == 0
        if done:
            self._send(b"[" + b",".join(self._answers) + b"]")


class Connection:
    """One client and its state: who it is, what it subscribed to, what is under way."""

    def __init__(self, server: Server, link: Link) -> None:
        self.server = server
        self.link = link
        self.version = HANDSHAKE_VERSIONS[-1]
        self.log_level: str | None = None
        self._memory = server.memory.acting(f"unknown client ({server.registry.name})")
        self._memories: dict[str, Memory] = {}
        self._active: dict[Any, Request] = {}
        self._watch: _Watch | None = None

    # ── receiving ─────────────────────────────────────────────────────────────────────────────────────

    def receive(self, line: bytes) -> None:
        """Take one message, or a batch of them, from the client."""
        if line[:1] == b"[":
            self._receive_batch(line)
        else:
            self._receive(line, self.link.send)

    def oversized(self, id: Any, error: Fault) -> None:
        """A message was too large to be read; its id was found, or is None."""
        Request(self, id, "", self.link.send).refuse(RpcError(INVALID_REQUEST, error.message, {"hint": error.hint}))

    def _receive_batch(self, line: bytes) -> None:
        messages = parts(line)
        if not messages:
            error = RpcError(PARSE_ERROR, "Parse error: the batch does not end")
            if messages is not None:
                error = RpcError(INVALID_REQUEST, "The batch is empty")
            Request(self, None, "", self.link.send).refuse(error)
            return
        batch = _Batch(self.link.send, sum(map(self._expects_answer, messages)))
        for part in messages:
            self._receive(part, batch.send)

    def _expects_answer(self, line: bytes) -> bool:
        try:
            read = message(line, self.server.max_nesting)
        except BadMessage:
            return True
        return (read.method is UNSET and read.result is UNSET and read.error is UNSET) or (
            read.method is not UNSET and read.id is not UNSET
        )

    def _receive(self, line: bytes, send: Callable[[bytes], None]) -> None:
        try:
            read = message(line, self.server.max_nesting)
        except BadMessage as bad:
            self._refuse_bad(bad, send)
            return
        if read.method is UNSET:
            if read.result is UNSET and read.error is UNSET:
                id = None if read.id is UNSET else read.id
                Request(self, id, "", send).refuse(RpcError(INVALID_REQUEST, "The message has no method"))
            return  # an answer to something we never ask
        if read.id is UNSET:
            self._notified(read.method, read.params)
            return
        request = Request(self, read.id, read.method, send)
        try:
            self._dispatch(request, read.params)
        except RpcError as e:
            request.refuse(e)

    def _refuse_bad(self, bad: BadMessage, send: Callable[[bytes], None]) -> None:
        request = Request(self, bad.id, "", send)
        loose = bad.loose
        if isinstance(loose, dict) and loose.get("method") == "tools/call" and isinstance(loose.get("params"), dict):
            # Well-formed but for a text no memory may hold: the dialect says which one, in its own words.
            tool = self.server.registry.operations.get(str(loose["params"].get("name")))
            if tool is not None and bad.id is not None:
                import json

                raw = json.dumps(loose["params"].get("arguments") or {}).encode()
                try:
                    self.server.registry.arguments(tool, raw)
                except Fault as e:
                    request.answer(self._shaped(request, self.server.registry.word(e)))
                    return
        request.refuse(bad.error)

    def _dispatch(self, request: Request, params: Raw | UnsetType) -> None:
        methods: Mapping[str, _Method] = _HANDSHAKE
        raw = _EMPTY if params is UNSET else params
        if b"/protocolVersion" in bytes(raw):
            # Only then can it carry the stateless era's envelope.
            meta = _decoded(_PARAMS, raw).meta
            if meta is not None and meta.version is not UNSET:
                self._check_envelope(meta)
                request.modern = True
                methods = _MODERN
        method = methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        given = _decoded(method.decoder, raw)
        request.meta = given.meta
        if method.inline:
            request.answer(method.run(self, request, given))
            return
        if request.id in self._active:
            raise RpcError(INVALID_REQUEST, f"A request with the id {request.id!r} is still under way")
        self._active[request.id] = request
        if method.run is Connection._listen:
            self._listen(request, given)
            return
        writes = method.run is Connection._call_tool and not self._only_reads(given)
        self.link.run(Call(request, lambda: method.run(self, request, given), writes))

    def _only_reads(self, given: _CallTool) -> bool:
        tool = self.server.registry.operations.get(given.name)
        return tool is None or tool.reads

    def _check_envelope(self, meta: Meta) -> None:
        if meta.capabilities is UNSET:
            raise RpcError(INVALID_PARAMS, f"params._meta lacks the required key {_PREFIX}clientCapabilities")
        if not isinstance(meta.version, str):
            raise RpcError(INVALID_PARAMS, f"params._meta: {_PREFIX}protocolVersion must be a string")
        if meta.version not in MODERN_VERSIONS:
            data = {"supported": list(MODERN_VERSIONS), "requested": meta.version}
            raise RpcError(UNSUPPORTED_VERSION, f"Unsupported protocol version {meta.version}", data)

    def _notified(self, method: str, params: Raw | UnsetType) -> None:
        if method == "notifications/cancelled" and params is not UNSET:
            try:
                given = _decoded(_CANCELLED_PARAMS, params)
                request = self._active.get(given.requestId)
            except (RpcError, TypeError):
                return
            if request is None:
                return
            if request.method == "subscriptions/listen":
                self._end_listening(request)
            else:
                request.cancel()

    def settle(self, request: Request) -> None:
        """A request has been answered."""
        self._active.pop(request.id, None)

    def close(self) -> None:
        """The client is gone, or goes: end its subscriptions."""
        for request in list(self._active.values()):
            if request.method == "subscriptions/listen":
                self._end_listening(request)
        if self._watch is not None:
            self._watch.stop()

    # ── telling ───────────────────────────────────────────────────────────────────────────────────────

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self.link.send(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    def tell(self, request: Request, level: str, text: str) -> None:
        """Log to the client, if it wants to hear of such things."""
        wanted = request.meta.log_level if request.modern and request.meta else self.log_level
        if wanted in LEVELS and LEVELS.index(level) >= LEVELS.index(wanted):
            self.notify("notifications/message", {"level": level, "logger": "polymnia", "data": text})

    def _complete(self, request: Request, result: dict[str, Any], ttl: int | None = None) -> dict[str, Any]:
        """A result in the words of the request's era."""
        if request.modern:
            result["resultType"] = "complete"
            result["_meta"] = {**result.get("_meta", {}), _PREFIX + "serverInfo": self.server.info}
            if ttl is not None:
                result["ttlMs"] = ttl
                result["cacheScope"] = "public" if ttl else "private"
        return result

    def _context(self, request: Request) -> Context:
        if not request.modern:
            return Context(self._memory, request.step)
        who = self._who(request.meta.client if request.meta else None)
        memory = self._memories.get(who)
        if memory is None:
            if len(self._memories) > 100:
                self._memories.clear()
            memory = self._memories[who] = self.server.memory.acting(who)
        return Context(memory, request.step)

    def _who(self, client: Any) -> str:
        name = version = ""
        if isinstance(client, dict):
            name, version = str(client.get("name", "")), str(client.get("version", ""))
        label = f"{name} {version}".strip().replace("\0", "")[:200] or "unknown client"
        return f"{label} ({self.server.registry.name})"

    # ── the methods ───────────────────────────────────────────────────────────────────────────────────

    def _initialize(self, request: Request, given: _Initialize) -> dict[str, Any]:
        known = given.protocolVersion in HANDSHAKE_VERSIONS
        self.version = given.protocolVersion if known else HANDSHAKE_VERSIONS[-1]
        self._memory = self.server.memory.acting(self._who(given.clientInfo))
        return {
            "protocolVersion": self.version,
            "capabilities": self.server.capabilities(False),
            "serverInfo": self.server.info,
            "instructions": self.server.registry.instructions,
        }

    def _discover(self, request: Request, given: _Params) -> dict[str, Any]:
        result = {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": self.server.capabilities(True),
            "instructions": self.server.registry.instructions,
        }
        return self._complete(request, result, _STATIC_TTL)

    def _ping(self, request: Request, given: _Params) -> dict[str, Any]:
        return {}

    def _set_level(self, request: Request, given: _Level) -> dict[str, Any]:
        if given.level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"Unknown log level {given.level!r}; one of {', '.join(LEVELS)}")
        self.log_level = given.level
        return {}

    def _list_tools(self, request: Request, given: _Page) -> dict[str, Any]:
        _no_cursor(given)
        return self._complete(request, {"tools": self.server.tools()}, _STATIC_TTL)

    def _call_tool(self, request: Request, given: _CallTool) -> dict[str, Any]:
        registry = self.server.registry
        tool = registry.operations.get(given.name)
        if tool is None:
            if registry.unknown is None:
                raise RpcError(INVALID_PARAMS, f"Unknown tool: {given.name}", {"tools": list(registry.operations)})
            return self._shaped(request, registry.unknown(given.name))
        raw = b"{}" if given.arguments is UNSET or bytes(given.arguments) == b"null" else bytes(given.arguments)
        try:
            arguments = registry.arguments(tool, raw)
            reply = tool.run(self._context(request), arguments)
        except Cancelled:
            raise
        except Fault as e:
            if isinstance(e, Unavailable):
                self.link.log("error", e.message)
                self.tell(request, "error", e.message)
            reply = registry.word(e)
        for note in reply.notes:
            self.tell(request, "notice", note.text)
        if self._watch is not None and not tool.reads:
            self._watch.look()
        return self._shaped(request, reply)

    def _shaped(self, request: Request, reply: Reply) -> dict[str, Any]:
        """A dialect's answer as the result of tools/call."""
        if reply.text is None:
            data = encode(reply.value)
            if reply.indent:
                data = msgspec.json.format(data, indent=reply.indent)
            text = data.decode()
        else:
            text = reply.text
        content = [{"type": "text", "text": text}]
        result: dict[str, Any] = {"content": content}
        if reply.is_error:
            result["isError"] = True
            return self._complete(request, result)
        if reply.structured is not None:
            result["structuredContent"] = reply.structured
        if reply.notes or reply.next:
            meta: dict[str, Any] = {}
            if reply.notes:
                meta["polymnia/notes"] = [{"code": note.code, "text": note.text} for note in reply.notes]
                if reply.notes_in_text:
                    content += [{"type": "text", "text": f"Note: {note.text}"} for note in reply.notes]
            if reply.next:
                meta["polymnia/nextCursor"] = reply.next
            result["_meta"] = meta
        return self._complete(request, result)

    def _list_resources(self, request: Request, given: _Page) -> dict[str, Any]:
        _no_cursor(given)
        listed = [
            {"uri": r.uri, "name": r.name, "title": r.title, "description": r.help, "mimeType": r.mime}
            for r in self.server.registry.resources
        ]
        return self._complete(request, {"resources": listed}, _STATIC_TTL)

    def _list_templates(self, request: Request, given: _Page) -> dict[str, Any]:
        _no_cursor(given)
        listed = [
            {
                "uriTemplate": f"{t.prefix}{{{t.variable}}}",
                "name": t.name,
                "title": t.title,
                "description": t.help,
                "mimeType": t.mime,
            }
            for t in self.server.registry.templates
        ]
        return self._complete(request, {"resourceTemplates": listed}, _STATIC_TTL)

    def _read_resource(self, request: Request, given: _Uri) -> dict[str, Any]:
        mime, text = self.resource(given.uri, self._context(request), request.modern)
        contents = [{"uri": given.uri, "mimeType": mime, "text": text}]
        return self._complete(request, {"contents": contents}, 0)

    def resource(self, uri: str, context: Context, modern: bool) -> tuple[str, str]:
        """Type and text of a resource."""
        resource = self.server.by_uri.get(uri)
        if resource is not None:
            return resource.mime, resource.read(context)
        for template in self.server.registry.templates:
            if uri.startswith(template.prefix):
                from urllib.parse import unquote

                try:
                    return template.mime, template.read(context, unquote(uri[len(template.prefix) :], errors="strict"))
                except (NotFound, UnicodeDecodeError):
                    break
        raise RpcError(INVALID_PARAMS if modern else NO_SUCH_RESOURCE, f"Resource not found: {uri}", {"uri": uri})

    def _subscribe(self, request: Request, given: _Uri) -> dict[str, Any]:
        self.resource(given.uri, self._context(request), request.modern)  # refuses what does not exist
        self._watching().add(None, [given.uri])
        return {}

    def _unsubscribe(self, request: Request, given: _Uri) -> dict[str, Any]:
        if self._watch is not None:
            self._watch.remove(None, [given.uri])
        return {}

    def _listen(self, request: Request, given: _Listen) -> dict[str, Any]:
        uris = given.notifications.resourceSubscriptions or []
        agreed = _Filter(resourceSubscriptions=uris or None)
        params = {"notifications": agreed, "_meta": {_PREFIX + "subscriptionId": request.id}}
        self.notify("notifications/subscriptions/acknowledged", msgspec.to_builtins(params))
        self._watching().add(request.id, uris)
        return {}

    def _end_listening(self, request: Request) -> None:
        if self._watch is not None:
            self._watch.remove(request.id, None)
        self.settle(request)
        result = self._complete(request, {"_meta": {_PREFIX + "subscriptionId": request.id}})
        request.answer(result)

    def _watching(self) -> _Watch:
        if self._watch is None:
            self._watch = _Watch(self)
        return self._watch

    def _list_prompts(self, request: Request, given: _Page) -> dict[str, Any]:
        _no_cursor(given)
        listed = [
            {
                "name": p.name,
                "title": p.title,
                "description": p.help,
                "arguments": [{"name": a.name, "description": a.help, "required": a.required} for a in p.arguments],
            }
            for p in self.server.registry.prompts
        ]
        return self._complete(request, {"prompts": listed}, _STATIC_TTL)

    def _get_prompt(self, request: Request, given: _GetPrompt) -> dict[str, Any]:
        prompt = self.server.prompts.get(given.name)
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {given.name}", {"prompts": list(self.server.prompts)})
        arguments = given.arguments or {}
        missing = [a.name for a in prompt.arguments if a.required and not arguments.get(a.name)]
        if missing:
            raise RpcError(INVALID_PARAMS, f"The prompt {prompt.name} needs: {', '.join(missing)}")
        text = prompt.render(self._context(request), arguments)
        messages = [{"role": "user", "content": {"type": "text", "text": text}}]
        return self._complete(request, {"description": prompt.help, "messages": messages})

    def _complete_name(self, request: Request, given: _Complete) -> dict[str, Any]:
        completer = None
        if given.ref.type == "ref/prompt":
            prompt = self.server.prompts.get(given.ref.name or "")
            if prompt is None:
                raise RpcError(INVALID_PARAMS, f"Unknown prompt: {given.ref.name}")
            argument = next((a for a in prompt.arguments if a.name == given.argument.name), None)
            if argument is None:
                raise RpcError(INVALID_PARAMS, f"The prompt {prompt.name} has no argument {given.argument.name}")
            completer = argument.complete
        elif given.ref.type == "ref/resource":
            for template in self.server.registry.templates:
                if given.ref.uri == f"{template.prefix}{{{template.variable}}}":
                    completer = template.complete
            if completer is None:
                raise RpcError(INVALID_PARAMS, f"Unknown resource template: {given.ref.uri}")
        else:
            raise RpcError(INVALID_PARAMS, f"Unknown reference type: {given.ref.type}")
        found = completer(self._context(request), given.argument.value) if completer else []
        values = found[:100]
        completion: dict[str, Any] = {"values": values, "hasMore": len(found) > len(values)}
        if len(found) == len(values):
            completion["total"] = len(found)
        return self._complete(request, {"completion": completion})


def _no_cursor(given: _Page) -> None:
    if given.cursor is not None:
        raise RpcError(INVALID_PARAMS, "Unknown cursor: this list has one page")


class _Watch:
    """Looks for changes of subscribed resources, whoever made them, and tells the client."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._memory = connection.server.memory
        self._uris: dict[Any, dict[str, int | None]] = {}  # subscription (None: the handshake era's) -> uri -> print
        self._stamp = self._memory.stamp()
        self._lock = threading.Lock()
        self._over = threading.Event()
        threading.Thread(target=self._keep_looking, name="polymnia-watch", daemon=True).start()

    def add(self, subscription: Any, uris: list[str]) -> None:
        prints = {uri: self._print(uri) for uri in uris}
        with self._lock:
            self._uris.setdefault(subscription, {}).update(prints)

    def remove(self, subscription: Any, uris: list[str] | None) -> None:
        with self._lock:
            if uris is None:
                self._uris.pop(subscription, None)
            else:
                for uri in uris:
                    self._uris.get(subscription, {}).pop(uri, None)

    def stop(self) -> None:
        self._over.set()

    def _keep_looking(self) -> None:
        while not self._over.wait(_WATCH_EVERY):
            if any(self._uris.values()):
                try:
                    self.look()
                except Fault as e:
                    self._connection.link.log("warning", f"cannot watch for changes: {e.message}")

    def look(self) -> None:
        """Tell of what has changed since the last look."""
        with self._lock:
            stamp = self._memory.stamp()
            if stamp == self._stamp:
                return
            self._stamp = stamp
            changed = []
            for subscription, prints in self._uris.items():
                for uri, before in prints.items():
                    after = self._print(uri)
                    if after != before or before is None:
                        prints[uri] = after
                        changed.append((subscription, uri))
        for subscription, uri in changed:
            params: dict[str, Any] = {"uri": uri}
            if subscription is not None:
                params["_meta"] = {_PREFIX + "subscriptionId": subscription}
            self._connection.notify("notifications/resources/updated", params)

    def _print(self, uri: str) -> int | None:
        """A fingerprint of one memory; None for what changes with every change."""
        if uri in self._connection.server.by_uri:
            return None
        try:
            return crc32(self._connection.resource(uri, Context(self._memory), True)[1].encode())
        except RpcError:
            return 0


class _Method:
    """How a method is read and run. ``inline`` ones need no store and are answered at once."""

    __slots__ = ("decoder", "inline", "run")

    def __init__(self, run: Callable[..., dict[str, Any]], params: type, inline: bool = False) -> None:
        self.run = run
        self.decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(params)
        self.inline = inline


_PARAMS = msgspec.json.Decoder(_Params)
_CANCELLED_PARAMS = msgspec.json.Decoder(_CancelledParams)


def _decoded(decoder: msgspec.json.Decoder[Any], raw: Raw) -> Any:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {e}") from None


_SHARED = {
    "tools/list": _Method(Connection._list_tools, _Page, inline=True),
    "tools/call": _Method(Connection._call_tool, _CallTool),
    "resources/list": _Method(Connection._list_resources, _Page, inline=True),
    "resources/templates/list": _Method(Connection._list_templates, _Page, inline=True),
    "resources/read": _Method(Connection._read_resource, _Uri),
    "prompts/list": _Method(Connection._list_prompts, _Page, inline=True),
    "prompts/get": _Method(Connection._get_prompt, _GetPrompt),
    "completion/complete": _Method(Connection._complete_name, _Complete),
}
_HANDSHAKE = {
    **_SHARED,
    "initialize": _Method(Connection._initialize, _Initialize, inline=True),
    "ping": _Method(Connection._ping, _Params, inline=True),
    "logging/setLevel": _Method(Connection._set_level, _Level, inline=True),
    "resources/subscribe": _Method(Connection._subscribe, _Uri),
    "resources/unsubscribe": _Method(Connection._unsubscribe, _Uri),
}
_MODERN = {
    **_SHARED,
    "server/discover": _Method(Connection._discover, _Params, inline=True),
    "subscriptions/listen": _Method(Connection._listen, _Listen),
}
