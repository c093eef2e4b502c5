"""Every address of a network server, taken from its router, so that a new one is attacked like the others."""

from __future__ import annotations

from typing import NamedTuple

from polymnia import app
from polymnia.app import network
from polymnia.settings import DIALECTS
from polymnia.transports.log import Log
from polymnia.transports.rpc import Server
from polymnia.transports.web.application import SOCKET, Application
from polymnia.transports.web.auth import Gate
from polymnia.transports.web.state import RateLimiter, ServerLimits, ServerState

__all__ = ["ADDRESSES", "OPEN", "Address"]


class Address(NamedTuple):
    """One address and one method it knows; of a WebSocket the method is ``WS``."""

    method: str
    path: str


def _addresses() -> tuple[list[Address], set[str]]:
    chosen = app.settings({}, {})
    memory = app.open_memory(chosen, "nobody")
    servers = {}
    for name in DIALECTS:
        one = app.settings({"dialect": name}, {})
        servers[name] = Server(memory, app.registry(one), version="0")
    gate = Gate(hosts=(), origins=(), who=None)
    state = ServerState(ServerLimits(), Log("error"), RateLimiter(1, 1, 1))
    found = []
    page = network.explorer(chosen, memory, state)
    for route in Application(state, gate, servers, explorer=page).routes:
        found += [Address("WS" if method == SOCKET else method, route.path) for method in sorted(route.methods)]
    return found, {"/healthz", "/readyz", *page.files()}


ADDRESSES, OPEN = _addresses()
"""All of them, and those that anybody may ask for."""
