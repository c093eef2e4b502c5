"""One request, from its arrival to its one answer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Raw
from msgspec.json import encode

from polymnia.errors import Cancelled, Fault
from polymnia.transports.errors import INTERNAL_ERROR, UNAVAILABLE, RpcError, from_fault
from polymnia.transports.wire import Meta

__all__ = ["Batch", "Call", "Link", "Owner", "Request", "Send", "frames"]

Send = Callable[[bytes], None]
"""Takes one message on its way to the client."""

_PROGRESS_EVERY = 0.1


class Link(Protocol):
    """What a connection needs from its transport."""

    def send(self, data: bytes) -> None:
        """Give one message to the client."""

    def run(self, call: Call) -> None:
        """Run a call when its turn comes, not necessarily here and now."""

    def log(self, level: str, text: str) -> None:
        """Tell the operator something."""


class Owner(Protocol):
    """What a request needs from the connection it came by."""

    link: Link

    def settle(self, request: Request) -> None:
        """The request has been answered."""

    def hide(self, fault: Fault) -> Fault:
        """A fault as the client may hear of it."""

    def counted(self, seconds: float, failed: bool) -> None:
        """A call took so long, and failed or did not."""


class Request:
    """One request of a client: its id, its era, and where its answer goes, and what is told meanwhile."""

    __slots__ = (
        "_fate",
        "answered",
        "begun",
        "cancelled",
        "connection",
        "done",
        "failed",
        "id",
        "meta",
        "method",
        "modern",
        "notice",
        "send",
        "told",
        "total",
    )

    def __init__(self, connection: Owner, id: Any, method: str, send: Send, notice: Send | None = None) -> None:
        self.connection = connection
        self.id = id
        self.method = method
        self.send = send
        self.notice = notice or connection.link.send
        self.meta: Meta | None = None
        self.modern = False
        self.cancelled = False
        self.begun = False  # past this point, only the work itself can tell whether it was done
        self.answered = False
        self.failed = False  # by a fault of ours, whatever the answer looks like
        self.told = 0.0
        self.done = -1  # how far it was when that was told last
        self.total = 0
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
        if done > self.done and (now - self.told >= _PROGRESS_EVERY or done == total):
            self.told, self.done, self.total = now, done, total
            self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total})

    def finish(self) -> None:
        """The work is done: a client that was told how far it was is told that it is at its end."""
        if 0 <= self.done < self.total:
            self.step(self.total, self.total)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to this request."""
        self.notice(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    def answer(self, result: dict[str, Any] | Raw) -> None:
        """Send the result."""
        data = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(self.id), encode(result))
        with self._fate:
            if not self.answered:
                self.answered = True
                self.send(data)

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
    """Work that needs the store, ready to run once. ``writes`` tells the transport what may run beside it, ``label``
    what calls take about as long.

    A write begins when the store's turn to write has come, a read at once. Work that gives None has begun something
    that is answered when it ends.
    """

    __slots__ = ("_work", "label", "request", "writes")

    def __init__(
        self, request: Request, work: Callable[[], dict[str, Any] | None], writes: bool, label: str | None = None
    ) -> None:
        self.request = request
        self.label = label
        self._work = work
        self.writes = writes

    def run(self) -> None:
        """Do the work and send the answer, whatever happens."""
        request = self.request
        connection = request.connection
        begun = time.monotonic()
        error: RpcError | None = None
        try:
            if not self.writes:
                request.begin()
            result = self._work()
            if result is not None:
                if not request.cancelled and not result.get("isError"):
                    request.finish()
                connection.settle(request)  # before the answer: its id may be used again by whoever has it
                request.answer(result)
        except RpcError as e:
            error = e
        except Fault as e:
            error = from_fault(connection.hide(e))
        except Exception as e:  # the last line of defence: one answer for every request
            incident = os.urandom(4).hex()
            connection.link.log("error", f"{request.method} failed, incident {incident}: {frames(e)}")
            text = f"Internal error; the server's log says more of the incident {incident}"
            error = RpcError(INTERNAL_ERROR, text, {"incident": incident})
        failed = request.failed or (error is not None and error.code in (INTERNAL_ERROR, UNAVAILABLE))
        connection.counted(time.monotonic() - begun, failed)
        if error is not None:
            connection.settle(request)
            request.refuse(error)


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

    def __init__(self, send: Callable[[bytes], None], count: int) -> None:
        self._send = send
        self._left = count
        self._answers: list[bytes] = []
        self._lock = threading.Lock()

    def send(self, data: bytes) -> None:
        """Take one answer; the last one sends them all."""
        with self._lock:
            self._answers.append(data)
            self._left -= 1
            done = self._left == 0
        if done:
            self._send(b"[" + b",".join(self._answers) + b"]")
