"""The link to a server of one's own: a process, a message a line."""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import suppress
from typing import Any

from polymnia.client.link import Lost, Owner, Target, lost_by

__all__ = ["StdioLink"]

_ENDING = 5.0  # seconds a process may take to end when its input does
_READING = 1.0  # seconds that the last words of a process may take to arrive after its end
_LAST_WORDS = 2000  # bytes
_LAST_LINES = 10
_STDERR = 2


class StdioLink(asyncio.SubprocessProtocol):
    """One process. What it writes to its standard error goes to ours."""

    def __init__(self, target: Target, owner: Owner) -> None:
        self._command = target.command
        self._owner = owner
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: Any = None
        self._rest = bytearray()
        self._words = bytearray()  # the last that it wrote to its standard error
        self._answered = False
        self._silent = False  # nothing more comes from its standard error
        self._lost: Lost | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        """Start the process."""
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.subprocess_exec(lambda: self, *self._command, cwd=os.getcwd())
        except (OSError, ValueError) as e:  # it will not be there the next time either
            known = ["Check the command: it is started without a shell"]
            raise Lost(f"{self._command[0]} could not be started: {lost_by(e)}", final=True, suggestions=known) from e
        self._input = transport.get_pipe_transport(0)

    def send(self, id: int, data: bytes) -> None:
        """Send a request."""
        if self._lost is not None:
            raise self._lost
        if not self._answered and self._ended.done():
            return  # why it ended is about to be reported
        if self._input is None or self._input.is_closing() or self._ended.done():
            raise Lost("the process has ended")
        self._input.write(data + b"\n")

    def notify(self, data: bytes) -> None:
        """Send what has no answer."""
        if self._input is not None and not self._input.is_closing():
            self._input.write(data + b"\n")

    def forget(self, id: int) -> None:
        """Answers to requests that are forgotten are dropped where they are received."""

    def agreed(self, version: str) -> None:
        """It works: where it ends from now on, it is started again."""
        self._answered = True

    def listen(self) -> None:
        """Notifications come without asking."""

    async def close(self) -> None:
        """End its input, and the process where that does not end it."""
        if self._transport is None:
            return
        if self._input is not None:
            self._input.close()
        done, _ = await asyncio.wait([self._ended], timeout=_ENDING)
        if not done:
            self._transport.kill()
            await asyncio.wait([self._ended], timeout=_ENDING)
        self._transport.close()

    # asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It runs, or has ended already."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Handle the lines that are whole."""
        if fd == _STDERR:
            self._words = (self._words + data)[-_LAST_WORDS:]
            with suppress(OSError):
                os.write(_STDERR, data)
            return
        lines = data.split(b"\n")
        if len(lines) == 1:
            self._rest += data
            return
        self._rest += lines[0]
        self._owner.receive(bytes(self._rest))
        for line in lines[1:-1]:
            self._owner.receive(line)
        self._rest = bytearray(lines[-1])

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        """It said its last words."""
        if fd == _STDERR:
            self._silent = True
            if self._ended.done():
                self._report()

    def process_exited(self) -> None:
        """The process is gone."""
        if not self._ended.done():
            self._ended.set_result(None)
        if self._answered or self._silent:
            self._report()
        else:
            asyncio.get_running_loop().call_later(_READING, self._report)

    def _report(self) -> None:
        if self._transport is None or self._lost is not None:
            return
        code: int | subprocess.Popen[bytes] | None = self._transport.get_returncode()
        self._transport.close()
        if self._answered:
            self._lost = Lost(f"the process has ended with exit code {code}")
        else:
            said = "\n".join(bytes(self._words).decode(errors="replace").strip().splitlines()[-_LAST_LINES:])
            text = f"{self._command[0]} ended with exit code {code} before it answered"
            known = ["Check the command: it has to serve MCP on its standard input and output, as polymnia stdio does"]
            self._lost = Lost(f"{text}:\n{said}" if said else text, final=True, suggestions=known)
        self._owner.lost(self, self._lost)
