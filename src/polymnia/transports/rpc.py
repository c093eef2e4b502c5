"""The protocol: MCP in both its eras over any transport that moves messages.

A :class:`Connection` is one client. It answers what needs no store at once, and hands everything else to its
transport as requests to run, wherever it likes. Every request that has an id gets exactly one answer.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.json import encode
from msgspec.structs import replace

from polymnia.errors import Cancelled, Fault, Interrupted, Unavailable
from polymnia.operation import Author, Context, Memory, Note, Operation, Reply, as_object, credential_notes
from polymnia.schemas import JsonObject
from polymnia.transports.errors import (
    CODES,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RATE_LIMITED,
    UNAVAILABLE,
    UNSUPPORTED_VERSION,
    InputRequired,
    RpcError,
    from_fault,
)
from polymnia.transports.methods import HANDSHAKE, MODERN
from polymnia.transports.server import Server
from polymnia.transports.subscriptions import Watch
from polymnia.transports.wire import (
    HANDSHAKE_VERSIONS,
    LEVELS,
    MAX_TOKENS,
    MODERN_VERSIONS,
    PREFIX,
    REQUEST_ID,
    CallTool,
    CancelledParams,
    Meta,
    Params,
)

if TYPE_CHECKING:
    from polymnia.transports.scheduler import CallQueue

__all__ = ["Connection", "Server", "Weight"]

_PROGRESS_EVERY = 0.1  # seconds


class Message(Struct):
    """The envelope of any JSON-RPC message; its content is not decoded until its shape is known."""

    jsonrpc: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    id: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET

    @property
    def expects_answer(self) -> bool:
        """Whether it is a request, or nothing we recognise."""
        if self.method is UNSET:
            return self.result is UNSET and self.error is UNSET
        return self.id is not UNSET


class BadMessage(Exception):
    """Bytes that are not a valid message: the error and, where it could be found, the id.

    ``examine`` is set where a closer look takes long; it raises another error, or returns a message after all.
    """

    expects_answer = True

    def __init__(self, error: RpcError, id: Any = None, examine: Callable[[], Message] | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id
        self.examine = examine


Received = Message | BadMessage | list[Message | BadMessage]
"""A message, or the messages of a batch."""

_LONGEST_NAME = 200  # characters of the name of an unknown tool that an error repeats
_decode = msgspec.json.Decoder(Message).decode


def read(data: bytes, most_nested: int, most: int) -> Received:
    """Decode a message, or a batch of at most ``most`` messages."""
    try:
        if data[:1] != b"[":
            return message(data, most_nested)
        from polymnia.transports.malformed import batch

        return batch(data, most_nested, most)
    except BadMessage as bad:
        return bad


def message(line: bytes, most_nested: int) -> Message:
    """Decode one message; raises BadMessage."""
    if line.count(b"[") + line.count(b"{") > most_nested:
        from polymnia.transports.malformed import check_nesting

        check_nesting(line, most_nested)
    try:
        read = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        from polymnia.transports.malformed import refused

        read = refused(line, e)
    id = read.id
    if type(id) is not int and type(id) is not str and id is not UNSET and type(id) is not float:
        raise BadMessage(RpcError(INVALID_REQUEST, "A request's id must be a string or a number"))
    if read.jsonrpc != "2.0":
        error = RpcError(INVALID_REQUEST, 'A message must carry "jsonrpc": "2.0"')
        raise BadMessage(error, None if id is UNSET else id)
    return read


class Send(Protocol):
    """Sends one response to the client; ``error`` is the error it carries, if any."""

    def __call__(self, data: bytes, error: RpcError | None = None, /) -> None:
        """Send it."""


Notify = Callable[[bytes], None]
"""Sends one notification, or one request of ours, to the client."""


def unheard(data: bytes) -> None:
    """The ``Notify`` of a client that can take nothing but the response."""


class ClientLink(Protocol):
    """What a connection needs from its transport."""

    def send(self, data: bytes, error: RpcError | None = None, /) -> None:
        """Send one message to the client."""

    def run(self, request: Request, /) -> None:
        """Run a request when its turn comes, now or later, on this thread or another."""

    def log(self, level: str, text: str, /) -> None:
        """Write a line for the operator."""


class Request:
    """One request of a client: where its response goes, and the work to do, which is run once.

    ``writes`` tells the transport what may run concurrently, ``label`` which requests take about as long. A write
    begins once it holds the store's write lock, a read at once. Work that returns None is answered when it ends.
    """

    __slots__ = (
        "_lock", "_notice", "_progress", "_reported", "_send", "_total", "answered", "arguments", "begun", "cancelled",
        "connection", "failed", "id", "meta", "method", "modern", "outcome", "question", "queue", "tool",
        "trace", "waited", "work", "writes",
    )  # fmt: skip

    def __init__(self, connection: Connection, id: Any, method: str, send: Send, notice: Notify | None = None) -> None:
        self.connection = connection
        self.id = id
        self.method = method
        self._send = send
        self._notice = notice
        self.meta: Meta | None = None
        self.modern = False  # of the stateless era
        self.tool: Operation | None = None
        self.arguments = b"{}"  # of the tool
        self.writes = False
        self.work: Callable[[], JsonObject | None]
        self.cancelled = False
        self.begun = False  # past this point, only the work itself knows whether it was done
        self.answered = False
        self.failed = False  # through a fault of ours, whatever the response looks like
        self.outcome = "ok"  # or the code of the fault
        self.trace = ""  # the transport's id of the message it came in, for the log
        self.queue: CallQueue | None = None  # in which it runs
        self.question: str | None = None  # id of the request to the client that this one waits for
        self.waited = 0.0  # seconds spent waiting for the client
        self._reported = 0.0  # when progress was last reported
        self._progress = -1
        self._total = 0
        self._lock = threading.Lock()

    @property
    def label(self) -> str | None:
        """The kind of request it is, for timing; None where that is unknown."""
        tool = self.tool
        return None if tool is None or self.writes or tool.asks else tool.label(self.arguments)

    @property
    def called(self) -> tuple[str, str] | None:
        """What it calls, both of a known name: a tool and which of its operations, or a method; None if nothing."""
        tool = self.tool
        if tool is not None:
            return tool.name, "" if tool.which is None else tool.which(self.arguments)
        return ("unknown" if self.method == "tools/call" else self.method, "") if self.method else None

    def begin(self) -> None:
        """The work is about to change something; raises Cancelled if the client has cancelled it."""
        with self._lock:
            if self.cancelled:
                raise Cancelled("The request was cancelled; nothing was changed")
            self.begun = True

    def cancel(self) -> None:
        """The client cancels it. What has not begun is answered at once and never begins."""
        with self._lock:
            self.cancelled = True
            self._retract("The call was cancelled")  # before the response, which ends a stream
            if self.begun or self.answered:
                return
            self._refuse(from_fault(Cancelled("The request was cancelled before it began; nothing was changed")))

    def step(self, done: int, total: int) -> None:
        """Called between two items of a long call: stop if it was cancelled, and report progress."""
        if not self.begun:
            self.begin()
        if self.cancelled:
            raise Cancelled("The request was cancelled; nothing was changed")
        token = self.meta.progressToken if self.meta else None
        if not total or token is None or done <= self._progress:
            return
        now = time.monotonic()
        if now - self._reported >= _PROGRESS_EVERY or done == total:
            self._reported, self._progress, self._total = now, done, total
            self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total})

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification that belongs to this request."""
        self._tell({"jsonrpc": "2.0", "method": method, "params": params})

    @property
    def can_ask(self) -> bool:
        """Whether the transport can carry requests to the client while this one runs."""
        return self._notice is not unheard

    def ask(self, method: str, params: JsonObject) -> None:
        """Send the client a request under the id of ``question``, unless that has been retracted."""
        with self._lock:
            if self.question is not None:
                self._tell({"jsonrpc": "2.0", "id": self.question, "method": method, "params": params})

    def mute(self, notice: Notify) -> None:
        """Nobody reads what is sent there any more."""
        if self._notice == notice:
            self._notice = unheard
            self.retract("Nobody reads it")

    def retract(self, reason: str) -> None:
        """Stop waiting for the client, and tell it so."""
        with self._lock:
            self._retract(reason)

    def _retract(self, reason: str) -> None:
        if self.question is not None:
            id, self.question = self.question, None
            self.notify("notifications/cancelled", {"requestId": id, "reason": reason})
            self.connection.give_up(id)

    def _tell(self, message: JsonObject) -> None:
        (self._notice or self.connection.link.send)(encode(message))

    def answer(self, result: JsonObject | Raw) -> None:
        """Send the result."""
        data = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(self.id), encode(result))
        with self._lock:
            if not self.answered:
                self.answered = True
                self._send(data)

    def refuse(self, error: RpcError) -> None:
        """Send an error."""
        with self._lock:
            self._refuse(error)

    def _refuse(self, error: RpcError) -> None:
        if not self.answered:
            self.answered = True
            body = {"code": error.code, "message": error.message}
            if error.data is not None:
                body["data"] = error.data
            self._send(encode({"jsonrpc": "2.0", "id": self.id, "error": body}), error)

    def run(self) -> None:
        """Do the work and send the answer, whatever happens."""
        connection = self.connection
        begun = time.monotonic()
        error: RpcError | None = None
        try:
            if not self.writes:
                self.begin()
            work = self.work
            del self.work  # it refers back to this request: without the cycle both are freed at once
            try:
                result = work()
            except Interrupted:  # of a read: a tool answers for itself
                result = work()
            if result is not None:
                if 0 <= self._progress < self._total and not self.cancelled and not result.get("isError"):
                    self.step(self._total, self._total)  # a client that follows the progress sees it complete
                connection.settle(self)  # before the response: the client may reuse its id once it has it
                self.answer(result)
        except RpcError as e:
            error = e
            if self.outcome == "ok":
                self.outcome = "invalid"
        except Fault as e:
            error = from_fault(connection.server.redact(e, self.arguments))
            self.outcome = e.code
        except Exception as e:  # the last line of defence: one answer for every request
            self.outcome = "internal_error"
            incident = os.urandom(4).hex()
            connection.link.log("error", f"{self.method} failed, incident {incident}: {frames(e)}")
            text = f"Internal error; the server's log says more of the incident {incident}"
            error = RpcError(INTERNAL_ERROR, text, {"incident": incident})
        failed = self.failed or (error is not None and error.code in (INTERNAL_ERROR, UNAVAILABLE))
        seconds = time.monotonic() - begun - self.waited
        server = connection.server
        server.counters.record(seconds, failed=failed, call=self.called, outcome=self.outcome)
        if server.log_call is not None:
            server.log_call(self, seconds)
        if error is not None:
            connection.settle(self)
            self.refuse(error)


