"""Every dialect over every transport: a matrix, not copies.

Each test runs over stdio and over one way of the network, which goes round from module to module;
``POLYMNIA_TRANSPORTS=stdio,http,sse,ws`` runs it over all that are named.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

_NETWORK = ("http", "sse", "ws")
# What is about a process of one client, or about no server at all.
_STDIO_ONLY = {"test_durability", "test_search_library", "test_search_commands", "test_history"}


def _transports(module: str) -> list[str]:
    name = module.rpartition(".")[2]
    if name in _STDIO_ONLY:
        return ["stdio"]
    if named := os.environ.get("POLYMNIA_TRANSPORTS"):
        return named.split(",")
    return ["stdio", _NETWORK[crc32(module.encode()) % len(_NETWORK)]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what talks to a server over the transports of its module."""
    if "transport" in metafunc.fixturenames:
        metafunc.parametrize("transport", _transports(metafunc.module.__name__), scope="module")
