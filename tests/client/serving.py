"""A real server for the client: the one at ``POLYMNIA_URL``, or one started with the command ``POLYMNIA``."""

from __future__ import annotations

import fcntl
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

import forked
import postgres
from network.served import free_port
from polymnia.keys import KeyFile
from stdio_client import DEADLINE, STORE

__all__ = ["Serving"]

_PLENTY = ("--rate-limit", "1000000", "--rate-limit-session", "1000000", "--rate-limit-heavy", "1000000")


class Serving:
    """One server of this test's own, which can be killed and started again at the same address."""

    def __init__(self, folder: Path, *flags: str, kept_by: str = STORE) -> None:
        self.folder = folder
        self._database = ExitStack()
        on_postgres = kept_by == "postgres"
        self.store = self._database.enter_context(postgres.store()) if on_postgres else str(folder / "memory.db")
        self.keys = KeyFile(str(folder / "config" / "polymnia" / "keys.json"))
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self._flags = flags or _PLENTY
        self.start()

    def url(self, kind: str) -> str:
        """The endpoint by its kind: ws, http or stdio."""
        if kind == "stdio":
            store = folder_option(self.store)
            return f"stdio:{shlex.join([*_command(), 'stdio', *store])}"
        return f"{kind}://127.0.0.1:{self.port}/{'ws' if kind == 'ws' else 'mcp'}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("POLYMNIA")}
        config = {"XDG_CONFIG_HOME": str(self.folder / "config"), "XDG_DATA_HOME": str(self.folder / "data")}
        self.process = forked.start(
            [*_command(), "serve", *folder_option(self.store), "--port", str(self.port), *self._flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
            env={**variables, **config},
        )  # fmt: skip
        end = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None, "the server has ended"
                assert time.monotonic() < end, "the server does not listen"
                time.sleep(0.01)

    def kill(self) -> None:
        """End it without a warning."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(DEADLINE)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every writer of the store waiting."""
        if self.store.startswith("postgresql://"):
            with psycopg.connect(self.store.partition("?")[0]) as connection:
                connection.execute("LOCK TABLE polymnia.project IN EXCLUSIVE MODE")
                yield
            return
        with open(f"{self.store}-lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def close(self) -> None:
        """End it."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self._database.close()


def folder_option(store: str) -> list[str]:
    """The options every server here has."""
    return ["--store", store, "--embedder", "none"]


def _command() -> list[str]:
    return shlex.split(os.environ.get("POLYMNIA", "")) or [sys.executable, "-m", "polymnia"]
