"""Taking: a connection whose client does not take what it is sent is cut off."""

from __future__ import annotations

import asyncio

__all__ = ["Taking"]

_UNREAD_SECONDS = 60.0  # in which a client must have taken some of what waits for it


class Taking(asyncio.Protocol):
    """Goes before the class of a connection, and watches its client from when something waits until nothing does."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _left = 0  # bytes that waited at the last look
    _unread: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left."""
        self._took()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """They do not take what they are sent."""
        super().pause_writing()
        self._waits()

    def resume_writing(self) -> None:
        """They do again."""
        super().resume_writing()
        self._took()

    def _waits(self) -> None:
        self._took()
        self._left = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(_UNREAD_SECONDS, self._looked)

    def _took(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _looked(self) -> None:
        if self.transport.get_write_buffer_size() >= self._left:
            self.transport.abort()
        else:
            self._waits()
