"""The link to a server of one's own: a process, a message a line."""

from __future__ import annotations

import asyncio
import os
import subprocess
from typing import Any

from polymnia.client.errors import ConnectionFailedError
from polymnia.client.link import Lost, Owner, Target

__all__ = ["StdioLink"]

_ENDING = 5.0  # seconds a process may take to end when its input does


class StdioLink(asyncio.SubprocessProtocol):
    """One process."""

    def __init__(self, target: Target, owner: Owner) -> None:
        self._command = target.command
        self._owner = owner
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: Any = None
        self._rest = bytearray()
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        """Start the process."""
        loop = asyncio.get_running_loop()
        try:
            self._transport, _ = await loop.subprocess_exec(lambda: self, *self._command, stderr=None, cwd=os.getcwd())
        except OSError as e:  # it will not be there the next time either
            raise ConnectionFailedError(f"{self._command[0]} could not be started: {e}") from e
        self._input = self._transport.get_pipe_transport(0)

    def send(self, id: int, data: bytes) -> None:
        """Send a request."""
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
        """Nothing of a pipe depends on the version."""

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

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Handle the lines that are whole."""
        lines = data.split(b"\n")
        if len(lines) == 1:
            self._rest += data
            return
        self._rest += lines[0]
        self._owner.receive(bytes(self._rest))
        for line in lines[1:-1]:
            self._owner.receive(line)
        self._rest = bytearray(lines[-1])

    def process_exited(self) -> None:
        """The process is gone."""
        code: int | subprocess.Popen[bytes] | None = self._transport.get_returncode() if self._transport else None
        if not self._ended.done():
            self._ended.set_result(None)
        if self._transport is not None:
            self._transport.close()
        self._owner.lost(self, Lost(f"the process has ended with exit code {code}"))