def frames(error: BaseException) -> str:
    """The type of an error and where it was raised. Its text is left out: it may quote what a client sent."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return f"{type(error).__name__} in {' > '.join(found[-12:])}"


class Batch:
    """Collects the responses to a batch and sends them together."""

    def __init__(self, send: Send, count: int) -> None:
        self._send = send
        self._left = count
        self._answers: list[bytes] = []
        self._lock = threading.Lock()

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Add one response; the last one sends them all."""
        with self._lock:
            self._answers.append(data)
            self._left -= 1
            done = self._left == 0
        if done:
            self._send(b"[" + b",".join(self._answers) + b"]")


Weight = Literal["talk", "call", "heavy"]
"""How much a request asks of the server: no stored data, some, or a lot."""
_EMPTY = Raw(b"{}")
_OURS = ("content", "structuredContent", "isError", "_meta", "resultType")  # keys of a result that the protocol defines
_MOST_MEMORIES = 500
_LONGEST_ID = 200  # characters of the id of a request
_PARAMS = msgspec.json.Decoder(Params)
_CANCELLED_PARAMS = msgspec.json.Decoder(CancelledParams)


class Connection:
    """One client and its state: who it is, its subscriptions, and its active requests."""

    def __init__(
        self,
        server: Server,
        link: ClientLink,
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
        self.capabilities: Any = None  # of the client, as its handshake declares them
        self.questions: dict[Any, SimpleQueue[Message | None]] = {}  # our requests to it, by id
        self.gone = False  # it no longer responds to them
        self.author = self.author_of(None)
        # By author and writing tool; clients with unlimited rights share them.
        self._memories = server.memories if self.base is server.memory else {}
        self._active: dict[Any, Request] = {}
        self.watch: Watch | None = None
        self.is_notified = False  # whether it is notified when a list changes
        self.admit: Callable[[Weight, str], None] | None = None  # counts a request against the limits, or refuses it
        self.altered: Callable[[], None] | None = None  # told when what was agreed with the client has changed

    # ── receiving ─────────────────────────────────────────────────────────────────────────────────────

    def receive(self, data: bytes, send: Send | None = None, notice: Notify | None = None, *, trace: str = "") -> None:
        """Receive a message, or a batch of them, from the client.

        ``send`` takes the response and ``notice`` the notifications before it; the default for both is the link.
        ``trace`` is what the log calls the message.
        """
        self.take(read(data, self.server.max_nesting, self.server.memory.limits.batch), send, notice, trace)

    def take(self, received: Received, send: Send | None = None, notice: Notify | None = None, trace: str = "") -> None:
        """Handle a decoded message or batch."""
        send = send or self.link.send
        if isinstance(received, list):
            send = Batch(send, sum(one.expects_answer for one in received)).send
            for one in received:
                self.take(one, send, notice, trace)
            return
        if isinstance(received, BadMessage):
            self._refuse_bad(received, send, notice, trace)
            return
        id, method = received.id, received.method
        if method is UNSET:
            if self.questions and (waiting := self.questions.pop(id, None)) is not None:
                waiting.put(received)
            if received.expects_answer:  # otherwise it is a response
                error = RpcError(INVALID_REQUEST, "The message has no method")
                Request(self, None if id is UNSET else id, "", send).refuse(error)
            return
        if id is UNSET:
            self._notified(method, received.params)
            return
        request = Request(self, id, method, send, notice)
        request.trace = trace
        try:
            self._dispatch(request, received.params)
        except RpcError as e:
            if e.code == RATE_LIMITED and (call := request.called) is not None:
                request.outcome = "rate_limited"
                self.server.counters.refuse(call, request.outcome)
                if self.server.log_call is not None:
                    self.server.log_call(request, 0.0)
            request.refuse(e)

    def oversized(self, id: Any, error: Fault) -> None:
        """Refuse a message that was too large to read; ``id`` is None where it was not found."""
        Request(self, id, "", self.link.send).refuse(RpcError(INVALID_REQUEST, error.message, {"hint": error.hint}))

    def _refuse_bad(self, bad: BadMessage, send: Send, notice: Notify | None, trace: str) -> None:
        self.give_up(bad.id)  # where it was meant as a response
        request = Request(self, bad.id, "", send)
        examine = bad.examine
        if examine is None:
            request.refuse(bad.error)
            return

        def find_out() -> None:
            try:
                found: Message | BadMessage = examine()
            except BadMessage as e:
                found = e
            self.take(found, send, notice, trace)

        request.work = find_out
        self.link.run(request)

    def _dispatch(self, request: Request, params: Raw | UnsetType) -> None:
        methods = HANDSHAKE
        raw = _EMPTY if params is UNSET else params
        if b"/protocolVersion" in bytes(raw):
            # Only then can it be a request of the stateless era.
            meta = _decoded(_PARAMS, raw).meta
            if meta is not None and meta.version is not UNSET:
                _check_envelope(meta)
                request.modern = True
                methods = MODERN
        method = methods.get(request.method)
        admit = self.admit
        if admit is not None and (method is None or method.inline):
            admit("talk", "")
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        if method.decoder is None:
            method.decoder = msgspec.json.Decoder(method.params)
        given = _decoded(method.decoder, raw)
        request.meta = given.meta
        run = method.run
        if method.inline and run is not None:
            request.answer(run(self, request, given))
            return
        if request.id in self._active:
            raise RpcError(INVALID_REQUEST, f"A request with the id {request.id!r} is still under way")
        weight: Weight = "call"
        session = ""
        if type(given) is CallTool and (tool := self.server.registry.operations.get(given.name)) is not None:
            request.tool, request.writes = tool, not tool.reads
            arguments = as_object(b"" if given.arguments is UNSET else bytes(given.arguments))
            request.arguments = arguments
            if admit is not None:
                weight = "heavy" if tool.is_heavy(arguments) else "call"
                session = "" if tool.session is None else tool.session(arguments)
        if admit is not None:
            admit(weight, session)
        self._active[request.id] = request
        request.work = partial(self._call_tool, request, given) if run is None else partial(run, self, request, given)
        self.link.run(request)

    def _notified(self, method: str, params: Raw | UnsetType) -> None:
        if method != "notifications/cancelled" or params is UNSET:
            return
        try:
            request = self._active.get(_decoded(_CANCELLED_PARAMS, params).requestId)
        except (RpcError, TypeError):
            return
        if request is None:
            return
        if request.method == "subscriptions/listen":
            self.end_listening(request)
        else:
            request.cancel()

    def _call_tool(self, request: Request, given: CallTool) -> JsonObject:
        server, tool, raw = self.server, request.tool, request.arguments
        registry = server.registry
        if tool is None:
            request.outcome = "unknown_operation"
            if registry.unknown is not None:
                return self.complete(request, _result(registry.unknown(given.name), structured=registry.structured))
            from polymnia.schemas import nearest

            near = nearest(given.name, registry.operations)
            meant = f"; did you mean {near}?" if near else ""
            raise RpcError(
                INVALID_PARAMS,
                f"Unknown tool: {given.name[:_LONGEST_NAME]}{meant}",
                {"tools": list(registry.operations)},
            )
        notes: list[Note] = []
        try:
            arguments = registry.arguments(tool, raw, notes)
            context = self.context(request)
            if tool.asks:
                from polymnia.transports.client_requests import offer

                offer(context, request, given)
            try:
                reply = tool.run(context, arguments)
            except Interrupted:
                if tool.asks or (request.writes and request.begun):
                    raise
                reply = tool.run(context, arguments)  # it has only read so far
            if request.writes:  # a note on credentials in what was written, unless the answer has one
                known = {note.code for note in reply.notes}
                notes = [*(note for note in credential_notes(context.memory.screen) if note.code not in known), *notes]
        except Cancelled:
            raise
        except InputRequired as e:
            request.outcome = "input_required"
            return self.complete(request, e.result)
        except Fault as e:
            request.failed = CODES[type(e)] in (INTERNAL_ERROR, UNAVAILABLE)
            request.outcome = e.code
            if isinstance(e, Unavailable):
                self.link.log("error", e.message)
                self.log_to_client(request, "error", server.redact(e, raw).message)
            word: Any = e.word or tool.word or registry.word
            reply = word(server.redact(e, raw))
        if notes or reply.notes:
            notes = [*reply.notes, *notes]
            for note in notes:
                self.log_to_client(request, "notice", note.text)
        if self.watch is not None and request.writes:
            self.watch.check()
        return self.complete(request, _result(reply, notes, structured=registry.structured))

    # ── what is under way ─────────────────────────────────────────────────────────────────────────────

    def settle(self, request: Request) -> None:
        """Remove a request that has been answered."""
        if self._active.get(request.id) is request:
            del self._active[request.id]

    def cancel_all(self) -> None:
        """Cancel every active request: what has not begun never does, what runs long stops where it can."""
        for request in list(self._active.values()):
            if request.method != "subscriptions/listen":
                request.cancel()

    def give_up(self, id: Any) -> None:
        """No longer wait for the response to a request of ours, if it is still awaited."""
        if self.questions and (waiting := self.questions.pop(id, None)) is not None:
            waiting.put(None)

    def mute(self, notice: Notify) -> None:
        """Nobody reads what is sent there any more: no request waits for the response to a question sent there."""
        for request in list(self._active.values()):
            request.mute(notice)

    def hang_up(self) -> None:
        """No response of the client will come any more. Takes no lock: a signal handler may call it."""
        self.gone = True
        for id in list(self.questions):
            self.give_up(id)

    def close(self) -> None:
        """The client has disconnected: end its subscriptions."""
        self.hang_up()
        for request in list(self._active.values()):
            if request.method == "subscriptions/listen":
                self.end_listening(request)
        if self.is_notified:
            self.server.subscribers.leave((self, None))
        if self.watch is not None:
            self.watch.stop()

    def end_listening(self, request: Request) -> None:
        """End a subscription, and with it the request that opened it."""
        request.cancelled = True  # it may not have started yet
        self.server.subscribers.leave((self, request.id))
        if self.watch is not None:
            self.watch.remove(request.id, None)
        self.settle(request)
        request.answer(self.complete(request, {"_meta": {PREFIX + "subscriptionId": request.id}}))

    def watching(self) -> Watch:
        """The watch over this client's subscriptions; it starts with the first one."""
        if self.watch is None:
            self.watch = Watch(self)
        return self.watch

    def notify_of_lists(self) -> None:
        """Notify the client from now on when a list changes, if any can."""
        if changing := self.server.registry.changing:
            self.server.subscribers.join((self, None), changing, self.notify)
            self.is_notified = True

    # ── what the methods share ────────────────────────────────────────────────────────────────────────

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self.link.send(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    def log_to_client(self, request: Request, level: str, text: str) -> None:
        """Send a log message to the client, if its log level asks for it."""
        least = request.meta.log_level if request.modern and request.meta else self.log_level
        if least in LEVELS and LEVELS.index(level) >= LEVELS.index(least):
            request.notify("notifications/message", {"level": level, "logger": "polymnia", "data": text})

    def complete(self, request: Request, result: JsonObject, ttl: int | None = None) -> JsonObject:
        """A result in the form of the request's protocol era."""
        if request.modern:
            result.setdefault("resultType", "complete")
            result["_meta"] = {**result.get("_meta", {}), PREFIX + "serverInfo": self.server.info}
            if ttl is not None:
                result["ttlMs"] = ttl
                result["cacheScope"] = "public" if ttl else "private"
        return result

    def context(self, request: Request) -> Context:
        """The context an operation runs in: the memory with this client as author, and where it may log.

        The history records the tool of a call that changes something. A change with a request id is made only once.
        """
        server = self.server
        tool = request.tool.name if request.writes and request.tool is not None else None
        author = self.author_of(request.meta.client if request.meta else None) if request.modern else self.author
        memory = self._memories.get((author, tool))
        if memory is None:
            if len(self._memories) > _MOST_MEMORIES:
                self._memories.clear()
            memory = self.base.acting(author if tool is None else replace(author, tool=tool))
            self._memories[author, tool] = memory
        id = request.meta.request_id if request.meta and tool is not None else None
        if id is not None:
            if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
                text = f"_meta[{REQUEST_ID!r}] must be a string of 1 to {_LONGEST_ID} characters"
                raise RpcError(INVALID_PARAMS, text)
            memory = memory.once_for(id, f"{tool} ".encode() + request.arguments)
        return Context(
            memory.for_one_call(writes=request.writes, begin=request.begin),
            request.step,
            server.require_session,
            server.counters,
            server.info["version"],
            self.link.log,
            lambda level, text: self.log_to_client(request, level, text),
            not server.hidden,
            server.changed,
            id,
            budget=self._budget(request),
        )

    def _budget(self, request: Request) -> int | None:
        """How many tokens an answer may have: as the request says for itself, where 0 is no limit, or the dialect."""
        asked = request.meta.max_tokens if request.meta else None
        if asked is None:
            return self.server.registry.budget
        if not isinstance(asked, int) or isinstance(asked, bool) or asked < 0:
            raise RpcError(INVALID_PARAMS, f"_meta[{MAX_TOKENS!r}] must be a whole number, 0 for no limit")
        return asked or None

    def author_of(self, client: Any) -> Author:
        """The author of a client's changes in the history: its user, the client itself, and this dialect."""
        name = version = ""
        if isinstance(client, dict):
            name, version = str(client.get("name", "")), str(client.get("version", ""))
        label = f"{name} {version}".strip().replace("\0", "")[:200] or "unknown client"
        return Author(self.user, self.account, label, self.server.registry.name)


def _result(reply: Reply, notes: Sequence[Note] = (), *, structured: bool) -> JsonObject:
    """A dialect's reply as the result of tools/call, as text alone or ``structured`` too. A refusal is raised."""
    if reply.refusal is not None:
        raise RpcError(*reply.refusal)
    text, content, value = reply.text, reply.content, reply.structured
    if text is None and content is None:
        data = encode(reply.value)
        if value is reply.value and not reply.is_error:
            value = Raw(data)  # encoded once, sent twice
        text = (msgspec.json.format(data, indent=reply.indent) if reply.indent else data).decode()
    result: JsonObject = {"content": [{"type": "text", "text": text}] if content is None else list(content)}
    if reply.remark is not None:
        result["content"].append({"type": "text", "text": reply.remark})
    if reply.flat and structured and isinstance(reply.value, dict):
        result = {**{key: value for key, value in reply.value.items() if key not in _OURS}, **result}
    if reply.is_error:
        result["isError"] = True
        return result
    if structured and value is not None:
        result["structuredContent"] = value
    if notes:
        result["_meta"] = {"polymnia/notes": [{"code": note.code, "text": note.text} for note in notes]}
    if reply.next:
        result.setdefault("_meta", {})["polymnia/nextCursor"] = reply.next
    return result


def _check_envelope(meta: Meta) -> None:
    """Refuse stateless-era metadata that is incomplete or names a version we do not support."""
    if meta.capabilities is UNSET:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks the required key {PREFIX}clientCapabilities")
    if not isinstance(meta.version, str):
        raise RpcError(INVALID_PARAMS, f"params._meta: {PREFIX}protocolVersion must be a string")
    if meta.version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": meta.version}
        raise RpcError(UNSUPPORTED_VERSION, f"Unsupported protocol version {meta.version}", data)


def _decoded(decoder: msgspec.json.Decoder[Any], raw: Raw) -> Any:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {e}") from None
