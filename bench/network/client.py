"""A client that costs little: requests over open connections, and how long each took."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

__all__ = ["Client", "ready"]

_HEAD = (
    "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\nContent-Length: {size}\r\n{more}\r\n"
)


class Client:
    """One open connection."""

    def __init__(self, port: int, path: str = "/mcp") -> None:
        self.port = port
        self.path = path
        self.session: str | None = None

    async def open(self) -> None:
        """Connect."""
        self._in, self._out = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)

    async def hello(self) -> None:
        """Shake hands, and go on in that session."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[float, int, bytes]:
        """Call a tool: seconds, status, body."""
        params = {"name": tool, "arguments": arguments}
        return await self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    async def post(self, message: dict[str, Any]) -> tuple[float, int, bytes]:
        """Send one message and read its whole answer."""
        body = json.dumps(message).encode()
        more = "" if self.session is None else f"Mcp-Session-Id: {self.session}\r\nMCP-Protocol-Version: 2025-11-25\r\n"
        head = _HEAD.format(path=self.path, port=self.port, size=len(body), more=more)
        begun = time.perf_counter()
        self._out.write(head.encode() + body)
        status, headers = await self._answer()
        if headers.get("transfer-encoding") == "chunked":
            data = b""
            while size := int((await self._in.readline()).strip() or b"0", 16):
                data += await self._in.readexactly(size)
                await self._in.readline()
            await self._in.readline()
        else:
            data = await self._in.readexactly(int(headers.get("content-length", 0)))
        took = time.perf_counter() - begun
        self.session = headers.get("mcp-session-id", self.session)
        if headers.get("content-type", "").startswith("text/event-stream"):  # what takes longer is answered by events
            told = [line[5:].strip() for line in data.splitlines() if line.startswith(b"data:") and line[5:].strip()]
            data = told[-1] if told else b""
        return took, status, data

    async def _answer(self) -> tuple[int, dict[str, str]]:
        status = int((await self._in.readline()).split()[1])
        headers = {}
        while (line := await self._in.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return status, headers

    def close(self) -> None:
        """Hang up."""
        self._out.close()


async def ready(port: int, seconds: float = 30.0) -> float:
    """Wait until a server listens; answers how long that took."""
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        try:
            _, out = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.005)
        else:
            out.close()
            return time.perf_counter() - begun
    raise RuntimeError(f"nothing listens on port {port}")
