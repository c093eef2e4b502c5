"""The protocol: MCP in both its eras over any transport that moves messages.

A :class:`Connection` is one client. It answers what needs no store at once, and hands everything else to its
transport as calls, which the transport runs wherever it likes. Every request that has an id gets exactly one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.json import encode

from polymnia.errors import Fault, NotFound
from polymnia.operation import Context, Counters, Memory, Operation, Registry, Reply, schema
from polymnia.transports.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NO_SUCH_RESOURCE,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    RpcError,
)
from polymnia.transports.messages import BadMessage, message, parts
from polymnia.transports.methods import HANDSHAKE, MODERN
from polymnia.transports.requests import Batch, Call, Link, Request, Send
from polymnia.transports.watch import Audience, Rounds, Watch
from polymnia.transports.wire import (
    HANDSHAKE_VERSIONS,
    LEVELS,
    MODERN_VERSIONS,
    PREFIX,
    CallTool,
    CancelledParams,
    Meta,
    Params,
)

__all__ = ["Connection", "Server", "described"]

_EMPTY = Raw(b"{}")
_OURS = ("content", "structuredContent", "isError", "_meta", "resultType")  # what a result has by the protocol
_PARAMS = msgspec.json.Decoder(Params)
_CANCELLED_PARAMS = msgspec.json.Decoder(CancelledParams)


class Server:
    """What all connections of one process share: the memory, the dialect and its descriptions."""

    def __init__(
        self,
        memory: Memory,
        registry: Registry,
        *,
        version: str,
        max_nesting: int = 100,
        require_session: bool = False,
        secrets: str = "flag",
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        self.memory = memory
        self.hidden = hidden or {}  # folders that clients are not told, and what they are told instead
        self.counters = Counters()
        self.require_session = require_session
        self.secrets = secrets
        self.registry = registry
        self.info = {"name": "polymnia", "title": "Polymnia", "version": version}
        self.max_nesting = max_nesting
        self._tools: Raw | None = None
        self.by_uri = {resource.uri: resource for resource in registry.resources}
        self.prompts = {prompt.name: prompt for prompt in registry.prompts}
        self.audience = Audience()
        self.rounds = Rounds()

    def hide(self, fault: Fault) -> Fault:
        """A fault that does not tell where the files of this server lie."""
        for folder, instead in self.hidden.items():
            fault.message = fault.message.replace(folder, instead)
            fault.hint = fault.hint.replace(folder, instead)
            for name, value in fault.details.items():
                if isinstance(value, str):
                    fault.details[name] = value.replace(folder, instead)
        return fault

    def tools(self) -> Raw:
        """The descriptions of the tools as JSON: as they were made beforehand, else made when a client first asks."""
        if self._tools is None:
            if self.registry.listing is None:
                self._tools = Raw(described(self.registry))
            else:
                with open(self.registry.listing, "rb") as file:
                    self._tools = Raw(file.read())
        return self._tools

    def capabilities(self) -> dict[str, Any]:
        """What this server can do."""
        offered: dict[str, Any] = {"tools": {}}
        if self.registry.resources or self.registry.templates:
            offered["resources"] = {"subscribe": True}
        if self.registry.prompts:
            offered["prompts"] = {}
        for name in self.registry.changing:
            offered[name]["listChanged"] = True
        offered["completions"] = {}
        offered["logging"] = {}
        return offered

    def changed(self, name: str) -> None:
        """One of the lists has changed: whoever wants to hear of it does."""
        self._tools = None
        self.by_uri = {resource.uri: resource for resource in self.registry.resources}
        self.prompts = {prompt.name: prompt for prompt in self.registry.prompts}
        self.audience.hear(name)


def _taken(tool: Operation) -> dict[str, Any]:
    """What a tool takes; where all of it may come wrapped in one parameter, none is required beside that one."""
    plain = schema(tool.params) if tool.takes is None else tool.takes()
    if tool.headers:
        marked = {name: {**plain["properties"][name], "x-mcp-header": header} for name, header in tool.headers.items()}
        plain = {**plain, "properties": {**plain["properties"], **marked}}
    if tool.wrapped is None:
        return plain
    around = {"type": "object", "description": "All of these parameters may come in this one instead."}
    taken = {key: value for key, value in plain.items() if key not in ("required", "additionalProperties")}
    return {**taken, "properties": {**plain["properties"], tool.wrapped: around}}


def described(registry: Registry) -> bytes:
    """The descriptions of all tools of a dialect as JSON."""
    return encode([_described(tool) for tool in registry.operations.values()])


def _described(tool: Operation) -> dict[str, Any]:
    given = tool.gives() if tool.gives is not None else schema(tool.output) if tool.output is not None else None
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.help,
        "inputSchema": _taken(tool),
        **({} if given is None else {"outputSchema": given}),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


class Connection:
    """One client and its state: who it is, what it subscribed to, what is under way."""

    def __init__(self, server: Server, link: Link, memory: Memory | None = None) -> None:
        self.server = server
        self.link = link
        self.base = memory or server.memory
        self.version = HANDSHAKE_VERSIONS[-1]
        self.log_level: str | None = None
        self.memory = self.base.acting(f"unknown client ({server.registry.name})")
        self._memories: dict[str, Memory] = {}
        self._active: dict[Any, Request] = {}
        self.watch: Watch | None = None
        self.admit: Callable[[bool], None] | None = None  # counts a call, which may be heavy, or refuses it

    # ── receiving ─────────────────────────────────────────────────────────────────────────────────────

    def receive(self, line: bytes, send: Send | None = None, notice: Send | None = None) -> None:
        """Take one message, or a batch of them, from the client.

        ``send`` takes the answer and ``notice`` what is told of the request before; both go over the link otherwise.
        """
        if line[:1] == b"[":
            self._receive_batch(line, send or self.link.send, notice)
        else:
            self._receive(line, send or self.link.send, notice)

    def oversized(self, id: Any, error: Fault) -> None:
        """A message was too large to be read; its id was found, or is None."""
        Request(self, id, "", self.link.send).refuse(RpcError(INVALID_REQUEST, error.message, {"hint": error.hint}))

    def _receive_batch(self, line: bytes, send: Send, notice: Send | None) -> None:
        messages = parts(line)
        if not messages:
            error = RpcError(PARSE_ERROR, "Parse error: the batch does not end")
            if messages is not None:
                error = RpcError(INVALID_REQUEST, "The batch is empty")
            Request(self, None, "", send).refuse(error)
            return
        batch = Batch(send, sum(map(self.expects_answer, messages)))
        for part in messages:
            self._receive(part, batch.send, notice)

    def expects_answer(self, line: bytes) -> bool:
        """Whether a message is owed an answer: a request, or what cannot be read."""
        try:
            read = message(line, self.server.max_nesting)
        except BadMessage:
            return True
        return (read.method is UNSET and read.result is UNSET and read.error is UNSET) or (
            read.method is not UNSET and read.id is not UNSET
        )

    def _receive(self, line: bytes, send: Send, notice: Send | None) -> None:
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
        request = Request(self, read.id, read.method, send, notice)
        try:
            self._dispatch(request, read.params)
        except RpcError as e:
            request.refuse(e)

    def _refuse_bad(self, bad: BadMessage, send: Send) -> None:
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
                    word: Any = e.word or tool.word or self.server.registry.word
                    try:
                        request.answer(self.shaped(request, word(e)))
                    except RpcError as refusal:
                        request.refuse(refusal)
                    return
        request.refuse(bad.error)

    def _dispatch(self, request: Request, params: Raw | UnsetType) -> None:
        methods = HANDSHAKE
        raw = _EMPTY if params is UNSET else params
        if b"/protocolVersion" in bytes(raw):
            # Only then can it carry the stateless era's envelope.
            meta = _decoded(_PARAMS, raw).meta
            if meta is not None and meta.version is not UNSET:
                self._check_envelope(meta)
                request.modern = True
                methods = MODERN
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
        if self.admit is not None:
            try:
                self.admit(isinstance(given, CallTool) and self._is_heavy(given))
            except RpcError:
                self.settle(request)
                raise
        writes = isinstance(given, CallTool) and not self._only_reads(given)
        label = self._label(given) if isinstance(given, CallTool) and not writes else None
        self.link.run(Call(request, lambda: method.run(self, request, given), writes, label))

    def _label(self, given: CallTool) -> str | None:
        tool = self.server.registry.operations.get(given.name)
        return None if tool is None else tool.label(b"{}" if given.arguments is UNSET else bytes(given.arguments))

    def _is_heavy(self, given: CallTool) -> bool:
        tool = self.server.registry.operations.get(given.name)
        return tool is not None and tool.is_heavy(b"{}" if given.arguments is UNSET else bytes(given.arguments))

    def _only_reads(self, given: CallTool) -> bool:
        tool = self.server.registry.operations.get(given.name)
        return tool is None or tool.reads

    def _check_envelope(self, meta: Meta) -> None:
        if meta.capabilities is UNSET:
            raise RpcError(INVALID_PARAMS, f"params._meta lacks the required key {PREFIX}clientCapabilities")
        if not isinstance(meta.version, str):
            raise RpcError(INVALID_PARAMS, f"params._meta: {PREFIX}protocolVersion must be a string")
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
                self.end_listening(request)
            else:
                request.cancel()

    def hide(self, fault: Fault) -> Fault:
        """A fault as this client may hear of it."""
        return self.server.hide(fault)

    def settle(self, request: Request) -> None:
        """A request has been answered."""
        self._active.pop(request.id, None)

    def withdraw(self) -> None:
        """The client wants no answer any more: what has not begun never does, what is long stops where it can."""
        for request in list(self._active.values()):
            if request.method != "subscriptions/listen":
                request.cancel()

    def close(self) -> None:
        """The client is gone, or goes: end its subscriptions."""
        for request in list(self._active.values()):
            if request.method == "subscriptions/listen":
                self.end_listening(request)
        self.server.audience.leave((self, None))
        if self.watch is not None:
            self.watch.stop()

    # ── telling ───────────────────────────────────────────────────────────────────────────────────────

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self.link.send(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    def tell(self, request: Request, level: str, text: str) -> None:
        """Log to the client, if it wants to hear of such things."""
        wanted = request.meta.log_level if request.modern and request.meta else self.log_level
        if wanted in LEVELS and LEVELS.index(level) >= LEVELS.index(wanted):
            request.notify("notifications/message", {"level": level, "logger": "polymnia", "data": text})

    def complete(self, request: Request, result: dict[str, Any], ttl: int | None = None) -> dict[str, Any]:
        """A result in the words of the request's era."""
        if request.modern:
            result["resultType"] = "complete"
            result["_meta"] = {**result.get("_meta", {}), PREFIX + "serverInfo": self.server.info}
            if ttl is not None:
                result["ttlMs"] = ttl
                result["cacheScope"] = "public" if ttl else "private"
        return result

    def context(self, request: Request) -> Context:
        """What an operation is given: the memory in this client's hands."""
        if not request.modern:
            return self._context(self.memory, request)
        who = self.who(request.meta.client if request.meta else None)
        memory = self._memories.get(who)
        if memory is None:
            if len(self._memories) > 100:
                self._memories.clear()
            memory = self._memories[who] = self.base.acting(who)
        return self._context(memory, request)

    def _context(self, memory: Memory, request: Request) -> Context:
        server = self.server
        return Context(
            memory,
            request.step,
            server.require_session,
            server.secrets,
            server.counters,
            server.info["version"],
            self.link.log,
            lambda level, text: self.tell(request, level, text),
            not server.hidden,
            server.changed,
        )

    def counted(self, seconds: float, failed: bool) -> None:
        """A call took so long."""
        self.server.counters.record(seconds, failed=failed)

    def who(self, client: Any) -> str:
        """The name under which a client's changes stand in the journal."""
        name = version = ""
        if isinstance(client, dict):
            name, version = str(client.get("name", "")), str(client.get("version", ""))
        label = f"{name} {version}".strip().replace("\0", "")[:200] or "unknown client"
        return f"{label} ({self.server.registry.name})"

    # ── what the methods share ────────────────────────────────────────────────────────────────────────

    def shaped(self, request: Request, reply: Reply) -> dict[str, Any]:
        """A dialect's answer as the result of tools/call."""
        if reply.refusal is not None:
            raise RpcError(*reply.refusal)
        structured = reply.structured
        text = reply.text
        if text is None and reply.content is None:
            data = encode(reply.value)
            if structured is reply.value and not reply.is_error:
                structured = Raw(data)  # encoded once, sent twice
            text = (msgspec.json.format(data, indent=reply.indent) if reply.indent else data).decode()
        content = [{"type": "text", "text": text}] if reply.content is None else list(reply.content)
        result: dict[str, Any] = {"content": content}
        if reply.flat and isinstance(reply.value, dict):
            result = {**{key: value for key, value in reply.value.items() if key not in _OURS}, **result}
        if reply.is_error:
            result["isError"] = True
            return self.complete(request, result)
        if structured is not None:
            result["structuredContent"] = structured
        if reply.notes or reply.next:
            meta: dict[str, Any] = {}
            if reply.notes:
                meta["polymnia/notes"] = [{"code": note.code, "text": note.text} for note in reply.notes]
                if reply.notes_in_text:
                    content += [{"type": "text", "text": f"Note: {note.text}"} for note in reply.notes]
            if reply.next:
                meta["polymnia/nextCursor"] = reply.next
            result["_meta"] = meta
        return self.complete(request, result)

    def check_address(self, uri: str, modern: bool) -> None:
        """Refuse an address nothing can ever be found at. A memory may be waited for before it exists."""
        templates = self.server.registry.templates
        if uri not in self.server.by_uri and all(t.named(uri) is None for t in templates):
            raise self._no_resource(uri, modern)

    @staticmethod
    def _no_resource(uri: str, modern: bool) -> RpcError:
        return RpcError(INVALID_PARAMS if modern else NO_SUCH_RESOURCE, f"Resource not found: {uri}", {"uri": uri})

    def resource(self, uri: str, context: Context, modern: bool) -> tuple[str, str | bytes]:
        """Type and content of a resource."""
        resource = self.server.by_uri.get(uri)
        if resource is not None:
            return resource.mime, resource.read(context)
        for template in self.server.registry.templates:
            named = template.named(uri)
            if named is not None:
                from urllib.parse import unquote

                try:
                    return template.mime, template.read(context, unquote(named, errors="strict"))
                except (NotFound, UnicodeDecodeError):
                    break
        raise self._no_resource(uri, modern)

    def end_listening(self, request: Request) -> None:
        """A subscription ends, and with it the request that began it."""
        request.cancelled = True  # it may not have begun yet
        self.server.audience.leave((self, request.id))
        if self.watch is not None:
            self.watch.remove(request.id, None)
        self.settle(request)
        result = self.complete(request, {"_meta": {PREFIX + "subscriptionId": request.id}})
        request.answer(result)

    def watching(self) -> Watch:
        """The watch over what this client subscribed to; it starts with the first subscription."""
        if self.watch is None:
            self.watch = Watch(self)
        return self.watch


def _decoded(decoder: msgspec.json.Decoder[Any], raw: Raw) -> Any:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {e}") from None
