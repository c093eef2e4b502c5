"""The protocol: MCP in both its eras over any transport that moves messages.

A :class:`Connection` is one client. It answers what needs no store at once, and hands everything else to its
transport as calls, which the transport runs wherever it likes. Every request that has an id gets exactly one answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.json import encode
from msgspec.structs import replace

from polymnia.errors import Fault
from polymnia.operation import Author, Context, Memory, Operation, Reply
from polymnia.transports.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    RpcError,
)
from polymnia.transports.messages import BadMessage, message, parts
from polymnia.transports.methods import HANDSHAKE, MODERN
from polymnia.transports.requests import Batch, Call, Link, Request, Send
from polymnia.transports.server import Server
from polymnia.transports.shaping import shaped
from polymnia.transports.watch import Watch
from polymnia.transports.wire import (
    HANDSHAKE_VERSIONS,
    LEVELS,
    MODERN_VERSIONS,
    PREFIX,
    REQUEST_ID,
    CallTool,
    CancelledParams,
    Meta,
    Params,
)

__all__ = ["Connection", "Server", "Weight"]

Weight = Literal["talk", "call", "heavy"]
"""What a request asks for: nothing that is stored, something, or much."""
_EMPTY = Raw(b"{}")
_LONGEST_ID = 200  # characters of the id of a request
_PARAMS = msgspec.json.Decoder(Params)
_CANCELLED_PARAMS = msgspec.json.Decoder(CancelledParams)


class Connection:
    """One client and its state: who it is, what it subscribed to, what is under way."""

    def __init__(
        self,
        server: Server,
        link: Link,
        memory: Memory | None = None,
        *,
        user: str | None = None,
        account: str | None = None,
    ) -> None:
        self.server = server
        self.link = link
        self.base = memory or server.memory
        self.user, self.account = user, account
        self.version = HANDSHAKE_VERSIONS[-1]
        self.log_level: str | None = None
        self.memory = self.base.acting(self.author(None))
        self._memories: dict[Author, Memory] = {}
        self._active: dict[Any, Request] = {}
        self.watch: Watch | None = None
        self.admit: Callable[[Weight, str], None] | None = None  # counts a request, or refuses it

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
        most = self.server.memory.limits.batch
        messages = parts(line, most)
        if not messages or len(messages) > most:
            error = RpcError(PARSE_ERROR, "Parse error: the batch is no array of JSON")
            if messages:
                error = RpcError(INVALID_REQUEST, f"A batch may have {most:,} messages, the limit max_batch")
            elif messages is not None:
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
        if bad.closer is None:
            self._refuse_closely(request, bad)
            return
        closer = bad.closer

        def look() -> None:
            seen = closer()
            request.id = seen.id
            self._refuse_closely(request, seen)

        self.link.run(Call(request, look, False))

    def _refuse_closely(self, request: Request, bad: BadMessage) -> None:
        loose = bad.loose
        if isinstance(loose, dict) and loose.get("method") == "tools/call" and isinstance(loose.get("params"), dict):
            # Well-formed but for a text no memory may hold: the dialect says which one, in its own words.
            tool = self.server.registry.operations.get(str(loose["params"].get("name")))
            if tool is not None and bad.id is not None:
                import json

                raw = json.dumps(loose["params"].get("arguments") or {}).encode()
                try:
                    self.server.registry.arguments(tool, raw, [])
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
        if self.admit is not None and (method is None or method.inline):
            self.admit("talk", "")
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
        tool = self.server.registry.operations.get(given.name) if isinstance(given, CallTool) else None
        if self.admit is not None:
            try:
                self.admit(*(("call", "") if tool is None else _cost(tool, given.said)))
            except RpcError:
                self.settle(request)
                raise
        writes = tool is not None and not tool.reads
        label = None if tool is None or writes else tool.label(given.said)
        self.link.run(Call(request, lambda: method.run(self, request, given), writes, label))

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

    def hide(self, fault: Fault, said: bytes = b"{}") -> Fault:
        """A fault as this client may hear of it who said so in the arguments of a call."""
        return self.server.hide(fault, said)

    def settle(self, request: Request) -> None:
        """A request has been answered."""
        if self._active.get(request.id) is request:
            del self._active[request.id]

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

    def context(self, request: Request, tool: str | None = None, raw: bytes = b"") -> Context:
        """What an operation is given: the memory in this client's hands, and the tool that changes it, if one does.

        A change of a request with an id is made once; ``raw`` are its arguments.
        """
        memory = self.memory
        if request.modern:
            author = self.author(request.meta.client if request.meta else None)
            known = self._memories.get(author)
            if known is None:
                if len(self._memories) > 100:
                    self._memories.clear()
                known = self._memories[author] = self.base.acting(author)
            memory = known
        if tool is None:
            return self._context(memory, request)
        memory = memory.acting(replace(memory.author, tool=tool))
        id = request.meta.request_id if request.meta else None
        if id is None:
            return self._context(memory, request)
        if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
            raise RpcError(INVALID_PARAMS, f"_meta[{REQUEST_ID!r}] must be a string of 1 to {_LONGEST_ID} characters")
        context = self._context(memory.once_for(id, f"{tool} ".encode() + raw), request)
        context.request_id = id
        return context

    def _context(self, memory: Memory, request: Request) -> Context:
        server = self.server
        return Context(
            memory.for_one_call(),
            request.step,
            server.require_session,
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

    def author(self, client: Any) -> Author:
        """Whose name a client's changes bear in the history: the user it comes for, itself, and this dialect."""
        name = version = ""
        if isinstance(client, dict):
            name, version = str(client.get("name", "")), str(client.get("version", ""))
        label = f"{name} {version}".strip().replace("\0", "")[:200] or "unknown client"
        return Author(self.user, self.account, label, self.server.registry.name)

    # ── what the methods share ────────────────────────────────────────────────────────────────────────

    def shaped(self, request: Request, reply: Reply) -> dict[str, Any]:
        """A dialect's answer as the result of tools/call."""
        return self.complete(request, shaped(reply))

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


def _cost(tool: Operation, raw: bytes) -> tuple[Weight, str]:
    """What a call counts as, and the session of the memory it counts for."""
    return "heavy" if tool.is_heavy(raw) else "call", "" if tool.session is None else tool.session(raw)
