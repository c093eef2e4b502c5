"""The log of a network server: one line an event, as JSON. No content, no keys, at no level."""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress

from msgspec.json import encode

from polymnia.transports.requests import frames
from polymnia.transports.wire import LEVELS

__all__ = ["Log", "Relay"]


class Log:
    """Writes to stderr what is of the level asked for, or above."""

    def __init__(self, level: str) -> None:
        self._written = frozenset(LEVELS[LEVELS.index(level) :])

    def __call__(self, level: str, text: str) -> None:
        """Tell the operator something."""
        self.event(level, "message", text=text)

    def wants(self, level: str) -> bool:
        """Whether events of a level are written."""
        return level in self._written

    def event(self, level: str, name: str, **fields: object) -> None:
        """One line: when, how grave, what, and its fields."""
        if level not in self._written:
            return
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
        with suppress(OSError):  # nobody reads it, which is no reason to serve nobody
            os.write(2, encode({"time": stamp, "level": level, "event": name, **fields}) + b"\n")


class Relay(logging.Handler):
    """Takes over what libraries log. Of less than a warning nothing: that is where frames and headers are told."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One record as one event: its sentence without what was filled in, and where an error came from."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        fields: dict[str, object] = {"library": record.name.partition(".")[0], "text": str(record.msg).strip()}
        if record.exc_info and record.exc_info[1] is not None:
            fields["what"] = frames(record.exc_info[1])
        self._log.event(level, "library", **fields)
