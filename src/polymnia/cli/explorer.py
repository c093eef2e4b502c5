"""The command ``open``: the explorer in a browser, and a server in the background where none runs."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
import webbrowser
from argparse import Namespace
from urllib.parse import urlsplit

from polymnia.app import key_file, running
from polymnia.app.running import RunningServer
from polymnia.cli.console import CommandResult, dim
from polymnia.cli.server import explicit_options, program
from polymnia.errors import Forbidden, Refused, Unavailable
from polymnia.settings import SETTINGS, Settings

_START_SECONDS = 30.0
_LOOK_EVERY = 0.05
_ANSWER_SECONDS = 5.0
_TOLD = 2_000  # characters of the log of a server that did not start


def open_page(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Open the explorer, with the server that runs for the store or a new one in the background."""
    if chosen.explorer == "off":
        raise Refused("The explorer is switched off (setting explorer)", hint="Leave out --explorer off, or set it on.")
    found = running.find(chosen)
    started = found is None or not _answers(found.address, "/healthz")
    server = _start(chosen) if started else found
    assert server is not None
    if not _answers(server.address, "/"):
        raise Refused(
            f"The server at {server.address} does not serve the explorer",
            hint="It runs with --explorer off, or this installation has no page. End it, and call this again.",
        )
    address = f"{server.address}/"
    opened = not arguments.no_browser and _opened(address)
    lines = [address]
    if started:
        log = running.log_path(chosen)
        lines.append(
            dim(f"A server was started in the background; end process {server.pid} to stop it. Its log: {log}")
        )
    if key_file(chosen).used:
        lines.append(dim("It has keys: the page asks for one. `polymnia keys add NAME` makes one."))
    notes = [] if opened or arguments.no_browser else ["polymnia: no browser could be opened; the address is above."]
    data = {"address": address, "process": server.pid, "started": started, "opened": opened}
    return CommandResult(data, lines, notes)


def _opened(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def _start(chosen: Settings) -> RunningServer:
    """Start a server in the background, and wait until it answers."""
    port = chosen.port
    if chosen.sources["port"] == "default" and not _is_free(chosen.host, port):
        port = 0  # any: somebody else has the usual one
    log = running.log_path(chosen)
    inherited = [one.name for one in SETTINGS if chosen.sources[one.name] != one.flag]  # it has this environment, too
    command = [*program(), "serve", *explicit_options(chosen, (*inherited, "port")), "--port", str(port)]
    try:
        os.makedirs(os.path.dirname(log), mode=0o700, exist_ok=True)
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as e:
        hint = "Allow it, or start the server yourself: polymnia serve"
        raise Forbidden(f"The log {log} of the server cannot be written: {e.strerror}", hint=hint) from e
    with open(written, "wb") as file:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=os.name != "nt",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) if sys.platform == "win32" else 0,
        )  # fmt: skip
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        found = running.find(chosen)
        if found is not None and found.pid == server.pid and _answers(found.address, "/healthz"):
            return found
        if server.poll() is not None:
            break
        time.sleep(_LOOK_EVERY)
    else:
        server.terminate()
    with open(log, encoding="utf-8", errors="replace") as text:
        told = text.read()[-_TOLD:].strip()
    why = told or f"it did not answer within {_START_SECONDS:.0f} seconds"
    raise Unavailable(f"The server did not start: {why}", hint="Start it yourself to see more: polymnia serve")


def _is_free(host: str, port: int) -> bool:
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return True
    except OSError:
        return False


def connection(scheme: str, host: str, port: int | None, seconds: float) -> http.client.HTTPConnection:
    """A connection to ask a server whether it is there. It is told nothing, so its certificate does not matter."""
    if scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=seconds)
    import ssl

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=seconds, context=context)


def _answers(address: str, path: str) -> bool:
    """Whether something is there."""
    place = urlsplit(address)
    made = connection(place.scheme, place.hostname or "", place.port, _ANSWER_SECONDS)
    try:
        made.request("GET", path)
        return made.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        made.close()
