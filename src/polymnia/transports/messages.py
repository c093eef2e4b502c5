"""JSON-RPC: the frame of a message, and a request from its arrival to its one answer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.json import encode

from polymnia.errors import Cancelled, Fault
from polymnia.operation import Operation
from polymnia.schemas import JsonObject
from polymnia.transports.errors import INTERNAL_ERROR, INVALID_REQUEST, UNAVAILABLE, RpcError, from_fault
from polymnia.transports.wire import Meta

if TYPE_CHECKING:
    from polymnia.transports.rpc import Connection

_PROGRESS_EVERY = 0.1  # seconds


class Message(Struct):
    """The frame of any JSON-RPC message; what is inside stays unread until someone knows its shape."""

    jsonrpc: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    id: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET

    @property
    def expects_answer(self) -> bool:
        """Whether it is a request, or nothing that we know."""
        if self.method is UNSET:
            return self.result is UNSET and self.error is UNSET
        return self.id is not UNSET


class BadMessage(Exception):
    """Bytes that are not a message we can serve: the error and, where it could be found, the id.

    ``look`` finds out more where that takes long: another fault, or a message after all.
    """

    expects_answer = True

    def __init__(self, error: RpcError, id: Any = None, look: Callable[[], Message] | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id
        self.look = look


Received = Message | BadMessage | list[Message | BadMessage]
"""What came in one piece: a message, or the messages of a batch."""

_decode = msgspec.json.Decoder(Message).decode


def read(data: bytes, most_nested: int, most: int) -> Received:
    """Read a message, or a batch of at most so many."""
    try:
        if data[:1] != b"[":
            return message(data, most_nested)
        from polymnia.transports.malformed import batch

        return batch(data, most_nested, most)
    except BadMessage as bad:
        return bad


def message(line: bytes, most_nested: int) -> Message:
    """Read one message; raises BadMessage."""
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
    """Takes one answer on its way to the client, and beside it the error it carries, if any."""

    def __call__(self, data: bytes, error: RpcError | None = None, /) -> None:
        """Send it."""


Notify = Callable[[bytes], None]
"""Takes one notification on its way to the client."""


class ClientLink(Protocol):
    """What a connection needs from its transport."""

    def send(self, data: bytes, error: RpcError | None = None, /) -> None:
        """Give one message to the client."""

    def run(self, request: Request, /) -> None:
        """Run a request when its turn comes, not necessarily here and now."""

    def log(self, level: str, text: str, /) -> None:
        """Tell the operator something."""


class Request:
    """One request of a client: where its answer goes, and the work it asks for, which is run once.

    ``writes`` tells the transport what may run beside it, ``label`` which requests take about as long. A write begins
    when the store's turn to write has come, a read at once. Work that gives None is answered when it ends.
    """

    __slots__ = (
        "_fate", "_notice", "_progress", "_send", "_told", "_total", "answered", "arguments", "begun", "cancelled",
        "connection", "failed", "id", "meta", "method", "modern", "tool", "work", "writes",
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
        self.begun = False  # past this point, only the work itself can tell whether it was done
        self.answered = False
        self.failed = False  # by a fault of ours, whatever the answer looks like
        self._told = 0.0  # when the client was last told how far it is
        self._progress = -1
        self._total = 0
        self._fate = threading.Lock()

    @property
    def label(self) -> str | None:
        """Which requests take about as long; None where nobody knows."""
        return None if self.tool is None or self.writes else self.tool.label(self.arguments)

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
        """Between two items of a long call: stop if the client wishes so, and report progress to it."""
        if not self.begun:
            self.begin()
        if self.cancelled:
            raise Cancelled("The request was cancelled; nothing was changed")
        token = self.meta.progressToken if self.meta else None
        if not total or token is None or done <= self._progress:
            return
        now = time.monotonic()
        if now - self._told >= _PROGRESS_EVERY or done == total:
            self._told, self._progress, self._total = now, done, total
            self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total})

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification that belongs to this request."""
        data = encode({"jsonrpc": "2.0", "method": method, "params": params})
        (self._notice or self.connection.link.send)(data)

    def answer(self, result: JsonObject | Raw) -> None:
        """Send the result."""
        data = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(self.id), encode(result))
        with self._fate:
            if not self.answered:
                self.answered = True
                self._send(data)

    def refuse(self, error: RpcError) -> None:
        """Send an error."""
        with self._fate:
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
            del self.work  # it holds this request in turn: without it, both go as soon as they are done with
            result = work()
            if result is not None:
                if 0 <= self._progress < self._total and not self.cancelled and not result.get("isError"):
                    self.step(self._total, self._total)  # who was told how far it was is told that it is at its end
                connection.settle(self)  # before the answer: its id may be used again by whoever has it
                self.answer(result)
        except RpcError as e:
            error = e
        except Fault as e:
            error = from_fault(connection.server.hide(e, self.arguments))
        except Exception as e:  # the last line of defence: one answer for every request
            incident = os.urandom(4).hex()
            connection.link.log("error", f"{self.method} failed, incident {incident}: {frames(e)}")
            text = f"Internal error; the server's log says more of the incident {incident}"
            error = RpcError(INTERNAL_ERROR, text, {"incident": incident})
        failed = self.failed or (error is not None and error.code in (INTERNAL_ERROR, UNAVAILABLE))
        connection.server.counters.record(time.monotonic() - begun, failed=failed)
        if error is not None:
            connection.settle(self)
            self.refuse(error)


def frames(error: BaseException) -> str:
    """What kind of error it was and where it arose. Its own text may quote what a client sent, so it is left out."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return f"{type(error).__name__} in {' > '.join(found[-12:])}"


class Batch:
    """Gathers the answers to a batch and sends them together."""

    def __init__(self, send: Send, count: int) -> None:
        self._send = send
        self._left = count
        self._answers: list[bytes] = []
        self._lock = threading.Lock()

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Take one answer; the last one sends them all."""
        with self._lock:
            self._answers.append(data)
            self._left -= 1
            done = self._left == 0
        if done:
            self._send(b"[" + b",".join(self._answers) + b"]")
