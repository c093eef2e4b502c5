"""A proxy before a PostgreSQL of the tests that cuts a connection at its COMMIT: before it arrives, or its answer."""

from __future__ import annotations

import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

__all__ = ["WireCutter"]

_SOCKET = ".s.PGSQL.5432"


class WireCutter:
    """Passes on what clients of a server say, at an address of its own.

    ``cut`` says what happens at the next COMMIT of a change: it is lost on its way to the server ("before"), or its
    answer on the way back ("after"). ``times`` is how many are left to be lost so.
    """

    def __init__(self, server: Path) -> None:
        self._server = str(server / _SOCKET)
        self._folder = Path(tempfile.mkdtemp(prefix="polymnia-cutter-"))
        self.cut, self.times, self.happened = "", 0, 0
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self._folder / _SOCKET))
        self._door.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, database: str = "postgres") -> str:
        """The address of a database through this proxy."""
        return f"postgresql://postgres@{quote(str(self._folder), safe='')}/{database}"

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        shutil.rmtree(self._folder)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                _Link(self, client, self._server)

    def due(self) -> str:
        """How the COMMIT that was just read is lost, if it is."""
        if not self.times:
            return ""
        self.times -= 1
        self.happened += 1
        return self.cut


class _Link:
    """One connection through the proxy."""

    def __init__(self, cutter: WireCutter, client: socket.socket, server: str) -> None:
        self._cutter, self._client = cutter, client
        self._server = socket.socket(socket.AF_UNIX)
        self._deaf = False  # what the server says is not passed on
        try:
            self._server.connect(server)
        except OSError:
            client.close()
            self._server.close()
            return
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        back = threading.Thread(target=self._down, daemon=True)
        back.start()
        self._up()
        back.join()
        self._client.close()
        self._server.close()

    def _up(self) -> None:
        named: dict[bytes, bytes] = {}
        writes = False
        with suppress(OSError, struct.error):
            for kind, body in self._messages():
                statement = b""
                if kind == b"P":
                    name, query = body.split(b"\0")[:2]
                    named[name] = query
                elif kind == b"B":
                    statement = named.get(body.split(b"\0")[1], b"")
                elif kind == b"Q":
                    statement = body.rstrip(b"\0")
                if statement.startswith(b"BEGIN"):
                    writes = b"READ ONLY" not in statement
                how = self._cutter.due() if statement == b"COMMIT" and writes else ""
                if how == "before":
                    break
                self._deaf = self._deaf or how == "after"
                self._server.sendall(kind + struct.pack("!i", len(body) + 4) + body)
        self._end()

    def _messages(self) -> Iterator[tuple[bytes, bytes]]:
        with self._client.makefile("rb") as said:
            kind = b""  # the first message has none
            while True:
                (size,) = struct.unpack("!i", said.read(4))
                yield kind, said.read(size - 4)
                kind = said.read(1)

    def _down(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(1 << 16):
                if not self._deaf:
                    self._client.sendall(data)
                elif b"COMMIT\0" in data:
                    break
        self._end()

    def _end(self) -> None:
        for one in (self._client, self._server):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
