"""Joining: the head and the body of an answer leave together, in one call of the system instead of two."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["Joined"]

_HEAD = b"HTTP/1.1 "


class Joined:
    """A transport that holds the head of an answer back until its body is written, or nothing else is to be done."""

    def __init__(self, inner: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, data: bytes) -> None:
        """Send bytes, a head together with what follows it."""
        if self._held:
            held, self._held = self._held, b""
            self._inner.write(held + data)
        elif data[: len(_HEAD)] == _HEAD:
            self._held = data
            self._loop.call_soon(self._let_go)
        else:
            self._inner.write(data)

    def _let_go(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._inner.write(held)

    def close(self) -> None:
        """Hang up when everything is sent."""
        self._let_go()
        self._inner.close()
