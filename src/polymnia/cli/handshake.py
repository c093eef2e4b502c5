"""Start a server as a client would, and ask it for its tools."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

import msgspec

from polymnia.errors import Unavailable

# The least that a client hands on to a server besides the variables of its entry.
_HANDED_ON = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"),
)
_SHOWN = 300  # characters of what a server complained about


class Greeting(NamedTuple):
    """What a server said of itself."""

    name: str
    version: str
    tools: int
    seconds: float


def handed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a client hands on to the servers it starts."""
    return {name: value for name, value in environment.items() if name.upper() in _HANDED_ON}


def greet(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> Greeting:
    """Start a server, shake hands, list its tools and end it. Raises Unavailable if it does not answer in time."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as complaints:
        try:
            server = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=dict(environment),
                cwd=os.path.expanduser("~"),
                start_new_session=sys.platform != "win32",
            )
        except OSError as e:
            raise Unavailable(f"It cannot be started: {e.strerror}: {command[0]}") from e
        try:
            about, tools = _asked(server, began + seconds)
        except (_Silence, OSError) as e:
            raise Unavailable(_why(server, str(e), complaints, seconds)) from None
        finally:
            _end(server)
    info = about.get("serverInfo", {})
    taken = time.monotonic() - began
    return Greeting(str(info.get("name", "")), str(info.get("version", "")), len(tools.get("tools", ())), taken)


class _Silence(Exception):
    """No answer came, or one that is none."""


def _asked(server: subprocess.Popen[bytes], until: float) -> tuple[Any, Any]:
    assert server.stdin is not None
    assert server.stdout is not None
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(server.stdout, lines), daemon=True).start()
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
    hello = _ask(server.stdin, lines, until, 1, "initialize", about)
    server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return hello, _ask(server.stdin, lines, until, 2, "tools/list", {})


def _read(stream: IO[bytes], lines: queue.Queue[bytes]) -> None:
    with suppress(ValueError, OSError):  # closed while it is read
        for line in stream:
            lines.put(line)
    lines.put(b"")


def _ask(
    to: IO[bytes], lines: queue.Queue[bytes], until: float, id: int, method: str, params: Mapping[str, Any]
) -> Any:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    to.write(msgspec.json.encode(message) + b"\n")
    to.flush()
    while True:
        try:
            line = lines.get(timeout=max(until - time.monotonic(), 0.001))
        except queue.Empty:
            raise _Silence("late") from None
        if not line:
            raise _Silence("ended")
        try:
            answer = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = line.decode("utf-8", "replace").strip()
            raise _Silence(f"It writes what is no message to stdout: {text[:_SHOWN]}") from None
        if isinstance(answer, dict) and answer.get("id") == id:
            if "result" not in answer:
                error = answer.get("error")
                raise _Silence(f"It refuses {method}: {error.get('message') if isinstance(error, dict) else error}")
            return answer["result"]


def _why(server: subprocess.Popen[bytes], why: str, complaints: IO[bytes], seconds: float) -> str:
    if why == "late":
        return f"It did not answer within {seconds:g} seconds"
    if why.startswith("It "):
        return why
    with suppress(subprocess.TimeoutExpired):
        server.wait(5)
    complaints.seek(0)
    lines = [line for line in complaints.read().decode("utf-8", "replace").splitlines() if line.strip()]
    # A refusal of ours, or of uv, is told in its first line and followed by advice; others end with the reason.
    told = (line.removeprefix("polymnia: ") for line in lines if line.lower().startswith(("polymnia: ", "error: ")))
    reason = next(told, (lines or [""])[-1])
    said = f": {reason.strip()[:_SHOWN]}" if lines else ""
    return f"It ended by itself with exit code {server.returncode}{said}"


def _end(server: subprocess.Popen[bytes]) -> None:
    """End a server politely: its input ends; if that is not enough, by force, with what it has started itself."""
    assert server.stdin is not None
    with suppress(OSError):
        server.stdin.close()
    try:
        server.wait(2)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            if sys.platform == "win32":
                server.kill()
            else:
                os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    assert server.stdout is not None
    with suppress(OSError):
        server.stdout.close()
