"""Calls that wait: holding every writer of a store up, and seeing that a call is under way."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from stdio_client import entity

from .served import Served, request

__all__ = ["GRAPH", "create", "held", "under_way"]

GRAPH = "memory://knowledge-graph"


@contextmanager
def held(served: Served) -> Iterator[None]:
    """Keep every writer of the store waiting."""
    if served.database is not None:
        with psycopg.connect(served.database) as connection:
            connection.execute("LOCK TABLE polymnia.project IN EXCLUSIVE MODE")
            yield
        return
    with open(f"{served.store}-lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def create(name: str, id: int = 7) -> dict[str, Any]:
    """A call that stores something."""
    return request("tools/call", {"name": "create_entities", "arguments": {"entities": [entity(name, "x")]}}, id)


def under_way(served: Served) -> float:
    """How many calls are being run."""
    page = served.request("GET", "/metrics").body.decode()
    return float(next(line for line in page.splitlines() if line.startswith("polymnia_calls_running ")).split()[1])
