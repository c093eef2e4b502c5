"""TLS in front of a server: what a proxy does, with a certificate that a private authority signed."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stdio_client import DEADLINE

__all__ = ["AUTHORITY", "tls_before"]

_FOLDER = Path(__file__).parent / "certificates"
AUTHORITY = _FOLDER / "ca.pem"
"""The authority that signed the certificate for localhost; both last for a hundred years."""


@contextmanager
def tls_before(port: int) -> Iterator[int]:
    """A port that speaks TLS and passes everything on to another one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_FOLDER / "server.pem")
    ready, ports = threading.Event(), []
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, onward_writer), copy(onward_reader, writer))

    async def serve() -> None:
        server = await asyncio.start_server(passed, "127.0.0.1", 0, ssl=context)
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # handshakes that are refused
        ended = asyncio.Event()
        stop.append((asyncio.get_running_loop(), ended))
        ports.append(int(server.sockets[0].getsockname()[1]))
        ready.set()
        await ended.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(DEADLINE)
    try:
        yield ports[0]
    finally:
        loop, ended = stop[0]
        loop.call_soon_threadsafe(ended.set)
        thread.join(DEADLINE)
