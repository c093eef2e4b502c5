"""The two servers, kept running for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .servers import Official, polymnia, reference


@pytest.fixture(scope="session")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Official]:
    """The pinned server from npm."""
    server = reference(tmp_path_factory.mktemp("theirs") / "memory.jsonl")
    yield server
    server.wire.close()


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Official]:
    """Polymnia in the official dialect on a store of its own."""
    server = polymnia("--store", tmp_path_factory.mktemp("ours") / "memory.db")
    yield server
    server.wire.close()
