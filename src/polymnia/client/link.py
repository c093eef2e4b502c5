"""Links carry messages to and from a server: the base class, and stdio; HTTP and WebSocket have their own modules."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ssl import SSLContext, create_default_context
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from polymnia.client.asynchronous import AsyncMCPMemoryClient

__all__ = ["Link", "Lost", "StdioLink", "Target", "connection_error", "no_endpoint"]

_RUNNING = "Check that the server is running (polymnia serve) and that the address is right"
_CUT = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)  # the connection broke, it was not refused
_EXIT_TIMEOUT = 5.0  # seconds for a process to exit after its input is closed
_STDERR_TIMEOUT = 1.0  # seconds to wait for the last stderr lines of a process after it exits
_LAST_BYTES = 2000
_LAST_LINES = 10
_STDERR = 2


class Lost(Exception):
    """The connection was lost or could not be made. Pending requests may be resent.

    ``last_event`` is the id of the last event of a broken stream; ``too_large``: a message exceeded the server's limit;
    ``final``: retrying will not help.
    """

    def __init__(
        self, text: str, *, too_large: bool = False, final: bool = False, suggestions: Sequence[str] = (_RUNNING,)
    ) -> None:
        super().__init__(text)
        self.last_event = ""
        self.too_large = too_large
        self.final = final
        self.suggestions = suggestions


def connection_error(error: Exception) -> Lost:
    """Describe a network error, and decide whether retrying may help."""
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = "Name the authority that signed it: ssl=ssl.create_default_context(cafile='ca.pem')"
        return Lost(f"its certificate is not accepted: {error.verify_message}", final=True, suggestions=[hint])
    if isinstance(error, ssl.SSLError) and not isinstance(error, _CUT):
        return Lost(f"TLS failed: {error.reason or error}", final=True)
    if isinstance(error, socket.gaierror):
        return Lost(f"its host was not found: {error.strerror}")
    if isinstance(error, UnicodeError):
        return Lost(f"it names no possible host: {error}", final=True)
    numbers = re.findall(r"\[Errno (\d+)\]", str(error))  # one for each address of the host
    number = int(numbers[-1]) if numbers else getattr(error, "errno", None)
    if isinstance(number, int) and number in errno.errorcode:
        return Lost(f"{os.strerror(number).lower()} ({errno.errorcode[number]})")
    return Lost(str(error) or type(error).__name__)


def no_endpoint(what: str) -> Lost:
    """The error for a server that responds but is not an MCP endpoint."""
    paths = "A Polymnia server has its WebSocket at /ws (ws://HOST:PORT/ws) and HTTP at /mcp (http://HOST:PORT/mcp)"
    return Lost(f"there is no MCP endpoint at this address, {what}. {paths}", final=True, suggestions=[paths])


class Target(Struct, frozen=True):
    """Where and how to connect."""

    endpoint: str
    headers: Mapping[str, str]
    command: tuple[str, ...] = ()
    ssl: SSLContext | None = None

    def tls(self, secure: bool) -> SSLContext | None:
        """The TLS context of a connection; None for a plain one."""
        return (self.ssl or create_default_context()) if secure else None


class Link:
    """One connection. It reports messages (``receive``) and its end (``lost``) to its client."""

    def __init__(self, target: Target, client: AsyncMCPMemoryClient) -> None:
        self._target = target
        self._client = client

    async def open(self) -> None:
        """Connect. Raises Lost."""

    async def close(self) -> None:
        """Disconnect."""

    def write(self, data: bytes) -> None:
        """Write a message. Raises Lost."""
        raise NotImplementedError

    def send(self, id: int, data: bytes) -> None:
        """Send a request. Raises Lost, or reports that later."""
        self.write(data)

    def notify(self, data: bytes) -> None:
        """Send a notification or a response; dropped if the connection is lost."""
        with suppress(Lost):
            self.write(data)

    def forget(self, id: int) -> None:
        """Stop waiting for the response to a request."""

    def agreed(self, version: str) -> None:
        """The handshake is done with this protocol version."""

    def listen(self) -> None:
        """Request notifications, if they are not sent anyway."""


class StdioLink(Link, asyncio.SubprocessProtocol):
    """A subprocess with one message per line. Its stderr is forwarded to ours."""

    def __init__(self, target: Target, client: AsyncMCPMemoryClient) -> None:
        super().__init__(target, client)
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: Any = None
        self._line = bytearray()
        self._stderr = bytearray()  # the last bytes it wrote there
        self._stderr_closed = False
        self._agreed = False
        self._lost: Lost | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        """Start the process."""
        command = self._target.command
        try:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(lambda: self, *command, cwd=os.getcwd())
        except (OSError, ValueError) as e:  # retrying would fail as well
            why, hints = connection_error(e), ["Check the command: it is started without a shell"]
            raise Lost(f"{command[0]} could not be started: {why}", final=True, suggestions=hints) from e
        self._input = transport.get_pipe_transport(0)

    def write(self, data: bytes) -> None:
        if self._lost is not None:
            raise self._lost
        if self._ended.done():
            if self._agreed:
                raise Lost("the process has ended")
            return  # the reason is about to be reported
        if self._input.is_closing():
            raise Lost("the process has ended")
        self._input.write(data + b"\n")

    def agreed(self, version: str) -> None:
        """Note that the process works, so that it is restarted if it exits."""
        self._agreed = True

    async def close(self) -> None:
        """Close its input, and kill the process if it does not exit."""
        if self._transport is None:
            return
        if self._input is not None:
            self._input.close()
        done, _ = await asyncio.wait([self._ended], timeout=_EXIT_TIMEOUT)
        if not done:
            self._transport.kill()
            await asyncio.wait([self._ended], timeout=_EXIT_TIMEOUT)
        self._transport.close()

    # asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport; the process may already have exited."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Handle complete lines; forward stderr."""
        if fd == _STDERR:
            self._stderr = (self._stderr + data)[-_LAST_BYTES:]
            with suppress(OSError):
                os.write(_STDERR, data)
            return
        first, *others = data.split(b"\n")
        self._line += first
        for line in others:
            self._client.receive(bytes(self._line))
            self._line = bytearray(line)

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        """Report the exit once stderr is closed."""
        if fd == _STDERR:
            self._stderr_closed = True
            if self._ended.done():
                self._report()

    def process_exited(self) -> None:
        """Report the exit, after the last stderr lines if the process never worked."""
        if not self._ended.done():
            self._ended.set_result(None)
        if self._agreed or self._stderr_closed:
            self._report()
        else:
            asyncio.get_running_loop().call_later(_STDERR_TIMEOUT, self._report)

    def _report(self) -> None:
        if self._transport is None or self._lost is not None:
            return
        code: Any = self._transport.get_returncode()
        self._transport.close()
        if self._agreed:
            self._lost = Lost(f"the process has ended with exit code {code}")
        else:
            lines = "\n".join(self._stderr.decode(errors="replace").strip().splitlines()[-_LAST_LINES:])
            text = f"{self._target.command[0]} ended with exit code {code} before it answered"
            hints = ["Check the command: it has to serve MCP on its standard input and output, as polymnia stdio does"]
            self._lost = Lost(f"{text}:\n{lines}" if lines else text, final=True, suggestions=hints)
        self._client.lost(self, self._lost)
