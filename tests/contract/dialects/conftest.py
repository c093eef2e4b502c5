"""Every dialect over every transport: a matrix, not copies.

All tests run over stdio. In the short form a few modules run over one way of the network too, in the long form one
test in four (which one is drawn from its name).
``POLYMNIA_TRANSPORTS=stdio,http,sse,ws`` (``make test-transports``) runs every test over all that are named.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

from form import LONG_FORM
from stdio_client import STORE

_NETWORK = ("http", "sse", "ws")
_SHARE = 4
# What is about a process of one client, or about no server at all.
_STDIO_ONLY = {"test_durability", "test_search_library", "test_search_commands", "test_history"}


# A message that is too long closes a WebSocket: tests/network/test_input has that.
_NOT_OVER_WS = {"test_a_message_over_16_mib_is_refused_naming_the_limit_and_the_server_lives_on"}

# The short form's sample: what clients do most, in every family of dialects.
_SAMPLE = {
    "test_add_observations": "sse",
    "test_errors": "http",
    "test_open_nodes": "ws",
    "associative.test_parameter_limits": "ws",
    "associative.test_sessions": "http",
    "content.test_reading": "sse",
    "content.test_storing": "ws",
    "content.test_relationships": "http",
}


# And what runs on PostgreSQL too; ``POLYMNIA_TEST_STORE=postgres`` (``make test-postgres``) runs everything on it.
_ON_POSTGRES = {
    "test_add_observations",
    "test_atomicity",
    "test_open_nodes",
    "associative.test_scopes",
    "content.test_storing",
}


def _transports(module: str, test: str) -> list[str]:
    if module.rpartition(".")[2] in _STDIO_ONLY:
        return ["stdio"]
    if named := os.environ.get("POLYMNIA_TRANSPORTS"):
        return [one for one in named.split(",") if one != "ws" or test not in _NOT_OVER_WS]
    if not LONG_FORM:
        return ["stdio", *([_SAMPLE[module]] if module in _SAMPLE else [])]
    drawn = crc32(f"{module} {test}".encode())
    return ["stdio", *([_NETWORK[drawn // _SHARE % len(_NETWORK)]] if drawn % _SHARE == 0 else [])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what talks to a server over the transports that are drawn for it."""
    if "transport" in metafunc.fixturenames:
        chosen = _transports(metafunc.module.__name__, metafunc.function.__name__)
        if STORE == "sqlite" and not LONG_FORM and metafunc.module.__name__ in _ON_POSTGRES:
            each = [(transport, STORE) for transport in chosen] + [("stdio", "postgres")]
            metafunc.parametrize("transport, kept_by", each, scope="module")
        else:
            metafunc.parametrize("transport", chosen, scope="module")
