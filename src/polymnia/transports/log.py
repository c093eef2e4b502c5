"""The log of a server: a line an event on stderr, as JSON or as text. It contains neither content nor keys."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.json import encode

from polymnia.errors import Fault
from polymnia.importing import importing
from polymnia.operation import unwrapped
from polymnia.transports.rpc import Request
from polymnia.transports.wire import LEVELS

_LONGEST_PROJECT = 200  # characters


class Log:
    """Writes events of a level or above to stderr."""

    def __init__(self, level: str, format: str = "json") -> None:
        self.levels = frozenset(LEVELS[LEVELS.index(level) :])  # that are written
        self.process: int | None = None  # which of several writes it
        self._form = _json if format == "json" else _text

    def __call__(self, level: str, text: str) -> None:
        """Log a message."""
        self.event(level, "message", text=text)

    def event(self, level: str, name: str, **fields: object) -> None:
        """Log an event: time, level, name and fields."""
        if level not in self.levels:
            return
        if self.process is not None:
            fields["process"] = self.process
        with suppress(OSError):  # nobody reads the log, which is no reason to stop serving
            os.write(2, _on_one_line(self._form(time.time(), level, name, fields)).encode() + b"\n")

    def call(self, request: Request, seconds: float) -> None:
        """Log a finished call. Of its arguments the project alone is named."""
        if (names := request.called) is None:
            return
        self.event(
            "info",
            "call",
            request=request.trace,
            dialect=request.connection.server.registry.name,
            tool=names[0],
            operation=names[1],
            project=_project(request),
            milliseconds=round(seconds * 1000, 1),
            outcome=request.outcome,
        )


class _Named(Struct):
    project: Any = None
    project_id: Any = None


_named = msgspec.json.Decoder(_Named)


def _project(request: Request) -> str | None:
    """The project a call is for: the one it names, or that of its connection."""
    tool, base = request.tool, request.connection.base
    if tool is not None and tool.project is not None:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, Fault):
            raw = request.arguments if tool.wrapped is None else unwrapped(tool, tool.wrapped, request.arguments)
            if isinstance(name := getattr(_named.decode(raw), tool.project), str):
                return name[:_LONGEST_PROJECT]
    return base.own_project


def _json(now: float, level: str, name: str, fields: dict[str, object]) -> str:
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
    return _encoded({"time": stamp, "level": level, "event": name, **fields})


def _text(now: float, level: str, name: str, fields: dict[str, object]) -> str:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    shown = str(fields.pop("text")) if name == "message" else name
    rest = "".join(f" {key}={_encoded(value)}" for key, value in fields.items())
    return f"{stamp} polymnia {level}: {shown}{rest}"


def _encoded(value: object) -> str:
    try:
        return encode(value).decode()
    except UnicodeEncodeError:  # the name of a file that is no UTF-8
        with importing():
            import json

        return json.dumps(value)


def _on_one_line(text: str) -> str:
    """A line whatever names are in it: what breaks lines or commands a terminal is escaped as JSON does."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
