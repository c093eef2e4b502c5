"""A cable between client and server that a test can cut; to several servers it is a load balancer."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from stdio_client import DEADLINE

__all__ = ["Cable", "cable"]


class Cable:
    """Passes everything on to a port, remembers what the server said, and breaks when told to.

    Of several ports each connection gets the next that listens.
    """

    def __init__(self, *ports: int) -> None:
        self._to = deque(ports)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._ends: list[socket.socket] = []
        self._said = b""
        self._news = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_for(self, words: bytes) -> None:
        """Wait until the server has said this."""
        with self._news:
            if not self._news.wait_for(lambda: words in self._said, DEADLINE):
                pytest.fail(f"the server never said {words!r}: {self._said[-2000:]!r}")

    def cut(self) -> None:
        """Break every connection there is; new ones can be made."""
        with self._news:
            ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Nobody comes any more."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = self._connected()
                with self._news:
                    self._ends += [client, server]
                threading.Thread(target=self._pass, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, True), daemon=True).start()

    def _connected(self) -> socket.socket:
        for _ in range(len(self._to)):
            self._to.rotate(-1)
            with suppress(ConnectionRefusedError):
                return socket.create_connection(("127.0.0.1", self._to[-1]))
        raise ConnectionRefusedError

    def _pass(self, source: socket.socket, target: socket.socket, listens: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
                if listens:
                    with self._news:
                        self._said += data
                        self._news.notify_all()
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()


@contextmanager
def cable(*ports: int) -> Iterator[Cable]:
    """A cable to a port, or to several in turn."""
    made = Cable(*ports)
    try:
        yield made
    finally:
        made.close()
