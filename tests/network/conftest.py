"""Servers of the network, each with a store, keys and a folder of settings of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from .served import DOORS, Served

MANY = ("--rate-limit", "1000000", "--rate-limit-session", "1000000", "--rate-limit-heavy", "1000000")
"""Flags for tests that are about something else than the limits."""
QUICK = {"polymnia.transports.web.http._RESUMABLE_AFTER": 0.05}  # a call that waits becomes a stream at once
_counted = count()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Start servers, each in a folder of its own unless one is given; they end with the module."""
    started: list[Served] = []

    def start(*flags: str, folder: Path | None = None, wait: bool = True, **options: Any) -> Served:
        served = Served(folder or tmp_path_factory.mktemp("served"), *flags, **options)
        started.append(served)
        if wait:
            served.wait_for_line("Serving")
        return served

    yield start
    for served in started:
        served.ask_to_stop()
    for served in started:
        served.stop()


@pytest.fixture(scope="module")
def open_server(serving: Callable[..., Served]) -> Served:
    """A server without keys, on loopback, that counts nothing worth mentioning."""
    return serving(*MANY)


@pytest.fixture(scope="module")
def served(serving: Callable[..., Served]) -> Served:
    """The same with little patience: a call that waits for something becomes a stream."""
    return serving(*MANY, changes=QUICK)


@pytest.fixture
def mine() -> str:
    """A name nobody else uses in any store."""
    return f"mine {next(_counted)}"


@pytest.fixture(params=list(DOORS))
def kind(request: pytest.FixtureRequest) -> str:
    """Each way in, in turn."""
    return str(request.param)
