"""Servers for the tests of the client."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .serving import Serving


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server for tests that keep to names of their own."""
    made = Serving(tmp_path_factory.mktemp("shared"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def url(shared: Serving) -> str:
    """The endpoint of a server that lives: the one in POLYMNIA_URL, or the shared one's WebSocket."""
    return os.environ.get("POLYMNIA_URL") or shared.url("ws")


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """A server of this test's own."""
    made = Serving(tmp_path)
    yield made
    made.close()
